#!/usr/bin/python3
"""An environment is packed once and works in any place; what cannot be moved is refused by its name."""

import csv
import json
import os
import shutil
import socket
import struct
import subprocess
import unittest

from support import python_prefix
from support.case import Case, main, use_memory

CLEAN = {"PATH": "/usr/bin:/bin", "HOME": "/nonexistent"}
ASK = "import flute.note, ssl, sys, json; print(json.dumps([sys.prefix, flute.note.__file__]))"


def setUpModule():
    use_memory()
    if python_prefix.found() is None:
        raise unittest.SkipTest("no interpreter with a prefix of its own: SABATH_TEST_PYTHON_PREFIX may name one")
    if not shutil.which("patchelf"):
        raise unittest.SkipTest("patchelf is not here")


def elf(machine):
    """The head of a shared library, with no segments."""
    return b"\x7fELF\x02\x01\x01" + bytes(9) + struct.pack("<HHIQQQIHHHHHH", 3, machine, 1, 0, 0, 0, 0, 64, 56, 0, 64, 0, 0)


class Pack(Case):
    def setUp(self):
        super().setUp()
        self.base = python_prefix.interpreter(self.home / "interpreter")

    def environment(self, name="mine", **how):
        return python_prefix.install(python_prefix.venv(self.base, self.home / name), **how)

    def pack(self, prefix, *arguments, name="horn", code=0, **options):
        result = self.expect(self.sabath.run("env", "pack", name, prefix, *arguments, "--json", **options), code)
        return python_prefix.with_view(self.sabath, json.loads(result.out), name) if code == 0 else result

    def python(self, tree, *arguments, **options):
        done = subprocess.run([f"{tree}/bin/python3", *arguments], capture_output=True, text=True, env=CLEAN, cwd="/", **options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def staged(self, to):
        self.expect(self.sabath.run("stage", "horn", "--to", to))
        return to / "horn"

    def same(self, one, other):
        if one["manifest"] != other["manifest"]:
            self.fail(subprocess.run(["diff", "-rq", one["path"], other["path"]], capture_output=True, text=True).stdout)

    def digest(self, tree):
        return [(str(p), p.is_file() and hash(p.read_bytes())) for p in sorted(tree.resolve().rglob("*"))]


class Works(Pack):
    def test_it_works_elsewhere_and_nothing_is_left_of_its_place(self):
        record = self.pack(self.environment())
        self.assertEqual(record["packages"], [{"name": "flute", "version": "1.2"}])
        self.assertEqual((record["scripts_changed"], record["not_compiled"]), (1, 0))
        self.assertIn("libc.so.6", record["system_libraries"])
        for gone in ("mine", "interpreter"):
            shutil.rmtree(self.home / gone)
        tree = self.staged(self.home / "a node with spaces")
        before = self.digest(tree)
        prefix, module = json.loads(self.python(tree, "-c", ASK))
        self.assertTrue(module.startswith(prefix + "/"), module)
        self.assertTrue(os.path.samefile(prefix, tree))
        self.assertEqual(self.digest(tree), before, "an import changed the tree")
        self.scripts_follow(tree)
        self.activates(tree)
        self.records_are_true(tree)
        self.extension_compiles(tree)
        for file in tree.resolve().rglob("*"):
            if file.is_file() and file.suffix != ".pyc":
                self.assertNotIn(str(self.home).encode() + b"/mine", file.read_bytes(), file)
            if file.suffix == ".pyc":
                self.assertEqual(file.read_bytes()[4], 1, file)  # by hash, unchecked
                self.assertNotIn(os.fsencode(self.home), file.read_bytes(), file)

    def scripts_follow(self, tree):
        link = self.home / "by a link"
        link.symlink_to(tree / "bin/flute")
        for script in (tree / "bin/flute", link):
            done = subprocess.run([script], capture_output=True, text=True, env=CLEAN)
            self.assertEqual((done.returncode, done.stdout), (0, "a note\n"), done.stderr)

    def activates(self, tree):
        line = '. "$0/bin/activate" && python -c "import sys; print(sys.prefix)" && deactivate && echo "$SABATH_ENV"'
        for shell in filter(shutil.which, ("bash", "zsh", "sh")):
            given = CLEAN | {"SABATH_ENV": str(tree)} if shell == "sh" else CLEAN
            done = subprocess.run([shell, "-c", line, tree], capture_output=True, text=True, env=given)
            self.assertEqual((done.returncode, done.stdout), (0, f"{tree.resolve()}\n\n"), (shell, done.stderr))
        if shutil.which("fish"):
            line = f"source '{tree}/bin/activate.fish'; python -c 'import sys; print(sys.prefix)'"
            done = subprocess.run(["fish", "--no-config", "-c", line], capture_output=True, text=True, env=CLEAN | {"HOME": str(self.home)})
            self.assertEqual((done.returncode, done.stdout), (0, f"{tree.resolve()}\n"), done.stderr)

    def records_are_true(self, tree):
        where = python_prefix.site(tree)
        rows = list(csv.reader((where / "flute-1.2.dist-info/RECORD").read_text().splitlines()))
        self.assertIn("../../../bin/flute", [row[0] for row in rows])
        for path, digest, size in rows:
            self.assertFalse(path.endswith(".pyc"), path)
            if digest:
                data = (where / path).read_bytes()
                self.assertEqual((digest, int(size)), (python_prefix.hash_of(data), len(data)), path)

    def extension_compiles(self, tree):
        if not shutil.which("cc"):
            return
        source = self.home / "reed.c"
        source.write_text('#include <Python.h>\nstatic struct PyModuleDef m = {PyModuleDef_HEAD_INIT, "reed", 0, -1, 0};\n'
                          "PyMODINIT_FUNC PyInit_reed(void) { return PyModule_Create(&m); }\n")  # fmt: skip
        places = json.loads(self.python(tree, "-c", "import sysconfig, json; print(json.dumps([sysconfig.get_path('include'), "
                                        "sysconfig.get_config_var('LIBDIR'), sysconfig.get_config_var('EXT_SUFFIX')]))"))  # fmt: skip
        for place in places[:2]:
            self.assertTrue(place.startswith(str(tree.resolve())) or os.path.realpath(place).startswith(str(tree.resolve())), place)
        module = self.home / f"reed{places[2]}"
        subprocess.run(["cc", "-shared", "-fPIC", "-I", places[0], source, "-o", module], check=True)
        self.python(tree, "-c", f"import sys; sys.path.insert(0, {str(self.home)!r}); import reed")

    def test_two_places_two_umasks_two_locales_one_root(self):
        first = self.pack(self.environment())
        other = self.environment("other place")
        for file in python_prefix.site(other).rglob("*.py"):
            os.utime(file, (0, 0))
        subprocess.run([other / "bin/python3", "-c", "import flute.note"], check=True, env=CLEAN)  # a .pyc by its time
        mask = os.umask(0o077)
        try:
            record = self.pack(other, name="horn2", LC_ALL="C.UTF-8", TZ="Asia/Tokyo", PYTHONHASHSEED="7", PYTHONOPTIMIZE="2")
        finally:
            os.umask(mask)
        self.same(record, first)

    def test_a_prefix_of_its_own_and_a_pack_packed_again(self):
        python_prefix.install(self.base)
        first = self.pack(self.base)
        self.assertEqual(first["made_of"], "prefix")
        tree = self.staged(self.home / "node")
        again = self.pack(tree, name="again")
        shutil.rmtree(self.base)
        self.same(again, first)
        self.python(tree, "-c", ASK)

    @unittest.skipUnless(shutil.which("strace"), "strace is not here")
    def test_no_path_outside_of_it_and_the_system(self):
        self.pack(self.environment())
        tree = self.staged(self.home / "node").resolve()
        trap = self.home / "lib"  # where CPython looks first if no directory below has such an archive
        trap.mkdir()
        version = python_prefix.site(tree).parent.name.removeprefix("python").replace(".", "")
        (trap / f"python{version}.zip").write_bytes(b"not an archive")
        seen = self.home / "seen"
        subprocess.run(["strace", "-f", "-qq", "-e", "trace=%file", "-o", seen, tree / "bin/python3", "-c", ASK], check=True,
                       env=CLEAN | {"PYTHONNOUSERSITE": "1"}, cwd="/", stdout=subprocess.DEVNULL)  # fmt: skip
        allowed = (str(tree), "/etc/", "/lib", "/usr/lib", "/usr/share", "/proc/", "/sys/", "/dev/", "/pyvenv.cfg")
        for line in seen.read_text().splitlines():
            path = line.partition('"')[2].partition('"')[0]
            if path.startswith("/") and not str(tree).startswith(path.rstrip("/")):
                self.assertTrue(path.startswith(allowed), line)


class Refused(Pack):
    """Each row: what is done to an environment, and what the message names."""

    def setUp(self):
        super().setUp()
        self.mine = self.environment()
        self.site = python_prefix.site(self.mine)

    def refused(self, *words, code=12, prefix=None, **options):
        error = self.pack(prefix or self.mine, code=code, **options).err
        for word in words:
            self.assertIn(word, error)
        self.assertEqual([p for p in (self.sabath.store / "tmp").rglob("tree")], [], "scratch is left")

    def put(self, name, data):
        file = self.site / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
        self.addCleanup(file.unlink)
        return file

    def once(self, name, data, *words):
        file = self.site / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
        self.refused(*words)
        file.unlink()

    def test_what_installers_left(self):
        self.once("drum.egg-link", b"/home/me/drum\n", "drum", "editable")
        self.once("__editable___drum_finder.pth", b"import x\n", "editable")
        self.once("__editable__.harp-1.0.pth", b"/home/me/harp\n", "error: harp is installed as editable")
        self.once("hook.pth", b"import os; os.system('true')\n", "hook.pth")
        self.once("more.pth", b"/opt/shared/packages\n", "more.pth", "/opt/shared/packages")
        self.once("up.pth", b"../../../../elsewhere\n", "up.pth")
        self.once("flute-1.2.dist-info/direct_url.json", b'{"url": "file:///home/me/flute", "dir_info": {"editable": true}}', "flute", "editable")
        self.once("distutils-precedence.pth", b"import os; os.system('/tmp/x')\n", "distutils-precedence.pth")
        self.once("hidden.pth", b"flute\x0bimport os; os.system('true')\n", "hidden.pth", "control characters")
        self.once("marked.pth", b"\xef\xbb\xbfimport os\n", "marked.pth")
        record = self.site / "flute-1.2.dist-info/RECORD"
        record.write_bytes(b'flute/note.py,"sha256\n')
        self.refused("RECORD:1")

    def test_what_leads_outside_or_is_no_file(self):
        for name, target, word in (("out", "/etc/passwd", "/etc/passwd"), ("up", "../../../../../x", "symlink"), ("gone", "nothing", "nowhere")):
            (self.site / name).symlink_to(target)
            self.refused(name, word)
            (self.site / name).unlink()
        (self.home / "elsewhere").mkdir()
        (self.site / "up").symlink_to("../../..")  # the environment itself, and from there one further
        (self.site / "out").symlink_to("up/../elsewhere")
        self.refused("out", "outside")
        (self.site / "out").unlink()
        (self.site / "up").unlink()
        os.mkfifo(self.site / "pipe")
        self.refused("pipe")
        (self.site / "pipe").unlink()
        door = socket.socket(socket.AF_UNIX)
        self.addCleanup(door.close)
        here = os.getcwd()
        os.chdir(self.site)
        door.bind("door")
        os.chdir(here)
        self.refused("door")

    def test_libraries_of_other_machines_and_places(self):
        self.once("drum.so", elf(40), "drum.so", "arm")
        self.once("drum.so", elf(183), "drum.so", "aarch64", "x86_64" if os.uname().machine == "x86_64" else "")
        if not shutil.which("cc"):
            return
        own = self.home / "opt"
        own.mkdir()
        (own / "skin.c").write_text("int skin(void) { return 1; }\n")
        subprocess.run(["cc", "-shared", "-fPIC", own / "skin.c", "-o", own / "libskin.so.1"], check=True)
        subprocess.run(["cc", "-shared", "-fPIC", own / "skin.c", "-o", self.site / "drum.so", "-Wl,--no-as-needed",
                        f"-L{own}", "-l:libskin.so.1", f"-Wl,-rpath,{own}"], check=True)  # fmt: skip
        self.refused("drum.so", "libskin.so.1", str(own))
        record = self.pack(self.mine, "--accept", "libskin.so.1")
        self.assertEqual(record["node_libraries"], ["libskin.so.1"])
        found = subprocess.run(["readelf", "-d", python_prefix.site(record["path"]) / "drum.so"], capture_output=True, text=True).stdout
        self.assertNotIn(str(own), found)

    def test_scripts(self):
        script = self.mine / "bin/other"
        script.write_text("#!/opt/perl/bin/perl\n")
        script.chmod(0o755)
        self.refused("bin/other", "/opt/perl/bin/perl")

    def test_interpreters(self):
        self.refused(f"name {self.mine}", prefix=self.mine / "bin/python", code=2)
        self.refused("no directory", prefix=self.home / "nothing", code=2)
        bare = self.home / "bare"
        bare.mkdir()
        self.refused("python3", prefix=bare, code=2)
        (bare / "conda-meta").mkdir()
        self.refused("conda", prefix=bare)
        whole = python_prefix.venv(self.base, self.home / "whole", "--system-site-packages")
        self.refused("packages of its interpreter", prefix=whole)
        (self.base / "bin").chmod(0o777)
        self.refused("interpreter", "mode 777", code=4)
        (self.base / "bin").chmod(0o755)
        (python_prefix.site(self.base).parent / "os.py").chmod(0o666)
        self.refused("os.py", "mode 666", code=4)
        (python_prefix.site(self.base).parent / "os.py").chmod(0o644)
        self.expect(self.sabath.run("--store", self.mine / "store", "env", "pack", "x", self.mine), 2)
        if os.path.exists("/usr/bin/python3"):
            system = self.home / "system"
            (system / "bin").mkdir(parents=True)
            (system / "bin/python3").symlink_to("/usr/bin/python3")
            (system / "pyvenv.cfg").write_text("home = /usr/bin\n")
            self.refused("system's interpreter", "uv python install", prefix=system)

    def test_names_and_options(self):
        self.refused("no name", code=2, name="a/b")
        self.expect(self.sabath.run("env", "pack", "x", self.mine, "--accept", "../x.pth"), 2)
        self.put("hook.pth", b"import sys\n")
        self.pack(self.mine, "--accept", "hook.pth")
        self.assertTrue((python_prefix.site(self.sabath.run("path", "horn").out.strip()) / "hook.pth").exists())

    def test_without_patchelf(self):
        tools = self.home / "tools"
        tools.mkdir()
        self.refused("patchelf", code=3, PATH=str(tools))


class Stale(Pack):
    """What is no packed environment: its compiled modules are stale in each copy, and that is said."""

    REMEDY = "env pack"

    def test_warned_of(self):
        tree = self.home / "plain"
        (tree / "flute").mkdir(parents=True)
        (tree / "flute/note.py").write_text("x = 1\n")
        for mode, said in (("unchecked-hash", False), ("timestamp", True)):
            subprocess.run([self.base / "bin/python3", "-m", "compileall", "-q", "-f", "--invalidation-mode", mode, tree], check=True)
            for arguments in (("adopt", tree, "--name", mode), ("stage", mode, "--to", self.home / "node"), ("view", mode, "--to", self.home / mode)):
                error = self.expect(self.sabath.run(*arguments)).err
                (self.assertIn if said else self.assertNotIn)(self.REMEDY, error, arguments)


if __name__ == "__main__":
    main()

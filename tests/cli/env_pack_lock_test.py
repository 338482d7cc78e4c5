#!/usr/bin/python3
"""The wheels of a lock and an interpreter become one environment, with the same bytes for each user; the second is cheap."""

import csv
import json
import os
import shutil
import subprocess
import unittest

from support import python_prefix
from support.case import main
from support.packed_lock import CLEAN, PackLock, skip_without_tools
from support.wheels import make_lock, record_hash

setUpModule = skip_without_tools


class Works(PackLock):
    def test_it_works_elsewhere_as_if_installed(self):
        drum = self.wheel("Drum_kit", "2.0", requires=["flute>=1"])
        record = self.pack(self.lock(self.flute(), drum))
        self.assertEqual(record["packages"], [{"name": "Drum_kit", "version": "2.0"}, {"name": "flute", "version": "1.2"}])
        self.assertEqual((record["made_of"], record["known_packages"], record["scripts_changed"]), ("lock", 0, 1))
        self.assertGreater(record["fetched_bytes"], 0)
        shutil.rmtree(self.base)
        self.expect(self.sabath.run("stage", "horn", "--to", self.home / "a node with spaces"))
        tree = self.home / "a node with spaces/horn"
        for script in ("flute", "stand", "blow"):
            done = subprocess.run([tree / "bin" / script], capture_output=True, text=True, env=CLEAN)
            self.assertEqual((done.returncode, done.stdout), (0, "a note\n"), (script, done.stderr))
        where = python_prefix.site(tree)
        version = where.parent.name
        self.assertTrue((tree / "include" / version / "flute/flute.h").exists())
        self.assertEqual((tree / "share/flute/tune.txt").read_text(), "c d e\n")
        self.assertIn("made_of", json.loads((tree / "environment.json").read_text()))
        found = self.python(tree, "-c", "import flute.reed, sys; print(flute.reed.__cached__)").strip()
        with open(found, "rb") as file:
            self.assertEqual(file.read()[4], 1)  # by hash, unchecked
        self.records_are_true(where)
        self.requirements_are_met(tree)

    def records_are_true(self, where):
        info = where / "flute-1.2.dist-info"
        self.assertEqual((info / "INSTALLER").read_text(), "sabath\n")
        self.assertFalse((info / "direct_url.json").exists())
        rows = list(csv.reader((info / "RECORD").read_text().splitlines()))
        paths = [row[0] for row in rows]
        for path in ("../../../bin/flute", "../../../bin/blow", "../../../share/flute/tune.txt", "flute/reed.py", "flute-1.2.dist-info/REQUESTED"):
            self.assertIn(path, paths)
        for path, digest, size in rows:
            if digest:
                data = (where / path).read_bytes()
                self.assertEqual((digest, int(size)), (record_hash(data), len(data)), path)

    def requirements_are_met(self, tree):
        names = self.python(tree, "-c", "import importlib.metadata as m; print(sorted((d.name, d.version) for d in m.distributions()))")
        self.assertEqual(names.strip(), "[('Drum_kit', '2.0'), ('flute', '1.2')]")
        theirs = python_prefix.site(python_prefix.found()) / "pip"
        if not theirs.exists():
            return
        (self.home / "pip alone").mkdir()
        (self.home / "pip alone/pip").symlink_to(theirs)
        line = "import sys; sys.path += sys.argv[1:3]; from pip._internal.cli.main import main; sys.exit(main(['check']))"
        where = python_prefix.site(tree)
        done = subprocess.run([python_prefix.found() / "bin/python3", "-I", "-S", "-W", "ignore", "-c", line, where, self.home / "pip alone"],
                              capture_output=True, text=True)  # fmt: skip
        self.assertEqual((done.returncode, done.stdout), (0, "No broken requirements found.\n"), done.stderr)

    def test_two_places_two_umasks_one_root_in_any_order(self):
        wheels = [self.flute(), *(self.wheel(f"drum{n}", "1.0", files={f"drum{n}/a.py": f"def f(x): return x in {{'a{n}', 'flute'}}\n".encode() * 3})
                                  for n in range(30))]  # fmt: skip
        first = self.pack(self.lock(*wheels))
        other = python_prefix.interpreter(self.home / "other place")
        store, mask = self.home / "other store", os.umask(0o077)
        try:
            second = self.pack(self.lock(*reversed(wheels), sizes=False), "--store", store, python=other, LC_ALL="C.UTF-8", TZ="Asia/Tokyo", PYTHONHASHSEED="7")
        finally:
            os.umask(mask)
        self.same(second, first)
        # One by one into a third store: each package is packed once, and with others it has the same bytes.
        third = self.home / "third store"
        for number in (0, 7, 30):
            self.pack(self.lock(wheels[number]), "--store", third, name=f"one{number}")
        self.same(self.pack(self.lock(*wheels), "--store", third), first)

    def test_the_second_needs_no_network(self):
        flute, drum, bell = self.flute(), self.wheel("drum", "2.0"), self.wheel("bell", "1.0")
        first = self.pack(self.lock(flute, drum, bell))
        self.assertEqual(first["known_packages"], 0)
        self.stop()
        again = self.pack(self.lock(drum, flute, name="pylock.two.toml"), name="two", SABATH_OFFLINE="1")
        self.assertEqual((again["known_packages"], again["fetched_bytes"]), (2, 0))
        self.assertEqual(self.pack(self.lock(drum, flute, bell), name="same")["manifest"], first["manifest"])
        # A note whose file is gone, or that is damaged, counts for nothing: the package is unpacked again.
        for file in (self.sabath.store / "indexes").rglob("*"):
            if file.is_file():
                file.chmod(0o644)
                file.write_bytes(file.read_bytes()[:-40])
        mended = self.pack(self.lock(drum, flute, bell), name="mended")
        self.assertEqual((mended["manifest"], mended["known_packages"]), (first["manifest"], 0))

    def test_a_wheel_by_its_url_is_noted(self):
        wheel = self.flute()
        text = make_lock(self.url, [wheel]).replace("[[packages.wheels]]", "[packages.archive]").replace("packages.wheels.hashes", "packages.archive.hashes")
        lock = self.home / "pylock.toml"
        lock.write_text("\n".join(line for line in text.splitlines() if not line.startswith("name = \"flute-")) + "\n")
        record = self.pack(lock)
        note = json.loads((python_prefix.site(record["path"]) / "flute-1.2.dist-info/direct_url.json").read_text())
        self.assertEqual(note["url"], f"{self.url}/{wheel.name}")

    def test_code_in_a_pth_is_accepted_each_time(self):
        lock = self.lock(self.wheel(files={"flute.py": b"", "hook.pth": b"import sys\n"}))
        self.assertIn("flute 1.2: hook.pth", self.pack(lock, code=12).err)
        self.assertEqual(self.pack(lock, "--accept", "hook.pth")["known_packages"], 0)
        self.assertIn("flute 1.2: hook.pth", self.pack(lock, name="other", code=12).err)
        self.assertEqual(self.pack(lock, "--accept", "hook.pth", name="other")["known_packages"], 1)

    @unittest.skipUnless(shutil.which("cc"), "there is no compiler")
    def test_libraries_follow(self):
        made = self.home / "made"
        made.mkdir()
        (made / "skin.c").write_text("int skin(void) { return 41; }\n")
        (made / "reed.c").write_text('#include <Python.h>\nint skin(void);\nstatic PyObject *n(PyObject *a, PyObject *b) { return PyLong_FromLong(skin()); }\n'
                                     'static PyMethodDef f[] = {{"n", n, METH_NOARGS, ""}, {0}};\n'
                                     'static struct PyModuleDef m = {PyModuleDef_HEAD_INIT, "reed", 0, -1, f};\n'
                                     "PyMODINIT_FUNC PyInit_reed(void) { return PyModule_Create(&m); }\n")  # fmt: skip
        include = next((self.base / "include").glob("python3*"))
        subprocess.run(["cc", "-shared", "-fPIC", made / "skin.c", "-o", made / "libskin.so", "-Wl,-soname,libskin.so"], check=True)
        subprocess.run(["cc", "-shared", "-fPIC", "-I", include, made / "reed.c", "-o", made / "reed.so", f"-L{made}", "-lskin",
                        "-Wl,-rpath,$ORIGIN/../skin.libs:/opt/builder"], check=True)  # fmt: skip
        files = {"drum/__init__.py": b"", "drum/reed.so": (made / "reed.so").read_bytes(), "skin.libs/libskin.so": (made / "libskin.so").read_bytes()}
        drum = self.wheel("drum", "1.0", files=files)
        for number, name in enumerate(("once", "twice")):
            record = self.pack(self.lock(drum), name=name)
            self.assertEqual(record["known_packages"], number)
            self.assertEqual(self.python(record["path"], "-c", "from drum.reed import n; print(n())"), "41\n")
            found = subprocess.run(["readelf", "-d", python_prefix.site(record["path"]) / "drum/reed.so"], capture_output=True, text=True).stdout
            self.assertNotIn("/opt/builder", found)
            self.assertIn("libc.so.6", record["system_libraries"])


class Chosen(PackLock):
    """What does not fit is refused before anything is fetched."""

    def refused(self, code, *words, lock, **options):
        error = self.pack(lock, code=code, **options).err
        for word in words:
            self.assertIn(word, error)
        self.assertFalse((self.sabath.store / "objects").exists() and any((self.sabath.store / "objects").rglob("*")), "something was fetched")

    def test_locks(self):
        flute = self.flute()
        self.refused(3, "<3.7", "lock it again", lock=self.lock(flute, requires_python="<3.7"))
        self.refused(3, "cp27", lock=self.lock(self.wheel("drum", "1.0", tag="cp27-cp27m-manylinux_2_17_x86_64")))
        lock = self.lock(flute)
        lock.write_text(lock.read_text().partition("[packages.wheels.hashes]")[0])
        self.refused(3, "sha256", lock=lock)
        (self.home / "requirements.txt").write_text("flute==1.2\n")
        self.refused(2, "no lock", lock=self.home / "requirements.txt")
        self.refused(2, "no lock", lock=self.home / "requirements.txt", python=False)
        (self.home / "list.txt").write_text("@EXPLICIT\nhttps://conda.anaconda.org/conda-forge/noarch/a-1-0.conda#" + "0" * 32 + "\n")
        self.refused(2, "conda", lock=self.home / "list.txt")
        self.refused(3, "no file", lock=self.home / "absent.toml")
        (self.home / "pylock.toml").write_text('lock-version = "1.0"\n[[packages]]\nname = "a/b"\n')
        self.refused(12, "a/b", lock=self.home / "pylock.toml")

    def test_several_targets(self):
        version = python_prefix.site(self.base).parent.name.removeprefix("python3.")
        files = {"drum.py": b"x = 1\n"}
        tags = [f"cp3{version}-cp3{version}-manylinux_2_5_x86_64", f"cp3{version}-cp3{version}-manylinux_2_5_aarch64", "cp38-cp38-manylinux_2_5_x86_64"]
        wheels = [self.wheel("drum", "1.0", tag=tag, files=files) for tag in tags]
        lines = make_lock(self.url, wheels[:1])
        for wheel in wheels[1:]:
            lines += "[[packages.wheels]]" + make_lock(self.url, [wheel]).partition("[[packages.wheels]]")[2]
        (self.home / "pylock.toml").write_text(lines)
        if os.uname().machine == "x86_64":
            self.assertEqual(len(self.pack(self.home / "pylock.toml")["packages"]), 1)

    def test_interpreters(self):
        lock = self.lock(self.flute())
        mine = python_prefix.venv(self.base, self.home / "mine")
        python_prefix.install(mine, name="extra")
        self.refused(2, "is a directory", lock=mine)
        (self.base / "bin").chmod(0o777)
        self.refused(4, "mode 777", lock=lock)
        (self.base / "bin").chmod(0o755)
        if os.path.exists("/usr/bin/python3"):
            self.refused(12, "system's interpreter", "pyenv install", lock=lock, python="/usr/bin/python3")
        self.refused(11, "python3.99", lock=lock, python="3.99")
        old = self.home / "old"
        (old / "bin").mkdir(parents=True)
        (old / "lib/python3.8").mkdir(parents=True)
        (old / "lib/python3.8/os.py").touch()
        shutil.copy2(self.base / "bin/python3", old / "bin/python3.8")
        (old / "bin/python3").symlink_to("python3.8")
        self.refused(12, "3.9 or newer", lock=lock, python=old)
        of_venv = self.pack(lock, python=mine)
        self.assertEqual([one["name"] for one in of_venv["packages"]], ["flute"])
        tools = self.home / "tools"
        tools.mkdir()
        (tools / "python3").symlink_to(self.base / "bin/python3")
        for number, (python, path) in enumerate(((self.base / "bin/python3", ""), (False, f"{tools}:/usr/bin:/bin"))):
            found = self.pack(lock, python=python, name=f"same{number}", **({"PATH": path} if path else {}))
            self.same(found, of_venv)


if __name__ == "__main__":
    main()

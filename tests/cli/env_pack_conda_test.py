#!/usr/bin/python3
"""Conda's prefixes and packages name a place in their files: they are made environments for one place, which is named."""

import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

from support import python_prefix
from support.case import main, use_memory
from support.conda_packages import PLACEHOLDER, Package, conda_lock, explicit_lock, python_package
from support.packed_conda import Channel
from support.wheels import make_wheel

CLEAN = {"PATH": "/usr/bin:/bin", "HOME": "/nonexistent"}
HOLD = PLACEHOLDER.encode()
SITE = "lib/{}/site-packages"
made = None  # of all tests: an interpreter as a package


def setUpModule():
    use_memory()
    if python_prefix.found() is None:
        raise unittest.SkipTest("no interpreter with a prefix of its own: SABATH_TEST_PYTHON_PREFIX may name one")
    if not shutil.which("patchelf"):
        raise unittest.SkipTest("patchelf is not here")
    global made
    folder = pathlib.Path(tempfile.mkdtemp(prefix="sabath-test-"))
    unittest.addModuleCleanup(shutil.rmtree, folder)
    made = python_package(python_prefix.interpreter(folder / "interpreter"))


def library():
    return next(path for path in made.files if path.endswith("/os.py")).split("/")[1]


def shared_object(folder):
    """A library that says a path below its prefix. None: there is no compiler."""
    if not shutil.which("cc"):
        return None
    source = folder / "tune.c"
    source.write_text(f'char place[] = "{PLACEHOLDER}/share/tune.txt";\nconst char *tune(void) {{ return place; }}\n')
    subprocess.run(["cc", "-shared", "-fPIC", source, "-o", folder / "libtune.so"], check=True)
    return (folder / "libtune.so").read_bytes()


def flute(folder, **how):
    """Files of all kinds: a module, a script of Python, a script of a tool of its own, texts and binary files."""
    site = SITE.format(library())
    files = {
        f"{site}/flute/__init__.py": b"",
        f"{site}/flute/note.py": b"import pathlib\nplace = '" + HOLD + b"'\ndef main():\n    print(pathlib.Path(place, 'share/tune.txt').read_text(), end='')\n",
        f"{site}/flute/__pycache__/note.cpython-311.pyc": b"of another machine",
        f"{site}/flute-1.2.dist-info/METADATA": b"Metadata-Version: 2.1\nName: Flute\nVersion: 1.2\n",
        f"{site}/flute-1.2.dist-info/INSTALLER": b"conda\n",
        f"{site}/flute-1.2.dist-info/direct_url.json": b'{"url": "file:///home/conda/feedstock_root/flute", "dir_info": {}}',
        "share/tune.txt": b"c d e\n",
        "etc/flute.conf": b"home=" + HOLD + b"/share\n",
        "etc/conda/activate.d/flute.sh": b"export FLUTE=1\n",
        "lib/tune.bin": b"\0\1" + HOLD + b"/share\0\2" + HOLD + b"/a:" + HOLD + b"/b\0end",
        "bin/flute": b"#!" + HOLD + b"/bin/python\nimport flute.note\nflute.note.main()\n",
        "bin/blow": b"#!" + HOLD + b"/bin/reed\n",
        "bin/reed": pathlib.Path(os.path.realpath("/bin/echo")).read_bytes(),
    }
    places = {"etc/flute.conf": "text", "lib/tune.bin": "binary", "bin/flute": "text", "bin/blow": "text", f"{site}/flute/note.py": "text"}
    if (data := shared_object(folder)) is not None:
        files["lib/libtune.so"], places["lib/libtune.so"] = data, "binary"
    return Package("flute", files=files, places=places, links={"lib/tune.link": "tune.bin"}, **how)


class Packed(Channel):
    def output(self, *argv):
        done = subprocess.run(argv, capture_output=True, text=True, env=CLEAN, cwd="/")
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def remark(self, record, word):
        self.assertTrue(any(word in remark for remark in record["remarks"]), (word, record["remarks"]))

    def works_at(self, place):
        self.assertEqual(self.output(f"{place}/bin/flute"), "c d e\n")
        self.assertEqual(self.output(f"{place}/bin/blow"), f"{place}/bin/blow\n")
        self.assertEqual((place / "etc/flute.conf").read_text(), f"home={place}/share\n")
        new, pad = os.fsencode(place), len(PLACEHOLDER) - len(str(place))
        self.assertEqual((place / "lib/tune.bin").read_bytes(),
                         b"\0\1" + new + b"/share" + bytes(pad + 1) + b"\2" + new + b"/a:" + new + b"/b" + bytes(2 * pad + 1) + b"end")  # fmt: skip
        self.assertEqual((place / "lib/tune.link").read_bytes(), (place / "lib/tune.bin").read_bytes())
        self.assertEqual(self.output(f"{place}/bin/python3", "-c", "import sys, sysconfig; print(sys.prefix, sysconfig.get_config_var('prefix'))").split(),
                         [str(place)] * 2)  # fmt: skip
        if (place / "lib/libtune.so").exists():
            ask = "import ctypes, sys; t = ctypes.CDLL(sys.prefix + '/lib/libtune.so').tune; t.restype = ctypes.c_char_p; print(t().decode())"
            self.assertEqual(self.output(f"{place}/bin/python3", "-c", ask), f"{place}/share/tune.txt\n")
        for file in place.resolve().rglob("*"):
            if file.is_file():
                self.assertNotIn(HOLD, file.read_bytes(), file)
                self.assertNotIn(b"feedstock", file.read_bytes() if file.suffix == ".json" else b"", file)

    def noted(self, place, made_of, packages):
        note = json.loads((place / "environment.json").read_text())
        self.assertEqual((note["place"], note["made_of"]), (str(place), made_of))
        self.assertEqual([(one["name"], one["version"], one.get("build")) for one in note["packages"]], packages)


class Prefix(Packed):
    def prefix(self, where="env", place=None):
        prefix = self.home / where
        prefix.mkdir(parents=True)
        for package in (made, flute(self.home)):
            package.install(prefix, place)
        return prefix

    def test_it_works_at_its_place_and_names_no_other(self):
        prefix = self.prefix()
        python_prefix.install(prefix, "drum", "2.0")
        for left in ("pkgs/cache/x", "envs/other/x", "conda-meta/history", ".condarc", "lib/libold.so.conda_trash", "lib/libold.so.c~"):
            (prefix / left).parent.mkdir(parents=True, exist_ok=True)
            (prefix / left).write_text(f"{prefix} secret")
        before = [(str(p), p.is_file() and hash(p.read_bytes())) for p in sorted(prefix.rglob("*"))]
        place = self.home / "node/horn"
        record = self.pack(prefix, "--at", place)
        self.assertEqual([(str(p), p.is_file() and hash(p.read_bytes())) for p in sorted(prefix.rglob("*"))], before)
        self.assertEqual((record["made_of"], record["place"], record["not_compiled"]), ("conda", str(place), 0))
        rows = {row["name"]: row for row in record["packages"]}
        self.assertEqual(sorted(rows), ["drum", "flute", "python"])
        self.assertEqual(rows["drum"], {"name": "drum", "version": "2.0"})
        self.assertEqual((rows["flute"]["build"], rows["flute"]["size_bytes"], rows["flute"]["sha256"]), ("h0_0", 12, None))
        self.assertTrue(rows["flute"]["channel"].endswith("/conda-forge"), rows["flute"])
        self.assertNotIn("secret", json.dumps(record))
        for word in ("etc/conda/activate.d/flute.sh", "conda-meta", f"stage horn --to {place.parent}"):
            self.remark(record, word)
        prefix.rename(self.home / "hidden")
        self.assertNotIn("is made for", self.expect(self.sabath.run("stage", "horn", "--to", place.parent)).err)
        self.works_at(place)
        self.noted(place, "conda", [("drum", "2.0", None), ("flute", "1.2", "h0_0"), ("python", made.version, "h1_cpython")])
        self.assertEqual(self.output(place / "bin/drum"), "a note\n")
        for left in ("pkgs", "envs", "conda-meta", ".condarc", "lib/libold.so.conda_trash", "lib/libold.so.c~"):
            self.assertFalse((place / left).exists(), left)
        self.elsewhere(place)

    def elsewhere(self, place):
        for arguments in (("stage", "horn", "--to", self.home / "other"), ("view", "horn", "--to", self.home / "third")):
            error = self.expect(self.sabath.run(*arguments)).err
            self.assertIn(f"made for {place}", error, arguments)
        self.refused(self.home / "third", f"made for {place}")

    def test_two_prefixes_of_any_length_one_root(self):
        place = "/local/" + "x" * (len(PLACEHOLDER) - 7)  # as long as the placeholder: the most that fits
        one = self.pack(self.prefix("short"), "--at", place)
        two = self.pack(self.prefix("a much longer name of a folder".replace(" ", "-")), "--at", place + "/", name="horn2")
        if one["manifest"] != two["manifest"]:
            self.fail(subprocess.run(["diff", "-rq", one["path"], two["path"]], capture_output=True, text=True).stdout)
        self.remark(one, f"view horn --to {place}")

    def test_refused(self):
        prefix = self.prefix()
        self.refused(prefix, "flute", "--at /local/disk/horn")
        for place in ("relative/horn", "/a/../b", "/a\nb", "/a b", "/a'b", "/"):
            self.refused(prefix, "name the directory", arguments=("--at", place), code=2)
        long = "/" + "x" * len(PLACEHOLDER)
        self.refused(prefix, "lib", f"{len(PLACEHOLDER)} bytes", f"has {len(long)}", "shorter", arguments=("--at", long))
        moved = prefix.rename(self.home / "moved")
        self.refused(moved, "moved or copied", arguments=("--at", "/local/horn"))
        record = moved / "conda-meta" / "flute-1.2-h0_0.json"
        record.write_text(record.read_text().replace("lib/tune.bin", "../tune.bin"))
        self.refused(moved, "flute-1.2-h0_0.json", "no path in a prefix", arguments=("--at", "/local/horn"))
        mine = python_prefix.venv(python_prefix.interpreter(self.home / "interpreter"), self.home / "venv")
        self.refused(mine, "none of conda's", arguments=("--at", "/local/horn"), code=2)
        bases = self.home / "of-conda"
        (bases / "bin").mkdir(parents=True)
        (bases / "bin/python3").symlink_to(moved / "bin/python3")
        (bases / "pyvenv.cfg").write_text(f"home = {moved}/bin\n")
        self.refused(bases, "prefix of conda")

    def test_without_a_file_that_names_it(self):
        prefix = self.home / "env"
        prefix.mkdir()
        Package("python", made.version, "h1_cpython", files=made.files, links=made.links).install(prefix)
        record = self.pack(prefix)
        self.assertNotIn("place", record)
        self.expect(self.sabath.run("stage", "horn", "--to", self.home / "anywhere"))
        self.output(self.home / "anywhere/horn/bin/python3", "-c", "import json")
        again = self.pack(prefix, "--at", "/local/horn", name="horn2")
        self.assertEqual(again["manifest"], record["manifest"])


def tool(**how):
    """A package of noarch: its files have no place until there is an interpreter."""
    files = {"site-packages/oboe/__init__.py": b"def main():\n    print('oboe')\n", "share/oboe.txt": b"oboe\n",
             "site-packages/oboe-3.dist-info/METADATA": b"Metadata-Version: 2.1\nName: oboe\nVersion: 3\n",
             "python-scripts/oboe-raw": b"#!" + HOLD + b"/bin/python -E\nimport oboe\noboe.main()\n"}  # fmt: skip
    return Package("oboe", "3", "py_0", files=files, places={"python-scripts/oboe-raw": "text"}, noarch="python", points=["oboe = oboe:main"], **how)


class Locked(Packed):
    def test_both_forms_of_locks_and_packages(self):
        place = self.home / "node/horn"
        files = [package.write(self.shelf) for package in (made, flute(self.home), tool(form=".tar.bz2"))]
        wheel = make_wheel(self.shelf / "w", "drum", "2.0", entry_points="[console_scripts]\ndrum = drum:main\n",
                           files={"drum/__init__.py": b"def main():\n    print('drum')\n"})  # fmt: skip
        plain = self.pack(self.lock(explicit_lock(self.url, files), "list.txt"), "--at", place, name="plain")
        record = self.pack(self.lock(conda_lock(self.url, files)), "--at", place, name="again")
        self.assertEqual((record["manifest"], record["made_of"], record["fetched_bytes"]), (plain["manifest"], "conda-lock", 0))
        self.assertGreaterEqual(plain["fetched_bytes"], sum(file.stat().st_size for file in files))
        record = self.pack(self.lock(conda_lock(self.url, files, [(wheel, f"{self.url}/w/{wheel.name}")])), "--at", place)
        rows = {row["name"]: row for row in record["packages"]}
        self.assertEqual(sorted(rows), ["drum", "flute", "oboe", "python"])
        self.assertEqual(rows["oboe"], {"name": "oboe", "version": "3", "build": "py_0", "channel": self.url,
                                        "sha256": hashlib.sha256(files[2].read_bytes()).hexdigest(), "size_bytes": files[2].stat().st_size})  # fmt: skip
        self.expect(self.sabath.run("stage", "horn", "--to", place.parent))
        self.works_at(place)
        self.noted(place, "conda-lock", [("drum", "2.0", None), ("flute", "1.2", "h0_0"), ("oboe", "3", "py_0"), ("python", made.version, "h1_cpython")])
        for program, said in (("oboe", "oboe\n"), ("oboe-raw", "oboe\n"), ("drum", "drum\n")):
            self.assertEqual(self.output(place / "bin" / program), said)
        self.assertTrue((place / SITE.format(library()) / "oboe/__init__.py").exists())
        self.assertFalse((place / "conda-meta").exists())

    def test_a_lock_with_md5_alone_and_a_script_that_is_not_run(self):
        loud = Package("loud", files={"bin/.loud-post-link.sh": f"touch {self.home}/mark\n".encode(), "share/loud": b"x"})
        files = [package.write(self.shelf) for package in (made, loud)]
        lock = self.lock(explicit_lock(self.url, files, "md5"), "list.txt")
        self.refused(lock, "loud 1.2", "bin/.loud-post-link.sh", arguments=("--at", "/local/horn"))
        record = self.pack(lock, "--at", "/local/horn", "--accept", "loud")
        self.remark(record, "was not run")
        self.remark(record, f"{files[1].name} sha256:{hashlib.sha256(files[1].read_bytes()).hexdigest()} {files[1].stat().st_size} bytes")
        self.assertFalse((self.home / "mark").exists())
        self.expect(self.sabath.run("stage", "horn", "--to", self.home / "node"))
        self.assertEqual((self.home / "node/horn/share/loud").read_bytes(), b"x")
        self.assertFalse((self.home / "node/horn/bin/.loud-post-link.sh").exists())
        files[1].write_bytes(b"something else")
        self.expect(self.sabath.run("--store", self.home / "another", "env", "pack", "horn", lock, "--at", "/local/horn", "--accept", "loud"), 7)


if __name__ == "__main__":
    main()

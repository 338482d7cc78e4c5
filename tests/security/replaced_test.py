#!/usr/bin/python3
"""A member of a shared store gives other files the names of objects, after they were looked at, and puts batches of his
own into the trash: no name that another user was given shows his bytes, and nothing of his runs as another user."""

import os
import pathlib
import subprocess

from support.accounts import ALICE, GROUP, MALLORY, Members, object_of
from support.bare import TREE
from support.case import main
from support.content import fragment

GOOD, EVIL = b"good".ljust(2_000_000, b"#"), b"evil"
REPLACE = """
import glob, os
for name in glob.glob("objects/*/*.2000000"):
    os.rename(name, name + "x")
    open(name, "wb").write(b"evil".ljust(2_000_000, b"#"))
"""
BATCH = """
import glob, os, sys
os.umask(0)
batch = "trash/x+77/"
os.makedirs(batch)
open(batch + "whole", "w")
for room in sys.argv[1:]:
    os.makedirs(batch + room)
    open(batch + room + "/f.bin", "wb").write(b"evil")
"""
READ = """
import os, sys
from sabath.files import AssetFiles
from sabath import Session
files = AssetFiles(Session(), "one")
place = files.place("f.bin")
print(files.read("f.bin", 0, 4), flush=True)
sys.stdin.readline()
print(open(place[0], "rb").read(4) if place else b"", flush=True)
print(files.read("f.bin", 0, 4))  # or an error: the store does not hold it any more
"""


class Replaced(Members):
    def setUp(self):
        super().setUp()
        self.content = self.serve({"f.bin": GOOD, "g.bin": GOOD[::-1]}, name="content")
        self.sabath.add("one", [fragment(self.content.url("f.bin"), GOOD, path="f.bin")])

    def names_that_show_evil(self):
        found = []
        for top in (self.home / f"home-{ALICE}", *self.store.glob(f"*.{ALICE}")):
            for directory, _, names in os.walk(top, followlinks=True):
                for name in names:
                    file = pathlib.Path(directory) / name
                    if file.is_file() and file.read_bytes()[:4] == EVIL:
                        found.append(file)
        return found

    def as_root(self, *arguments):
        return self.expect(self.sabath.run(*arguments, SABATH_CACHE=str(self.store)))

    def test_a_view_of_what_root_fetched(self):
        self.as_root("fetch", "one")
        self.as_user(ALICE, "fetch", "one")
        file = pathlib.Path(self.as_user(ALICE, "path", "one").out.strip()) / "f.bin"
        self.as_mallory(REPLACE)
        self.assertTrue(file.read_bytes() == GOOD, os.readlink(file) if file.is_symlink() else "a file")

    def test_a_view_is_not_copied_where_root_has_one(self):
        self.as_root("fetch", "one")
        self.as_user(ALICE, "fetch", "one")
        view = pathlib.Path(self.as_user(ALICE, "path", "one").out.strip())
        file = view / "f.bin"
        if file.is_symlink():  # no hard links to files of others here
            self.assertEqual(file.resolve(), self.store / "views.0" / view.name / "f.bin")
        else:
            self.assertGreater(file.stat().st_nlink, 1)
        self.as_root("rm", "one", "--now")
        self.assertEqual(file.read_bytes(), GOOD)  # a program that goes on to read it
        subprocess.run(["rm", "-rf", self.store / "views.0"], check=True)
        self.as_user(ALICE, "fetch", "one")
        self.assertEqual(file.read_bytes(), GOOD)

    def test_a_store_of_ones_own_before_the_shared_one(self):
        self.as_root("fetch", "one")
        both = {"SABATH_CACHE": f"{self.home}/home-{ALICE}/own:{self.store}"}
        self.as_user(ALICE, "fetch", "one", **both)
        file = pathlib.Path(self.as_user(ALICE, "path", "one", **both).out.strip()) / "f.bin"
        self.as_mallory(REPLACE)
        self.assertTrue(file.read_bytes() == GOOD, file.resolve())

    def test_names_and_trees_of_ones_own_content(self):
        self.sabath.add("two", [fragment(self.content.url(n), d, path=n, name=n[0])
                                for n, d in (("f.bin", GOOD), ("g.bin", GOOD[::-1]))])  # fmt: skip
        self.as_user(ALICE, "fetch", "one")
        self.as_user(ALICE, "fetch", "two")
        home = self.home / f"home-{ALICE}"
        for arguments in (("--as", "symlink", "--to", home / "links"), ("--as", "link", "--to", home / "hard"),
                          ("--layout", "hf", "--repo", "o/n", "--to", home / "hub"), ("--layout", "hf", "--repo", "o/n")):  # fmt: skip
            self.as_user(ALICE, "view", "two", *arguments)
        self.assertTrue((home / "links/f.bin").is_symlink())
        self.as_mallory(REPLACE)
        self.assertEqual(self.names_that_show_evil(), [])
        self.assertEqual((home / "links/f.bin").read_bytes(), GOOD)

    def test_a_batch_of_another_is_not_put_into_ones_own_rooms(self):
        self.as_user(ALICE, "fetch", "one")
        view = pathlib.Path(self.as_user(ALICE, "path", "one").out.strip())
        self.as_user(ALICE, "rm", "one")
        self.as_mallory(BATCH, f"views.{ALICE}/{view.name}", f"git.{ALICE}/{'a' * 64}", f"by-name.{ALICE}")
        self.as_user(ALICE, "gc", "--undo")
        strangers = [p for p in self.store.glob(f"*.{ALICE}/**/*") if p.lstat().st_uid == MALLORY]
        self.assertEqual(strangers, [])
        self.as_user(ALICE, "fetch", "one")
        self.assertEqual((view / "f.bin").read_bytes(), GOOD)
        self.assertEqual(view.stat().st_uid, ALICE)

    def test_a_file_that_is_no_pack_fails_no_verify(self):
        self.as_user(ALICE, "fetch", "one")
        self.as_mallory("import os; os.makedirs('packs', exist_ok=True); open('packs/readme', 'w').write('x')")
        self.assertIn("packs/readme", self.as_user(ALICE, "verify").err)

    def test_python_reads_no_file_that_its_owner_may_change(self):
        library = pathlib.Path(os.environ["SABATH_BINARY"]).parents[1] / "lib/libsabath.so.0"
        if not library.exists():
            self.skipTest("the library is not built")
        (self.home / "program/lib/libsabath.so.0").write_bytes(library.read_bytes())
        subprocess.run(["cp", "-r", TREE / "python/sabath", self.home / "py"], check=True)
        subprocess.run(["chmod", "-R", "a+rX", self.home / "py", self.home / "program"], check=True)
        (self.home / "packages").mkdir()
        (self.home / "py").rename(self.home / "packages/sabath")
        self.as_user(MALLORY, "fetch", "one")
        self.as_user(ALICE, "fetch", "one")
        variables = {"HOME": str(self.home / f"home-{ALICE}"), "SABATH_CACHE": str(self.store),
                     "PYTHONPATH": str(self.home / "packages"), "SABATH_PROGRAM": str(self.program),
                     "SABATH_LIBRARY": str(self.home / "program/lib/libsabath.so.0")}  # fmt: skip
        prefix = ["setpriv", f"--reuid={ALICE}", f"--regid={GROUP}", "--clear-groups", "--", "/usr/bin/python3", "-Bc"]
        process = subprocess.Popen([*prefix, READ], env={**self.sabath.environment, **variables}, text=True,
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)  # fmt: skip
        self.assertEqual(process.stdout.readline(), "b'good'\n")
        self.as_mallory("""
import os, sys
try:
    os.chmod(sys.argv[1], 0o644)
except PermissionError:
    os.rename(sys.argv[1], sys.argv[1] + "x")
open(sys.argv[1], "wb").write(b"evil".ljust(2_000_000, b"#"))
""", object_of(self.store, len(GOOD)))
        said = process.communicate("\n")[0]
        self.assertIn("b'good'", said)
        self.assertNotIn("evil", said)


if __name__ == "__main__":
    main()

#!/usr/bin/python3
"""manifest create, show, diff and verify; verify of the store; list, path, cite and du of what it holds."""

import hashlib
import os
import shutil
import signal
import time

from support.case import Case, main, place
from support.content import flip, fragment, seeded, small_tree
from support.program import interrupt

CHUNK = 4 << 20


class Manifests(Case):
    def setUp(self):
        super().setUp()
        self.data = self.home / "data"
        for name, content in small_tree().items():
            place(self.data / name, content)
        (self.data / "empty directory").mkdir()
        (self.data / "link").symlink_to("train/leaf")
        (self.data / "train/leaf").chmod(0o755)

    def manifest(self, *arguments, code=0):
        return self.expect(self.sabath.run("manifest", *arguments), code)

    def create(self, directory, name):
        (root,) = self.manifest("create", directory, "-o", name).lines
        self.assertRegex(root, "^sha256:[0-9a-f]{64}$")
        return root

    def test_the_root_names_the_content_alone(self):
        root = self.create(self.data, "a.manifest")
        copy = self.home / "elsewhere"
        shutil.copytree(self.data, copy, symlinks=True)
        for path in copy.rglob("*"):
            if not path.is_symlink():
                os.utime(path, (1, 1))
        self.assertEqual(self.create(copy, "b.manifest"), root)
        (copy / "train/leaf").chmod(0o644)
        self.assertNotEqual(self.create(copy, "b.manifest"), root)

    def test_show(self):
        root = self.create(self.data, "a.manifest")
        record = self.manifest("show", "a.manifest", "--chunks", "--json").record
        self.assertEqual(record["manifest"], root)
        self.assertEqual((record["files"], record["symlinks"]), (5, 1))
        entries = {entry["path"]: entry for entry in record["entries"]}
        self.assertEqual(entries["link"], {"path": "link", "type": "symlink", "target": "train/leaf"})
        self.assertEqual(entries["empty directory"]["type"], "directory")
        leaf = entries["train/leaf"]
        digest = hashlib.sha256((self.data / "train/leaf").read_bytes()).hexdigest()
        self.assertEqual((leaf["type"], leaf["digest"]), ("executable", f"sha256:{digest}"))
        self.assertEqual([len(entries[name]["chunks"]) for name in ("train/empty", "train/leaf+1",
                                                                     "train/deep/er/two chunks")], [0, 1, 3])  # fmt: skip
        text = self.manifest("show", "a.manifest").out
        self.assertIn(f"x          65536  {digest}  train/leaf\n", text)
        self.assertIn("link -> train/leaf\n", text)

    def test_a_single_file(self):
        self.create(self.data / "train/leaf+1", "a.manifest")
        (entry,) = self.manifest("show", "a.manifest", "--json").record["entries"]
        self.assertEqual((entry["path"], entry["size"]), ("leaf+1", 65537))
        self.manifest("verify", "a.manifest", self.data / "train/leaf+1")

    def test_diff(self):
        self.create(self.data, "a.manifest")
        self.assertEqual(self.manifest("diff", "a.manifest", "a.manifest", "--exit-code").out, "")
        place(self.data / "new", b"n")
        (self.data / "train/empty").unlink()
        flip(self.data / "train/deep/er/two chunks", 5)
        self.create(self.data, "b.manifest")
        result = self.manifest("diff", "a.manifest", "b.manifest")
        self.assertEqual([line[:20] for line in sorted(result.lines)],
                         ["+ new", "- train/empty", "~ train/deep/er/two "])  # fmt: skip
        self.manifest("diff", "a.manifest", "b.manifest", "--exit-code", code=7)
        kinds = {d["kind"] for d in self.manifest("diff", "a.manifest", "b.manifest", "--json").record["differences"]}
        self.assertEqual(kinds, {"added", "removed", "changed"})

    def test_verify_names_the_chunk(self):
        self.create(self.data, "a.manifest")
        self.manifest("verify", "a.manifest", self.data)
        flip(self.data / "train/deep/er/two chunks", CHUNK + 77)
        result = self.manifest("verify", "a.manifest", self.data, code=7)
        self.assertIn(f"warning: train/deep/er/two chunks: chunk 1 at byte {CHUNK}: does not match its hash\n", result.err)
        record = self.manifest("verify", "a.manifest", self.data, "--json", code=7).record
        self.assertEqual([(bad["path"], bad["chunk"], bad["offset"]) for bad in record["bad"]],
                         [("train/deep/er/two chunks", 1, CHUNK)])  # fmt: skip

    def test_verify_missing_extra_and_empty(self):
        self.create(self.data, "a.manifest")
        (self.data / "train/empty").unlink()
        self.assertIn("train/empty: missing", self.manifest("verify", "a.manifest", self.data, code=8).err)
        place(self.data / "more", b"m")
        self.assertIn("more: not in the manifest", self.manifest("verify", "a.manifest", self.data, code=7).err)
        self.manifest("verify", "a.manifest", self.data, "--allow-extra", code=8)
        (self.home / "nothing").mkdir()
        self.manifest("verify", "a.manifest", self.home / "nothing", code=9)
        self.manifest("verify", "a.manifest", self.home / "nowhere", code=3)

    def test_what_cannot_be_an_asset_is_refused(self):
        (self.data / "out").symlink_to("../../etc/passwd")
        self.manifest("create", self.data, "-o", "a.manifest", code=12)
        (self.data / "out").unlink()
        os.mkfifo(self.data / "pipe")
        self.manifest("create", self.data, "-o", "a.manifest", code=12)
        self.assertFalse((self.home / "a.manifest").exists())

    def test_a_damaged_manifest_is_refused(self):
        self.create(self.data, "a.manifest")
        good = (self.home / "a.manifest").read_bytes()
        for place_of_flip in (0, 9, len(good) // 2, len(good) - 1):
            bad = bytearray(good)
            bad[place_of_flip] ^= 1
            (self.home / "b.manifest").write_bytes(bad)
            self.manifest("show", "b.manifest", code=12)
        (self.home / "b.manifest").write_bytes(good[:-7])
        self.manifest("show", "b.manifest", code=12)
        self.manifest("create", self.data, "-o", "b.manifest")  # an older file is replaced as a whole
        self.assertEqual((self.home / "b.manifest").read_bytes(), good)

    def test_neither_file_nor_asset(self):
        self.assertIn("neither a manifest file nor an asset", self.manifest("show", "nothing", code=3).err)
        self.manifest("show", "sha256:" + "0" * 64, code=9)
        self.manifest("show", "sha256:zz", code=12)


class Stored(Case):
    def setUp(self):
        super().setUp()
        self.content = {"a.bin": seeded(2 * CHUNK + 9, 1), "b.bin": seeded(100, 2)}
        for name, data in self.content.items():
            place(self.home / name, data)
        self.sabath.add("two", [fragment((self.home / name).as_uri(), data, name=name[0])
                                for name, data in self.content.items()], citation=["@misc{two}"])  # fmt: skip
        self.view = self.expect(self.sabath.fetch("two")).asset["path"]

    def object_of(self, size):
        (found,) = [file for file in (self.sabath.store / "objects").rglob("*") if file.is_file() and
                    file.stat().st_size == size]  # fmt: skip
        return found

    def test_path_and_fragment(self):
        self.assertEqual(self.expect(self.sabath.run("path", "two")).out, f"{self.view}\n")
        result = self.expect(self.sabath.run("path", "two", "--fragment", "a"))
        self.assertEqual(result.out, f"{self.view}/a.bin\n")
        self.expect(self.sabath.run("path", "two", "--fragment", "z"), 3)
        self.sabath.add("three", [fragment("http://a.example/f")])
        missing = self.expect(self.sabath.run("path", "three"), 9)
        self.assertEqual(missing.out, "")
        self.assertIn("sabath fetch three", missing.err)

    def test_list_where_cite_du(self):
        self.sabath.add("three", [fragment("http://a.example/f")], access={"kind": "login", "steps": ["ask"]})
        listed = self.expect(self.sabath.run("list", "--json")).record["assets"]
        present = {asset["name"]: asset["present"] for asset in listed if asset["name"] in ("two", "three")}
        self.assertEqual(present, {"two": True, "three": False})
        self.assertEqual(self.expect(self.sabath.run("list", "--stored", "--names")).lines, ["two"])
        self.assertIn("three", self.expect(self.sabath.run("list", "--access", "login", "--names")).lines)
        self.assertNotIn("two", self.expect(self.sabath.run("list", "--access", "login", "--names")).lines)
        self.assertEqual(self.expect(self.sabath.run("list", "--kind", "workflow", "--names")).lines, ["xplacer"])
        where = self.expect(self.sabath.run("info", "--where", "two", "--json")).record
        self.assertEqual((where["path"], where["has_manifest"]), (self.view, True))
        self.assertEqual(self.expect(self.sabath.run("cite", "two")).out, "@misc{two}\n")
        self.expect(self.sabath.run("cite", "three"), 3)
        usage = self.expect(self.sabath.run("du", "--json")).record
        self.assertEqual((usage["objects"], usage["views"]), (2, 1))
        self.assertGreaterEqual(usage["object_bytes"], sum(map(len, self.content.values())))  # as the disk counts them

    def test_search(self):
        for pattern, found in (("^tw.$", ["two"]), ("^TWO$", ["two"]), ("zzz", [])):
            result = self.expect(self.sabath.run("search", "--names", pattern), 0 if found else 3)
            self.assertEqual(result.lines, found)
        self.sabath.add("long", [fragment("http://a.example/f")], description="q" * 59000 + "\nThexx lastxx\nlinexx")
        for pattern in ("q t?", "qz", "q$thexx", "^lastxx", "thexx$"):
            self.expect(self.sabath.run("search", "--names", pattern), 3)
        for pattern in ("qq$", "^thexx", "lastxx$", "^LINEXX$", "(?-i)Thexx"):  # of a line, also far behind
            self.assertEqual(self.expect(self.sabath.run("search", "--names", pattern)).lines, ["long"])
        result = self.expect(self.sabath.run("search", "--names", "(q*)*(q*)*qz"), 3)
        self.assertLess(result.seconds, 100)

    def test_manifest_of_an_asset(self):
        record = self.expect(self.sabath.run("manifest", "show", "two", "--json")).record
        self.assertEqual([entry["path"] for entry in record["entries"]], ["a.bin", "b.bin"])
        again = self.expect(self.sabath.run("manifest", "show", record["manifest"], "--json")).record
        self.assertEqual(again, record)
        self.expect(self.sabath.run("manifest", "verify", "two", self.view))

    def test_verify_is_content_with_good_content(self):
        record = self.expect(self.sabath.run("verify", "two", "--json")).record
        (asset,) = record["assets"]
        self.assertEqual((asset["files"], asset["bytes_read"], asset["bad"], asset["missing"]),
                         (2, 2 * CHUNK + 109, [], 0))  # fmt: skip
        self.expect(self.sabath.run("verify"))

    def test_verify_names_a_flipped_byte_and_fetch_mends_it(self):
        for names, path in ((["two"], "a.bin"), ([], None)):
            flip(self.object_of(2 * CHUNK + 9), CHUNK + 1)
            record = self.expect(self.sabath.run("verify", *names, "--json"), 7).record
            (bad,) = record["assets"][0]["bad"]
            self.assertEqual((bad["chunk"], bad["offset"]), (1, CHUNK))
            if path is not None:
                self.assertEqual(bad["path"], path)
            self.expect(self.sabath.run("path", "two"), 9)
            self.expect(self.sabath.fetch("two"))
            self.expect(self.sabath.run("verify", *names))
            self.assertEqual((self.home / self.view / "a.bin").read_bytes(), self.content["a.bin"])

    def test_an_interrupted_verify_blames_nothing(self):
        place(self.home / "big.bin", seeded(40 * CHUNK, 3))
        self.sabath.add("big", [fragment((self.home / "big.bin").as_uri())])
        path = self.expect(self.sabath.fetch("big")).asset["path"]
        process = self.sabath.start("verify", "-j", "1")
        time.sleep(0.05)  # where it is then does not matter
        result = interrupt(process)
        self.assertIn(result.exit, (0, 130, -signal.SIGINT), result.err)  # the last: before its handlers stood
        self.expect(self.sabath.run("verify"))
        self.assertEqual((self.home / path / "big.bin").stat().st_size, 40 * CHUNK)

    def test_verify_names_what_is_missing(self):
        self.object_of(100).unlink()
        result = self.expect(self.sabath.run("verify", "two"), 8)
        self.assertIn("b.bin: missing", result.err)
        self.object_of(2 * CHUNK + 9).unlink()
        self.expect(self.sabath.run("verify", "two"), 9)


if __name__ == "__main__":
    main()

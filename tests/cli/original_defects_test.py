#!/usr/bin/python3
"""The sixteen defects of the original SABATH, one test each: this one must not repeat them.

Numbered as in the comparison of the paper with the original's code. What concerns `run` is tested as far as recipes,
`fetch` and `path` decide it.
"""

import json
import os
import pathlib
import shutil
import subprocess
import unittest

from support.case import Case, main, place
from support.content import archive_bytes, fragment, read_tree, seeded, sha256, small_tree, snapshot


class OriginalDefects(Case):
    def setUp(self):
        super().setUp()
        self.data = seeded(300_000)
        self.server = self.serve({"f.bin": self.data})

    def original(self, name, kind, **recipe):
        """A recipe in the original's place and schema."""
        file = self.home / f"root/var/sabath/assets/sabath/{kind}s/{name[0]}/{name}.json"
        place(file, json.dumps({"name": name, **recipe}).encode())

    def rooted(self, *arguments):
        return self.sabath.run("--root", self.home / "root", *arguments)

    def test_01_what_fetch_brings_is_what_path_finds(self):
        """The original fetched to one directory and looked in another."""
        url = self.server.url("f.bin")
        self.original("data", "dataset", fragments=[{"id": "main", "url": url, "type": "file"}])
        fetched = self.expect(self.rooted("fetch", "--json", "data")).asset["path"]
        for limit_free_lookup in (("path", "data"), ("path", "DATA")):
            self.assertEqual(self.rooted(*limit_free_lookup).lines, [fetched])
        self.expect_tree(fetched, {"f.bin": self.data})

    def test_02_dataset_is_a_place(self):
        """{dataset} expanded to a Python object; {dataset} and {dataset.ID} are paths, and {dataset.NONE} is nothing."""
        packed = archive_bytes("tar", small_tree())
        place(self.server.root / "a.tar", packed)
        self.sabath.add(
            "data",
            [
                fragment(self.server.url("f.bin"), name="labels", path="x/labels.bin"),
                fragment(self.server.url("a.tar"), kind="archive", name="main", path="main"),
            ],
        )
        view = self.fetch("data")["path"]
        self.assertEqual(self.sabath.run("path", "data").lines, [view])
        self.assertEqual(self.sabath.run("path", "data", "--fragment", "labels").lines, [f"{view}/x/labels.bin"])
        self.assertEqual(self.sabath.run("path", "data", "--fragment", "main").lines, [f"{view}/main"])
        self.assertEqual(self.sabath.run("path", "data", "--fragment", "none").exit, 3)

    def test_03_list_and_info_say_something(self):
        self.sabath.add("data", [fragment(self.server.url("f.bin"), self.data)], description="made for a test")
        listed = self.expect(self.sabath.run("list", "--json"))
        self.assertIn("data", listed.out)
        info = self.expect(self.sabath.run("info", "data"))
        self.assertIn("made for a test", info.out)
        self.assertEqual(self.sabath.run("info", "none").exit, 3)

    def test_04_checksums_are_read(self):
        for algorithm, length in (("md5", 32), ("sha1", 40), ("sha256", 64)):
            with self.subTest(algorithm):
                entry = {"id": "main", "url": self.server.url("f.bin"), "type": "file"}
                self.original("data", "dataset", fragments=[{**entry, "checksum": {algorithm: "0" * length}}])
                result = self.rooted("fetch", "--json", "data")
                self.assertEqual(result.exit, 7)
                self.assertIn(algorithm, result.err)
                self.assertEqual(self.sabath.visible(), [])

    def test_05_a_truncated_file_is_not_complete(self):
        """`if not exists: wget`: what a broken transfer left counted as complete for ever."""
        self.server.stop()
        data = seeded(10_000_000)
        server = self.serve({"g.bin": data}, name="breaking", extra="location /g.bin { limit_rate 4m; }")
        self.sabath.add("data", [fragment(server.url("g.bin"))])
        process = self.sabath.start("fetch", "data")
        while not any(file.stat().st_size for file in (self.sabath.store / "partial").rglob("*") if file.is_file()):
            self.assertIsNone(process.poll(), "it ended before it could be killed")
        process.kill()
        process.communicate()
        self.assertEqual(self.sabath.run("path", "data").exit, 9)
        self.assertEqual(self.sabath.visible(), [])
        self.expect_tree(self.fetch("data")["path"], {"g.bin": data})

    def test_06_a_failed_transfer_fails(self):
        """wget's exit code was ignored, and the archive that was not there extracted."""
        self.sabath.add("data", [fragment(self.server.url("none.tar"), kind="archive")])
        asset = self.fetch("data", code=6)
        self.assertIn("404", asset["failures"][0]["message"])
        self.assertNotIn("unpack", " ".join(failure["message"] for failure in asset["failures"]))

    def test_07_space_mirrors_and_content_names(self):
        """Room is checked before byte one; mirrors are tried; equal content is one object."""
        self.sabath.add("huge", [{**fragment(self.server.url("f.bin")), "size": 1 << 60}])
        self.assertEqual(self.fetch("huge", code=5)["fetched_bytes"], 0)
        self.assertEqual(self.server.log(), [])
        mirrors = [self.server.url("none.bin"), self.server.url("f.bin")]
        self.sabath.add("data", [fragment(mirrors, self.data), fragment(mirrors, self.data, name="b", path="b.bin")])
        asset = self.fetch("data")
        self.expect_tree(asset["path"], {"none.bin": self.data, "b.bin": self.data})
        objects = [file for file in (self.sabath.store / "objects").rglob("*") if file.is_file()]
        self.assertEqual(len(objects), 1)

    def test_08_requirements_are_read(self):
        self.original(
            "model", "model",
            requirements={"python": "==3.11", "pip": ["numpy"], "system_modules": ["gcc"]},
            env_vars={"HDF5_USE_FILE_LOCKING": "FALSE"},
            git={"origin": "https://example.org/m.git", "branch": "main"},
        )  # fmt: skip
        text = self.expect(self.rooted("info", "model", "--json")).out
        for word in ("numpy", "==3.11", "gcc", "HDF5_USE_FILE_LOCKING", "https://example.org/m.git"):
            self.assertIn(word, text)

    def test_09_the_run_set_is_chosen_by_name(self):
        """The first run set was always taken, under any name: a model brings the dataset that its run set names."""
        url = self.server.url("f.bin")
        for name in ("one", "two"):
            self.original(name, "dataset", fragments=[{"id": "main", "url": url, "type": "file"}])
        self.original("model", "model", run={"nosuch": ["true"], "two": ["true {dataset.main}"]})
        result = self.expect(self.rooted("fetch", "--dry-run", "--json", "model"), 4)  # the model has no source
        self.assertEqual([asset["name"] for asset in result.record["assets"]], ["model", "two"])
        result = self.expect(self.rooted("fetch", "--dry-run", "--json", "model", "-d", "one"), 4)
        self.assertEqual([asset["name"] for asset in result.record["assets"]], ["model", "one"])

    def test_10_a_dry_run_touches_nothing(self):
        self.sabath.add("data", [fragment(self.server.url("f.bin"), self.data)])
        before = snapshot(self.home)
        self.fetch("data", "--dry-run")
        after = snapshot(self.home)
        ours = str(self.server.directory)
        self.assertEqual({k: v for k, v in after.items() if not k.startswith(ours)},
                         {k: v for k, v in before.items() if not k.startswith(ours)})  # fmt: skip
        self.assertEqual(self.server.log(), [])

    def test_11_a_local_copy_stands_under_the_fragments_name(self):
        mine = self.home / "my-download(1).bin"
        mine.write_bytes(self.data)
        self.sabath.add("data", [fragment(self.server.url("f.bin"), self.data)])
        for option in ("--path", "--link"):
            with self.subTest(option):
                shutil.rmtree(self.sabath.store, ignore_errors=True)
                self.expect_tree(self.fetch("data", option, mine)["path"], {"f.bin": self.data})
                self.expect_tree(self.sabath.run("path", "data").lines[0], {"f.bin": self.data})

    @unittest.skipUnless(shutil.which("git"), "there is no git program")
    def test_12_the_cached_source_tree_cannot_be_changed(self):
        """Recipes edited files inside the cached clone: each run changed what the next one saw."""
        work = self.home / "work"
        place(work / "train.py", b"lr = 0.1\n")
        run = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org"]
        for words in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-q", "-m", "one"]):
            subprocess.run([*run, *words], cwd=work, check=True, env={"PATH": os.environ["PATH"], "HOME": str(self.home)})
        self.sabath.add("model", kind="model", git={"origin": f"file://{work}", "branch": "main"})
        file = pathlib.Path(self.fetch("-m", "model")["path"]) / "train.py"
        self.assertEqual(file.stat().st_mode & 0o222, 0)
        file.chmod(0o644)
        file.write_bytes(b"lr = 9.9\n")  # as `sed -i` of the owner, or root, would
        self.assertNotEqual(self.sabath.run("verify", "model").exit, 0)
        asset = self.fetch("-m", "model")
        self.assertEqual((pathlib.Path(asset["path"]) / "train.py").read_bytes(), b"lr = 0.1\n")

    def test_13_a_page_instead_of_data_is_refused(self):
        """GitHub /blob/ URLs: a web page was stored as the data, silently."""
        page = b"<!DOCTYPE html>\n<html><head><title>f.yaml at main</title></head><body>...</body></html>\n"
        place(self.server.root / "user/repo/blob/main/f.yaml", page)
        self.sabath.add("data", [fragment(self.server.url("user/repo/blob/main/f.yaml"))])
        asset = self.fetch("data", code=4)
        self.assertIn("page", asset["failures"][0]["message"])
        self.assertIn("/raw/", asset["failures"][0]["hint"])
        self.assertEqual(self.sabath.visible(), [])

    def test_14_a_list_is_kept_as_it_came(self):
        """The fetched list was cut down to its limit in place: list and limit could not be checked again."""
        text = b"# three\na\nb\nc\n"
        for name in ("a", "b", "c"):
            place(self.server.root / "l" / name, name.encode())
        place(self.server.root / "l/list.txt", text)
        entry = {"id": "main", "url": self.server.url("l/list.txt"), "type": "file_list", "limit": 2}
        self.original("data", "dataset", fragments=[{**entry, "checksum": {"sha256": sha256(text)}}])
        for _ in range(2):
            asset = self.expect(self.rooted("fetch", "--json", "--force", "data")).asset
            self.assertEqual(read_tree(asset["path"]), {"list.txt": text, "a": b"a", "b": b"b"})

    def test_15_an_unknown_placeholder_is_refused(self):
        """It was logged, and the command ran with the literal text."""
        self.original("model", "model", run={"data": ["python {souce}/train.py"]})
        for command in (("info", "model"), ("fetch", "-m", "model")):
            result = self.rooted(*command)
            self.assertEqual(result.exit, 12, result.err)
            self.assertIn("souce", result.err)

    def test_16_nothing_is_written_but_the_store(self):
        """Importing the original wrote a cache and a log into its own source tree."""
        self.sabath.add("data", [fragment(self.server.url("f.bin"), self.data)])
        self.sabath.environment["XDG_CACHE_HOME"] = str(self.server.directory / "cache")  # where `search` has its index
        for command in (("list",), ("info", "data"), ("search", "data"), ("fetchers",), ("--version",), ("config",)):
            before = snapshot(self.home)
            self.sabath.run(*command)
            self.assertEqual(self.without_server(snapshot(self.home)), self.without_server(before), command)
        before = snapshot(self.sabath.recipes)
        self.fetch("data")
        self.assertEqual(snapshot(self.sabath.recipes), before)
        self.assertEqual(sorted(path.name for path in self.home.iterdir()), ["origin", "recipes", "store"])

    def without_server(self, facts):
        return {path: fact for path, fact in facts.items() if not path.startswith(str(self.server.directory))}


if __name__ == "__main__":
    main()

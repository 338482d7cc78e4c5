#!/usr/bin/python3
"""Data that is here already is known without being copied, and never served for what it was once it has changed."""

import json
import os
import shutil
import socket
import time

from support.case import Case, main, place
from support.content import fragment, seeded, small_tree


class Adopt(Case):
    def setUp(self):
        super().setUp()
        self.data = self.home / "data"
        self.tree = small_tree()
        for name, data in self.tree.items():
            place(self.data / name, data)
        place(self.data / "bin/tool", b"#!/bin/sh\n")
        (self.data / "bin/tool").chmod(0o755)
        (self.data / "bin/alias").symlink_to("tool")
        self.tree["bin/tool"] = self.tree["bin/alias"] = b"#!/bin/sh\n"

    def adopt(self, *arguments, code=0):
        return self.expect(self.sabath.run("adopt", self.data, *arguments), code)

    def adopt_as(self, name):
        recipe = json.loads(self.adopt("--name", name).out)
        (self.sabath.recipes / "datasets" / f"{name}.json").write_text(json.dumps(recipe))
        return recipe

    def stored_bytes(self):
        return sum(p.lstat().st_size for p in (self.sabath.store / "objects").rglob("*") if p.is_file())

    def test_fetch_finds_it_and_nothing_is_copied(self):
        self.adopt_as("mine")
        objects = [p for p in (self.sabath.store / "objects").rglob("*") if not p.is_dir()]
        self.assertTrue(objects and all(p.is_symlink() for p in objects))
        asset = self.fetch("mine")
        self.assertEqual((asset["fetched_bytes"], asset["path"] is None), (0, False))
        self.expect_tree(asset["path"], self.tree)
        self.assertTrue(os.path.islink(f"{asset['path']}/train/leaf"))
        self.assertFalse(os.path.islink(f"{asset['path']}/bin/tool"))
        self.expect(self.sabath.run("verify", "mine"))
        self.assertEqual(self.expect(self.sabath.run("path", "mine")).out.strip(), asset["path"])

    def test_a_collection_for_space_leaves_it(self):
        self.adopt("--name", "mine")
        path = self.expect(self.sabath.run("path", "mine")).out.strip()
        data = seeded(3000, 7)
        self.sabath.add("other", [fragment(self.serve({"f": data}).url("f"), data)])
        self.fetch("other")
        collect = ("gc", "--max-size", "0", "--grace", "0s", "--now", "--json")
        record = json.loads(self.expect(self.sabath.run(*collect)).out)
        self.assertEqual([a["name"] for a in record["collected"]], ["other"])
        self.assertEqual(self.expect(self.sabath.run("path", "mine")).out.strip(), path)
        time.sleep(1.1)
        record = json.loads(self.expect(self.sabath.run(*collect, "--older-than", "1s")).out)
        self.assertEqual([a["name"] for a in record["collected"]], ["mine"])
        self.expect_tree(self.data, self.tree)  # the user's own files

    def test_what_has_lost_its_view_is_in_the_store_all_the_same(self):
        self.adopt("--name", "mine")
        shutil.rmtree(self.expect(self.sabath.run("path", "mine")).out.strip())
        told = self.expect(self.sabath.run("path", "mine"), 9).err
        self.assertIn("mine is in the store, and has no view", told)
        self.expect(self.sabath.run("view", "mine"))  # the hint
        self.expect_tree(self.expect(self.sabath.run("path", "mine")).out.strip(), self.tree)

    def test_the_root_is_that_of_a_manifest_of_the_directory(self):
        made = self.expect(self.sabath.run("manifest", "create", self.data, "-o", self.home / "m", "--json")).record
        adopted = json.loads(self.adopt("--json", "-j", "3").out)
        self.assertEqual(adopted["manifest"], made["manifest"])
        self.assertEqual((adopted["files"], adopted["bytes"], adopted["recipe"]), (made["files"], made["bytes"], None))

    def test_changes_are_seen(self):
        self.adopt_as("mine")
        self.fetch("mine")
        file = self.data / "train/leaf+1"
        before = file.stat()

        def same_size_and_time():
            with open(file, "r+b") as out:
                out.write(b"X")
            os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))

        def replaced():
            file.unlink()
            file.write_bytes(seeded(65537, 99))

        def removed():
            file.unlink()

        for change in (same_size_and_time, replaced, removed):
            with self.subTest(change.__name__):
                change()
                lacks = self.expect(self.sabath.run("path", "mine"), 9).err
                self.assertIn(f"mine is not whole in the store: 1 of {len(self.tree) - 1} files are missing, the first is train/leaf+1", lacks)
                self.assertIn("hint: put the files back as they were", lacks)  # its name is one of a recipe of the user
                self.expect(self.sabath.fetch("mine"), 4)  # nothing can bring it: the recipe says what to do
        place(file, self.tree["train/leaf+1"])
        self.adopt()
        self.expect_tree(self.fetch("mine")["path"], self.tree)

    def test_a_plan_says_what_a_fetch_does(self):
        """No source is asked for what is here; what is missing nothing can bring."""
        self.adopt_as("mine")
        for code, change in ((0, None), (4, (self.data / "train/leaf+1").unlink)):
            if change:
                change()
            planned = self.expect(self.sabath.run("plan", "--json", "mine"), code).record
            self.assertEqual([refusal["kind"] for refusal in planned["refusals"]], ["access"] if code else [])
            self.assertEqual(planned["assets"][0]["to_fetch"]["files"], 1 if code else 0)
            self.expect(self.sabath.fetch("mine"), code)

    def test_another_version_under_a_pinned_name_is_refused(self):
        self.adopt_as("mine")
        place(self.data / "more", b"1")
        self.adopt("--name", "mine", code=7)

    def test_content_of_adopted_files_is_not_fetched(self):
        from support.content import fragment

        self.adopt()
        server = self.serve({"x": self.tree["train/deep/er/two chunks"]})
        made = self.expect(self.sabath.run("manifest", "create", server.root, "-o", self.home / "m", "--json")).record
        self.sabath.add("other", [fragment(server.url("x"))], manifest={"digest": made["manifest"], "urls": []})
        asset = self.fetch("other", "--manifest", self.home / "m")
        self.assertEqual((asset["fetched_bytes"], server.log()), (0, []))

    def test_hostile_trees(self):
        def fifo(place):
            os.mkfifo(place)

        def unix_socket(place):
            with socket.socket(socket.AF_UNIX) as one:
                one.bind(str(place))

        def outside(place):
            place.symlink_to("/etc/passwd")

        def climbing(place):
            place.symlink_to("../../etc")

        def newline(place):
            (place.parent / "new\nline").write_bytes(b"")

        def no_text(place):
            with open(os.fsencode(place.parent) + b"/\xff\xfe", "wb"):
                pass

        def deep(place):
            at = place
            for _ in range(140):
                at = at / "d"
            at.mkdir(parents=True)

        for make in (fifo, unix_socket, outside, climbing, newline, no_text, deep):
            with self.subTest(make.__name__):
                data = self.home / make.__name__
                (data / "sub").mkdir(parents=True)
                place(data / "good", b"good")
                make(data / "sub" / "bad")
                result = self.expect(self.sabath.run("adopt", data), 12)
                self.assertNotIn("\nline", result.err)
                self.assertEqual(list((self.sabath.store / "manifests").rglob("??/*")), [])

    def test_a_loop_of_symlinks_is_kept_and_not_followed(self):
        (self.data / "loop").symlink_to(".")
        (self.data / "a").symlink_to("b")
        (self.data / "b").symlink_to("a")
        self.adopt()

    def test_places_that_cannot_be(self):
        self.adopt()
        self.expect(self.sabath.run("adopt", self.sabath.store), 2)
        self.expect(self.sabath.run("adopt", self.home), 2)
        self.expect(self.sabath.run("adopt", self.data / "train/leaf"), 2)
        self.expect(self.sabath.run("adopt", self.home / "absent"), 2)

    def test_an_empty_directory(self):
        empty = self.home / "empty"
        empty.mkdir()
        self.assertEqual(self.expect(self.sabath.run("adopt", empty, "--json")).record["files"], 0)

    def test_collection_leaves_the_files(self):
        self.adopt_as("mine")
        self.fetch("mine")
        self.expect(self.sabath.run("gc", "--older-than", "0s", "--now", "--force-local"))
        for name, data in self.tree.items():
            self.assertEqual((self.data / name).read_bytes(), data)


if __name__ == "__main__":
    main()

#!/usr/bin/python3
"""Many small files: few inodes in the store, a view on request, verified, collected, killed, and repaired."""

import os
import pathlib
import resource
import signal
import unittest

from support.case import Case, main
from support.content import flip, seeded
from support.origin import body_bytes, poll
from support.program import finish

FILES = 3000
HELD_KIB_MAX = 280 << 10  # what waits for a pack, a buffer for each of 64 connections, and the program itself


class Packs(Case):
    def setUp(self):
        super().setUp()
        self.files = {f"d{i % 30:02d}/f{i:04d}": seeded(500 + i % 700, i) for i in range(FILES)}
        self.files["d00/text"] = b"the same line again\n" * 2000
        text = "".join(f"{name}\n" for name in self.files).encode()
        self.server = self.serve({**self.files, "list.txt": text})
        self.files["list.txt"] = text
        self.sabath.add("many", [{"id": "all", "type": "file_list", "urls": [self.server.url("list.txt")]}])

    def inodes(self):
        return sum(1 + len(names) for _, _, names in os.walk(self.sabath.store))

    def packs(self):
        return sorted((self.sabath.store / "packs").iterdir())

    def test_a_pinned_one_is_no_rest_of_a_fetch(self):
        """It has no view, and its recipe says what it is: the store has to know that it is an asset."""
        self.fetch("many")
        made = self.expect(self.sabath.run("plan", "many", "--json")).record["assets"][0]["manifest"]
        self.sabath.add("kept", [{"id": "all", "type": "file_list", "urls": [self.server.url("list.txt")]}],
                        manifest={"digest": made, "urls": []})  # fmt: skip
        for ref in (self.sabath.store / "refs").rglob("*.json"):
            ref.unlink()
        self.assertTrue(self.fetch("kept", "--offline")["packed"])
        plan = self.expect(self.sabath.run("plan", "kept", "--json")).record["assets"][0]
        self.assertEqual((plan["by_source"]["files"], plan["by_content"]["files"]), (FILES + 2, 0))
        collected = self.expect(self.sabath.run("gc", "--grace", "0s", "--now", "--json")).record
        self.assertEqual(collected["collected_objects"], 0)
        self.assertTrue(self.fetch("kept", "--offline")["packed"])
        collected = self.expect(self.sabath.run("gc", "--older-than", "0s", "--now", "--json")).record
        self.assertEqual([asset["source"] for asset in collected["collected"]], [self.server.url("list.txt")])

    def test_they_cost_few_inodes_and_a_view_is_made_on_request(self):
        asset = self.fetch("many")
        self.assertTrue(asset["packed"])
        self.assertIsNone(asset["path"])
        self.assertLess(self.inodes(), 60)
        usage = self.expect(self.sabath.run("du", "--json")).record
        self.assertGreaterEqual(usage["packed_files"], FILES)
        self.assertLess(usage["inodes"], 60)
        seen = self.server.log()
        again = self.fetch("many")
        self.assertEqual((again["fetched_bytes"], again["packed"]), (0, True))
        self.assertEqual(self.server.log(), seen)
        refused = self.expect(self.sabath.run("path", "many"), 9)
        self.assertIn("sabath view many", refused.err)
        where = self.expect(self.sabath.run("info", "--where", "many", "--json"), 9).record
        self.assertEqual((where["packed"], where["path"]), (True, None))
        out = self.home / "out"
        viewed = self.expect(self.sabath.run("view", "many", "--to", out, "--json")).record
        self.assertEqual(pathlib.Path(viewed["path"]), out)
        self.expect_tree(out, self.files)
        self.expect(self.sabath.run("view", "many", "--to", out))  # its own tree
        self.assertLess(self.inodes(), 60)
        path = self.expect(self.sabath.run("view", "many")).out.strip()
        self.expect_tree(path, self.files)
        self.assertEqual(self.expect(self.sabath.run("path", "many")).out.strip(), path)
        self.assertEqual(self.fetch("many")["path"], path)
        self.assertEqual(self.expect(self.sabath.run("verify", "many", "--json")).asset["missing"], 0)

    def test_a_fetch_ends_with_a_path_or_names_the_command_that_gives_it(self):
        inodes = FILES + 2 + 30 + 1  # files, their directories, and the view itself
        bare = self.expect(self.sabath.run("fetch", "many"))
        self.assertEqual(bare.out, "\n")  # no other asset's path
        self.assertIn(f"many is kept in packs: `sabath view many` makes its tree, which takes {inodes} inodes", bare.err)
        self.assertEqual(self.fetch("many")["view_inodes"], inodes)
        refused = self.expect(self.sabath.run("path", "many"), 9)
        self.assertEqual(refused.out, "")
        self.assertIn(f"`sabath view many` makes one, of {inodes} inodes", refused.err)
        path = self.expect(self.sabath.run("fetch", "many", "--view")).lines[-1]
        self.expect_tree(path, self.files)
        self.assertEqual(sum(1 + len(names) for _, _, names in os.walk(path)), inodes)
        self.assertEqual(self.expect(self.sabath.run("path", "many")).lines, [path])
        again = self.fetch("many")
        self.assertEqual((again["path"], again["packed"], again["view_inodes"]), (path, False, None))

    def test_a_run_makes_the_view_itself(self):
        self.sabath.add("reader", kind="model", run={"many": [{"argv": ["cat", "{dataset}/d00/text"]}]})
        self.fetch("many")
        run = self.home / "run"
        self.expect(self.sabath.run("run", "reader", "many", "--no-fetch", "--run-dir", run))
        self.assertIn("the same line again", "".join(file.read_text() for file in (run / "output").glob("stdout*")))
        self.expect(self.sabath.run("path", "many"))

    def test_a_flipped_bit_costs_one_file(self):
        self.fetch("many")
        size = sum(pack.stat().st_size for pack in self.packs())
        right = self.expect(self.sabath.run("verify", "many", "--json")).asset
        self.assertEqual((right["files"], right["missing"]), (FILES + 2, 0))
        self.assertLessEqual(size, right["bytes_read"])
        for arguments in ([], ["--quick"]):
            flip(self.packs()[0], 5000)
            found = self.expect(self.sabath.run("verify", "many", "--json", *arguments), 7).asset
            self.assertEqual(len(found["bad"]), 1)
            lost = found["bad"][0]["path"]
            self.assertIn(lost, self.files)
            before = body_bytes(self.server.log())
            self.expect(self.sabath.run("verify", "many", "--repair"))
            self.assertEqual(body_bytes(self.server.log()) - before, len(self.files[lost]))
            self.expect(self.sabath.run("verify"))

    def test_collection_and_undo(self):
        self.fetch("many")
        packs = self.packs()
        self.expect(self.sabath.run("gc", "--older-than", "0s"))
        self.assertEqual(list((self.sabath.store / "packs").iterdir()), [])
        seen = self.server.log()
        self.expect(self.sabath.run("gc", "--undo"))
        self.assertEqual(self.packs(), packs)
        self.assertEqual(self.fetch("many")["fetched_bytes"], 0)
        self.assertEqual(self.server.log(), seen)
        self.expect(self.sabath.run("gc", "--older-than", "0s", "--now"))
        self.assertEqual(list((self.sabath.store / "packs").iterdir()), [])

    def test_a_kill_leaves_a_store_that_goes_on(self):
        for round_ in range(3):
            process = self.sabath.start("fetch", "many", "--json")
            poll(lambda: len(self.server.log()) > 500 * (round_ + 1) or process.poll() is not None)
            process.send_signal(signal.SIGKILL)
            finish(process)
            if (self.sabath.store / "format").exists():
                self.expect(self.sabath.run("verify"))
        self.fetch("many")
        out = self.home / "out"
        self.expect(self.sabath.run("view", "many", "--to", out))
        self.expect_tree(out, self.files)
        self.expect(self.sabath.run("verify"))


class Memory(Case):
    @unittest.skipIf(os.environ.get("SABATH_INSTRUMENTED"), "an instrumented build needs more memory for the same")
    def test_content_that_comes_faster_than_packs_are_written_waits_outside_of_memory(self):
        names = [f"{number:05d}" for number in range(8000)]
        source = self.home / "fast"
        source.mkdir()
        one = seeded(65536, 1)
        for name in names:
            (source / name).write_bytes(name.encode() + one[len(name) :])
        (source / "list.txt").write_text("".join(f"{name}\n" for name in names))
        self.sabath.add("fast", [{"id": "all", "type": "file_list", "urls": [f"file://{source}/list.txt"]}])
        asset = self.expect(self.sabath.fetch("fast")).asset
        self.assertTrue(asset["packed"])
        self.assertLess(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, HELD_KIB_MAX)


if __name__ == "__main__":
    main()

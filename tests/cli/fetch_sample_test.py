#!/usr/bin/python3
"""A part of an asset: --sample and --select, by what a real server was asked for."""

import io
import json
import os
import tarfile

from support.case import Case, main
from support.content import fragment, seeded, tar_bytes

MIB = 1 << 20
NO_RANGES = "max_ranges 0;"


class Part(Case):
    def tar(self, tree, name="a.tar", **options):
        packed = tar_bytes(tree, **options)
        server = self.serve({name: packed})
        return server, packed

    def add(self, server, packed, name="set", **more):
        self.sabath.add(name, [fragment(server.url("a.tar"), packed, kind="archive", **more)])

    def part(self, tree, names):
        return {name: tree[name] for name in names}


class RemoteTar(Part):
    def setUp(self):
        super().setUp()
        self.tree = {f"train/{i:03}.h5": seeded(MIB, i) for i in range(64)}
        self.server, self.packed = self.tar(self.tree)
        self.add(self.server, self.packed)

    def test_a_sample_moves_little_more_than_itself(self):
        asset = self.fetch("set", "--sample", "4")
        self.expect_tree(asset["path"], self.part(self.tree, [f"train/{i:03}.h5" for i in range(4)]))
        self.expect_log(asset, self.server.log())
        self.assertLessEqual(asset["fetched_bytes"], 4 * MIB * 1.05)
        self.assertEqual(asset["selection"], {"sample": 4, "select": []})
        self.assertEqual(asset["trusted_by"], "first use")
        self.assertIn("cannot be checked", asset["err"])

    def test_again_asks_nobody_and_more_moves_the_rest(self):
        self.fetch("set", "--sample", "4")
        before = self.server.log()
        self.assertEqual(self.fetch("set", "--sample", "4")["fetched_bytes"], 0)
        self.assertEqual(self.server.new_requests(before), [])
        asset = self.fetch("set", "--sample", "6")
        self.expect_tree(asset["path"], self.part(self.tree, [f"train/{i:03}.h5" for i in range(6)]))
        self.assertLessEqual(asset["fetched_bytes"], 2 * MIB * 1.05)
        self.assertEqual(asset["reused_bytes"], 4 * MIB)

    def test_a_part_is_not_the_whole(self):
        self.fetch("set", "--sample", "4")
        self.expect(self.sabath.run("path", "set"), 9)
        self.fetch("set", "--offline", code=9)
        asset = self.fetch("set")
        self.expect_tree(asset["path"], self.tree)
        self.assertIsNone(asset["selection"])
        self.assertEqual(asset["trusted_by"], "checksum")

    def test_parts_go_with_the_asset(self):
        self.sabath.add("twin", [fragment(self.server.url("a.tar").replace("127.0.0.1", "localhost"), self.packed, kind="archive")])
        for name, *chosen in (("set", "--sample", "2"), ("set", "--select", "*/00[12].h5"), ("twin", "--sample", "3")):
            self.fetch(name, *chosen)
        (gone,) = self.expect(self.sabath.run("rm", "--json", "set")).record["assets"]
        self.assertEqual(gone["parts"], 2)
        self.assertEqual(self.sabath.run("du", "--json").record["views"], 1)
        kept = self.fetch("twin", "--sample", "3", "--offline")
        self.expect_tree(kept["path"], self.part(self.tree, [f"train/{i:03}.h5" for i in range(3)]))
        self.assertIn("does not hold", self.expect(self.sabath.run("rm", "set"), 9).err)
        self.assertEqual(self.expect(self.sabath.run("rm", "--json", "twin")).record["assets"][0]["parts"], 1)
        self.fetch("set", "--sample", "2")
        self.fetch("set")
        self.fetch("set", "--select", "train/06?.h5")
        self.assertIn("with 2 parts of it", self.expect(self.sabath.run("rm", "set")).err)
        left = self.sabath.run("du", "--json").record
        self.assertEqual((left["object_bytes"], left["views"]), (0, 0))

    def test_the_index_is_read_once(self):
        asset = self.fetch("set", "--select", "train/*7.h5")
        names = [f"train/{i:03}.h5" for i in range(64) if i % 10 == 7]
        self.expect_tree(asset["path"], self.part(self.tree, names))
        self.assertLessEqual(asset["fetched_bytes"], len(names) * MIB + 64 * 8192)
        before = self.server.log()
        asset = self.fetch("set", "--select", "**/001.h5", "--select", "*/002.h5")
        self.expect_tree(asset["path"], self.part(self.tree, ["train/001.h5", "train/002.h5"]))
        self.assertLessEqual(asset["fetched_bytes"], 2 * MIB + 512)  # the header between them
        self.assertLessEqual(len(self.server.new_requests(before)), 2)
        asset = self.fetch("set", "--select", "train/00?.h5", "--select", "!**/00[3-9].h5")
        self.expect_tree(asset["path"], self.part(self.tree, ["train/000.h5", "train/001.h5", "train/002.h5"]))

    def test_a_damaged_index_is_read_anew(self):
        self.fetch("set", "--select", "train/001.h5")
        (index,) = [file for file in (self.sabath.store / "indexes").rglob("*") if file.is_file()]
        index.write_bytes(index.read_bytes()[:-7] + b"1234567")
        asset = self.fetch("set", "--select", "train/002.h5")
        self.expect_tree(asset["path"], self.part(self.tree, ["train/002.h5"]))

    def test_another_version_is_walked_anew(self):
        self.fetch("set", "--sample", "2")
        tree = {f"train/{i:03}.h5": seeded(MIB, 100 + i) for i in range(64)}
        packed = tar_bytes(tree)
        (self.server.root / "a.tar").write_bytes(packed)
        os.utime(self.server.root / "a.tar", (1, 1))  # the server tells versions apart by whole seconds
        self.add(self.server, packed)
        asset = self.fetch("set", "--sample", "3")
        self.expect_tree(asset["path"], self.part(tree, [f"train/{i:03}.h5" for i in range(3)]))

    def test_nothing_matches(self):
        asset = self.fetch("set", "--select", "*.h5", code=3)
        self.assertIn("nothing that was asked for", asset["failures"][0]["message"])
        self.assertIsNone(asset["path"])

    def test_patterns_choose_from_what_is_here(self):
        self.fetch("set")
        before = self.server.log()
        asset = self.fetch("set", "--select", "train/00?.h5")
        self.expect_tree(asset["path"], self.part(self.tree, [f"train/{i:03}.h5" for i in range(10)]))
        self.assertEqual(self.server.new_requests(before), [])
        self.assertEqual(asset["trusted_by"], "checksum")


class Pinned(Part):
    def setUp(self):
        super().setUp()
        self.tree = {f"t/{i:02}": seeded(300_000, i) for i in range(20)}
        self.server, self.packed = self.tar(self.tree)
        self.add(self.server, self.packed)
        self.manifest = self.home / "set.manifest"
        source = self.home / "source"
        for name, data in self.tree.items():
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            (source / name).write_bytes(data)
        self.expect(self.sabath.run("manifest", "create", source, "-o", self.manifest))

    def test_members_are_checked_by_the_manifest(self):
        asset = self.fetch("set", "--sample", "3", "--manifest", self.manifest)
        self.expect_tree(asset["path"], self.part(self.tree, ["t/00", "t/01", "t/02"]))
        self.assertEqual(asset["trusted_by"], "pinned")
        self.assertNotIn("cannot be checked", asset["err"])

    def test_a_wrong_member(self):
        wrong = bytearray(self.packed)
        wrong[512 + 1000] ^= 1  # of the first member's content
        (self.server.root / "a.tar").write_bytes(wrong)
        asset = self.fetch("set", "--sample", "3", "--manifest", self.manifest, code=7)
        self.assertIsNone(asset["path"])


class Mirrors(Part):
    def test_the_next_one_where_the_first_has_no_ranges_or_nothing(self):
        tree = {f"m/{i}": seeded(700_000, i) for i in range(12)}
        server, packed = self.tar(tree)
        other = self.serve({"a.tar": packed}, name="other", extra=NO_RANGES)
        urls = [server.url("missing.tar"), other.url("a.tar"), server.url("a.tar")]
        self.sabath.add("set", [fragment(urls, packed, kind="archive")])
        asset = self.fetch("set", "--sample", "3")
        self.expect_tree(asset["path"], self.part(tree, ["m/0", "m/1", "m/2"]))
        self.assertEqual([source["failures"] for source in asset["sources"]], [1, 1, 0])

    def test_a_rule_that_rewrites_leaves_the_index_in_place(self):
        tree = {f"m/{i}": seeded(700_000, i) for i in range(12)}
        server, packed = self.tar(tree)
        self.sabath.add("set", [fragment("https://portal.example/a.tar", packed, kind="archive")])
        rule = f"https://portal.example/={server.url()}"
        self.fetch("set", "--select", "m/3", "--rewrite", rule)
        before = server.log()
        asset = self.fetch("set", "--select", "m/4", "--rewrite", rule)
        self.expect_tree(asset["path"], self.part(tree, ["m/4"]))
        self.assertEqual(len(server.new_requests(before)), 1)


class Refusals(Part):
    def test_packed(self):
        packed = tar_bytes({"a": b"1"}, mode="w:gz")
        server = self.serve({"a.tar": packed})
        self.add(server, packed)
        asset = self.fetch("set", "--sample", "1", code=2)
        self.assertIn("gzip", asset["failures"][0]["message"])
        self.assertIn("without --sample", asset["failures"][0]["hint"])

    def test_no_ranges(self):
        packed = tar_bytes({f"{i}": seeded(100_000, i) for i in range(9)})
        server = self.serve({"a.tar": packed}, extra=NO_RANGES)
        self.add(server, packed)
        asset = self.fetch("set", "--sample", "1", code=6)
        self.assertIn("byte ranges", asset["failures"][0]["message"])
        self.assertIn("without --sample", asset["failures"][0]["hint"])

    def test_cut_off(self):
        packed = tar_bytes({f"{i}": seeded(100_000, i) for i in range(9)})[:250_000]
        server = self.serve({"a.tar": packed})
        self.add(server, packed)
        asset = self.fetch("set", "--select", "8", code=12)
        self.assertIn("cut off", asset["failures"][0]["message"])
        self.fetch("set", "--sample", "1")

    def test_hostile_names(self):
        for name in ("../up", "/absolute", "a/\x1b[2J"):
            with self.subTest(name):
                packed = tar_bytes({"fine": b"1", name: b"2"})
                server = self.serve({"a.tar": packed}, name=str(len(name)))
                self.add(server, packed, name=f"h{len(name)}")
                self.fetch(f"h{len(name)}", "--sample", "2", code=12)

    def test_what_makes_no_sense(self):
        server, packed = self.tar({"a": b"1"})
        self.add(server, packed)
        for arguments in (["--sample", "0"], ["--select", "/a"], ["--select", "../a"], ["--sample", "1", "--keep-archives"]):
            self.expect(self.sabath.fetch("set", *arguments), 2)


class Others(Part):
    def test_small_members_take_few_requests(self):
        tree = {f"s/{i:03}": seeded(64 * 1024, i) for i in range(200)}
        server, packed = self.tar(tree)
        self.add(server, packed)
        asset = self.fetch("set", "--sample", "64")
        self.expect_tree(asset["path"], self.part(tree, [f"s/{i:03}" for i in range(64)]))
        self.assertLessEqual(len(server.log()), 12)
        self.assertLessEqual(asset["fetched_bytes"], 64 * 64 * 1024 * 1.1)

    def test_large_members_links_and_long_names(self):
        buffer = io.BytesIO()
        long, big = "d/" * 40 + "x" * 150, seeded(9_000_000, 1)
        with tarfile.open(fileobj=buffer, mode="w", format=tarfile.GNU_FORMAT) as archive:
            for name, data, mode in (("run.sh", b"#!/bin/sh\n", 0o755), ("big", big, 0o644), ("empty", b"", 0o644), (long, b"long", 0o644)):
                entry = tarfile.TarInfo(name)
                entry.size, entry.mode = len(data), mode
                archive.addfile(entry, io.BytesIO(data))
            for name, kind, target in (("hard", tarfile.LNKTYPE, "big"), ("soft", tarfile.SYMTYPE, "big")):
                entry = tarfile.TarInfo(name)
                entry.type, entry.linkname = kind, target
                archive.addfile(entry)
        server = self.serve({"a.tar": buffer.getvalue()})
        self.add(server, buffer.getvalue(), path="data")
        asset = self.fetch("set", "--select", "**")
        expected = {"run.sh": b"#!/bin/sh\n", "big": big, "empty": b"", long: b"long", "hard": big, "soft": big}
        self.expect_tree(asset["path"], {f"data/{name}": data for name, data in expected.items()})
        self.assertLess(asset["fetched_bytes"], 9_200_000)
        whole = self.fetch("set", "--force")
        self.assertEqual(whole["manifest"], asset["manifest"])

    def test_lists_and_files(self):
        files = {f"l/{i}.bin": seeded(1000 + i, i) for i in range(9)}
        text = "".join(f"{i}.bin\n" for i in range(9))
        server = self.serve({**files, "l/list.txt": text.encode(), "one": b"1", "two": b"2"})
        self.sabath.add("list", [fragment(server.url("l/list.txt"), kind="file_list")])
        asset = self.fetch("list", "--sample", "2")
        self.expect_tree(asset["path"], {f"{i}.bin": files[f"l/{i}.bin"] for i in range(2)})
        asset = self.fetch("list", "--select", "[78].bin")
        self.expect_tree(asset["path"], {f"{i}.bin": files[f"l/{i}.bin"] for i in (7, 8)})
        self.sabath.add("files", [fragment(server.url(name), name=name, path=f"d/{name}") for name in ("one", "two")])
        self.expect_tree(self.fetch("files", "--sample", "1")["path"], {"d/one": b"1"})
        self.expect_tree(self.fetch("files", "--select", "*/two")["path"], {"d/two": b"2"})
        plan = json.loads(self.sabath.fetch("files", "--sample", "1", "--dry-run").out)["assets"][0]
        self.assertEqual((plan["to_fetch_bytes"], plan["files"]), (0, 1))


if __name__ == "__main__":
    main()

#!/usr/bin/python3
"""A second fetch moves nothing, asks no server, and is quick."""

import os
import tempfile

from support.case import Case, main, place, remove
from support.content import archive_bytes, fragment, seeded, small_tree
from support.program import Sabath

FILES = 10_000


class Again(Case):
    def expect_nothing_moves(self, name, server):
        before = server.log()
        asset = self.fetch(name)
        self.assertEqual(asset["fetched_bytes"], 0)
        self.assertEqual(asset["reused_bytes"], asset["bytes"])
        self.assertEqual([source for source in asset["sources"] if source["requests"]], [])
        self.assertEqual(server.new_requests(before), [])
        return asset

    def test_each_kind_of_fragment(self):
        data, packed = seeded(5_000_000), archive_bytes("tar.gz", small_tree())
        server = self.serve({"f.bin": data, "a.tgz": packed, "l/list.txt": b"x\ny\n", "l/x": b"1", "l/y": b"22"})
        self.sabath.add("file", [fragment(server.url("f.bin"), data)])
        self.sabath.add("unpinned", [fragment(server.url("f.bin"))])
        self.sabath.add("archive", [fragment(server.url("a.tgz"), packed, kind="archive")])
        self.sabath.add("list", [fragment(server.url("l/list.txt"), kind="file_list")])
        for name in ("file", "unpinned", "archive", "list"):
            with self.subTest(name):
                first = self.fetch(name)
                again = self.expect_nothing_moves(name, server)
                self.assertEqual((again["path"], again["manifest"]), (first["path"], first["manifest"]))

    def test_server_is_not_needed(self):
        data = seeded(100_000)
        server = self.serve({"f.bin": data})
        self.sabath.add("one", [fragment(server.url("f.bin"))])
        self.fetch("one")
        server.stop()
        asset = self.fetch("one")
        self.assertEqual(asset["fetched_bytes"], 0)

    def test_ten_thousand_files(self):
        """The server makes each file of its name, and memory holds the store: removing files can take a disk minutes."""
        if os.access("/dev/shm", os.W_OK):
            self.sabath = Sabath(tempfile.mkdtemp(prefix="sabath-test-", dir="/dev/shm"))
            self.addCleanup(remove, self.sabath.home)
        server = self.serve(extra='location /n/ { return 200 "$uri"; }')
        names = [f"n/{i % 100:02}/f{i:05}" for i in range(FILES)]
        text = "\n".join(names).encode()
        place(server.root / "list.txt", text)
        self.sabath.add("many", [fragment(server.url("list.txt"), kind="file_list")])
        first = self.fetch("many")
        self.assertEqual(first["files"], FILES + 1)
        self.expect_log(first, server.log())
        best = 1e9
        for _ in range(3):
            before = server.log()
            result = self.expect(self.sabath.fetch("many"))
            self.assertEqual(server.new_requests(before), [])
            self.assertEqual(result.asset["fetched_bytes"], 0)
            best = min(best, result.seconds)
        print(f"{FILES} files: first {first['seconds']:.2f} s, again {best:.3f} s", flush=True)
        self.assertLess(best, first["seconds"])  # a fifth of it, on an idle machine
        self.assertTrue(first["packed"])
        self.expect(self.sabath.run("view", "many", "--to", self.sabath.home / "all"))
        self.expect_tree(self.sabath.home / "all", {"list.txt": text, **{name: f"/{name}".encode() for name in names}})
        self.expect_taken_from_the_trash(server, [*names, "n/00/new"])

    def expect_taken_from_the_trash(self, server, names):
        """What was collected comes back where it is missed, though thousands are looked for at once."""
        tree, manifest = self.sabath.home / "all", self.sabath.home / "more.manifest"
        text = "\n".join(names).encode()
        for name, data in (("list.txt", text), (names[-1], f"/{names[-1]}".encode())):
            place(tree / name, data)
        place(server.root / "list.txt", text)
        self.expect(self.sabath.run("manifest", "create", tree, "-o", manifest))
        self.expect(self.sabath.run("gc", "--older-than", "0s", "--grace", "0s"))
        self.assertEqual(list((self.sabath.store / "packs").iterdir()), [])
        again = self.expect(self.sabath.fetch("many", "--manifest", manifest)).asset
        self.assertEqual(again["fetched_bytes"], len(text) + len(names[-1]) + 1)


if __name__ == "__main__":
    main()

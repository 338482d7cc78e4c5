#!/usr/bin/python3
"""Room is looked for before bytes flow: lengths that no recipe states are asked, and an archive needs room twice."""

import pathlib
import shutil
import subprocess

from support.case import Case, main, place
from support.content import fragment, seeded, tar_bytes
from support.mounts import enter_own_namespace, mount_memory, need_own_namespace
from support.origin import body_bytes

MIB = 1 << 20


class SmallDisk(Case):
    """A store on a tmpfs of 40 MiB."""

    def setUp(self):
        need_own_namespace(self)
        super().setUp()
        disk = self.home / "disk"
        mount_memory(self, disk, 40)
        self.sabath.store = disk / "store"
        self.sabath.environment["SABATH_CACHE"] = str(self.sabath.store)

    def plan(self, *arguments, code=0):
        return self.expect(self.sabath.run("plan", "--json", *arguments), code).record

    def test_a_length_that_only_the_server_knows_is_asked_before_bytes_flow(self):
        """Alone they would fit, one on top of the other they do not; a list's files are asked for as well."""
        data = {f"{name}.bin": seeded(24 * MIB, ord(name)) for name in "ab"}
        server = self.serve({**data, "list.txt": "a.bin\nb.bin\n".encode()})
        self.sabath.add("files", [fragment(server.url(n), name=n, path=n) for n in data])
        self.sabath.add("list", [fragment(server.url("list.txt"), kind="file_list")])
        for name in ("files", "list"):
            with self.subTest(name):
                seen = server.log()
                result = self.expect(self.sabath.fetch(name), 5)
                self.assertIn("bytes) are free", result.err)
                sent = [r for r in server.new_requests(seen) if r.uri != "/list.txt"]
                self.assertTrue(sent)
                self.assertLessEqual(body_bytes(sent), len(sent))  # the first byte of each at most
                if name == "files":
                    self.assertEqual(result.asset["fetched_bytes"], body_bytes(sent))
        self.sabath.add("one", [fragment(server.url("a.bin"))])
        self.assertEqual(self.fetch("one")["bytes"], 24 * MIB)

    def test_an_archive_and_what_is_in_it_stand_side_by_side(self):
        server = self.serve()
        for name, size, fits in (("large", 24 * MIB, False), ("small", 14 * MIB, True)):
            data = tar_bytes({"f": seeded(size)})
            place(server.root / f"{name}.tar", data)
            for scheme, url in (("http", server.url(f"{name}.tar")), ("file", f"file://{server.root}/{name}.tar")):
                for known in (False, True):
                    with self.subTest(name=name, scheme=scheme, known=known):
                        self.sabath.add("tar", [fragment(url, data if known else None, kind="archive")])
                        shutil.rmtree(self.sabath.store, ignore_errors=True)
                        seen = server.log()
                        planned = self.plan("tar", code=0 if fits else 5)
                        self.assertGreaterEqual(planned["store_bytes"], 2 * size)
                        if fits:
                            self.assertEqual(self.fetch("tar")["bytes"], size)
                            continue
                        self.expect(self.sabath.fetch("tar"), 5)
                        self.assertLessEqual(body_bytes(server.new_requests(seen)), 2)

    def test_a_view_is_made_where_its_inodes_are_free(self):
        names = [f"n/{i:04}" for i in range(1200)]
        server = self.serve({"list.txt": "\n".join(names).encode()}, extra='location /n/ { return 200 "$uri"; }')
        self.sabath.add("many", [fragment(server.url("list.txt"), kind="file_list")])
        subprocess.run(["mount", "-o", "remount,nr_inodes=900", str(self.home / "disk")], check=True)
        self.assertTrue(self.expect(self.sabath.fetch("many")).asset["packed"])
        for arguments in (["view", "many"], ["fetch", "many", "--view"]):
            refused = self.expect(self.sabath.run(*arguments), 5)
            self.assertRegex(refused.err, r"the view of many needs 1203 inodes in \S+, and \d+ inodes are free")
            self.assertEqual(refused.out, "")
        subprocess.run(["mount", "-o", "remount,nr_inodes=3000", str(self.home / "disk")], check=True)
        self.assertEqual(len(list((pathlib.Path(self.fetch("many", "--view")["path"]) / "n").iterdir())), 1200)

    def test_what_is_unknown_is_not_said_to_fit(self):
        server = self.serve({"a.bin": seeded(24 * MIB)})
        self.sabath.add("unsized", [fragment(server.url("a.bin"))])
        planned = self.plan("unsized", "--requests", "0")
        self.assertIsNone(planned["fits"])
        self.assertTrue(all(limit["fits"] is None for limit in planned["limits"]))
        shown = self.expect(self.sabath.run("plan", "unsized", "--requests", "0"))
        self.assertIn("unknown whether it fits", shown.lines[-1])
        self.assertTrue(self.plan("unsized")["fits"])


if __name__ == "__main__":
    enter_own_namespace()
    main()

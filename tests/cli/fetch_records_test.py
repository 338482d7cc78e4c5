#!/usr/bin/python3
"""Every figure of the record is what the server's access log says."""

import json

from support.case import Case, main
from support.content import archive_bytes, fragment, seeded, small_tree
from support.origin import poll
from support.program import finish

ASSET_KEYS = {
    "name", "kind", "manifest", "path", "packed", "files", "bytes", "fetched_bytes", "reused_bytes", "seconds",
    "sources",
}  # fmt: skip
SOURCE_KEYS = {"url", "bytes", "requests", "failures", "demoted", "reason"}


class Records(Case):
    def source(self, asset, url):
        (found,) = [source for source in asset["sources"] if source["url"] == url]
        return found

    def test_one_record_with_every_key(self):
        data = seeded(70_000)
        server = self.serve({"f.bin": data})
        self.sabath.add("one", [fragment(server.url("f.bin"), data)])
        result = self.expect(self.sabath.fetch("one"))
        record = json.loads(result.out)
        self.assertEqual(set(record), {"schema", "assets", "exit"})
        self.assertEqual((record["schema"], record["exit"]), (1, 0))
        asset = result.asset
        self.assertLessEqual(ASSET_KEYS, set(asset))
        self.assertEqual(set(asset["sources"][0]), SOURCE_KEYS)
        self.assertEqual(asset["manifest"][:7], "sha256:")
        self.assertEqual((asset["kind"], asset["packed"], asset["files"]), ("dataset", False, 1))
        self.assertEqual((asset["bytes"], asset["fetched_bytes"], asset["reused_bytes"]), (70_000, 70_000, 0))
        self.assertGreater(asset["seconds"], 0)
        self.assertIsNone(asset["sources"][0]["reason"])
        (log,) = (self.sabath.store / "records").iterdir()
        lines = [json.loads(line) for line in log.read_text().splitlines()]
        self.assertEqual({key: lines[-1][key] for key in asset}, asset)

    def test_files_of_all_sizes(self):
        """What came is what is counted; of a large file the end of a late chunk may come twice."""
        sizes = {"empty": 0, "byte": 1, "leaf": 65536, "chunk": 4 << 20, "chunk+1": (4 << 20) + 1, "three": 12 << 20}
        tree = {name: seeded(size, size + 1) for name, size in sizes.items()}
        server = self.serve(tree)
        self.sabath.add("sizes", [fragment(server.url(name), name=name) for name in tree])
        asset = self.fetch("sizes")
        self.expect_log(asset, server.log())
        self.expect_moved(asset, sum(sizes.values()), server.log())
        by_name = {source["url"].rpartition("/")[2]: source["bytes"] for source in asset["sources"]}
        of_one_chunk = {name: size for name, size in sizes.items() if size <= 4 << 20}
        self.assertEqual({name: by_name[name] for name in of_one_chunk}, of_one_chunk)
        self.assertEqual(len(asset["sources"]), len(sizes))
        self.expect_tree(asset["path"], tree)

    def test_pinned_file_by_ranges(self):
        data = seeded(45 << 20)
        server = self.serve({"f.bin": data})
        self.sabath.add("ranges", [fragment(server.url("f.bin"))])
        manifest = self.home / "f.manifest"
        place = self.home / "tree"
        place.mkdir()
        (place / "f.bin").write_bytes(data)
        self.expect(self.sabath.run("manifest", "create", place, "-o", manifest))
        asset = self.fetch("ranges", "--manifest", manifest)
        requests = server.log()
        self.expect_log(asset, requests)
        self.expect_moved(asset, len(data), requests)
        self.assertGreater(len(requests), 1)
        self.assertTrue(all(request.range for request in requests))
        self.expect_tree(asset["path"], {"f.bin": data})

    def test_archive(self):
        packed = archive_bytes("tar.gz", small_tree())
        server = self.serve({"a.tgz": packed})
        self.sabath.add("archive", [fragment(server.url("a.tgz"), packed, kind="archive")])
        asset = self.fetch("archive")
        self.expect_log(asset, server.log())
        self.expect_moved(asset, len(packed), server.log())
        self.assertEqual(asset["bytes"], sum(map(len, small_tree().values())))

    def test_list_counts_by_origin(self):
        tree = {f"l/{i}.bin": seeded(1000 + i, i) for i in range(40)}
        server = self.serve({**tree, "l/list.txt": "\n".join(f"{i}.bin" for i in range(40)).encode()})
        self.sabath.add("list", [fragment(server.url("l/list.txt"), kind="file_list")])
        asset = self.fetch("list")
        requests = server.log()
        self.expect_log(asset, requests)
        self.assertEqual(len(requests), 41)
        self.assertEqual(self.source(asset, server.url())["requests"], 40)

    def test_two_mirrors(self):
        data = seeded(64 << 20)
        servers = [self.serve({"f.bin": data}, name=name, extra="limit_rate 40m;") for name in ("a", "b")]
        place = self.home / "tree"
        place.mkdir()
        (place / "f.bin").write_bytes(data)
        manifest = self.home / "f.manifest"
        self.expect(self.sabath.run("manifest", "create", place, "-o", manifest))
        self.sabath.add("mirrors", [fragment([server.url("f.bin") for server in servers])])
        asset = self.fetch("mirrors", "--manifest", manifest)
        for server in servers:
            line = self.source(asset, server.url("f.bin"))
            log = server.log()
            self.assertEqual(line["requests"], len(log))
            self.assertLessEqual(line["bytes"], sum(r.body_bytes for r in log))  # the rest of a cut request is lost
            self.assertGreater(line["bytes"], 0)
        self.expect_moved(asset, len(data), [request for server in servers for request in server.log()])

    def test_a_mirror_that_has_it_not(self):
        data = seeded(300_000)
        server = self.serve({"b/f.bin": data})
        self.sabath.add("half", [fragment([server.url("a/f.bin"), server.url("b/f.bin")], data)])
        asset = self.fetch("half")
        requests = server.log()
        self.expect_log(asset, requests)
        self.assertEqual([request.status for request in requests], [404, 200])
        missing = self.source(asset, server.url("a/f.bin"))
        self.assertEqual(missing["failures"], 1)
        self.assertIn("404", missing["reason"])

    def test_a_redirect_is_a_request(self):
        data = seeded(300_000)
        server = self.serve({"real/f.bin": data}, extra="location /moved/ { rewrite ^/moved/(.*) /real/$1 redirect; }")
        self.sabath.add("moved", [fragment(server.url("moved/f.bin"), data)])
        asset = self.fetch("moved")
        requests = server.log()
        self.expect_log(asset, requests)
        self.assertEqual([request.status for request in requests], [302, 200])

    def test_nothing_but_a_404(self):
        server = self.serve()
        self.sabath.add("gone", [fragment(server.url("f.bin"))])
        asset = self.fetch("gone", code=6)
        self.expect_log(asset, server.log())
        self.assertEqual(self.sabath.visible(), [])

    def test_a_resumed_fetch_counts_its_own(self):
        data = seeded(24 << 20)
        server = self.serve({"f.bin": data}, extra="limit_rate 8m;")
        self.sabath.add("resumed", [fragment(server.url("f.bin"), data)])
        process = self.sabath.start("fetch", "resumed", "--limit-rate", "8M")
        self.assertTrue(poll(lambda: partial_bytes(self.sabath.store) > 9 << 20))
        process.kill()
        finish(process)
        before = server.log()
        asset = self.fetch("resumed")
        requests = server.new_requests(before)
        self.expect_log(asset, requests)
        self.assertEqual({request.status for request in requests}, {206})
        self.expect_moved(asset, len(data) - asset["reused_bytes"], requests)
        self.assertGreaterEqual(asset["reused_bytes"], 8 << 20)
        self.expect_tree(asset["path"], {"f.bin": data})


def partial_bytes(store):
    return sum(file.stat().st_blocks * 512 for file in (store / "partial").rglob("data") if file.exists())


if __name__ == "__main__":
    main()

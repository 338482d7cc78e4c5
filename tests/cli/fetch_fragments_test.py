#!/usr/bin/python3
"""Every kind of fragment, as a reader finds it in the view."""

import os
import pathlib

from support.case import Case, main, place
from support.content import archive_bytes, fragment, read_tree, seeded, sha256, small_tree


class Archives(Case):
    def test_each_format(self):
        for kind in ("tar", "tar.gz", "tar.zst", "zip"):
            with self.subTest(kind):
                packed = archive_bytes(kind, small_tree())
                server = self.serve({f"a.{kind}": packed}, name=kind)
                self.sabath.add(kind, [fragment(server.url(f"a.{kind}"), packed, kind="archive")])
                asset = self.fetch(kind)
                self.expect_tree(asset["path"], small_tree())
                self.assertEqual(asset["files"], len(small_tree()))
                self.expect_log(asset, server.log())

    def test_archive_is_kept_only_when_asked(self):
        packed = archive_bytes("tar.gz", {"d/big": seeded(9_000_000)})
        server = self.serve({"a.tgz": packed})
        self.sabath.add("archive", [fragment(server.url("a.tgz"), packed, kind="archive")])
        self.fetch("archive")
        self.assertFalse(self.holds(packed))
        self.fetch("archive", "--keep-archives", "--force")
        self.assertTrue(self.holds(packed))

    def test_a_manifest_with_composed_names(self):
        """SABATH 0.1 composed names of zip and pax: what it pinned is not what the archive says, and that is told."""
        decomposed, composed = "cafe\u0301/u\u0308ber", "caf\u00e9/\u00fcber"
        for kind in ("tar", "zip"):
            with self.subTest(kind):
                data, old, manifest = kind.encode(), self.home / f"old {kind}", self.home / f"{kind}.manifest"
                place(old / composed, data)
                place(old / "a", b"more")
                self.expect(self.sabath.run("manifest", "create", old, "-o", manifest))
                served = {"same": archive_bytes(kind, {decomposed: data, "a": b"more"}),
                          "other": archive_bytes(kind, {decomposed: b"other" + data, "a": b"more"})}
                server = self.serve(served, name=kind)
                for name in served:
                    self.sabath.add(name, [fragment(server.url(name), kind="archive")])
                failure = self.fetch("other", "--manifest", manifest, code=7)["failures"][0]
                self.assertNotIn("0.1", failure["message"])
                failure = self.fetch("same", "--manifest", manifest, code=7)["failures"][0]
                self.assertIn("0.1", failure["message"])
                self.assertIn(composed, failure["message"])
                asset = self.fetch("same")
                self.expect_tree(asset["path"], {decomposed: data, "a": b"more"})
                self.assertIn(asset["manifest"], failure["hint"])

    def holds(self, data):
        usage = self.sabath.run("du", "--json").record
        self.assertEqual(usage["partial_bytes"], 0)
        sizes = [file.stat().st_size for file in (self.sabath.store / "objects").rglob("*") if file.is_file()]
        return len(data) in sizes

    def test_places_in_the_view(self):
        one, two = archive_bytes("tar", {"x": b"1"}), archive_bytes("zip", {"x": b"2"})
        server = self.serve({"1.tar": one, "2.zip": two, "f.bin": b"3"})
        self.sabath.add(
            "places",
            [
                fragment(server.url("1.tar"), one, kind="archive", name="first", path="a/one"),
                fragment(server.url("2.zip"), two, kind="archive", name="second", path="a/two"),
                fragment(server.url("f.bin"), b"3", name="third", path="b/renamed.bin"),
            ],
        )
        asset = self.fetch("places")
        self.expect_tree(asset["path"], {"a/one/x": b"1", "a/two/x": b"2", "b/renamed.bin": b"3"})
        view = pathlib.Path(asset["path"])
        for name, place in (("first", view / "a/one"), ("third", view / "b/renamed.bin")):
            self.assertEqual(self.sabath.run("path", "places", "--fragment", name).lines, [str(place)])

    def test_the_same_content_is_moved_once(self):
        """Another recipe with the published sha256 of what is here asks no server."""
        data = seeded(200_000)
        server = self.serve({"f.bin": data})
        self.sabath.add("one", [fragment(server.url("f.bin"), data)])
        self.sabath.add("two", [fragment(server.url("elsewhere.bin"), data, path="g.bin")])
        self.fetch("one")
        asset = self.fetch("two")
        self.expect_tree(asset["path"], {"g.bin": data})
        self.assertEqual((asset["fetched_bytes"], asset["reused_bytes"]), (0, len(data)))
        self.assertEqual(len(server.log()), 1)


class Lists(Case):
    def setUp(self):
        super().setUp()
        self.tree = {f"{i:02}.bin": seeded(100 + i, i) for i in range(12)}
        self.text = "# all of them\n\n" + "".join(f"{name}\n" for name in self.tree)
        self.server = self.serve({**{f"l/{n}": d for n, d in self.tree.items()}, "l/list.txt": self.text.encode()})

    def limited(self, limit, **more):
        entry = fragment(self.server.url("l/list.txt"), kind="file_list", **more)
        self.sabath.add("list", [{**entry, "limit": limit} if limit else entry])

    def first(self, count):
        return {**dict(list(self.tree.items())[:count]), "list.txt": self.text.encode()}

    def test_limit_and_the_list_as_it_came(self):
        self.limited(5)
        asset = self.fetch("list")
        self.expect_tree(asset["path"], self.first(5))
        self.expect_log(asset, self.server.log())

    def test_another_limit_moves_the_rest_only(self):
        """Where the list itself is proved by its checksum, and so is what it names: nothing is read twice."""
        self.limited(5)
        self.fetch("list")
        before = self.server.log()
        self.limited(9)
        asset = self.fetch("list")
        self.expect_tree(asset["path"], self.first(9))
        fetched = [request.uri for request in self.server.new_requests(before)]
        self.assertEqual(sorted(uri for uri in fetched if uri.endswith(".bin")), [f"/l/{i:02}.bin" for i in range(5, 9)])
        before = self.server.log()
        self.limited(3)
        asset = self.fetch("list")
        self.expect_tree(asset["path"], self.first(3))
        self.assertEqual([r.uri for r in self.server.new_requests(before) if r.uri.endswith(".bin")], [])

    def test_below_a_path(self):
        self.limited(2, path="data/part")
        asset = self.fetch("list")
        self.expect_tree(asset["path"], {f"data/part/{name}": data for name, data in self.first(2).items()})

    def test_one_file_is_missing(self):
        (self.server.root / "l/03.bin").unlink()
        self.limited(5)
        asset = self.fetch("list", code=6)
        self.assertEqual([failure["path"] for failure in asset["failures"]], ["03.bin"])
        self.assertIsNone(asset["path"])
        (self.server.root / "l/03.bin").write_bytes(self.tree["03.bin"])
        before = self.server.log()
        asset = self.fetch("list")
        self.expect_tree(asset["path"], self.first(5))
        again = [request.uri for request in self.server.new_requests(before)]
        self.assertEqual([uri for uri in again if uri.endswith(".bin")], ["/l/03.bin"])


class Pins(Case):
    """A recipe that names the root of its manifest."""

    def setUp(self):
        super().setUp()
        self.tree = {"a.bin": seeded(9_000_000, 1), "b.bin": seeded(10, 2)}
        self.server = self.serve({f"t/{name}": data for name, data in self.tree.items()})
        manifest = self.server.root / "t.manifest"
        created = self.expect(self.sabath.run("manifest", "create", self.server.root / "t", "-o", manifest))
        self.root = created.lines[0]

    def pinned(self, name, digest, urls=(), host=None):
        fragments = [fragment((host or self.server).url(f"t/{file}"), name=file) for file in self.tree]
        self.sabath.add(name, fragments, manifest={"digest": digest, "urls": list(urls)})

    def test_manifest_from_a_url(self):
        self.pinned("asset", self.root, [self.server.url("none"), self.server.url("t.manifest")])
        asset = self.fetch("asset")
        self.assertEqual((asset["manifest"], asset["trusted_by"]), (self.root, "pinned"))
        self.expect_tree(asset["path"], self.tree)
        before = self.server.log()
        self.expect_log(asset, before)
        self.assertEqual(self.fetch("asset")["fetched_bytes"], 0)
        self.assertEqual(self.server.new_requests(before), [])

    def test_root_without_a_manifest(self):
        """The sources must give the root."""
        self.pinned("asset", self.root)
        self.expect_tree(self.fetch("asset")["path"], self.tree)

    def test_another_root_is_refused(self):
        self.pinned("asset", "sha256:" + "1" * 64)
        self.fetch("asset", code=7)
        self.assertEqual(self.sabath.run("path", "asset").exit, 9)

    def test_a_manifest_that_is_another_is_refused(self):
        place(self.server.root / "u/c.bin", b"c")
        self.expect(self.sabath.run("manifest", "create", self.server.root / "u", "-o", self.server.root / "u.manifest"))
        self.pinned("asset", self.root, [self.server.url("u.manifest")])
        self.fetch("asset", code=7)

    def test_a_mirror_that_lies_costs_time_only(self):
        liar = self.serve({"t/a.bin": seeded(9_000_000, 9)}, name="liar")
        mirrors = [liar.url("t/a.bin"), self.server.url("t/a.bin")]
        self.sabath.add(
            "asset",
            [fragment(mirrors, name="a"), fragment(self.server.url("t/b.bin"), name="b")],
            manifest={"digest": self.root, "urls": [self.server.url("t.manifest")]},
        )
        asset = self.fetch("asset")
        self.expect_tree(asset["path"], self.tree)
        (lying,) = [source for source in asset["sources"] if source["url"] == mirrors[0]]
        self.assertTrue(lying["demoted"] or lying["bytes"] == 0, lying)


class Views(Case):
    def test_files_cannot_be_written(self):
        data = seeded(100_000)
        server = self.serve({"f.bin": data})
        self.sabath.add("one", [fragment(server.url("f.bin"), data)])
        file = pathlib.Path(self.fetch("one")["path"]) / "f.bin"
        self.assertEqual(file.stat().st_mode & 0o222, 0)

    def test_a_damaged_view_is_mended_without_the_server(self):
        tree = {"a.bin": seeded(100_000, 1), "b.bin": seeded(100_000, 2)}
        server = self.serve(tree)
        self.sabath.add("two", [fragment(server.url(name), data, name=name) for name, data in tree.items()])
        path = self.fetch("two")["path"]
        os.chmod(path, 0o755)
        os.unlink(pathlib.Path(path) / "a.bin")
        self.assertEqual(self.sabath.run("path", "two").exit, 9)
        before = server.log()
        self.expect_tree(self.fetch("two")["path"], tree)
        self.assertEqual(server.new_requests(before), [])

    def test_a_lost_object_is_fetched_alone(self):
        tree = {"a.bin": seeded(100_000, 1), "b.bin": seeded(100_000, 2)}
        server = self.serve(tree)
        self.sabath.add("two", [fragment(server.url(name), data, name=name) for name, data in tree.items()])
        self.fetch("two")
        for file in list((self.sabath.store / "objects").rglob("*")) + list((self.sabath.store / "views").rglob("a.bin")):
            if file.is_file() and sha256(file.read_bytes()) == sha256(tree["a.bin"]):
                file.parent.chmod(0o755)
                file.unlink()
        before = server.log()
        asset = self.fetch("two")
        self.assertEqual([request.uri for request in server.new_requests(before)], ["/a.bin"])
        self.assertEqual((asset["fetched_bytes"], asset["reused_bytes"]), (100_000, 100_000))
        self.assertEqual(read_tree(asset["path"]), tree)


if __name__ == "__main__":
    main()

"""Bytes that are not the ones that were asked for: exit 7, or 4 for a web page; and mirrors that lie, with a good one."""
import collections
import shutil

from support.ground import FaultCase, checksums, main, seeded_bytes
from support.spoken import Spoken, page

SIZE = 100_000
DATA = seeded_bytes(SIZE)
WRONG = checksums(b"something else")
LOGIN = b"<!DOCTYPE html>\n<html><title>Sign in</title><form><input type=password></form></html>"
Case = collections.namedtuple("Case", "name keys says target", defaults=("/ok",))

WRONG_CONTENT = [
    Case("shorter than the recipe says", {"size": SIZE + 1}, ["100000 bytes long", "100001 were expected"]),
    Case("longer than the recipe says", {"size": SIZE - 1}, ["100000 bytes long", "99999 were expected"]),
    Case("longer, and the server does not say", {"size": SIZE - 1}, ["longer than the 99999"], "/closedelim"),
    *(Case(f"wrong {name}", {"checksum": {name: WRONG[name]}}, [name, WRONG[name], checksums(DATA)[name]])
      for name in ("sha256", "sha1", "md5")),
    Case("one of three checksums is wrong", {"checksum": {**checksums(DATA), "md5": WRONG["md5"]}}, ["md5"]),
    Case("one byte of all is wrong", {"checksum": checksums(DATA)}, ["sha256"], f"/flip?every={SIZE}"),
]

# The first mirror is bad, the second good: (target of the first, is it demoted, word of the reason).
BAD_MIRRORS = [
    Case("it lies", {"demoted": True}, ["sha256"], "/flip?every=1000"),
    Case("it lies and breaks off", {"demoted": True}, ["does not match"], "/trunc?every=1000"),
    Case("it has another length", {"demoted": True}, ["bytes long"], "/ok/short?size=77"),
    Case("404", {"demoted": False}, ["HTTP 404"], "/status/404"),
    Case("reset mid-way", {"demoted": False}, ["reset"], "/rst"),
    Case("stall mid-way", {"demoted": False}, ["no byte"], "/stall"),
    Case("login page", {"demoted": False}, ["web page"], "/html"),
]


class WrongContent(FaultCase):
    def test_each_is_refused_and_leaves_no_trace(self):
        def check(case):
            ground = self.new_ground()
            url = self.server.url(case.target)
            ground.recipe("bad", ground.fragment(url, **case.keys))
            result = ground.refused(7, url.partition("?")[0], *case.says)
            self.assertTrue(all(source["demoted"] for source in result.sources().values()), result)
            ground.recipe("bad", ground.fragment(self.server.url("/ok"), size=SIZE, checksum=checksums(DATA)))
            ground.succeeds("bad", DATA)

        self.side_by_side(WRONG_CONTENT, check)

    def test_large_file_of_several_chunks(self):
        size = 9_000_000
        self.ground.recipe("bad", self.ground.fragment(self.server.url(f"/ok?size={size}"), checksum=WRONG))
        self.ground.refused(7, "sha256", WRONG["sha256"])
        self.assertEqual(list((self.ground.store / "partial").glob("*")), [], "wrong bytes were kept")

    def test_local_copy_that_is_another_file(self):
        self.ground.recipe("bad", self.ground.fragment(self.server.url("/ok"), checksum=checksums(DATA)))
        local = self.ground.directory / "mine.bin"
        local.write_bytes(b"mine")
        for flag in ("--path", "--link"):
            self.ground.refused(7, "mine.bin", "sha256", command=("fetch", "--json", "bad", flag, local))


class Mirrors(FaultCase):
    def test_the_good_one_serves_and_the_bad_one_is_named(self):
        def check(case):
            ground = self.new_ground()
            bad, good = self.server.url(case.target), self.server.url("/ok")
            ground.recipe("two", ground.fragment([bad, good], size=SIZE, checksum=checksums(DATA)))
            result = ground.succeeds("two", DATA)
            source = result.sources()[bad.partition("?")[0]]
            self.assertGreaterEqual(source["failures"], 1, result)
            self.assertEqual(source["demoted"], case.keys["demoted"], result)
            self.assertIn(case.says[0], source["reason"], result)
            self.assertFalse(result.sources()[good]["demoted"], result)
            ground.verified()

        self.side_by_side(BAD_MIRRORS, check)

    def test_a_lie_in_one_chunk_of_a_pinned_file(self):
        size = 20_000_000
        good, bad = self.server.url(f"/ok?size={size}"), self.server.url(f"/flip?size={size}&every=1000000")
        self.ground.recipe("two", self.ground.fragment(good))
        root = self.ground.succeeds("two").record["assets"][0]["manifest"]
        two = self.new_ground()
        shutil.copytree(self.ground.store / "manifests", two.store / "manifests", dirs_exist_ok=True)
        two.recipe("two", two.fragment([bad, good]), manifest={"digest": root, "urls": []})
        result = two.succeeds("two")
        liar = result.sources()[bad.partition("?")[0]]
        self.assertTrue(liar["demoted"], result)
        self.assertRegex(liar["reason"], r"chunk \d", result)
        alone = self.new_ground()
        shutil.copytree(self.ground.store / "manifests", alone.store / "manifests", dirs_exist_ok=True)
        alone.recipe("bad", alone.fragment(bad), manifest={"digest": root, "urls": []})
        alone.refused(7, "/flip", "chunk ")


class Pages(FaultCase):
    def setUp(self):
        super().setUp()
        self.origin = Spoken({
            "/declared": page(LOGIN, Content_Type="text/html; charset=utf-8"),
            "/f.bin": page(LOGIN, Content_Type="application/octet-stream"),
            "/silent": page(LOGIN),
            "/u/r/blob/main/f.bin": page(b"\n<!DOCTYPE html>\n<html lang=en><body>f.bin</body></html>",
                                         Content_Type="text/html; charset=utf-8"),
            "/moved": page("", 302, Location="/login?from=/moved"),
            "/login?from=/moved": page(b"<html><body>Hello</body></html>", Content_Type="text/html"),
            "/index.html": page(LOGIN, Content_Type="text/html"),
        })
        self.addCleanup(self.origin.stop)

    def test_pages_are_not_data(self):
        for path, hint in (("/declared", "--path"), ("/f.bin", "login"), ("/silent", "login"),
                           ("/u/r/blob/main/f.bin", "/raw/"), ("/moved", "login")):
            with self.subTest(path):
                self.ground.recipe("bad", self.ground.fragment(self.origin.url(path)))
                self.ground.refused(4, path, "web page instead of data", hint=hint)

    def test_a_page_where_a_size_and_a_checksum_are_known(self):
        known = {"size": SIZE, "checksum": checksums(DATA)}
        self.ground.recipe("bad", self.ground.fragment(self.origin.url("/f.bin"), **known))
        self.ground.refused(4, "web page instead of data")

    def test_a_page_that_is_wanted(self):
        self.ground.recipe("page", self.ground.fragment(self.origin.url("/index.html")))
        self.ground.succeeds("page", LOGIN)

    def test_a_page_instead_of_an_archive(self):
        self.ground.recipe("bad", self.ground.fragment(self.origin.url("/f.bin"), "archive"))
        self.ground.refused(4, "web page instead of data", hint="login")


class Pins(FaultCase):
    """A manifest that pins: cut, flipped, no manifest at all, or not that of what the sources have."""

    def setUp(self):
        super().setUp()
        tree = self.ground.directory / "tree"
        tree.mkdir()
        (tree / "f.bin").write_bytes(DATA)
        self.file = self.ground.directory / "f.manifest"
        made = self.ground.run("manifest", "create", "--json", tree, "-o", self.file)
        self.assertEqual(made.exit, 0, made)
        self.bytes = self.file.read_bytes()
        self.root = self.ground.run("manifest", "show", "--json", self.file).record["manifest"]
        flipped = bytearray(self.bytes)
        flipped[len(flipped) // 2] ^= 1
        self.damaged = {"cut": self.bytes[:-7], "flipped": bytes(flipped), "something else": b"not a manifest\n" * 99,
                        "empty": b""}

    def pin(self, url, *urls):
        self.ground.recipe("bad", self.ground.fragment(url), manifest={"digest": self.root, "urls": list(urls)})

    def test_a_damaged_file(self):
        self.ground.recipe("bad", self.ground.fragment(self.server.url("/ok")))
        for name, data in self.damaged.items():
            with self.subTest(name):
                self.file.write_bytes(data)
                self.ground.refused(12, "f.manifest", command=("fetch", "--json", "bad", "--manifest", self.file))
        self.file.write_bytes(self.bytes)
        self.ground.succeeds("bad", DATA, "--manifest", self.file)

    def test_a_damaged_manifest_of_a_server(self):
        for name, data in self.damaged.items():
            with self.subTest(name):
                origin = Spoken({"/f.manifest": page(data)})
                self.addCleanup(origin.stop)
                self.pin(self.server.url("/ok"), origin.url("/f.manifest"))
                self.ground.refused(12, origin.url("/f.manifest"))

    def test_the_manifest_of_something_else(self):
        tree = self.ground.directory / "other"
        tree.mkdir()
        (tree / "f.bin").write_bytes(b"other")
        other = self.ground.directory / "other.manifest"
        self.assertEqual(self.ground.run("manifest", "create", "--json", tree, "-o", other).exit, 0)
        origin = Spoken({"/f.manifest": page(other.read_bytes())})
        self.addCleanup(origin.stop)
        self.pin(self.server.url("/ok"), origin.url("/f.manifest"))
        self.ground.refused(7, origin.url("/f.manifest"), self.root.removeprefix("sha256:"))
        self.ground.refused(7, "other.manifest", "pins", command=("fetch", "--json", "bad", "--manifest", other))

    def test_a_good_mirror_of_the_manifest_is_found(self):
        origin = Spoken({f"/{i}": page(data) for i, data in enumerate(self.damaged.values())})
        origin.table["/good"] = page(self.bytes)
        self.addCleanup(origin.stop)
        self.pin(self.server.url("/ok"), *map(origin.url, origin.table))
        self.ground.succeeds("bad", DATA)

    def test_sources_that_hold_another_version(self):
        other = self.server.url("/ok?seed=2")
        self.pin(other)  # the manifest cannot be had: the sources must give its root
        result = self.ground.fetch("bad")
        self.assertEqual(result.exit, 7, result)
        self.ground.clean(result)
        self.assertIn(self.root.removeprefix("sha256:"), result.err)
        self.assertIn("another version", result.err.partition("hint:")[2])
        self.assertIsNone(result.record["assets"][0]["path"])
        self.ground.verified()
        origin = Spoken({"/f.manifest": page(self.bytes)})
        self.addCleanup(origin.stop)
        self.pin(other, origin.url("/f.manifest"))
        objects = [name for name in self.ground.visible() if name.startswith("objects/")]
        result = self.ground.fetch("bad")
        self.assertEqual(result.exit, 7, result)
        self.assertIn("the manifest says", result.err)
        self.assertEqual([name for name in self.ground.visible() if name.startswith("objects/")], objects)
        self.pin(self.server.url("/ok"), origin.url("/f.manifest"))
        self.ground.succeeds("bad", DATA)


if __name__ == "__main__":
    main()

"""Archives and file lists that want out of their place, or are not what they seem: exit 12, and nothing of them kept."""
import collections
import gzip
import io
import lzma
import pathlib
import struct
import tarfile
import zipfile

from support.ground import FaultCase, checksums, main
from support.spoken import Spoken, page

Case = collections.namedtuple("Case", "name data says")


def tar(*members):
    """Members are (name, bytes) or (name, None, type, link name)."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name, data, *what in members:
            info = tarfile.TarInfo(name)
            if data is not None:
                info.size = len(data)
            else:
                info.type, info.linkname = what[0], what[1] if len(what) > 1 else ""
                info.devmajor, info.devminor = 1, 3
            archive.addfile(info, io.BytesIO(data or b""))
    return out.getvalue()


def zipped(*members):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, data in members:
            archive.writestr(zipfile.ZipInfo(name), data)
    return out.getvalue()


def sparse_tar(size):
    """A file of `size` bytes that are one hole (GNU tar's sparse format 1.0)."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as archive:
        info = tarfile.TarInfo("GNUSparseFile.0/hole")
        info.pax_headers = {"GNU.sparse.major": "1", "GNU.sparse.minor": "0", "GNU.sparse.name": "hole",
                            "GNU.sparse.realsize": str(size)}
        extents = f"1\n{size}\n0\n".encode().ljust(512, b"\0")
        info.size = len(extents)
        archive.addfile(info, io.BytesIO(extents))
    return out.getvalue()


def bomb(size):
    """`size` zeros in a tar, packed by xz: about 7,000 times smaller."""
    out = io.BytesIO()
    with lzma.open(out, "wb", preset=0) as packed:
        info = tarfile.TarInfo("zeros")
        info.size = size
        packed.write(info.tobuf())
        for _ in range(size >> 20):
            packed.write(bytes(1 << 20))
        packed.write(bytes(1024))
    return out.getvalue()


def listed(data):
    """A zip's content, its list of members, and how many they are."""
    end = data.rfind(b"PK\5\6")
    count, size, at = struct.unpack("<HII", data[end + 10 : end + 20])
    return data[:at], data[at : at + size], count


def end_record(count, size, at, comment=b"", length=None):
    return b"PK\5\6" + struct.pack("<HHHHIIH", 0, 0, count, count, size, at, len(comment) if length is None else length) + comment


def two_zips(how):
    """One archive with two lists of members, of which programs take one or the other."""
    (content, shown, count), (other, meant, _) = listed(zipped(("a", b"good"))), listed(zipped(("b", b"evil")))
    meant = meant[:42] + struct.pack("<I", len(content)) + meant[46:]  # moved behind `content`
    body, at = content + other, len(content) + len(other)
    if how == "comment":
        inner = meant + end_record(1, len(meant), at + len(shown) + 22, length=7) + b"ZZ"
        return body + shown + end_record(count, len(shown), at, inner)
    if how == "both fit":
        inner = meant + end_record(1, len(meant), at + len(shown) + 22)
        return body + shown + end_record(count, len(shown), at, inner)
    record = b"PK\6\6" + struct.pack("<QHHIIQQQQ", 44, 45, 45, 0, 0, 1, 1, len(meant), at + len(shown))
    place = b"PK\6\7" + struct.pack("<IQI", 0, at + len(shown) + len(meant), 1)
    return body + shown + meant + record + place + end_record(count, len(shown), at)


def renamed(data, name, other, last):
    """In the list (`last`), or in the header before the content."""
    at = data.rfind(name) if last else data.find(name)
    return data[:at] + other + data[at + len(name) :]


LINK, HARD = tarfile.SYMTYPE, tarfile.LNKTYPE
GOOD = tar(("f.bin", b"good"), ("d/g", b"also good"))
HOSTILE = [
    Case("..", tar(("a", b"1"), ("../evil", b"2")), ["../evil"]),
    Case(".. inside", tar(("a/../../evil", b"2")), ["a/../../evil"]),
    Case("absolute", tar(("/tmp/evil", b"2")), ["/tmp/evil"]),
    Case("symlink that leaves", tar(("a", None, LINK, "../../etc/passwd")), ["symlink", "../../etc/passwd"]),
    Case("absolute symlink", tar(("a", None, LINK, "/etc/passwd")), ["symlink", "/etc/passwd"]),
    Case("through a symlink", tar(("d", None, tarfile.DIRTYPE), ("s", None, LINK, "d"), ("s/evil", b"2")), ["s"]),
    Case("through a symlink, in the other order", tar(("s/evil", b"2"), ("s", None, LINK, "d")), ["s"]),
    Case("symlink that climbs behind a name", tar(("s", None, LINK, "d/../../evil")), ["symlink", "d/../../evil"]),
    Case("hard link that leaves", tar(("a", None, HARD, "../../etc/passwd")), ["../../etc/passwd"]),
    Case("hard link to what is not there", tar(("a", None, HARD, "b")), ["hard link", "b"]),
    Case("character device", tar(("null", None, tarfile.CHRTYPE)), ["null", "neither a file"]),
    Case("block device", tar(("disk", None, tarfile.BLKTYPE)), ["disk", "neither a file"]),
    Case("FIFO", tar(("pipe", None, tarfile.FIFOTYPE)), ["pipe", "neither a file"]),
    Case("escape sequences in a name", tar(("\x1b[2Jevil", b"2")), ["\\x1b[2Jevil"]),
    Case("escape sequences in a link", tar(("a", None, LINK, "../\x1b[2J")), ["symlink", "\\x1b[2J"]),
    Case("newline in a name", tar(("a\nb", b"2")), ["a\\x0ab"]),
    Case("a name for a file and a directory", tar(("a", b"1"), ("a", None, tarfile.DIRTYPE)), ["a", "twice"]),
    Case("a file that is a directory too", tar(("a", b"1"), ("a/b", b"2")), ["a"]),
    Case("zip with a name twice", zipped(("aa", b"1"), ("bb", b"2")).replace(b"bb", b"aa"), ["aa", "twice"]),
    Case("zip with ..", zipped(("../evil", b"2")), ["../evil"]),
    Case("zip with an absolute name", zipped(("/tmp/evil", b"2")), ["/tmp/evil"]),
    Case("zip with a list in its comment", two_zips("comment"), ["damaged"]),
    Case("zip with two end records that fit", two_zips("both fit"), ["damaged", "two end records"]),
    Case("zip64 beside plain numbers", two_zips("zip64"), ["damaged", "contradict"]),
    Case("zip with another name in its list", renamed(zipped(("name", b"1")), b"name", b"evil", last=True), ["damaged", "another name"]),
    Case("zip with another name before the content", renamed(zipped(("name", b"1")), b"name", b"evil", last=False), ["damaged"]),
    Case("zip with a zero byte in a name", zipped(("x.npyAtxt", b"1")).replace(b"x.npyA", b"x.npy\0"), ["damaged", "zero byte"]),
    Case("cut", tar(("a", bytes(50_000)))[:20_000], ["cannot unpack"]),
    Case("cut, packed", gzip.compress(tar(("a", b"x" * 50_000)))[:-20], ["cannot unpack"]),
    Case("damaged, packed", bytes([*gzip.compress(GOOD)[:40], 0, 0, 0, *gzip.compress(GOOD)[43:]]), ["cannot unpack"]),
    Case("no archive", b"this is no archive\n" * 100, ["cannot unpack"]),
    Case("empty", b"", ["cannot unpack"]),
    Case("a hole of a TiB", sparse_tar(1 << 40), ["times when it is unpacked"]),
]


class Archives(FaultCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.origin = Spoken({})
        cls.addClassCleanup(cls.origin.stop)

    def serve(self, path, data):
        self.origin.table[path] = page(data, Content_Type="application/x-tar")
        return self.origin.url(path)

    def nothing_left(self, ground):
        outside = pathlib.Path("/tmp/evil")
        self.assertFalse(outside.exists())
        self.assertEqual([p for p in ground.directory.rglob("*evil*")], [])
        for folder in ("tmp", "partial"):
            left = [p for p in (ground.store / folder).rglob("*") if p.is_file() and p.stat().st_size > 0]
            self.assertEqual(sum(p.stat().st_size for p in left if "journal" not in p.name), 0, left)

    def test_hostile_archives(self):
        for number, case in enumerate(HOSTILE):
            with self.subTest(case.name):
                url = self.serve(f"/{number}.tar", case.data)
                self.ground.recipe("bad", self.ground.fragment(url, "archive"))
                self.ground.refused(12, "main", *case.says)
                self.nothing_left(self.ground)
        self.ground.recipe("bad", self.ground.fragment(self.serve("/good.tar", GOOD), "archive"))
        self.ground.succeeds("bad", b"good")

    def test_hostile_archive_from_a_local_file(self):
        local = self.ground.directory / "mine.tar"
        local.write_bytes(HOSTILE[0].data)
        self.ground.recipe("bad", self.ground.fragment(self.serve("/unused.tar", GOOD), "archive"))
        self.ground.refused(12, "../evil", command=("fetch", "--json", "bad", "--path", local))

    def test_the_checksum_of_an_archive_is_told_before_its_contents(self):
        url = self.serve("/wrong.tar", HOSTILE[0].data)
        self.ground.recipe("bad", self.ground.fragment(url, "archive", checksum=checksums(GOOD)))
        self.ground.refused(7, "sha256")
        self.nothing_left(self.ground)

    def test_a_hostile_mirror_beside_a_good_one(self):
        bad, good = self.serve("/lies.tar", HOSTILE[0].data), self.serve("/good.tar", GOOD)
        self.ground.recipe("two", self.ground.fragment([bad, good], "archive", checksum=checksums(GOOD)))
        result = self.ground.succeeds("two", b"good")
        self.assertTrue(result.sources()[bad]["demoted"], result)
        self.nothing_left(self.ground)

    def test_one_bad_fragment_does_not_spoil_the_other(self):
        good, bad = self.serve("/good.tar", GOOD), self.serve("/bad.tar", HOSTILE[0].data)
        self.ground.recipe("two", self.ground.fragment(good, "archive", id="good", path="good"),
                           self.ground.fragment(bad, "archive", id="bad", path="bad"))
        result = self.ground.fetch("two")
        self.assertEqual(result.exit, 12, result)
        self.ground.clean(result)
        self.assertEqual(result.record["assets"][0]["failures"][0]["path"], "bad")
        self.assertIsNone(result.record["assets"][0]["path"])
        self.ground.verified()
        self.ground.recipe("two", self.ground.fragment(good, "archive", id="good", path="good"))
        self.assertEqual(self.ground.succeeds("two").record["assets"][0]["fetched_bytes"], 0, "moved twice")


HOSTILE_LISTS = [
    Case("..", "ok\n../evil\n", [":2:", "../evil"]),
    Case("absolute", "/etc/passwd\n", [":1:", "/etc/passwd"]),
    Case("file URL", "file:///etc/passwd\n", [":1:", "file:"]),
    Case("encoded ..", "http://127.0.0.1/%2e%2e\n", [":1:", ".."]),
    Case("encoded slash", "http://127.0.0.1/..%2Fevil\n", [":1:", "unsafe"]),
    Case("escape sequences", "a\x1b[2Jb\n", [":1:", "\\x1b[2J"]),
    Case("a name twice", "a\nb\na\n", [":3:", '"a" appears twice']),
    Case("a file that is a directory too", "a\na/b\n", [":2:", '"a" is already a file']),
    Case("user in a URL", "http://me:secret@127.0.0.1/a\n", [":1:"]),
    Case("empty", "# nothing\n\n", ["names no file"]),
    Case("no text", bytes(range(128, 256)), [":1:"]),
    Case("a line without end", "a" * 10_000, ["longer than"]),
]


class Lists(FaultCase):
    def test_hostile_lists(self):
        origin = Spoken({"/ok": page(b"ok")})
        self.addCleanup(origin.stop)
        for number, case in enumerate(HOSTILE_LISTS):
            with self.subTest(case.name):
                data = case.data if isinstance(case.data, bytes) else case.data.encode()
                origin.table[f"/{number}.txt"] = page(data, Content_Type="text/plain")
                self.ground.recipe("bad", self.ground.fragment(origin.url(f"/{number}.txt"), "file_list"))
                result = self.ground.refused(12, *case.says)
                self.assertNotIn("secret", result.err + result.out)
                self.assertEqual(origin.asked("/ok"), [], "asked for files of the list")

    def test_a_hostile_mirror_beside_a_good_one(self):
        origin = Spoken({"/lies": page("../evil\n"), "/list": page("f.bin\n"), "/f.bin": page(b"good")})
        self.addCleanup(origin.stop)
        self.ground.recipe("two", self.ground.fragment([origin.url("/lies"), origin.url("/list")], "file_list"))
        result = self.ground.succeeds("two", b"good")
        self.assertEqual(result.sources()[origin.url("/lies")]["failures"], 1, result)

    def test_some_of_a_list_cannot_be_had(self):
        origin = Spoken({"/list": page("a\nb\nc\n"), "/a": page(b"A"), "/c": page("", 403)})
        self.addCleanup(origin.stop)
        self.ground.recipe("some", self.ground.fragment(origin.url("/list"), "file_list"))
        result = self.ground.fetch("some")
        self.assertEqual(result.exit, 8, result)  # some done, and for different reasons
        self.ground.clean(result)
        self.assertEqual([f["path"] for f in result.record["assets"][0]["failures"]], ["b", "c"])
        self.assertIsNone(result.record["assets"][0]["path"])
        self.assertFalse(any(name.startswith("views/") and name.endswith("/a") for name in self.ground.visible()))
        self.ground.verified()
        origin.table.update({"/b": page(b"B"), "/c": page(b"C")})
        origin.requests.clear()
        again = self.ground.succeeds("some")
        view = pathlib.Path(again.record["assets"][0]["path"])
        self.assertEqual([(view / name).read_bytes() for name in "abc"], [b"A", b"B", b"C"])


if __name__ == "__main__":
    main()

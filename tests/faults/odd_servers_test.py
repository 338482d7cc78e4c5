"""Servers that do not answer as HTTP means it, and have the file nevertheless: it is had, or refused; a part is never it."""
import collections
import pathlib

from support.content import checksums, seeded, tar_bytes
from support.ground import FaultCase, main
from support.spoken import Spoken, page

LARGE = seeded(9_000_000, 11)
SMALL = seeded(70_000, 12)


def byte_range(request, size):
    """The range that is asked for, or None. The server of these tests is not to answer it by itself."""
    text = request.headers.get("Range")
    if text is None:
        return None
    del request.headers["Range"]
    first, _, last = text.removeprefix("bytes=").partition("-")
    return int(first), min(int(last) if last else size - 1, size - 1)


class OddServers(FaultCase):
    def serve(self, answer):
        origin = Spoken({"*": answer})
        self.addCleanup(origin.stop)
        return origin

    def proofs(self, data):
        sums = {"sha256": checksums(data)["sha256"]}
        return {"nothing": {}, "size": {"size": len(data)}, "sum": {"checksum": sums}, "all": {"size": len(data), "checksum": sums}}

    def had(self, answer, data, **keys):
        """In a ground of its own: nothing of another try is at hand."""
        origin, ground = self.serve(answer), self.new_ground()
        ground.recipe("odd", ground.fragment(origin.url("/f"), **keys))
        ground.succeeds("odd", data)
        return origin

    def test_a_slice_under_the_number_200(self):
        """With its range it is a slice like others; without, only the whole is asked for."""
        def named(request):
            span = byte_range(request, len(LARGE))
            if span is None:
                return page(LARGE)
            return page(LARGE[span[0] : span[1] + 1], Content_Range=f"bytes {span[0]}-{span[1]}/{len(LARGE)}")

        def silent(request):
            span = byte_range(request, len(LARGE))
            return page(LARGE if span is None else LARGE[span[0] : span[1] + 1], Accept_Ranges="bytes")

        for name, answer in (("named", named), ("silent", silent)):
            for proof in ("nothing", "size") if name == "named" else ("nothing", "sum"):
                with self.subTest(name, proof=proof):
                    self.had(answer, LARGE, **self.proofs(LARGE)[proof])

    def test_a_mirror_whose_file_has_another_length(self):
        """Where only the checksum is published it decides, in any order of mirrors, and who was wrong is named."""
        sums, longer = {"sha256": checksums(LARGE)["sha256"]}, LARGE + seeded(6_000_000, 13)
        for name, wrong in (("short", [LARGE[:6_000_000]]), ("longer", [longer]), ("small", [SMALL]),
                            ("two", [LARGE[:6_000_000], longer]), ("one length twice", [longer, longer[::-1]])):
            for order in (1, -1) if name == "short" else (1,):
                with self.subTest(name, order=order):
                    ground = self.new_ground()
                    origins = [self.serve(lambda _, body=body: page(body)) for body in (*wrong, LARGE)][::order]
                    ground.recipe("odd", ground.fragment([origin.url("/f") for origin in origins], checksum=sums))
                    sources = ground.succeeds("odd", LARGE).record["assets"][0]["sources"]
                    demoted = {source["url"]: source["demoted"] for source in sources}
                    self.assertEqual(demoted[origins[0].url("/f")], order > 0, sources)
                    self.assertFalse(demoted[origins[-1 if order > 0 else 0].url("/f")], sources)

    def test_no_mirror_is_right(self):
        ground, sums = self.new_ground(), {"sha256": checksums(LARGE)["sha256"]}
        origins = [self.serve(lambda _, body=body: page(body)) for body in (LARGE[:6_000_000], LARGE[:8_000_000])]
        ground.recipe("bad", ground.fragment([origin.url("/f") for origin in origins], checksum=sums))
        ground.refused(7)

    def test_an_archive_comes_from_the_mirror_that_has_it(self):
        packed = tar_bytes({"a.bin": LARGE, "b.bin": SMALL})
        ground, sums = self.new_ground(), {"sha256": checksums(packed)["sha256"]}
        origins = [self.serve(lambda _, body=body: page(body)) for body in (packed[:6_000_000], packed)]
        ground.recipe("odd", ground.fragment([origin.url("/f") for origin in origins], kind="archive", checksum=sums))
        path = pathlib.Path(ground.succeeds("odd").record["assets"][0]["path"])
        self.assertEqual((path / "a.bin").read_bytes(), LARGE)

    def test_words_that_name_no_coding(self):
        for word in ("aws-chunked", "UTF-8", "", "aws-chunked,"):
            for data in (SMALL, LARGE):
                with self.subTest(word, size=len(data)):
                    self.had(lambda _, word=word, data=data: page(data, Content_Encoding=word), data)
        for word in ("br", "aws-chunked, zstd"):
            origin, ground = self.serve(lambda _, word=word: page(SMALL, Content_Encoding=word)), self.new_ground()
            ground.recipe("bad", ground.fragment(origin.url("/f")))
            ground.refused(6, "Content-Encoding")

    def test_data_under_the_type_of_pages(self):
        """The checksum decides, or the size; where neither is known, what looks like a page is none."""
        rows, tags = b"a,b\n1,2\n" * 100, b"<html> is a tag. " * 100
        for name, data, kind in (("rows", rows, "text/html"), ("tags", tags, "text/plain"), ("page", tags, "text/html")):
            for proof, keys in self.proofs(data).items():
                if keys or name == "rows":
                    with self.subTest(name, proof=proof):
                        self.had(lambda _, data=data, kind=kind: page(data, Content_Type=kind), data, **keys)

    def test_a_page_is_still_told_as_one(self):
        text = b"<!DOCTYPE html><title>Sign in</title><form><input type=password></form>"
        sums = {"sha256": checksums(SMALL)["sha256"]}
        for size in (0, 300_000):
            body = text + b" " * size
            for keys in ({}, {"checksum": sums}, {"checksum": sums, "size": len(SMALL)}):
                with self.subTest(size, keys=keys):
                    origin, ground = self.serve(lambda _, body=body: page(body, Content_Type="text/html")), self.new_ground()
                    ground.recipe("bad", ground.fragment(origin.url("/f"), **keys))
                    ground.refused(4, "a web page instead of data", hint="login")
                    good = self.serve(lambda _: page(SMALL))
                    ground.recipe("odd", ground.fragment([origin.url("/f"), good.url("/f")], **keys))
                    sources = ground.succeeds("odd", SMALL).record["assets"][0]["sources"]
                    self.assertFalse(any(source["demoted"] for source in sources), sources)

    def test_parts_are_refused_and_the_whole_is_given(self):
        def strict(status):
            def answer(request):
                if byte_range(request, len(LARGE)) is not None:
                    return page(status=status)
                return page(LARGE)

            return answer

        def check(case):
            origin = self.had(strict(case.status), LARGE, **case.keys)
            whole = [headers for _, headers, _ in origin.requests if "Range" not in headers]
            self.assertEqual(len(whole), 1, origin.requests)

        Case = collections.namedtuple("Case", "name status keys")
        proofs = list(self.proofs(LARGE).items())
        self.side_by_side([Case(f"{status} {name}", status, keys) for number, status in enumerate((400, 403, 404, 416, 500))
                           for name, keys in (proofs[number % 4], proofs[(number + 2) % 4])], check)

    def test_a_host_is_asked_once_for_a_whole_in_vain(self):
        origin, ground = self.serve(lambda _: page(status=403)), self.new_ground()
        ground.recipe("bad", *(ground.fragment(origin.url(f"/{i}"), id=f"f{i}", path=f"f{i}") for i in range(40)))
        ground.refused(4, "HTTP 403")
        self.assertLess(len(origin.requests), 40 + 20, "two requests for each file")

    def test_a_host_that_gave_wholes_is_asked_for_them(self):
        def answer(request):
            return page(status=403) if byte_range(request, len(SMALL)) is not None else page(SMALL)

        origin, ground = self.serve(answer), self.new_ground()
        ground.recipe("odd", *(ground.fragment(origin.url(f"/{i}"), id=f"f{i}", path=f"f{i}") for i in range(200)))
        ground.succeeds("odd")
        self.assertLess(len(origin.requests), 200 + 40)


if __name__ == "__main__":
    main()

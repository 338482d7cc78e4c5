"""Servers that do not answer as HTTP means it, and have the file nevertheless: it is had, or refused; a part is never it."""
from support.content import checksums, seeded
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


if __name__ == "__main__":
    main()

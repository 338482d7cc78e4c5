#!/usr/bin/python3
"""A server whose connections are slow is asked for hardly more than the file, and the record says what it sent."""

import pathlib

from support.ranks import Ranks
from support import program
from support.case import main, use_memory
from support.content import fragment, sha256_file, write_seeded
from support.origin import body_bytes

MIB = 1 << 20
BUFFER = 64 << 10  # what the server may have handed to its socket, and never reached us, when a request is cut off


def length(request):
    begin, _, end = request.range.removeprefix("bytes=").partition("-")
    return int(end) + 1 - int(begin)


class Slow(Ranks):
    def test_no_byte_twice_and_none_uncounted(self):
        size = 32 * MIB + 5
        served = self.home / "served"
        served.mkdir()
        digest = write_seeded(served / "big", size)
        server = self.serve(root=served, extra="limit_rate 2m;")
        self.expect(self.sabath.run("manifest", "create", served, "-o", self.home / "m"))
        self.sabath.add("slow", [fragment(server.url("big"), path="big")])
        for ranks in (1, 5, 7):
            with self.subTest(ranks=ranks):
                self.forget()
                seen = server.log()
                arguments = ["slow", "--manifest", str(self.home / "m")]
                asset = self.fetch_by(ranks, *arguments) if ranks > 1 else self.fetch(*arguments)
                self.assertEqual(sha256_file(pathlib.Path(asset["path"]) / "big"), digest)
                requests = server.new_requests(seen)
                sent, cut = body_bytes(requests), sum(r.body_bytes < length(r) for r in requests)
                self.assertLessEqual(sent, (1.3 if program.INSTRUMENTED else 1.05) * size)
                self.assertLessEqual(asset["fetched_bytes"], sent)
                self.assertLessEqual(sent - asset["fetched_bytes"], 0.005 * size + cut * BUFFER)


if __name__ == "__main__":
    use_memory()
    main()

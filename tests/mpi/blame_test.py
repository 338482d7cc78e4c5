#!/usr/bin/python3
"""A mirror that lies costs a fetch by ranks one chunk, however many there are."""

import pathlib

from support.ranks import Ranks
from support.case import main, use_memory
from support.content import fragment, sha256_file, write_seeded
from support.origin import body_bytes

MIB = 1 << 20
CHUNK = 4 * MIB


class Blame(Ranks):
    def pinned(self, urls, directory):
        made = self.expect(self.sabath.run("manifest", "create", "--json", directory, "-o", self.home / "m")).record
        pin = {"digest": made["manifest"], "urls": [f"file://{self.home}/m"]}
        self.sabath.add("set", [fragment(urls, name="big", path="big")], manifest=pin)

    def fetch_anew(self, ranks, digest):
        self.forget()
        asset = self.fetch_by(ranks, "set") if ranks > 1 else self.fetch("set")
        self.assertEqual(sha256_file(pathlib.Path(asset["path"]) / "big"), digest)
        return asset

    def test_a_liar_costs_no_more_for_many_ranks(self):
        size = 48 * MIB
        true, false = self.home / "honest", self.home / "liar"
        true.mkdir(), false.mkdir()
        digest = write_seeded(true / "big", size)
        write_seeded(false / "big", size, 7)
        servers = [self.serve(root=root, name=f"server-{root.name}", extra="limit_rate 4m;") for root in (true, false)]
        for ranks, order in ((1, -1), (4, 1), (8, 1), (8, -1)):
            with self.subTest(ranks=ranks, order=order):
                self.pinned([server.url("big") for server in servers[::order]], true)
                seen = [server.log() for server in servers]
                asset = self.fetch_anew(ranks, digest)
                honest, lied = [body_bytes(server.new_requests(before)) for server, before in zip(servers, seen)]
                self.assertLessEqual(lied, 2 * CHUNK)  # one, and what stood in sockets; by each rank it would be eight
                self.assertLessEqual(honest, 1.3 * size)  # as without a liar
                demoted = [source["url"] for source in asset["sources"] if source["demoted"]]
                self.assertEqual(demoted, [servers[1].url("big")] if lied > 0 else [])


if __name__ == "__main__":
    use_memory()
    main()

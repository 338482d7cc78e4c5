#!/usr/bin/python3
"""kill -9 at random moments of a fetch: the bytes are right in the end, and hardly any is moved twice.

Without SABATH_CRASH_ROUNDS a small file and few kills; with it, that number of kills of 512 MiB fetches, at most ten of each.
SABATH_SEED repeats a run.
"""

import os
import pathlib
import random
import time

from support.case import Case, main
from support.content import fragment, sha256_file, write_seeded
from support.origin import body_bytes
from support.program import finish

MIB = 1 << 20
ROUNDS = int(os.environ.get("SABATH_CRASH_ROUNDS", "0"))
SEED = int(os.environ.get("SABATH_SEED", random.SystemRandom().randrange(1 << 32)))
LANES = 8
KILLS_EACH = 10  # of one fetch
MOVED_MAX = 1.10  # of the file's size, all runs together
SMALL_MOVED_MAX = 2.50  # what waits for the disk is lost: without any memory of what was whole it would be 3.5
# Of each kill: what waits for its pack, the pack that is being written, and what arrives meanwhile.
PACKED_LOST_MAX = 3 * 56 * MIB


class Kill(Case):
    size = 512 * MIB if ROUNDS else 64 * MIB
    seconds = 10 if ROUNDS else 4  # that the transfer takes when no other process disturbs it

    def setUp(self):
        super().setUp()
        print(f"seed {SEED}", flush=True)
        self.random = random.Random(SEED)
        self.data = self.home / "served/f.bin"
        self.data.parent.mkdir()
        self.digest = write_seeded(self.data, self.size, SEED)

    def kill_and_restart(self, kills, connections, *arguments):
        """The server's rate is such that the moments of the kills fall into the transfer."""
        rate = self.size // self.seconds // connections // 1024
        server = self.serve(name=f"origin-{self.sabath.store.name}", root=self.data.parent, extra=f"limit_rate {rate}k;")
        checked = fragment(server.url("f.bin"), size=self.size, checksum={"sha256": self.digest})
        self.sabath.add("big", [checked])
        mean = self.seconds / (kills + 1)
        for number in range(kills):
            process = self.sabath.start("fetch", "-q", "big", *arguments)
            time.sleep(self.random.uniform(0.2, 1.8) * mean)  # the moment of the kill, not a synchronisation
            process.kill()
            code = finish(process).exit
            self.assertIn(code, (-9, 0), f"kill {number}")
            self.expect_no_unverified_byte()
        asset = self.fetch("big", *arguments)
        moved = body_bytes(server.log())
        print(f"{kills} kills: {moved / self.size:.4f} of {self.size // MIB} MiB moved", flush=True)
        self.assertEqual(sha256_file(pathlib.Path(asset["path"]) / "f.bin"), self.digest)
        self.assertLessEqual(moved, MOVED_MAX * self.size)
        usage = self.sabath.run("du", "--json").record
        self.assertEqual(usage["partial_bytes"], 0, usage)
        self.expect(self.sabath.run("verify"))
        server.stop()

    def expect_no_unverified_byte(self):
        for file in (self.sabath.store / "objects").rglob("*"):
            self.assertTrue(file.is_dir() or file.stat().st_size == self.size, file)

    def sweep(self, connections, *arguments):
        left = ROUNDS or 5
        while left > 0:
            kills = min(left, KILLS_EACH)
            self.kill_and_restart(kills, connections, *arguments)
            left -= kills
            self.sabath.store = self.home / f"store-{left}"
            self.sabath.environment["SABATH_CACHE"] = str(self.sabath.store)

    def test_checksum_of_the_whole(self):
        """No chunk's hash is known: they are dealt from the front."""
        self.sweep(LANES, "--lanes", LANES)

    def test_pinned_chunks(self):
        """Every lane fetches chunks of its own."""
        manifest = self.home / "big.manifest"
        self.expect(self.sabath.run("manifest", "create", self.data.parent, "-o", manifest))
        self.sweep(LANES, "--manifest", manifest, "--lanes", LANES)

    def test_many_small_files(self):
        """Lost is what the lanes hold, and what waits for the disk: on a slow one that is more than of a large file."""
        count = self.size // (256 * 1024)
        with open(self.data, "rb") as data:
            for number in range(count):
                (self.data.parent / f"{number}.bin").write_bytes(data.read(256 * 1024))
        (self.data.parent / "list.txt").write_text("".join(f"{number}.bin\n" for number in range(count)))
        pause = self.seconds * LANES / count  # the server takes so long for each file
        server = self.serve(root=self.data.parent, extra=f"limit_rate {int(256 / pause)}k;")
        self.sabath.add("many", [fragment(server.url("list.txt"), kind="file_list")])
        kills = min(ROUNDS or 5, KILLS_EACH)
        for _ in range(kills):
            process = self.sabath.start("fetch", "-q", "many")
            time.sleep(self.random.uniform(0.2, 1.8) * self.seconds / (kills + 1))
            process.kill()
            finish(process)
        asset = self.fetch("many")
        moved = body_bytes(server.log())
        print(f"{kills} kills: {moved / self.size:.4f} of {count} files moved", flush=True)
        packed = count >= 1000  # docs/store.md, Packs
        self.assertLessEqual(moved, self.size + kills * PACKED_LOST_MAX if packed else SMALL_MOVED_MAX * self.size)
        self.assertEqual(asset["packed"], packed)
        made = self.home / "made"
        self.expect(self.sabath.run("view", "many", "--to", made))
        for number in range(count):
            name = f"{number}.bin"
            self.assertEqual(sha256_file(made / name), sha256_file(self.data.parent / name))


if __name__ == "__main__":
    main()

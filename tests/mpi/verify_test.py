#!/usr/bin/python3
"""`mpirun sabath verify`: each byte is read by one rank, each fault is told once, and a store of one's own is not shared."""

import json
import os
import pathlib
import shutil
import unittest
from unittest import mock

from support.ranks import TERM, Ranks
from support import program
from support.case import main
from support.content import flip, fragment, seeded
from support.origin import poll
from support.traced import bytes_read, have_strace, traced

CHUNK = 4 << 20
COUNTS = (1, 2, 3, 7)


class Verify(Ranks):
    def setUp(self):
        super().setUp()
        self.large = {f"large/{n}": seeded((n % 6 == 0) * 2 * CHUNK + 1000 + n, n) for n in range(18)}
        self.small = {f"small/{n:04}": seeded(300 + n, 100 + n) for n in range(1200)}
        listed = {name: "".join(f"{path}\n" for path in getattr(self, name)).encode() for name in ("large", "small")}
        self.server = self.serve({**self.large, **self.small, **{f"{name}.txt": text for name, text in listed.items()}})
        for name in listed:
            url = self.server.url(f"{name}.txt")
            self.sabath.add(name, [{"id": name, "type": "file_list", "urls": [url]}])
            self.fetch(name)

    def verify(self, ranks, *arguments, code=0, **options):
        return json.loads(self.run_ranks(ranks, "verify", "--json", *arguments, code=code, **options))["assets"][0]

    def by_script(self, text):
        """Each rank runs the program by a shell's script, whose $0 is the program."""
        script = self.home / "script"
        script.write_text(f"#!/bin/sh\nset -- {program.BINARY} \"$@\"\n{text}\n")
        script.chmod(0o755)
        return mock.patch.object(program, "BINARY", str(script))

    def bytes_read(self, rank):
        io = pathlib.Path(f"/proc/{self.pid(rank)}/io").read_text()
        return int(dict(line.split(": ") for line in io.splitlines())["rchar"])

    def objects(self):
        return sorted(f for f in (self.sabath.store / "objects").rglob("*") if f.is_file())

    @unittest.skipUnless(have_strace(), "strace is not installed")
    def test_each_byte_is_read_by_one_rank(self):
        alone = self.expect(self.sabath.run("verify", "--json")).asset
        log = self.home / "strace"
        for ranks in COUNTS:
            for old in self.home.glob("strace.*"):
                old.unlink()
            with self.by_script(f"exec {' '.join(traced(log))} \"$@\""):
                asset = self.verify(ranks, ASAN_OPTIONS="detect_leaks=0")
            seen = bytes_read(log, "objects")
            self.assertEqual(seen, sum(f.stat().st_size for f in self.objects()), ranks)
            self.assertEqual({**asset, "quick": 0}, {**alone, "quick": 0})
        self.assertEqual(self.verify(3, "small")["files"], len(self.small) + 1)
        self.assertEqual(self.verify(3, "--within", "1h")["remembered"], alone["files"])

    def test_each_fault_is_told_once_and_repaired(self):
        victims = [f for f in self.objects() if f.stat().st_size > 1000][:5]
        for victim in victims:
            flip(victim, 500)
        (pack,) = (self.sabath.store / "packs").iterdir()
        flip(pack, 700)
        self.expect(self.sabath.run("keep", "small"))
        flip(next((self.sabath.store / "pins").iterdir()), 3)
        asset = self.verify(3, code=7)
        sizes = sorted(bad["size"] for bad in asset["bad"] if bad["path"].startswith("large"))
        self.assertEqual(sizes, sorted(size_of(victim) for victim in victims))
        self.assertEqual(sum(bad["path"].startswith("small") for bad in asset["bad"]), 1)
        self.assertEqual(sum(bad["path"].startswith("pins") for bad in asset["bad"]), 1)
        self.verify(3, "--repair")
        alone = self.expect(self.sabath.run("verify", "--json")).asset
        self.assertEqual((alone["bad"], alone["missing"]), ([], 0))

    def test_what_is_missing_is_told_once(self):
        gone = self.objects()[0]
        gone.unlink()
        for arguments in ((), ("large",)):
            self.assertEqual(self.verify(3, *arguments, code=8)["missing"], 1)
        (repaired,) = self.verify(3, "--repair")["repaired"]
        self.assertEqual(repaired["fetched_bytes"], size_of(gone))
        self.verify(3)

    def test_stores_of_their_own(self):
        with self.by_script('exec env SABATH_CACHE="$SABATH_CACHE$(($RANKS_NUMBER % 2))" "$@"'):
            for number in range(2):
                os.symlink("store", f"{self.sabath.store}{number}")
            self.verify(3)  # two names of one store
            os.unlink(f"{self.sabath.store}1")
            shutil.copytree(self.sabath.store, f"{self.sabath.store}1", symlinks=True)
            self.run_ranks(3, "verify", code=2)
            self.assertIn("--alone", self.text("err", 0))
            self.run_ranks(3, "verify", "large", code=2)
        with self.by_script('[ "$RANKS_NUMBER" = 1 ] && set -- "$@" --store /nowhere/at/all; exec "$@"'):
            self.run_ranks(3, "verify", code=9)
        self.run_ranks(3, "verify", "unheard-of", code=3)

    def test_by_themselves(self):
        self.finish(self.start(2, "verify", "--alone", "--json"))
        records = [json.loads(self.text("out", rank))["assets"][0] for rank in range(2)]
        self.assertEqual(records[0], records[1])

    def test_a_signal_ends_all_and_the_next_goes_on(self):
        process = self.start(3, "verify", "--limit-rate", "3M", "--json")
        checked = self.sabath.store / "checked"
        self.assertTrue(poll(lambda: sum(self.bytes_read(rank) for rank in range(3)) > 8_000_000))
        for rank in range(3):
            self.signal_rank(rank, TERM)
        self.finish(process, 20)
        self.expect_codes(143)
        self.assertTrue(any(log.stat().st_size for log in checked.iterdir()))
        asset = self.verify(3, "--within", "1h")
        self.assertGreater(asset["remembered"], 0)
        self.assertGreater(asset["files"], 0)


def size_of(file):
    return int(file.name.rpartition(".")[2])


if __name__ == "__main__":
    main()

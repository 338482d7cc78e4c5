#!/usr/bin/python3
"""verify: it reads what it says that it reads, finds each flipped bit, and has it repaired.

SABATH_SEED repeats a run of the random flips.
"""

import os
import pathlib
import random
import time
import unittest

from support.case import Case, main
from support.content import flip, fragment, seeded, tar_bytes
from support.origin import body_bytes, poll
from support.program import finish
from support.traced import bytes_read, have_strace, traced

MIB = 1 << 20
CHUNK = 4 * MIB
FLIPS = 100
SEED = int(os.environ.get("SABATH_SEED", random.SystemRandom().randrange(1 << 32)))
# Of fixed-size records, so that a torn end is none.
RECORDS = {"verified": 80, "checked": 80, "arrivals": 96, "partial": 64}


class Ground(Case):
    def setUp(self):
        super().setUp()
        self.large = seeded(3 * CHUNK + 1000, 1)
        self.small = seeded(70000, 2)
        self.server = self.serve({"large.bin": self.large, "small.bin": self.small})
        self.sabath.add("large", [fragment(self.server.url("large.bin"), self.large)])
        self.sabath.add("small", [fragment(self.server.url("small.bin"), self.small)])

    def verify(self, *arguments, code=0, **options):
        return self.expect(self.sabath.run("verify", "--json", *arguments, **options), code).asset

    def object_of(self, size):
        (file,) = [f for f in (self.sabath.store / "objects").rglob("*") if f.name.endswith(f".{size}")]
        return file


class Copies(Ground):
    def test_a_copy_in_a_view_is_no_further_file(self):
        """An executable's file in a view is one of its own, since it has another mode than its object."""
        (self.sabath.recipes / "executables").mkdir()
        self.sabath.add("tool", [fragment(self.server.url("small.bin"), self.small)], kind="executable")
        self.expect(self.sabath.run("fetch", "tool"))
        found = self.verify("tool")
        self.assertEqual((found["files"], found["copies"], found["bytes_read"]), (1, 1, 2 * len(self.small)))
        self.assertIn("tool: 1 file and 1 copy, 140 kB read: verified", self.sabath.run("verify", "tool").err)


class Verify(Ground):
    def bytes_read(self, *arguments):
        """What the kernel gave of files below objects/, as strace saw it, and what the program says."""
        for old in self.home.glob("strace.*"):
            old.unlink()
        log = self.home / "strace"
        record = self.verify(*arguments, prefix=traced(log), ASAN_OPTIONS="detect_leaks=0")
        return bytes_read(log, "objects"), record

    @unittest.skipUnless(have_strace(), "strace is not installed")
    def test_it_reads_what_it_says_yes_to(self):
        self.fetch("large")
        self.fetch("small")
        total = len(self.large) + len(self.small)
        for arguments, expected in (((), total), (("--quick",), total), (("--within", "1h"), 0),
                                    (("small",), len(self.small)), (("-j", "1", "--quick", "large"), len(self.large))):  # fmt: skip
            seen, record = self.bytes_read(*arguments)
            self.assertEqual((seen, record["bytes_read"]), (expected, expected), arguments)
            if expected == 0:
                self.assertEqual((record["files"], record["remembered"]), (0, 2))

    def test_quick_finds_a_bit(self):
        self.fetch("large")
        self.assertEqual(self.verify("--quick")["quick"], 0)
        self.assertEqual(self.verify("--quick")["quick"], 1)
        flip(self.object_of(len(self.large)), 2 * CHUNK + 5, 3)
        (bad,) = self.verify("--quick", code=7)["bad"]
        self.assertEqual((bad["chunk"], bad["mended"]), (2, False))

    def test_bad_chunks_alone_are_fetched_again(self):
        path = pathlib.Path(self.fetch("large")["path"])
        file = self.object_of(len(self.large))
        flip(file, 5, 0)
        flip(file, 2 * CHUNK + 5, 7)
        seen = self.server.log()
        record = self.verify("--repair")
        self.assertEqual([bad["chunk"] for bad in record["bad"]], [0, 2])
        self.assertTrue(all(bad["mended"] for bad in record["bad"]))
        self.assertEqual([asset["fetched_bytes"] for asset in record["repaired"]], [2 * CHUNK])
        self.assertEqual(body_bytes(self.server.new_requests(seen)), 2 * CHUNK)
        self.expect_tree(path, {"large.bin": self.large})
        self.assertEqual(self.verify()["bad"], [])
        self.assertEqual(len(list((self.sabath.store / "quarantine").iterdir())), 1)

    def test_what_has_no_source_is_reported(self):
        self.fetch("small")
        self.server.stop()
        flip(self.object_of(len(self.small)), 5, 0)
        record = self.verify("--repair", code=7)
        self.assertFalse(record["bad"][0]["mended"])
        self.assertTrue(record["repaired"][0]["failures"])

    def test_what_an_asset_names_and_the_store_lacks(self):
        """Reading all that is there is no answer where something is not."""
        for name in ("large", "small"):
            self.fetch(name)
        root = self.fetch("small")["manifest"]
        self.object_of(len(self.small)).unlink()
        record = self.verify(code=8)
        self.assertEqual((record["bad"], record["missing_paths"]), ([], [f"small.bin of {root}"]))
        self.assertEqual(self.verify("--repair")["missing"], 1)
        self.assertEqual(self.verify()["missing"], 0)
        (manifest,) = (self.sabath.store / "manifests").rglob(root.removeprefix("sha256:")[2:])
        manifest.unlink()
        self.assertEqual(self.verify(code=8)["missing_paths"], [f"the manifest {root}"])

    @unittest.skipUnless(have_strace(), "strace is not installed")
    def test_a_listing_that_breaks_off_is_not_the_end(self):
        self.fetch("small")
        places = ("packs", "pins", "objects", "manifests", "refs", "verified", "partial")
        for place in places:
            directory = self.sabath.store / place
            directory.mkdir(exist_ok=True)
            inject = ["strace", "-f", "-qq", "-o", "/dev/null", "-P", directory, "-e", "trace=getdents64",
                      "-e", "inject=getdents64:error=EIO"]  # fmt: skip
            with self.subTest(place):
                broken = self.sabath.run("verify", prefix=inject, ASAN_OPTIONS="detect_leaks=0")
                self.assertEqual(broken.exit, 70, broken.err)
                self.assertIn(str(directory), broken.err)

    def test_limit_rate(self):
        self.fetch("large")
        begin = time.monotonic()
        self.verify("--limit-rate", "8M")
        self.assertGreater(time.monotonic() - begin, 0.8 * len(self.large) / 8e6)

    def test_an_interrupted_one_goes_on(self):
        for name in ("large", "small"):
            self.fetch(name)
        process = self.sabath.start("verify", "--limit-rate", "2M", "-j", "1", "--within", "1h")
        self.assertFalse(poll(lambda: process.poll() is not None, 1))
        process.terminate()
        self.assertEqual(finish(process).exit, 143)
        record = self.verify("--within", "1h")
        self.assertEqual(record["files"] + record["remembered"], 2)
        self.assertEqual(self.verify("--within", "1h")["remembered"], 2)


class Flips(Ground):
    """100 bits, one after the other, anywhere in the store."""

    def setUp(self):
        super().setUp()
        print(f"seed {SEED}", flush=True)
        self.random = random.Random(SEED)

    def fill(self):
        self.fetch("large")
        self.fetch("small")
        self.expect(self.sabath.run("keep", "small"))
        self.many = {f"{n:04}.txt": f"content {n}\n".encode() * (1 + n % 9) for n in range(1100)}
        packed = self.serve({"many.tar": tar_bytes(self.many)}, name="packed")
        self.sabath.add("many", [fragment(packed.url("many.tar"), kind="archive", name="many")])
        self.fetch("many")
        slow = self.serve({"slow.bin": seeded(10 * MIB, 7)}, name="slow", extra="limit_rate 3m;")
        self.sabath.add("slow", [fragment(slow.url("slow.bin"))])
        process = self.sabath.start("fetch", "slow", "--lanes", "1")
        journals = self.sabath.store / "partial"
        poll(lambda: any(f.stat().st_size > 64 for f in journals.glob("*/*/journal.*")))
        process.kill()
        finish(process)
        self.verify()

    def choose(self):
        logs = ("verified", "arrivals", "checked")
        kinds = ("objects", "objects", "packs", "packs", "manifests", "refs", "alias", *logs, "partial", "pins")
        while True:
            kind = self.random.choice(kinds)
            files = [f for f in sorted((self.sabath.store / kind).rglob("*")) if f.is_file()]
            if kind == "partial":
                files = [f for f in files if f.name.startswith("journal.")]
            sizes = [f.stat().st_size // RECORDS.get(kind, 1) * RECORDS.get(kind, 1) for f in files]
            if sum(sizes) > 0:
                file, size = self.random.choice([(f, s) for f, s in zip(files, sizes) if s > 0])
                return kind, file, self.random.randrange(size)

    def test_each_is_found_and_repaired(self):
        self.fill()
        found = {}
        for number in range(FLIPS):
            kind, file, offset = self.choose()
            flip(file, offset, self.random.randrange(8))
            what = f"flip {number}: {file.relative_to(self.sabath.store)} at {offset}"
            record = self.verify("--repair")
            self.assertGreater(len(record["bad"]), 0, what)
            self.assertEqual([bad for bad in record["bad"] if not bad["mended"]], [], what)
            again = self.verify()
            self.assertEqual(again["bad"], [], what)
            found[kind] = found.get(kind, 0) + 1
        for name, data in (("large", self.large), ("small", self.small)):
            self.expect_tree(self.expect(self.sabath.run("path", name)).out.strip(), {f"{name}.bin": data})
        self.expect(self.sabath.run("view", "many", "--to", self.home / "many"))
        self.expect_tree(self.home / "many", self.many)
        self.assertGreater(found["packs"], 0)
        print(f"{FLIPS} flipped bits, each found and repaired: {found}", flush=True)


if __name__ == "__main__":
    main()

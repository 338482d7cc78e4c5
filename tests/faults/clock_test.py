#!/usr/bin/python3
"""A node's clock that is wrong by a day, or jumps by one: nothing is collected for it, and no byte is wrong."""

import os
import signal
import sys

from support.case import SKIPPED, Case, main
from support.content import fragment, read_tree, seeded
from support.origin import poll
from support.program import finish

SHIFT = os.environ.get("SABATH_CLOCK_SHIFT", "")
DAY = 86400
JUMPS = (DAY, -DAY)


class Clock(Case):
    def setUp(self):
        super().setUp()
        self.files = {"a.bin": seeded(300_000, 1), "b.bin": seeded(5_000_000, 2)}
        self.server = self.serve(self.files)
        self.sabath.add("asset", [fragment(self.server.url(name), data, path=name, name=name[0])
                                  for name, data in self.files.items()])  # fmt: skip

    def shifted(self, seconds, after=0):
        """The environment of a process whose clock is wrong."""
        options = self.sabath.environment.get("ASAN_OPTIONS", "")
        return {"LD_PRELOAD": SHIFT, "CLOCK_SHIFT": str(seconds), "CLOCK_AFTER": str(after),
                "ASAN_OPTIONS": f"{options}:verify_asan_link_order=0".lstrip(":")}  # fmt: skip

    def test_the_library_is_heard(self):
        self.fetch("asset")
        self.expect(self.sabath.run("keep", "asset", **self.shifted(-DAY)))
        (pin,) = (self.sabath.store / "pins").iterdir()
        self.assertLess(int(pin.read_text().split('"time":')[1].split(",")[0]), pin.stat().st_mtime - DAY / 2)

    def test_a_day_is_no_reason_to_collect(self):
        self.fetch("asset")
        for seconds in JUMPS:
            with self.subTest(seconds):
                report = self.collect("--older-than", "12h", **self.shifted(seconds))
                self.assertEqual((report["collected"], report["partials"], report["deleted_batches"]), ([], 0, 0))

    def test_the_trash_is_kept_for_its_window(self):
        self.fetch("asset")
        self.assertTrue(self.collect("--older-than", "0s", "--grace", "0s")["collected"])
        for seconds in JUMPS:
            self.assertEqual(self.collect("--window", "12h", **self.shifted(seconds))["deleted_batches"], 0, seconds)
        self.expect(self.sabath.run("gc", "--undo", **self.shifted(DAY)))
        self.expect_tree(self.fetch("asset", "--offline")["path"], self.files)

    def test_it_jumps_while_a_fetch_runs(self):
        for number, (seconds, after) in enumerate((s, a) for s in JUMPS for a in (3, 10, 30)):
            with self.subTest(seconds=seconds, after=after):
                self.sabath.environment["SABATH_CACHE"] = str(self.home / f"store{number}")
                variables = self.shifted(seconds, after)
                self.expect_tree(self.fetch("asset", **variables)["path"], self.files)
                self.expect(self.sabath.run("verify", "--quick", **variables))
                self.expect(self.sabath.run("verify", "--within", "1h", **self.shifted(-seconds)))

    def test_a_fetch_keeps_its_own_though_the_collector_lives_a_day_later(self):
        slow = self.serve(self.files, name="slow", extra="limit_rate 1500k;")
        for seconds in JUMPS:
            with self.subTest(seconds):
                self.sabath.environment["SABATH_CACHE"] = str(self.home / f"held{seconds}")
                there = ("--rewrite", f"{self.server.url()}={slow.url()}")
                process = self.sabath.start("fetch", "--json", "asset", *there)
                store = self.home / f"held{seconds}"
                begun = [(store / "leases", "*"), (store / "partial", "journal.*")]
                self.assertTrue(poll(lambda: all(any(place.rglob(name)) for place, name in begun), 60))
                self.assertIsNone(process.poll(), "it was too fast for this test")
                process.send_signal(signal.SIGSTOP)  # it has not ended when the collector looks
                how = ("--older-than", "0s", "--grace", "0s", "--partials", "0s", "--now")
                try:
                    report = self.collect(*how, **self.shifted(seconds))
                finally:
                    process.send_signal(signal.SIGCONT)
                self.assertEqual(report["partials"], 0)
                self.expect_tree(self.expect(finish(process)).asset["path"], self.files)
                self.expect(self.sabath.run("verify"))
                self.assertEqual(read_tree(store / "leases"), {})

    def collect(self, *how, **variables):
        return self.expect(self.sabath.run("gc", "--json", *how, **variables)).record


if __name__ == "__main__":
    if not SHIFT:
        print("SKIP: SABATH_CLOCK_SHIFT names no library")
        sys.exit(SKIPPED)
    main()

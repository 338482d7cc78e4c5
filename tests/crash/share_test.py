#!/usr/bin/python3
"""Four processes fetch one pinned asset into one store, without locks: some are killed, some are stopped.

One of them is killed each second until it is done, and started again. Without SABATH_CRASH_ROUNDS a small file and at
least five kills; with it a large one and at least 20. SABATH_SEED repeats a run.
"""

import os
import pathlib
import random
import signal
import subprocess
import sys
import time
import unittest

from support.case import Case, main
from support.content import fragment, sha256_file, write_seeded
from support.origin import body_bytes, poll
from support.program import finish

MIB = 1 << 20
CHUNK = 4 * MIB
LONG = int(os.environ.get("SABATH_CRASH_ROUNDS", "0")) > 0
SEED = int(os.environ.get("SABATH_SEED", random.SystemRandom().randrange(1 << 32)))
LIAR = os.environ.get("SABATH_LYING_LOCKS", "")
PROCESSES = 4
LANES = 4
KILL_PAUSE = 1.0
MOVED_MAX = 1.05  # of the file's size, all processes together
TOGETHER = 10.0  # seconds between the first end and the last
QUIET_SECONDS = 10  # of a writer that stands still: then its claims end
CONTENT = 7  # the exit code of wrong bytes


class Share(Case):
    size = 512 * MIB if LONG else 192 * MIB
    seconds = 30 if LONG else 8  # that the transfer takes when no other process disturbs it
    kills_min = 20 if LONG else 5

    def setUp(self):
        super().setUp()
        print(f"seed {SEED}", flush=True)
        self.random = random.Random(SEED)
        self.data = self.home / "served/f.bin"
        self.data.parent.mkdir()

    def publish(self, size, connections, seconds):
        """The asset behind a server that needs `seconds` for it over this number of connections, and its manifest."""
        digest = write_seeded(self.data, size, SEED)
        rate = max(1, size // max(1, seconds) // connections // 1024)
        server = self.serve(root=self.data.parent, extra=f"limit_rate {rate}k;")
        self.sabath.add("big", [fragment(server.url("f.bin"), size=size, checksum={"sha256": digest})])
        self.manifest = self.home / "big.manifest"
        self.expect(self.sabath.run("manifest", "create", self.data.parent, "-o", self.manifest))
        return server, digest

    def start(self, *arguments, lanes=LANES, **variables):
        more = ("--manifest", self.manifest, "--lanes", lanes, *arguments)
        return self.sabath.start("fetch", "--json", "big", *more, **variables)

    def kill_until_done(self, **variables):
        """Returns the number of kills and the results of the four that came to an end."""
        processes = [self.start(**variables) for _ in range(PROCESSES)]
        kills = 0
        while not poll(lambda: any(p.poll() is not None for p in processes), KILL_PAUSE):
            victim = self.random.randrange(PROCESSES)
            processes[victim].kill()
            code = finish(processes[victim]).exit
            if code == 0:  # it was faster
                break
            self.assertEqual(code, -9)
            kills += 1
            processes[victim] = self.start(**variables)
        first = time.monotonic()
        results = [finish(process) for process in processes]
        print(f"{kills} kills, the last ended after {time.monotonic() - first:.2f} s", flush=True)
        return kills, results

    def check_killed(self, **variables):
        server, digest = self.publish(self.size, PROCESSES * LANES, self.seconds)
        kills, results = self.kill_until_done(**variables)
        for result in results:
            self.assertIn(result.exit, (0, -9), result.err)
        moved = body_bytes(server.log())
        print(f"{moved / self.size:.4f} of {self.size // MIB} MiB moved", flush=True)
        asset = self.fetch("big", "--manifest", self.manifest, "--offline")
        self.assertEqual(sha256_file(pathlib.Path(asset["path"]) / "f.bin"), digest)
        self.expect(self.sabath.run("verify"))
        self.assertEqual(self.sabath.run("du", "--json").record["partial_bytes"], 0)
        self.assertGreaterEqual(kills, self.kills_min)
        self.assertLessEqual(moved, MOVED_MAX * self.size)

    def test_one_is_killed_each_second(self):
        self.check_killed()

    @unittest.skipUnless(LIAR, "SABATH_LYING_LOCKS names no library")
    def test_locks_that_succeed_for_everyone(self):
        """The same where a lock is given to all who ask. They would see no more of it than that: none asks."""
        script = (
            "import fcntl,sys; a, b = open(sys.argv[1], 'w'), open(sys.argv[1], 'w')\n"
            "for f in (a, b): fcntl.flock(f, fcntl.LOCK_EX | fcntl.LOCK_NB)\n"
            "for f in (a, b): fcntl.lockf(f, fcntl.LOCK_EX | fcntl.LOCK_NB)\n"
        )
        log = self.home / "locks.log"
        lying = {"LD_PRELOAD": LIAR, "LYING_LOCKS_LOG": str(log)}
        command = [sys.executable, "-c", script, self.home / "lock"]
        subprocess.run(command, env={**os.environ, **lying}, check=True)
        self.assertEqual(len(log.read_text().splitlines()), 4, "the library is not heard")
        log.unlink()
        self.check_killed(**lying)
        self.assertFalse(log.exists(), "a fetch asks for locks")

    def test_they_end_together(self):
        """Each says what it moved itself; a process that does not publish notices within a second that another has."""
        size = 64 * MIB
        server, digest = self.publish(size, PROCESSES * LANES, 4)
        ends = {}
        processes = [self.start() for _ in range(PROCESSES)]
        all_ended = poll(lambda: note_ends(processes, ends), 60)
        results = [finish(process) for process in processes]
        self.assertTrue(all_ended)
        spread = max(ends.values()) - min(ends.values())
        fetched = [self.expect(result).asset["fetched_bytes"] for result in results]
        reused = [result.asset["reused_bytes"] for result in results]
        moved = body_bytes(server.log())
        print(f"within {spread:.2f} s; fetched {fetched}, reused {reused}, moved {moved}", flush=True)
        self.assertLessEqual(moved, MOVED_MAX * size)
        self.assertGreaterEqual(sum(fetched), size)
        self.assertLessEqual(sum(fetched), moved)
        self.assertGreater(sum(one > 0 for one in fetched), 1, "one has fetched all")
        for one, other in zip(fetched, reused):
            self.assertGreaterEqual(one + other, size)
            self.assertLessEqual(one + other, MOVED_MAX * size)
        for result in results:
            self.assertEqual(sha256_file(pathlib.Path(result.asset["path"]) / "f.bin"), digest)
        self.assertLessEqual(spread, TOGETHER)

    def test_a_liar_that_wakes_after_publication_changes_nothing(self):
        """It was stopped with wrong bytes in hand, and its claims are taken over when it has stood still for long."""
        size = 6 * CHUNK
        wrong = self.home / "wrong/f.bin"
        wrong.parent.mkdir()
        write_seeded(wrong, size, SEED + 1)
        server, digest = self.publish(size, 1, 1)
        liar = self.serve(name="liar", root=wrong.parent, extra="limit_rate 512k;")
        sleeper = self.start("--rewrite", f"{server.url()}={liar.url()}", lanes=2)
        self.addCleanup(sleeper.kill)
        partial = self.sabath.store / "partial"
        held = lambda: sum(f.stat().st_size for f in partial.glob("*/scratch.*"))  # noqa: E731
        self.assertTrue(poll(lambda: held() > MIB), "nothing of the wrong bytes is in hand")
        sleeper.send_signal(signal.SIGSTOP)
        begin = time.monotonic()
        result = finish(self.start())
        seconds = time.monotonic() - begin
        self.expect(result)
        print(f"published {seconds:.1f} s after a claimant was stopped", flush=True)
        self.assertLess(seconds, QUIET_SECONDS + 60)
        (published,) = [f for f in (self.sabath.store / "objects").rglob("*") if f.is_file()]
        before = published.stat()
        sleeper.send_signal(signal.SIGCONT)
        woken = finish(sleeper)
        after = published.stat()
        print(f"the woken one ends with {woken.exit}: {woken.err.strip()[:200]}", flush=True)
        self.assertIn(woken.exit, (0, CONTENT), woken.err)
        for name in ("st_ino", "st_size", "st_mtime_ns", "st_mode"):
            self.assertEqual(getattr(before, name), getattr(after, name), name)
        self.assertEqual(sha256_file(published), digest)
        self.assertEqual(sha256_file(pathlib.Path(result.asset["path"]) / "f.bin"), digest)
        self.expect(self.sabath.run("verify"))
        self.assertEqual(self.sabath.run("du", "--json").record["partial_bytes"], 0)
        self.assertEqual(len([f for f in (self.sabath.store / "objects").rglob("*") if f.is_file()]), 1)


def note_ends(processes, ends):
    for process in processes:
        if process.poll() is not None:
            ends.setdefault(process.pid, time.monotonic())
    return len(ends) == len(processes)


if __name__ == "__main__":
    main()

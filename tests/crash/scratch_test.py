#!/usr/bin/python3
"""Programs that can only write files, where locks succeed for everyone and where there are none.

No other process removes the scratch of a living one, and what a killed one left goes with the next fetch.
"""

import errno
import json
import os
import unittest

from support.case import Case, main, place
from support.content import fragment, seeded
from support.origin import poll
from support.program import finish

LIAR = os.environ.get("SABATH_LYING_LOCKS", "")
# Copies, says that it has, and ends when it may.
SCRIPT = 'cp "$1" "$2"; touch "$1.copied"; until [ -e "$1.go" ]; do sleep 0.02; done'


class Programs(Case):
    def setUp(self):
        super().setUp()
        self.log = self.home / "locks.log"
        argv = ["bash", "-c", SCRIPT, "--", "{path}", "{file}"]
        description = {
            "schema": 1,
            "name": "slow-copy",
            "schemes": ["slow"],
            "read": {"argv": argv, "output": "file"},
            "failures": [{"kind": "network"}],
        }
        place(self.home / ".local/share/sabath/fetchers/slow-copy.json", json.dumps(description).encode())
        self.data = {}
        for seed, name in enumerate(("first", "second", "third")):
            self.data[name] = seeded(50_000, seed)
            place(self.home / name, self.data[name])
            self.sabath.add(name, [fragment(f"slow://x{self.home}/{name}", self.data[name], path="f.bin")])

    def begin(self, name, **variables):
        """A fetch whose program has written its file, and waits."""
        process = self.sabath.start("fetch", "--json", name, **variables)
        self.addCleanup(self.let_go, name)  # the program, also if the fetch fails
        copied = self.home / f"{name}.copied"
        self.assertTrue(poll(lambda: copied.exists() or process.poll() is not None, 30), "no program has begun")
        if not copied.exists():
            self.fail(finish(process).err)
        self.addCleanup(process.kill)
        return process

    def let_go(self, name):
        (self.home / f"{name}.go").touch()

    def end(self, name, process):
        self.let_go(name)
        asset = self.expect(finish(process)).asset
        self.expect_tree(asset["path"], {"f.bin": self.data[name]})

    def scratch(self):
        return sorted((self.sabath.store / "tmp").rglob("content"))

    def check(self, **variables):
        first = self.begin("first", **variables)
        (theirs,) = self.scratch()
        second = self.begin("second", **variables)
        self.assertEqual(len(self.scratch()), 2)
        self.end("second", second)
        self.assertEqual(self.scratch(), [theirs], "a living process's scratch was removed")
        self.end("first", first)
        self.assertEqual(sorted((self.sabath.store / "tmp").iterdir()), [])

        killed = self.begin("third", **variables)
        killed.kill()
        finish(killed)
        self.assertEqual(len(self.scratch()), 1)
        self.let_go("third")
        self.end("third", self.sabath.start("fetch", "--json", "third", **variables))
        self.assertEqual(sorted((self.sabath.store / "tmp").iterdir()), [])
        self.assertFalse(self.log.exists(), "a fetch asks for locks")

    def test_as_it_is(self):
        self.check()

    @unittest.skipUnless(LIAR, "SABATH_LYING_LOCKS names no library")
    def test_locks_that_succeed_for_everyone(self):
        self.check(LD_PRELOAD=LIAR, LYING_LOCKS_LOG=str(self.log))

    @unittest.skipUnless(LIAR, "SABATH_LYING_LOCKS names no library")
    def test_no_locks(self):
        self.check(LD_PRELOAD=LIAR, LYING_LOCKS_LOG=str(self.log), LYING_LOCKS_ERRNO=str(errno.ENOSYS))


if __name__ == "__main__":
    main()

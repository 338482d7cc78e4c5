#!/usr/bin/python3
"""16 processes at once on one store: fetch, verify, collect, keep, stage. Nothing is wrong, and nothing is left.

20 seconds; SABATH_STORM_SECONDS says how many else. SABATH_SEED repeats a run's choices.
"""

import collections
import os
import pathlib
import random
import shutil
import subprocess
import threading
import time

from support.case import Case, main
from support.content import fragment, read_tree, seeded
from support.program import finish

MIB = 1 << 20
SECONDS = int(os.environ.get("SABATH_STORM_SECONDS", "20"))
SEED = int(os.environ.get("SABATH_SEED", random.SystemRandom().randrange(1 << 32)))
WORKERS = 16
NODES = 3  # directories of nodes, to each of which several stage at once
LATE = 300  # seconds for a command that alone takes a tenth of one: then it hangs, and it is told where
NOT_THERE = 9  # collected a moment ago: announced, and `fetch` gets it again
PARTLY_THERE = 8


class Storm(Case):
    def setUp(self):
        super().setUp()
        print(f"seed {SEED}", flush=True)
        shared = {f"shared{i}.bin": seeded(40000, 100 + i) for i in range(20)}
        self.assets = {}
        for number in range(4):
            own = {f"own{number}-{i}.bin": seeded(30000 + i, 1000 * number + i) for i in range(10)}
            own[f"large{number}.bin"] = seeded(5 * MIB, number)
            self.assets[f"asset{number}"] = {**shared, **own}
        server = self.serve({name: data for files in self.assets.values() for name, data in files.items()})
        for name, files in self.assets.items():
            self.sabath.add(name, [fragment(server.url(file), data, path=file, name=file.split(".")[0])
                                   for file, data in files.items()])  # fmt: skip
        self.codes = collections.Counter()
        self.wrong = []
        self.slowest = (0, "")
        self.lock = threading.Lock()

    def note(self, verb, result, allowed):
        with self.lock:
            self.codes[verb, result.exit] += 1
            self.slowest = max(self.slowest, (result.seconds, verb))
            if result.exit not in allowed:
                self.wrong.append(f"{verb}: {result.exit}\n{result.out[:2000]}\n{result.err[:2000]}")

    def run_one(self, *arguments):
        process = self.sabath.start(*arguments)
        watchdog = threading.Timer(LATE, self.tell_where, (process, arguments))
        watchdog.start()
        try:
            return finish(process, time.monotonic())
        finally:
            watchdog.cancel()

    def tell_where(self, process, arguments):
        stacks = subprocess.run(["gdb", "-p", str(process.pid), "-batch", "-ex", "thread apply all bt 16"],
                                capture_output=True, text=True, check=False) if shutil.which("gdb") else None  # fmt: skip
        with self.lock:
            self.wrong.append(f"{arguments} has not ended after {LATE} s\n{stacks.stdout if stacks else 'no gdb'}")

    def fetch_one(self, choose):
        name = choose.choice(sorted(self.assets))
        result = self.run_one("fetch", "--json", name)
        self.note("fetch", result, {0})
        # An asset without a lease that a collection removes now is gone as a whole for a reader.
        expected = self.assets[name]
        found = read_quietly(result.asset["path"]) if result.exit == 0 else {}
        for file, data in found.items():
            if expected.get(file) != data:
                with self.lock:
                    self.wrong.append(f"{name}/{file} has wrong bytes")

    def verify_one(self, choose):
        how = choose.choice(((), ("--quick",), ("--within", "1s")))
        names = choose.choice(((), (choose.choice(sorted(self.assets)),)))
        self.note("verify", self.run_one("verify", "--json", *how, *names), {0, NOT_THERE, PARTLY_THERE} if names else {0})

    def collect_one(self, choose):
        how = choose.choice((("--older-than", "0s"), ("--older-than", "0s", "--now"), ("--max-size", "8MiB"), ("--dry-run",),
                             ("--undo",), ("--window", "0s")))  # fmt: skip
        grace = () if how == ("--undo",) else ("--grace", "0s", "--partials", "0s")
        self.note("gc", self.run_one("gc", "--json", *how, *grace), {0})

    def pin_one(self, choose):
        name = choose.choice(sorted(self.assets))
        self.note("keep", self.run_one("keep", name), {0, NOT_THERE})
        self.note("path", self.run_one("path", name), {0, NOT_THERE})
        self.note("unkeep", self.run_one("unkeep", name), {0, 3})

    def stage_one(self, choose):
        name, node = choose.choice(sorted(self.assets)), self.home / f"node{choose.randrange(NODES)}"
        result = self.run_one("stage", "-q", name, "--to", node)
        self.note("stage", result, {0})
        found = read_quietly(node / name)
        for file, data in self.assets[name].items():
            if result.exit == 0 and found.get(file) != data:
                with self.lock:
                    self.wrong.append(f"{name}/{file} was staged with wrong bytes, or not at all")

    def work(self, number):
        choose = random.Random(SEED + number)
        tasks = (self.fetch_one, self.fetch_one, self.verify_one, self.collect_one, self.pin_one, self.stage_one)
        while time.monotonic() < self.end and not self.wrong:
            tasks[choose.randrange(len(tasks))](choose)

    def test_sixteen_at_once(self):
        self.fetch("asset0")  # there is a store
        self.end = time.monotonic() + SECONDS
        threads = [threading.Thread(target=self.work, args=(number,)) for number in range(WORKERS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        print({f"{verb}:{code}": count for (verb, code), count in sorted(self.codes.items())}, flush=True)
        print(f"the slowest: {self.slowest[1]}, {self.slowest[0]:.2f} s", flush=True)
        self.assertEqual(self.wrong, [], "\n".join(self.wrong[:3]))
        for verb in ("fetch", "verify", "gc", "keep", "stage"):
            self.assertGreater(self.codes[verb, 0], 0, verb)
        self.expect(self.sabath.run("verify"))
        for name, files in self.assets.items():
            self.expect_tree(self.fetch(name)["path"], files)
        stores = [self.sabath.store, *(node / ".sabath" for node in self.home.glob("node*"))]
        for store in stores:
            self.expect(self.sabath.run("verify", "-q", "--store", store))
            for kind in ("partial", "leases", "reservations", "tmp"):
                self.assertEqual(read_tree(store / kind), {}, f"{store} {kind}")
        self.expect(self.sabath.run("gc", "--older-than", "0s", "--now", "--grace", "0s", "--force-local"))
        self.expect(self.sabath.run("gc", "--older-than", "0s", "--now", "--grace", "0s", "--force-local"))
        usage = self.sabath.run("du", "--json").record
        self.assertEqual((usage["objects"], usage["views"], usage["quarantined"]), (0, 0, 0))
        self.assertEqual(read_tree(self.sabath.store / "trash"), {})


def read_quietly(directory):
    """What can be read of a tree that another process may take away meanwhile."""
    found = {}
    for parent, _, names in os.walk(directory):
        for name in names:
            try:
                file = pathlib.Path(parent, name)
                found[str(file.relative_to(directory))] = file.read_bytes()
            except FileNotFoundError:
                pass
    return found


if __name__ == "__main__":
    main()

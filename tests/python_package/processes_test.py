#!/usr/bin/python3
"""The package in programs with threads, forks, signals and long lives."""

import gc
import json
import multiprocessing
import os
import pickle
import signal
import threading
import time

import sabath
from support.case import main, use_memory
from support.content import seeded
from support.origin import poll
from support.package import ROUNDS, PackageCase

THREADS = 100
STOPPED_SECONDS_MAX = 10  # a second, and what a busy machine adds
LEAK_ROUNDS, LEAK_BYTES_MAX = 60 * ROUNDS, 6 << 20

FETCH = """
import sabath, sys
try:
    sabath.fetch("one")
except KeyboardInterrupt:
    print("interrupted", flush=True)
    sys.exit(3)
print("done")
"""


def in_child(session, name, queue):
    """The work of a spawned process, with a session that it was given."""
    asset = session.fetch(name)
    queue.put((asset.root, asset.files.read("d/one.bin", 0, 10)))


class Threads(PackageCase):
    def test_a_hundred_at_once(self):
        data, _ = self.one(size=2_000_000)
        names = self.many(100, lambda number: seeded(1000, number))
        self.session.fetch("many")
        wrong, barrier = [], threading.Barrier(THREADS)

        def work(number):
            try:
                barrier.wait()
                asset = self.session.fetch("one")
                files = self.session.fetch("many").files
                for step in range(20):
                    path = names[(7 * number + step) % len(names)]
                    assert files.read(path) == seeded(1000, int(path[6:11])), path
                assert asset.files.read("d/one.bin", number, 100) == data[number : number + 100]
                assert self.session.path("one") == str(asset.path)
                try:
                    self.session.fetch("none")
                except sabath.NotFound:
                    return
                raise AssertionError("there is no such asset")
            except BaseException as failure:
                wrong.append(failure)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(THREADS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])


class Forks(PackageCase):
    def forked(self, work):
        """The result of `work` in a child that was forked without exec."""
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            code = 1
            try:
                os.write(write, pickle.dumps(work()))
                code = 0
            finally:
                os._exit(code)
        os.close(write)
        with os.fdopen(read, "rb") as stream:
            told = stream.read()
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        return pickle.loads(told)

    def test_under_a_fetch(self):
        data, _ = self.one(size=6_000_000, http="limit_rate 4m;")
        names = self.many(1200, lambda number: b"%d" % number * 20)  # compressed: the library reads them
        many = self.session.fetch("many").files
        begun = threading.Event()
        fetched = []

        def fetch():
            fetched.append(self.session.fetch("one", progress=lambda progress: progress.bytes_done and begun.set()))

        thread = threading.Thread(target=fetch)
        thread.start()
        self.assertTrue(begun.wait(60))

        def work():
            asset = self.session.fetch("many")
            return asset.root, asset.files.read(names[3]), many.read(names[4]), self.session.path("one") if not thread else ""

        for _ in range(3):
            self.assertEqual(self.forked(work), (many.root, b"3" * 20, b"4" * 20, ""))
        thread.join()
        self.assertEqual(fetched[0].files.read("d/one.bin"), data)
        self.assertEqual(many.read(names[5]), b"5" * 20, "the children have not closed what their parent has open")

    def test_a_child_fetches_what_its_parent_fetches(self):
        data, _ = self.one(size=6_000_000, http="limit_rate 4m;")
        begun = threading.Event()
        thread = threading.Thread(target=lambda: self.session.fetch("one", progress=lambda told: begun.set()))
        thread.start()
        self.assertTrue(begun.wait(60))
        self.assertEqual(self.forked(lambda: self.session.fetch("one").files.read("d/one.bin", 5, 10)), data[5:15])
        thread.join()

    def test_spawned(self):
        data, _ = self.one(size=1_000_000)
        context = multiprocessing.get_context("spawn")
        queue = context.Queue()
        process = context.Process(target=in_child, args=(self.session, "one", queue))
        process.start()
        process.join(300)
        root, begin = queue.get(timeout=60)  # it fits into the pipe
        queue.close()
        queue.join_thread()
        asset = pickle.loads(pickle.dumps(self.session.fetch("one")))
        self.assertEqual((root, begin), (asset.root, data[:10]))
        self.assertEqual(asset.files.read("d/one.bin", 0, 10), begin)


RUN = """
import sabath, sys
try:
    sabath.run("sleeper", run_dir="run")
except KeyboardInterrupt:
    print("interrupted", flush=True)
    sys.exit(3)
"""


class Signals(PackageCase):
    def test_an_interrupt_ends_a_run_in_order(self):
        self.one(size=1000)
        self.session.fetch("one")
        step = {"argv": ["sh", "-c", "echo epoch=1 loss=0.5; exec sleep 600"]}
        self.sabath.add("sleeper", kind="model", default_dataset="one", run={"one": [step]})
        process = self.python(RUN)
        self.assertTrue(poll(lambda: "loss" in read_all(self.home / "run/output"), 120))
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=300)
        self.assertEqual((process.returncode, out), (3, "interrupted\n"), err)
        self.assertEqual(json.loads((self.home / "run/run.json").read_text())["state"], "interrupted")

    def test_an_interrupt_ends_a_fetch_and_keeps_what_came(self):
        data, origin = self.one(size=40_000_000, http="limit_rate 3m;")
        process = self.python(FETCH)
        self.assertTrue(
            poll(lambda: any((self.home / "store/partial").glob("*")) if (self.home / "store/partial").exists() else False)
        )
        time.sleep(0.5)  # it may also come before anything was received: both must end well
        begin = time.monotonic()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=300)
        self.assertLess(time.monotonic() - begin, STOPPED_SECONDS_MAX)
        self.assertEqual((process.returncode, out), (3, "interrupted\n"), err)
        self.assertEqual([asset["name"] for asset in self.session.list(stored=True)], [])

    def test_other_signals_and_handlers_stay_the_caller_s(self):
        self.one(size=1_000_000)
        before = {
            number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGCHLD, signal.SIGPIPE)
        }
        self.session.fetch("one")
        self.assertEqual({number: signal.getsignal(number) for number in before}, before)

    def test_a_handler_that_raises_ends_the_call(self):
        self.one(size=40_000_000, http="limit_rate 3m;")

        def late(number, frame):
            raise TimeoutError("late")

        before = signal.signal(signal.SIGALRM, late)
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        try:
            with self.assertRaisesRegex(TimeoutError, "late"):
                self.session.fetch("one")
        finally:
            signal.signal(signal.SIGALRM, before)


def read_all(path):
    files = sorted(path.rglob("*")) if path.is_dir() else [path]
    return "".join(file.read_text() for file in files if file.is_file())


def resident_bytes():
    with open("/proc/self/statm", encoding="ascii") as statm:
        return int(statm.read().split()[1]) * os.sysconf("SC_PAGESIZE")


class Leaks(PackageCase):
    def round(self):
        with sabath.Session() as session:
            asset = session.fetch("one", progress=lambda progress: None)
            asset.files.read("d/one.bin", 0, 100)
            asset.files.close()
            try:
                session.fetch("none")
            except sabath.NotFound:
                pass

    def test_a_loop_leaves_nothing(self):
        self.one(size=100_000)
        for _ in range(20):
            self.round()
        gc.collect()
        before = resident_bytes(), len(os.listdir("/proc/self/fd")), threading.active_count()
        for _ in range(LEAK_ROUNDS):
            self.round()
        gc.collect()
        after = resident_bytes(), len(os.listdir("/proc/self/fd")), threading.active_count()
        self.assertEqual(after[1:], before[1:])
        self.assertLess(after[0] - before[0], LEAK_BYTES_MAX)
        self.assertEqual(list((self.home / "store/leases").iterdir()), [])

    def test_what_is_dropped_is_closed(self):
        self.one(size=100_000)
        asset = self.session.fetch("one")
        self.assertTrue(asset.files.paths())
        self.assertEqual(len(list((self.home / "store/leases").iterdir())), 1)
        del asset
        gc.collect()
        self.assertEqual(list((self.home / "store/leases").iterdir()), [])


if __name__ == "__main__":
    use_memory()
    main()

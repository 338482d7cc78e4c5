"""The test case that all end-to-end tests are: a temporary directory, a program in it, servers that stop by themselves."""

import os
import pathlib
import shutil
import sys
import tempfile
import unittest

from support import program
from support.content import read_tree
from support.origin import Nginx, body_bytes
from support.program import Sabath

SKIPPED = 77
MEMORY_MIN = 512 << 20


class Case(unittest.TestCase):
    maxDiff = 2000

    def setUp(self):
        self.home = pathlib.Path(tempfile.mkdtemp(prefix="sabath-test-"))
        self.addCleanup(remove, self.home)
        self.sabath = Sabath(self.home)

    def serve(self, files=None, name="origin", **options):
        """An nginx that serves `files` (path -> bytes)."""
        server = Nginx(self.home / name, **options)
        self.addCleanup(server.stop)
        for path, data in (files or {}).items():
            place(server.root / path, data)
        return server

    def expect(self, result, code=0):
        self.assertEqual(result.exit, code, result)
        return result

    def fetch(self, *arguments, code=0, **options):
        """`fetch --json` of one asset with this exit code: its part of the record, as it must always be."""
        result = self.expect(self.sabath.fetch(*arguments, **options), code)
        asset = result.asset
        self.assertEqual(result.record["exit"], code)
        self.assertEqual(asset["fetched_bytes"], sum(source["bytes"] for source in asset["sources"]))
        asset["err"] = result.err
        return asset

    def expect_tree(self, path, tree):
        found = read_tree(path)
        self.assertEqual(sorted(found), sorted(tree))
        for name, data in tree.items():
            self.assertTrue(found[name] == data, f"{name} differs: {len(found[name])} bytes for {len(data)}")

    def expect_log(self, asset, requests):
        """The record says what the server's log says.

        A request whose end another lane has taken over is cut off: what was on its way then was sent and never read.
        """
        if any(cut_off(request, requests) for request in requests):
            self.assertLessEqual(asset["fetched_bytes"], body_bytes(requests), requests)
        else:
            self.assertEqual(asset["fetched_bytes"], body_bytes(requests), requests)
        self.assertEqual(sum(source["requests"] for source in asset["sources"]), len(requests), requests)

    def expect_moved(self, asset, size, requests):
        """Each byte came once, but for the ends of ranges that another lane took over: how many depends on the machine."""
        self.assertGreaterEqual(asset["fetched_bytes"], size, requests)
        self.assertLessEqual(asset["fetched_bytes"], size + sent_twice(requests), requests)


def sent_twice(requests):
    """Bytes behind the place where the next request of the same file began."""
    return sum(max(0, request.body_bytes - taken_over(request, requests)) for request in requests)


def cut_off(request, requests):
    """Another request began inside this one's range."""
    return taken_over(request, requests) < length(request)


def taken_over(request, requests):
    """The bytes of this request before the first other one that begins inside its range: all, if there is none."""
    begin, end = start_of(request), start_of(request) + length(request)
    others = (other for other in requests if other is not request and other.uri == request.uri and other.range)
    starts = [start_of(other) for other in others if request.range]
    return min((start for start in starts if begin < start < end), default=end) - begin


def start_of(request):
    start = request.range.removeprefix("bytes=").partition("-")[0]
    return int(start) if start.isdigit() else 0


def length(request):
    """Bytes that were asked for; of a request without an end, those that were sent."""
    end = request.range.partition("-")[2]
    return int(end) + 1 - start_of(request) if end.isdigit() else request.body_bytes


def place(file, data):
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(data)


def remove(directory):
    shutil.rmtree(directory, ignore_errors=True)


def use_memory():
    """For what a disk would only make slower, or uneven: the cases stand in memory where there is some."""
    memory = pathlib.Path("/dev/shm")
    if os.access(memory, os.W_OK) and shutil.disk_usage(memory).free > MEMORY_MIN:
        tempfile.tempdir = str(memory)


def main():
    """unittest.main, but a run in which nothing could run ends with 77, and says why."""
    if not program.BINARY:
        print("SKIP: SABATH_BINARY does not name the program")
        sys.exit(SKIPPED)
    if not os.access(program.BINARY, os.X_OK):
        print(f"SABATH_BINARY names no program: {program.BINARY}")
        sys.exit(1)
    result = unittest.main(exit=False, verbosity=2).result
    if not result.testsRun and not result.skipped:
        print("this script has no test: nothing was run")
        sys.exit(1)
    for _, reason in result.skipped:
        print(f"SKIP: {reason}")
    if not result.wasSuccessful():
        sys.exit(1)
    not_run = sum(isinstance(test, unittest.TestCase) for test, _ in result.skipped)  # a skipped class has run nothing
    sys.exit(SKIPPED if result.skipped and not_run == result.testsRun else 0)

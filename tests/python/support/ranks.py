"""A case whose program is started by mpirun: the exit code of every rank is kept, and what each printed."""

import contextlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import time
import unittest

from support import program
from support.case import Case
from support.origin import body_bytes, poll

# Of the size. Seven ranks on two cores keep each other waiting, and a rank that waits is helped at the end.
MOVED_MAX = {1: 1.05, 2: 1.05, 3: 1.05, 7: 1.10}
if os.environ.get("SABATH_INSTRUMENTED"):
    MOVED_MAX = dict.fromkeys(MOVED_MAX, 1.3)
# Open MPI's launcher by default, or e.g. SABATH_TEST_MPIRUN=mpirun.mpich.
MPIRUN = os.environ.get("SABATH_TEST_MPIRUN", "mpirun --oversubscribe --allow-run-as-root --bind-to none").split()
# The MPI that the ranks load, by its path; without it the one that they find.
LIBMPI = {"SABATH_LIBMPI": os.environ["SABATH_TEST_LIBMPI"]} if "SABATH_TEST_LIBMPI" in os.environ else {}
# A rank's number and output go to files, and so does its exit code: mpirun sees 0, and lets the others end by themselves.
WRAPPER = """
export RANKS_NUMBER="${OMPI_COMM_WORLD_RANK:-$PMI_RANK}"
sh -c 'echo $$ >"$RANKS_DIR/pid.$RANKS_NUMBER"; exec "$0" "$@"' "$0" "$@" \\
  >"$RANKS_DIR/out.$RANKS_NUMBER" 2>"$RANKS_DIR/err.$RANKS_NUMBER"
echo $? >"$RANKS_DIR/code.$RANKS_NUMBER"
"""
# As it is outside of tests: the launcher sees what becomes of each rank.
PLAIN = 'RANKS_NUMBER=${OMPI_COMM_WORLD_RANK:-$PMI_RANK}; echo $$ >"$RANKS_DIR/pid.$RANKS_NUMBER"; exec "$0" "$@"'
JOURNAL_RECORD, JOURNAL_DONE = 64, 3  # docs/store.md


def why_not():
    """Why there is no mpirun to test with; empty if there is one."""
    if not shutil.which(MPIRUN[0]):
        return f"there is no {MPIRUN[0]}"
    version = subprocess.run(
        [program.BINARY, "--version"], stdout=subprocess.PIPE, text=True, check=True, env={**os.environ, **LIBMPI}
    ).stdout
    return "this build has no MPI" if "without MPI" in version else ""


class Ranks(Case):
    @classmethod
    def setUpClass(cls):
        if reason := why_not():
            raise unittest.SkipTest(reason)

    def start(self, ranks, *arguments, wrapped=True, **variables):
        """`sabath ARGUMENTS` by this number of ranks."""
        self.ranks = ranks
        self.notes = self.home / f"ranks-{time.monotonic_ns()}"
        self.notes.mkdir()
        command = ["sh", "-c", WRAPPER if wrapped else PLAIN, program.BINARY, *map(str, arguments)]
        return self.launch(ranks, command, RANKS_DIR=str(self.notes), **variables)

    def launch(self, ranks, command, **variables):
        return subprocess.Popen(
            [*MPIRUN, "-n", str(ranks), *command],
            env={**self.sabath.environment, **LIBMPI, **variables},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=self.home,
        )

    def run_ranks(self, ranks, *arguments, code=0, **options):
        """Runs to the end, and expects this exit code of every rank; returns rank 0's output."""
        process = self.start(ranks, *arguments, **options)
        self.finish(process)
        self.expect_codes(code)
        return self.text("out", 0)

    def finish(self, process, seconds=600):
        try:
            out, err = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            raise AssertionError(f"no end after {seconds} s\n{self.said()}") from None
        return out + err

    def text(self, kind, rank):
        file = self.notes / f"{kind}.{rank}"
        return file.read_text() if file.exists() else ""

    def pid(self, rank):
        assert poll(lambda: self.text("pid", rank).strip()), "the rank has not started"
        return int(self.text("pid", rank))

    def signal_rank(self, rank, number):
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid(rank), number)

    def said(self):
        return "\n".join(f"rank {r}: {self.text('err', r)}" for r in range(self.ranks))

    def expect_codes(self, code):
        codes = [self.text("code", r).strip() for r in range(self.ranks)]
        self.assertEqual(codes, [str(code)] * self.ranks, self.said())
        for rank in range(1, self.ranks):
            self.assertEqual(self.text("out", rank) + self.text("err", rank), "", "only rank 0 speaks")

    def fetch_by(self, ranks, *arguments, code=0, **options):
        """`fetch --json`: the one asset of the one record."""
        record = json.loads(self.run_ranks(ranks, "fetch", "--json", *arguments, code=code, **options))
        self.assertEqual(record["exit"], code)
        (asset,) = record["assets"]
        return asset

    def expect_moved(self, asset, server, seen, size):
        """Hardly more than once, and as the record says."""
        times = self.times_moved(asset, server, seen, size)
        self.assertLessEqual(times, MOVED_MAX[self.ranks])

    def times_moved(self, asset, server, seen, size):
        requests = server.new_requests(seen)
        self.expect_log(asset, requests)
        return body_bytes(requests) / size

    def forget(self):
        shutil.rmtree(self.sabath.store, ignore_errors=True)


def journals(store):
    """Of all writers; a directory that is published meanwhile has none."""
    return [pathlib.Path(directory, name) for directory, _, names in os.walk(pathlib.Path(store, "partial"))
            for name in names if name.startswith("journal.")]


def chunks_done(store):
    """By the journals of all writers."""
    done = 0
    for journal in journals(store):
        try:
            data = journal.read_bytes()
        except FileNotFoundError:  # published meanwhile
            continue
        types = (data[i + 12 : i + 16] for i in range(0, len(data), JOURNAL_RECORD))
        done += sum(int.from_bytes(kind, "little") == JOURNAL_DONE for kind in types)
    return done


def wait_for_writers(store, count):
    assert poll(lambda: len(journals(store)) >= count), "not all have begun"


def wait_for_chunks(store, count):
    assert poll(lambda: chunks_done(store) >= count), f"{chunks_done(store)} chunks have arrived"


TERM, INT, KILL, STOP = signal.SIGTERM, signal.SIGINT, signal.SIGKILL, signal.SIGSTOP

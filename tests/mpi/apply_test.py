#!/usr/bin/python3
"""`mpirun sabath apply`: the files are dealt to the ranks, and a killed job goes on file by file."""

import json
import signal
import sys

from support.case import main, place
from support.content import fragment, seeded
from support.origin import poll
from support.ranks import Ranks

RANKS = 4
# Notes its file when it is done, so that a file that is in the log twice was done twice.
COPY = """
import os, pathlib, sys, time
source, target, log = map(pathlib.Path, sys.argv[1:4])
with open(log / "begun", "a") as begun:
    begun.write(source.name + chr(10))
if os.environ.get("HOLD") and int(source.name[1:]) % 3 == 0:
    time.sleep(999)
target.write_bytes(source.read_bytes()[::-1])
with open(log / "done", "a") as done:
    done.write(source.name + chr(10))
"""


class Apply(Ranks):
    def setUp(self):
        super().setUp()
        self.files = {f"f{i}": seeded(1000 * i + 1, i) for i in range(24)}
        for name, data in self.files.items():
            place(self.home / "origin" / name, data)
        (self.home / "log").mkdir()
        place(self.sabath.recipes / "datasets/code/copy.py", COPY.encode())
        script = {"id": "reverse", "source": "code", "inputs": ["f*"],
                  "argv": ["python3", "{source}/copy.py", "{input}", "{output}/{name}", str(self.home / "log")]}  # fmt: skip
        fragments = [fragment(f"file://{self.home}/origin/{n}", d, name=n, path=n) for n, d in self.files.items()]
        self.sabath.add("many", fragments, supporting=[script])
        self.python = {"SABATH_PYTHON": sys.executable}

    def lines(self, name):
        file = self.home / "log" / name
        return file.read_text().split() if file.exists() else []

    def apply_by(self, ranks, *arguments, code=0):
        return json.loads(self.run_ranks(ranks, "apply", "--json", *arguments, code=code, **self.python))

    def test_ranks_share_the_files(self):
        record = self.apply_by(RANKS, "many", "reverse", "num_threads=2")
        self.assertEqual((record["processed"], record["ranks"], record["threads"]), (len(self.files), RANKS, 2))
        self.expect_tree(record["path"], {name: data[::-1] for name, data in self.files.items()})
        self.assertEqual(sorted(self.lines("done")), sorted(self.files))
        again = self.apply_by(3, "many", "reverse")
        self.assertEqual((again["was_there"], again["processed"], again["manifest"]), (True, 0, record["manifest"]))
        alone = self.expect(self.sabath.run("apply", "--json", "many", "reverse", **self.python)).record
        self.assertEqual((alone["was_there"], alone["name"]), (True, record["name"]))

    def test_a_killed_job_goes_on(self):
        process = self.start(RANKS, "apply", "many", "reverse", wrapped=False, HOLD="1", **self.python)
        # Each rank comes to a file that does not end.
        self.assertTrue(poll(lambda: sum(int(name[1:]) % 3 == 0 for name in self.lines("begun")) >= RANKS))
        finished = self.lines("done")
        for rank in range(RANKS):
            self.signal_rank(rank, signal.SIGKILL)
        self.finish(process)
        record = self.apply_by(RANKS, "many", "reverse")
        self.assertEqual(record["resumed"], len(finished))
        self.assertEqual(record["processed"], len(self.files) - len(finished))
        self.expect_tree(record["path"], {name: data[::-1] for name, data in self.files.items()})
        self.assertEqual(sorted(self.lines("done")), sorted(self.files))

    def test_a_failure_of_one_rank_is_told_by_all(self):
        (self.sabath.recipes / "datasets/code/copy.py").write_text(COPY + "\nassert source.name != 'f7', 'bad luck'\n")
        record = self.apply_by(RANKS, "many", "reverse", code=11)
        (failed,) = record["failures"]
        self.assertEqual((failed["path"], record["processed"]), ("f7", len(self.files) - 1))
        self.assertIn("bad luck", failed["last_lines"][-1])


if __name__ == "__main__":
    main()

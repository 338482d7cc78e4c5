#!/usr/bin/python3
"""A job that stages is ended in the middle: it says so in time, shows nothing that is not whole, the next goes on."""

import os
import signal
import time

from jobs import Jobs
from support.case import main
from support.origin import poll

SECONDS_MAX = 60
PERIOD_SECONDS = 30  # so seldom Slurm looks at walltimes


class Stop(Jobs):
    def test_scancel_in_the_middle(self):
        job = self.slow_stage(1000)
        begin = time.monotonic()
        self.cluster.call("scancel", job)
        said = self.expect_state(job, "CANCELLED")
        self.assertLess(time.monotonic() - begin, SECONDS_MAX)
        self.assertIn("stage ended with exit code 143", said)
        self.rerun()

    def test_the_walltime_in_the_middle(self):
        job = self.slow_stage(4000)
        self.cluster.call("scontrol", "update", f"JobId={job}", "EndTime=now")  # limits are whole minutes
        facts = self.cluster.wait(job, PERIOD_SECONDS + SECONDS_MAX + 10)
        self.assertEqual(facts["JobState"], "TIMEOUT")
        self.assertIn("stage ended with exit code 143", self.cluster.output(job))
        self.rerun()

    def test_a_rank_that_is_killed(self):
        job = self.slow_stage(1000)
        ranks = self.ranks()
        self.assertEqual(sorted(ranks), [0, 1, 2, 3])
        begin = time.monotonic()
        os.kill(ranks[2], signal.SIGKILL)
        self.assertTrue(poll(lambda: not self.ranks(), SECONDS_MAX), self.ranks())
        said = self.expect_state(job, "FAILED")
        self.assertLess(time.monotonic() - begin, SECONDS_MAX + 2)
        self.assertRegex(said, "stage ended with exit code (137|10)")
        self.rerun()

    def test_a_node_is_lost(self):
        """Its slurmd and its rank are killed: Slurm would not notice for minutes."""
        job = self.slow_stage(1000)
        ranks = self.ranks()
        begin = time.monotonic()
        self.cluster.kill_node("n3")
        os.kill(ranks[2], signal.SIGKILL)
        self.assertTrue(poll(lambda: not self.ranks(), SECONDS_MAX), self.ranks())
        self.assertLess(time.monotonic() - begin, SECONDS_MAX)
        self.cluster.call("scancel", job)
        self.cluster.start_node("n3")
        self.cluster.wait(job)
        self.rerun()


if __name__ == "__main__":
    main()

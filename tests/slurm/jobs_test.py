#!/usr/bin/python3
"""The examples of etc/slurm: fetched, staged by srun and by mpirun, trained on, kept under a cap, and taken away."""

import os
import shutil

from jobs import EXAMPLES, NODES, Jobs
from support.case import main
from support.origin import poll


class Examples(Jobs):
    def test_fetch_then_stage_then_train_by_both_launchers(self):
        fetch = self.cluster.submit(EXAMPLES / "fetch.sbatch", "set")
        job = self.submit(f"--dependency=afterok:{fetch}")
        said = self.expect_trained(job)
        self.expect_state(fetch, "COMPLETED")
        self.assertIn("on 4 nodes, 84.5 MB read from the shared store", said)
        self.assertIn("nothing moved", self.expect_trained(self.submit()), "the epilog has kept it")
        for node in NODES:
            shutil.rmtree(self.place(node))
        said = self.expect_trained(self.submit(LAUNCHER="mpirun"))
        self.assertIn("on 4 nodes, 84.5 MB read from the shared store", said)
        self.cap("1MB")
        self.expect_trained_and_collected()
        self.cap("0")
        self.expect_state(self.submit(), "COMPLETED")
        for node in NODES:
            self.assertTrue(poll(lambda place=self.place(node): not os.listdir(place)), node)

    def expect_trained_and_collected(self):
        self.expect_state(self.submit(), "COMPLETED")
        for node in NODES:
            objects = self.place(node) / ".sabath/objects"
            left = poll(lambda place=objects: not any(p.is_file() for p in place.rglob("*")))
            self.assertTrue(left, f"{node} keeps more than its cap")

    def test_unstage_by_the_ranks_of_a_job(self):
        self.expect_trained(self.submit())
        command = "srun --mpi=pmix sabath unstage {} --to '" + f"{self.disks}/n1/root' --to '{self.disks}/n2/root'"
        job = self.cluster.submit("-N2", "-n2", f"--wrap={command.format('set')}")
        self.expect_state(job, "COMPLETED")
        self.assertFalse(os.path.lexists(self.place("n2") / "set"))
        self.assertTrue((self.place("n2") / ".sabath/objects").is_dir())
        job = self.cluster.submit("-N2", "-n2", f"--wrap={command.format('--all')}")
        self.expect_state(job, "COMPLETED")
        self.assertEqual(os.listdir(self.place("n1")) + os.listdir(self.place("n2")), [])


if __name__ == "__main__":
    main()

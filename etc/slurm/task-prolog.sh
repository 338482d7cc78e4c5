#!/bin/bash
# TaskProlog= in slurm.conf, run by the user for each task: what is printed after "export" goes to the task. The
# directory is the user's, not the job's, so that the next job on this node finds what this one has staged.
disk=/local

echo "export SLURM_TMPDIR=$disk/${SLURM_JOB_USER:-$(id -un)}"

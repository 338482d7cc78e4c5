#!/bin/bash
# Not tried here: no Flux was at hand. Brings a dataset to the disks of all nodes, then runs a training on it:
#   fetch=$(flux batch fetch.sh NAME)
#   flux batch --dependency=afterok:$fetch stage.sh NAME python train.py
#flux: --job-name=train
#flux: --nodes=4
#flux: --exclusive
#flux: --time-limit=4h
#flux: --signal=SIGTERM@2m
set -euo pipefail
name=${1:?usage: flux batch stage.sh NAME COMMAND...}
shift

# A directory that outlives the job, so that the next one finds what is staged. FLUX_JOB_TMPDIR goes with the job.
export DATA=/local/$USER/$name

# pmi=pmix is the flux-pmix plugin; Open MPI needs it, MPICH does without.
launch=(flux run --nodes=4 --ntasks=4 -o pmi=pmix)
trap 'echo "TERM: the step is ending" >&2' TERM
status=0
"${launch[@]}" sabath stage "$name" --to "/local/$USER" || status=$?
if ((status)); then
  echo "stage ended with exit code $status; what has arrived stays on the nodes for the next try" >&2
  exit "$status"
fi

"${launch[@]}" "$@"

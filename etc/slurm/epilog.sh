#!/bin/bash
# Epilog= in slurm.conf, run by root on each node when a job is over: keeps what was staged for the user's next job, but
# not more than `keep` of it, least recently staged first; with keep=0 nothing. What is being staged just now never goes.
# Data that a training only reads may go: where jobs share nodes, make `keep` large enough for the data of all jobs.
export PATH=/usr/sbin:/usr/bin:/sbin:/bin # Slurm gives none
disk=/local
keep=500GB
sabath=/usr/bin/sabath

# As the user: root never works in a directory that others can change.
as_user=(timeout -k 5 300 runuser -u "$SLURM_JOB_USER" --)
place=$disk/$SLURM_JOB_USER
if [[ -d $place/.sabath ]]; then
  if [[ $keep == 0 ]]; then
    "${as_user[@]}" "$sabath" unstage --alone --all --to "$place"
  else
    "${as_user[@]}" "$sabath" gc --store "$place/.sabath" --max-size "$keep" --now --force-local
  fi
fi
exit 0 # anything else would drain the node

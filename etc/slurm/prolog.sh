#!/bin/bash
# Prolog= in slurm.conf, run by root on each node: a directory of the user's own on the node's disk.
export PATH=/usr/sbin:/usr/bin:/sbin:/bin # Slurm gives none
disk=/local # belongs to root, writable by root only
mounted=yes # no: the directory is a part of the system's disk, which staged data may then fill

# A disk that failed or was never mounted leaves an empty directory, and data would fill the system's disk unseen.
if [[ $mounted != no ]] && ! mountpoint -q "$disk"; then
  reason="no disk is mounted at $disk: mount it, or say mounted=no in $0 if it is a plain directory"
  echo "$reason" >&2
  logger -t sabath-prolog -- "$reason" 2>/dev/null || true
  exit 1 # Slurm drains this node, and queues the job again
fi

install -d -m 0700 -o "$SLURM_JOB_USER" -g "$(id -g "$SLURM_JOB_USER")" "$disk/$SLURM_JOB_USER"

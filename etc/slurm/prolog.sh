#!/bin/bash
# Prolog= in slurm.conf, run by root on each node: a directory of the user's own on the node's disk.
export PATH=/usr/sbin:/usr/bin:/sbin:/bin # Slurm gives none
disk=/local # belongs to root, writable by root only

install -d -m 0700 -o "$SLURM_JOB_USER" -g "$(id -g "$SLURM_JOB_USER")" "$disk/$SLURM_JOB_USER"

#!/bin/bash
# A job that `sabath job` made: docs/jobs.md. It makes its directory, wherever it is submitted. Never run on a PBS.
#PBS -N @name@
#PBS -l select=@nodes@:ncpus=@cores_per_node@:mpiprocs=@ranks_per_node@{:ngpus=@gpus@}{:mem=@memory_mib@mb}
#PBS -l walltime=@clock@
#PBS -q @partition@
#PBS -A @account@
#PBS -J 0-@last_task@{%@at_once@}
#PBS -j oe
#PBS -r y
job=$PBS_JOBID task=${PBS_ARRAY_INDEX:-0}

@steps@

#!/bin/bash
# A job that `sabath job` made: docs/jobs.md. It makes its directory, wherever it is submitted.
#SBATCH --job-name=@name@
#SBATCH --nodes=@nodes@
#SBATCH --ntasks=@ranks@
#SBATCH --ntasks-per-node=@ranks_per_node@
#SBATCH --cpus-per-task=@cores@
#SBATCH --gpus-per-node=@gpus@
#SBATCH --mem=@memory_mib@M
#SBATCH --time=@minutes@
#SBATCH --partition=@partition@
#SBATCH --account=@account@
#SBATCH --array=0-@last_task@{%@at_once@}
#SBATCH --signal=B:USR1@@warning@
#SBATCH --output=scheduler.%j.txt
#SBATCH --open-mode=append
#SBATCH --requeue
#SBATCH --export=HOME,USER,LOGNAME,SHELL,PATH,LANG,LC_ALL
job=$SLURM_JOB_ID task=${SLURM_ARRAY_TASK_ID:-0}

# Slurm gives steps what it gave the job, which is not all that is set here. And its mixed fences let ranks pass before
# all have come, so that some crash in MPI_Init: docs/jobs.md.
export SLURM_EXPORT_ENV=ALL SLURM_PMIX_FENCE=${SLURM_PMIX_FENCE:-tree}

@steps@

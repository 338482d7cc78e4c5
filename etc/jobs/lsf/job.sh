#!/bin/bash
# A job that `sabath job` made: docs/jobs.md. It makes its directory, wherever it is submitted. Never run on a LSF.
#BSUB -J "@name@{[1-@tasks@]}{%@at_once@}"
#BSUB -n @ranks@
#BSUB -R "span[ptile=@ranks_per_node@]"
#BSUB -R "affinity[core(@cores@)]"
#BSUB -gpu "num=@gpus@"
#BSUB -M @memory_mib@MB
#BSUB -W @hours_minutes@
#BSUB -wa USR2 -wt @warning_minutes@
#BSUB -q @partition@
#BSUB -P @account@
#BSUB -o scheduler.%J.txt
#BSUB -r
#BSUB -env "HOME, USER, LOGNAME, SHELL, PATH, LANG, LC_ALL"
job=$LSB_JOBID task=$((${LSB_JOBINDEX:-0} > 0 ? LSB_JOBINDEX - 1 : 0))

@steps@

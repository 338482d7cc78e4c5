#!/bin/bash
# A job that `sabath job` made: docs/jobs.md. It makes its directory, wherever it is submitted. Never run on a Flux.
#flux: --job-name=@name@
#flux: --nodes=@nodes@
#flux: --nslots=@nodes@
#flux: --cores-per-slot=@cores_per_node@
#flux: --gpus-per-slot=@gpus@
#flux: --time-limit=@minutes@m
#flux: --signal=SIGUSR1@@warning@s
#flux: --queue=@partition@
#flux: --bank=@account@
#flux: --output=scheduler.txt
#flux: --env=-*
#flux: --env=HOME
#flux: --env=USER
#flux: --env=LOGNAME
#flux: --env=SHELL
#flux: --env=PATH
#flux: --env=LANG
#flux: --env=LC_ALL
job=$FLUX_JOB_ID task=${SABATH_TASK:-0}

@steps@

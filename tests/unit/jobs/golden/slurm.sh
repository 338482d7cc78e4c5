#!/bin/bash
# A job that `sabath job` made: docs/jobs.md. It makes its directory, wherever it is submitted.
#SBATCH --job-name=net_data
#SBATCH --nodes=2
#SBATCH --ntasks=8
#SBATCH --ntasks-per-node=4
#SBATCH --cpus-per-task=4
#SBATCH --gpus-per-node=4
#SBATCH --mem=61036M
#SBATCH --time=150
#SBATCH --partition=gpu
#SBATCH --account=p42
#SBATCH --array=0-2%2
#SBATCH --signal=B:USR1@90
#SBATCH --output=scheduler.%j.txt
#SBATCH --open-mode=append
#SBATCH --requeue
#SBATCH --export=HOME,USER,LOGNAME,SHELL,PATH,LANG,LC_ALL
job=$SLURM_JOB_ID task=${SLURM_ARRAY_TASK_ID:-0}

# Slurm gives steps what it gave the job, which is not all that is set here. And its mixed fences let ranks pass before
# all have come, so that some crash in MPI_Init: docs/jobs.md.
export SLURM_EXPORT_ENV=ALL SLURM_PMIX_FENCE=${SLURM_PMIX_FENCE:-tree}

# From here on the script is the same for all schedulers. `task` is the number of this task of an array, else 0.
mkdir '/work/of user/job' 2>/dev/null # where the script was submitted by hand
cd '/work/of user/job' && mkdir -p output ends reports runs || exit 70
exec >>"output/$task.txt" 2>&1

# Settings of SABATH from where the job was made. Tokens and passwords are not here: each command reads your configuration.
unset SABATH_CACHE
export SABATH_STORE=/store
export SABATH_RECIPES=$'/home/it\047s mine'

name=run settings=()
case $task in
  0) name='lr=0.1' settings=(--set 'lr=0.1') ;;
  1) name='lr=a b' settings=(--set 'lr=a b') ;;
  2) name='lr=$(id)' settings=(--set 'lr=$(id)') ;;
esac
ends=ends/$task
[[ -s $ends ]] && echo "--- job $job begins again, $(date)"
echo "begin $job" >>"$ends"

# Ends in order when the scheduler is about to end the job: the command that runs gets TERM, and what follows is left out.
# TERM itself comes to all processes of the job, so it is not passed on.
child='' woken='' asked='' code=0
trap 'woken=1 asked=1; [[ $child ]] && kill -TERM "$child" 2>/dev/null' USR1 USR2
trap 'woken=1 asked=1' TERM INT

# step NAME COMMAND...: notes how the command ended. What follows a step that failed is left out.
step() {
  local step=$1 status again
  shift
  ((code == 0)) && [[ ! $asked ]] || return 0
  "$@" &
  child=$!
  wait "$child"
  status=$?
  while [[ $woken ]]; do # a signal ends `wait` before the command has ended
    woken=''
    wait "$child"
    again=$?
    ((again == 127)) || status=$again
  done
  child=''
  echo "$step $status" >>"$ends"
  ((code == 0)) && code=$status
  return 0
}

step fetch /bin/sabath fetch --alone --model net
step stage srun /bin/sabath stage data --to '/local/$USER'
step run /bin/sabath run net --again --run-dir "runs/$name" "${settings[@]}" -- --seed 7

# These follow a run that failed, too.
failed=$code code=0
[[ -e runs/$name/run.json ]] && step report /bin/sabath report "runs/$name" >"reports/$name.txt"
code=0
step cap srun /bin/sabath gc --max-size 500GB

code=$failed
[[ $asked ]] && ((code == 0 || code == 11)) && code=143 # the scheduler's TERM came to the program, too
echo "end $code" >>"$ends"
exit "$code"

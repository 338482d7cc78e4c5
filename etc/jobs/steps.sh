# From here on the script is the same for all schedulers. `task` is the number of this task of an array, else 0.
mkdir @directory@ 2>/dev/null # where the script was submitted by hand
cd @directory@ && mkdir -p output ends reports runs || exit 70
exec >>"output/$task.txt" 2>&1

# Settings of SABATH from where the job was made. Tokens and passwords are not here: each command reads your configuration.
unset SABATH_CACHE
@variables@

name=run settings=()
@task_cases@
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

step fetch @fetch@
step stage @stage@
step run @run@ --run-dir "runs/$name" "${settings[@]}" @arguments@

# These follow a run that failed, too.
failed=$code code=0
[[ -e runs/$name/run.json ]] && step report @report@ "runs/$name" >"reports/$name.txt"
code=0
step cap @cap@

code=$failed
[[ $asked ]] && ((code == 0 || code == 11)) && code=143 # the scheduler's TERM came to the program, too
echo "end $code" >>"$ends"
exit "$code"

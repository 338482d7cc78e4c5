#!/bin/bash
# Not tried here: no Flux was at hand. For /etc/flux/system/epilog.d/, run by root on each node when a job is over: keeps
# what was staged for the user's next job, but not more than `keep` of it.
export PATH=/usr/sbin:/usr/bin:/sbin:/bin
keep=500GB

# As the user: root never works in a directory that others can change.
user=$(id -un "${FLUX_JOB_USERID:?}")
store=/local/$user/.sabath
if [[ -d $store ]]; then
  timeout -k 5 300 runuser -u "$user" -- sabath gc --store "$store" --max-size "$keep" --now --force-local
fi
exit 0 # anything else would drain the node

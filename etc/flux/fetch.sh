#!/bin/bash
# Not tried here: no Flux was at hand. Fetches a dataset into the shared store, on a queue whose nodes see the internet.
#flux: --job-name=fetch
#flux: --queue=transfer
#flux: --nodes=1
#flux: --time-limit=4h
set -euo pipefail
exec sabath fetch --alone "${1:?usage: flux batch fetch.sh NAME}"

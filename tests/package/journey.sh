#!/bin/sh
# A user's way with a tree of scripts/package, where there is a shell and nothing else: journey.sh SABATH URL SHA256 GROUND
# URL is an https:// one; GROUND is an empty directory, the only one that may be written. Ends with 0 or says
# what was wrong.
set -eu
sabath=$1 url=$2 sha256=$3 ground=$4
export SABATH_CACHE="$ground/store" SABATH_RECIPES="$ground/recipes"
wrong() { echo "journey: $1" >&2; exit 1; }
gives() { expected=$1; shift; code=0; "$@" >"$ground/said" 2>&1 || code=$?; [ "$code" = "$expected" ] || { cat "$ground/said" >&2; wrong "$* ended with $code, not $expected"; }; }

mkdir -p "$ground/recipes/datasets" "$ground/recipes/models/toy"
recipe() { printf '{"schema":1,"kind":"dataset","name":"%s","fragments":[{"id":"main","type":"file","path":"d/file.bin","urls":["%s"],"checksum":{"sha256":"%s"}}]}\n' "$1" "$url" "$2" >"$ground/recipes/datasets/$1.json"; }
recipe data "$sha256"
recipe forged "$(printf '%s' "$sha256" | tr 0123456789abcdef 123456789abcdef0)"
printf 'for epoch in 1 2 3; do echo "Epoch $epoch/3"; echo "8/8 - 1s - loss: 0.$((9 - epoch))000 - val_loss: 0.$((9 - epoch))500"; done; wc -c <"$1"\n' \
  >"$ground/recipes/models/toy/train.sh"
printf '{"schema":1,"kind":"model","name":"toy","source":"toy","run":{"data":[{"argv":["/bin/sh","{source}/train.sh","{dataset}/d/file.bin"]}]}}\n' \
  >"$ground/recipes/models/toy.json"

gives 0 "$sabath" --version
grep -q '^  bundled ' "$ground/said" || wrong "--version names no bundled part"
gives 0 "$sabath" doctor
gives 0 "$sabath" list
gives 0 "$sabath" fetch --json data
path=$("$sabath" path data)
[ "$(sha256sum <"$path/d/file.bin" | cut -d' ' -f1)" = "$sha256" ] || wrong "the view has other bytes"
gives 0 "$sabath" view data --to "$ground/view"
[ "$(sha256sum <"$ground/view/d/file.bin" | cut -d' ' -f1)" = "$sha256" ] || wrong "the copied view has other bytes"
gives 0 "$sabath" verify data
gives 7 "$sabath" fetch forged
gives 0 "$sabath" run --run-dir "$ground/run" toy data
gives 0 "$sabath" report "$ground/run"
grep -q loss "$ground/said" || { cat "$ground/said" >&2; wrong "the report has no loss"; }
gives 0 "$sabath" demo -o "$ground/demo"
grep -q '^== Done' "$ground/said" || { cat "$ground/said" >&2; wrong "the demonstration has no end"; }
[ ! -w "$HOME" ] || [ "$(id -u)" = 0 ] || wrong "HOME may be written: it was to be read-only"

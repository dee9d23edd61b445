#!/bin/sh
# Changes the engine in small ways, one at a time, and lists the changes that no test notices (.cargo/mutants.toml says which are meant):
#   scripts/mutants.sh                          everything that moves money: hours
#   scripts/mutants.sh --re core/src/ledger.rs
# Further arguments are those of `cargo mutants` that choose. What has been noticed once is not tried again; for that, remove
# target/mutants.
set -eu
cd -- "$(dirname -- "$0")/.."
. scripts/setup.sh
. scripts/release/tools.sh
need_cargo_tool cargo-mutants 27.1.0
need_release_python
PATH=$RELEASE_CACHE/cargo/bin:$PATH
# The worlds that are played: enough for what they find at all, few enough for a thousand times.
RAILGATE_SEEDS=${RAILGATE_SEEDS:-8}
RAILGATE_STEPS=${RAILGATE_STEPS:-800}
export PATH RAILGATE_SEEDS RAILGATE_STEPS
work=target/mutants
mkdir -p "$work"

cargo mutants --package railgate --list --json "$@" >"$work/list.json"
"$RELEASE_PYTHON" scripts/mutants.py "$work"

[ ! -s "$work/missed" ] || { warn "no test notices:" && cat "$work/missed" && exit 1; }

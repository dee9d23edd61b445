#!/bin/sh
# Changes the engine in small ways, one at a time, and lists the changes that no test notices (.cargo/mutants.toml says which are meant):
#   scripts/mutants.sh                          everything that moves money: hours
#   scripts/mutants.sh --re core/src/ledger.rs
# Further arguments are those of `cargo mutants`. What has been noticed once is not tried again; for that, remove target/mutants.out.
set -eu
cd -- "$(dirname -- "$0")/.."
. scripts/setup.sh
. scripts/release/tools.sh
need_cargo_tool cargo-mutants 27.1.0
PATH=$RELEASE_CACHE/cargo/bin:$PATH
# The worlds that are played: enough for what they find at all, few enough for a thousand times.
RAILGATE_SEEDS=${RAILGATE_SEEDS:-8}
RAILGATE_STEPS=${RAILGATE_STEPS:-800}
# One function has changed since the last build.
CARGO_INCREMENTAL=1
export PATH RAILGATE_SEEDS RAILGATE_STEPS CARGO_INCREMENTAL
tried() { # TARGETS ARGUMENTS…
  targets=$1 && shift
  # shellcheck disable=SC2086 # One word per target.
  cargo mutants --package railgate --output target --iterate --colors never --no-shuffle "$@" -- $targets
}
mkdir -p target
# First what takes a second, then everything.
tried "--test engine -- simulation:: lifecycle_table:: refunds:: movements:: limits:: books::" "$@" || say "trying again what was not noticed, with every test of the engine"
tried "--lib --test engine" "$@"

#!/bin/sh
# Feeds what reads input of strangers with input that grows by what it reaches (libFuzzer, on the stable toolchain):
#   scripts/fuzz.sh                 every target, a minute each
#   scripts/fuzz.sh 3600            every target, an hour each
#   scripts/fuzz.sh bodies log 60   some
#   scripts/fuzz.sh keep            keeps some small inputs of each target that reach what the others do not
# What fails is left in target/fuzz/found/, with how to repeat it.
set -eu
cd -- "$(dirname -- "$0")/.."
. scripts/setup.sh

fuzz=tests/fuzz
targets=$(sed -n 's/^    ("\([a-z]*\)", [a-z]*),$/\1/p' tests/src/fuzz.rs | xargs)
act=fuzzed chosen='' seconds=60
for word; do
  case " $targets " in *" $word "*) chosen="$chosen $word" && continue ;; esac
  case $word in
    keep) act=kept ;;
    '' | *[!0-9]*) warn "there is no target $word; there are: $targets" && exit 1 ;;
    *) seconds=$word ;;
  esac
done
need_cxx
work=$PWD/target/fuzz
mkdir -p "$work" "$work/found"

# The marks that libFuzzer counts, as cargo-fuzz sets them; without the sanitizers, which need a nightly compiler and find what safe
# code cannot have.
marks='-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 -Cllvm-args=-sanitizer-coverage-inline-8bit-counters
  -Cllvm-args=-sanitizer-coverage-pc-table -Cllvm-args=-sanitizer-coverage-trace-compares --cfg fuzzing -Ccodegen-units=1'
host=$(rustc -vV | sed -n 's/^host: //p')
say "building the targets; the first time takes several minutes"
RUSTFLAGS="$marks" cargo build --quiet --release --locked --manifest-path $fuzz/Cargo.toml --target-dir "$work" --target "$host"
program=$work/$host/release/railgate-fuzz

# Runs one target for so many seconds.
fuzzed() { # TARGET SECONDS
  mkdir -p "$work/corpus/$1"
  say "$1: $2 seconds"
  if RAILGATE_FUZZ=$1 "$program" -max_total_time="$2" -timeout=20 -rss_limit_mb=2048 -max_len=65536 -print_final_stats=1 -verbosity=0 \
    -artifact_prefix="$work/found/$1-" "$work/corpus/$1" "$fuzz/corpus/$1" >"$work/said-$1" 2>&1; then
    sed -n 's/^stat::number_of_executed_units: */inputs: /p' "$work/said-$1"
  else
    cat "$work/said-$1" >&2
    warn "$1 failed; with the input that is named above: RAILGATE_FUZZ=$1 $program FILE"
    failed=yes
  fi
}

# Keeps beside the inputs with names those that reach something more: small ones, because each is a file of the repository.
kept() { # TARGET
  rm -rf "$fuzz/corpus/$1"/grown-* "$work/least/$1"
  mkdir -p "$work/corpus/$1" "$work/least"
  cp -r "$fuzz/corpus/$1" "$work/least/$1"
  RAILGATE_FUZZ=$1 "$program" -merge=1 -max_len=600 -verbosity=0 "$work/least/$1" "$work/corpus/$1" 2>/dev/null
  find "$work/least/$1" -type f -name '????????????????????????????????????????' -size -2 | sort | head -n 12 | while read -r file; do
    cp "$file" "$fuzz/corpus/$1/grown-$(basename "$file" | cut -c1-8)"
  done
}

failed=
for target in ${chosen:-$targets}; do "$act" "$target" "$seconds"; done
[ -z "$failed" ]

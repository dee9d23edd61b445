#!/bin/sh
# Builds the modules of the npm package into npm/wasm/ and prints their sizes: bindings-wasm/build.sh [MODULE…]
# Skips modules that have not changed.
set -eu
cd -- "$(dirname -- "$0")/.."
. scripts/setup.sh
. scripts/wasm.sh
need_node
need_wasm
need_wasm_tool

out=bindings-wasm/npm/wasm
built=$WASM_OUT/railgate_wasm.wasm
small=$WASM_CFG
mkdir -p "$out"
for module in ${*:-receipt log webhook forms qr client gateway sheet}; do
  say "building the module $module"
  # Verifying a webhook is mostly SHA-256: only here is the unrolled version worth its size.
  case $module in webhook) WASM_CFG='' ;; *) WASM_CFG=$small ;; esac
  cargo_wasm build --quiet -p railgate-wasm --lib --features "$module"
  # Keeps the input of the generator, so that an unchanged module is not generated again.
  kept=$WASM_OUT/$module.wasm
  [ -f "$out/$module.js" ] && cmp -s "$built" "$kept" && continue
  "$WASM_TOOL" "$built" "$out" "$module"
  cp "$built" "$kept"
done
exec node bindings-wasm/sizes.mjs "$out"

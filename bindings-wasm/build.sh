#!/bin/sh
# Builds the modules of the npm package into npm/wasm/ and says how large they are: bindings-wasm/build.sh [MODULE…]
# What has not changed is not built again.
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
for module in ${*:-receipt webhook forms qr client gateway sheet}; do
  say "building the module $module"
  # To verify a webhook is little else than SHA-256: there alone it is worth its size written out.
  case $module in webhook) WASM_CFG='' ;; *) WASM_CFG=$small ;; esac
  cargo_wasm build --quiet -p railgate-wasm --lib --features "$module"
  # What it was generated from is kept: whatever is the same stays as it is.
  kept=$WASM_OUT/$module.wasm
  [ -f "$out/$module.js" ] && cmp -s "$built" "$kept" && continue
  "$WASM_TOOL" "$built" "$out" "$module"
  cp "$built" "$kept"
done
exec node bindings-wasm/sizes.mjs "$out"

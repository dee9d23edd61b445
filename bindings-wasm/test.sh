#!/bin/sh
# Runs the tests of the modules in Chromium: bindings-wasm/test.sh
set -eu
cd -- "$(dirname -- "$0")/.."
. scripts/setup.sh
. scripts/wasm.sh
need_chromedriver
need_wasm
need_wasm_test_runner
say "testing the modules in Chromium"
# Timeouts against hangs, in seconds. The runner's defaults, 20 for all tests and 5 for the driver, are short for a busy machine.
export WASM_BINDGEN_TEST_TIMEOUT=1800 WASM_BINDGEN_TEST_DRIVER_TIMEOUT=300
RUST_BACKTRACE=0 cargo_wasm test --quiet -p railgate-wasm --test chromium --features webhook,gateway \
  --config "target.$WASM_TARGET.runner = ['$WASM_TEST_RUNNER']"

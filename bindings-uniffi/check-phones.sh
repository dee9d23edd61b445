#!/bin/sh
# Type-checks this crate for phones, on a machine without an NDK or Apple's SDK:
#
#   ./check-phones.sh [TARGET…]      aarch64-linux-android and aarch64-apple-ios by default
#
# It proves that the Rust code compiles there. To link a library for shipping you need build-android.sh with an NDK, or a Mac.
set -eu
cd -- "$(dirname -- "$0")/.."
. scripts/setup.sh
. scripts/wasm.sh
# A compiler with the source of its standard library, which is checked along with the crate.
need_wasm

folder=${CARGO_TARGET_DIR:-$PWD/target}/phones/check
mkdir -p "$folder/sdk"
# Nothing is linked, so SQLite is compiled for this machine, whatever the target.
cat >"$folder/cc" <<'CC'
#!/bin/sh
for argument; do
  shift
  case $argument in
    -arch | -isysroot) skip=1 ;;
    --target=* | -m*-version-min=* | -march=*) ;;
    *) [ "${skip:-}" ] || set -- "$@" "$argument"; skip= ;;
  esac
done
exec cc "$@"
CC
chmod +x "$folder/cc"

[ $# -gt 0 ] || set -- aarch64-linux-android aarch64-apple-ios
for target; do
  say "checking for $target"
  (
    [ -z "$WASM_RUSTC" ] || export RUSTC="$WASM_RUSTC"
    name=$(printf %s "$target" | tr - _)
    export RUSTC_BOOTSTRAP=1 SDKROOT="$folder/sdk" "CC_$name=$folder/cc" "AR_$name=ar" CARGO_TARGET_DIR="$folder"
    cargo check --quiet --locked -p railgate-uniffi --lib --target "$target" -Zbuild-std=std,panic_unwind
  )
done
say "the crate compiles for $*"

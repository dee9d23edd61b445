#!/bin/sh
# Makes the Swift package for iPhones, their simulator and Macs, on a Mac with Xcode and rustup:
#
#   ./xcframework.sh FOLDER      the package in FOLDER/railgate, with RailgateFFI.xcframework inside
#
# Everything goes into FOLDER, replacing its contents. It runs only on a Mac, and the tests do not run it.
set -eu

if [ "$(uname -s)" != Darwin ] || ! command -v xcodebuild >/dev/null 2>&1 || ! command -v rustup >/dev/null 2>&1; then
  printf 'error: an XCFramework can only be made on a Mac with Xcode and rustup; elsewhere use: ../package.sh swift\n' >&2
  exit 1
fi

mkdir -p "$1"
folder=$(cd -- "$1" && pwd)
source=$(cd -- "$(dirname -- "$0")/.." && pwd)
target=${CARGO_TARGET_DIR:-$source/../target}
# The minimum versions of Package.swift.
export IPHONEOS_DEPLOYMENT_TARGET=15.0 MACOSX_DEPLOYMENT_TARGET=12.0

say() { printf '\033[2m· %s\033[0m\n' "$*" >&2; }

static_library() { # TARGET
  printf '%s/%s/phone/librailgate_uniffi.a\n' "$target" "$1"
}

# Joins the code for several architectures in one file.
universal() { # NAME TARGET…
  name=$1
  shift
  mkdir -p "$folder/libraries/$name"
  for machine in "$@"; do
    set -- "$@" "$(static_library "$machine")"
    shift
  done
  lipo -create "$@" -output "$folder/libraries/$name/librailgate_uniffi.a"
}

cd "$source/.."
. scripts/phone.sh
for machine in aarch64-apple-ios aarch64-apple-ios-sim x86_64-apple-ios aarch64-apple-darwin x86_64-apple-darwin; do
  say "building for $machine"
  rustup target add "$machine" >&2
  build_phone --crate-type staticlib,cdylib --target "$machine" >&2
done
cargo build --locked -p railgate-uniffi --example uniffi-bindgen >&2

rm -rf "$folder/libraries" "$folder/headers" "$folder/railgate"
universal simulator aarch64-apple-ios-sim x86_64-apple-ios
universal mac aarch64-apple-darwin x86_64-apple-darwin

say "writing the Swift sources"
built=$target/$(rustc -vV | sed -n 's/^host: //p')/phone/librailgate_uniffi.dylib
sh "$source/package.sh" swift "$built" "$target/debug/examples/uniffi-bindgen" "$folder"

# A separate folder: the headers of all of an app's frameworks share one. The framework contains its library, so the module map
# links none.
mkdir -p "$folder/headers/RailgateFFI"
mv "$folder/railgate/Sources/RailgateFFI/RailgateFFI.h" "$folder/headers/RailgateFFI"
sed '/^ *link /d' "$folder/railgate/Sources/RailgateFFI/module.modulemap" >"$folder/headers/RailgateFFI/module.modulemap"
rm -rf "$folder/railgate/Sources/RailgateFFI" "$folder/railgate/lib"

say "making the XCFramework"
xcodebuild -create-xcframework \
  -library "$(static_library aarch64-apple-ios)" -headers "$folder/headers" \
  -library "$folder/libraries/simulator/librailgate_uniffi.a" -headers "$folder/headers" \
  -library "$folder/libraries/mac/librailgate_uniffi.a" -headers "$folder/headers" \
  -output "$folder/railgate/RailgateFFI.xcframework" >&2
say "done: $folder/railgate"

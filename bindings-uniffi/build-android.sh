#!/bin/sh
# Builds the package for Android with an NDK (r23 or newer) and Rust from rustup:
#
#   ANDROID_NDK_HOME=/path/to/ndk ./build-android.sh FOLDER      the AAR is in FOLDER/repository, laid out as Maven's
#
# For arm64-v8a, armeabi-v7a and x86_64, from API level 24, with pages of 16 KB.
set -eu
folder=${1:?the folder to put it into}
mkdir -p "$folder"
folder=$(cd -- "$folder" && pwd)
cd -- "$(dirname -- "$0")/.."
API=24

# By default the newest NDK that Android Studio installed.
ndk=${ANDROID_NDK_HOME:-${ANDROID_NDK_ROOT:-}}
[ "$ndk" ] || for found in "${ANDROID_HOME:-$HOME/Android/Sdk}"/ndk/*/; do [ -d "$found" ] && ndk=${found%/}; done
tools=
[ "$ndk" ] && for found in "$ndk"/toolchains/llvm/prebuilt/*/bin; do [ -x "$found/aarch64-linux-android$API-clang" ] && tools=$found; done
if [ -z "$tools" ]; then
  printf 'error: no Android NDK%s; set ANDROID_NDK_HOME, or install one: sdkmanager "ndk;27.2.12479018"\n' "${ndk:+ in $ndk}" >&2
  exit 1
fi

. scripts/setup.sh
. scripts/phone.sh
need_jvm
target_folder=${CARGO_TARGET_DIR:-$PWD/target}

build() { # ABI TARGET CLANG_PREFIX
  say "building for $1 ($2)"
  rustup target add "$2" >&2
  (
    name=$(printf %s "$2" | tr - _)
    upper=$(printf %s "$name" | tr '[:lower:]' '[:upper:]')
    export "CC_$name=$tools/$3$API-clang" "AR_$name=$tools/llvm-ar" "PHONE_LINKER=$tools/$3$API-clang"
    export "CARGO_TARGET_${upper}_RUSTFLAGS=-Clink-arg=-Wl,-z,max-page-size=16384"
    build_phone --quiet --crate-type cdylib --target "$2"
  )
  mkdir -p "$folder/libraries/$1"
  cp "$target_folder/$2/phone/librailgate_uniffi.so" "$folder/libraries/$1"
  # A device with 16 KB pages does not load a segment with another alignment.
  if "$tools/llvm-readelf" -lW "$folder/libraries/$1/librailgate_uniffi.so" | grep '^ *LOAD' | grep -qv '0x4000$'; then
    printf 'error: the library for %s is not aligned to 16 KB\n' "$1" >&2
    exit 1
  fi
}

build arm64-v8a aarch64-linux-android aarch64-linux-android
build armeabi-v7a armv7-linux-androideabi armv7a-linux-androideabi
build x86_64 x86_64-linux-android x86_64-linux-android

say "compiling the classes"
cargo build --quiet --locked -p railgate-uniffi --example uniffi-bindgen
sh bindings-uniffi/package.sh kotlin "$folder/libraries/arm64-v8a/librailgate_uniffi.so" "$target_folder/debug/examples/uniffi-bindgen" "$folder/kotlin"
mvn --batch-mode --quiet -Dmaven.test.skip=true -f "$folder/kotlin/module/pom.xml" package
STRIP="$tools/llvm-strip" sh bindings-uniffi/package.sh android "$folder/libraries" "$folder/kotlin/module" "$folder"
say "made $folder/repository"

#!/bin/sh
# Measures the packages on this machine: calls a second of the gateway on the device in Kotlin, Swift and Python, each after the
# transactions a second of bare SQLite, and the size of the shipped library, which must not exceed 4 MB. Built as it is shipped; the
# first run builds it, which takes minutes.
set -eu
cd -- "$(dirname -- "$0")/.."
. scripts/setup.sh
. scripts/phone.sh
. scripts/swift.sh
need_python
need_jvm
need_swift
target=${CARGO_TARGET_DIR:-$PWD/target}
library=$(phone_library)
build_phone --quiet --crate-type cdylib
cargo build --quiet --locked -p railgate-uniffi --example uniffi-bindgen
folder=$target/phones/bench
mkdir -p "$folder"

pack() { # LANGUAGE
  STRIP="strip -x" sh bindings-uniffi/package.sh "$1" "$library" "$target/debug/examples/uniffi-bindgen" "$folder/$1"
}

python3 -m venv "$folder/venv"
PYTHON=$folder/venv/bin/python
export PYTHON
"$PYTHON" -m pip --quiet --disable-pip-version-check install --require-hashes --requirement bindings-uniffi/python/requirements.txt
pack python
pack kotlin
pack swift
cp -R bindings-uniffi/swift/Tests "$folder/swift"
"$PYTHON" -m pip --quiet --disable-pip-version-check install --no-deps --no-index --force-reinstall "$folder"/python/dist/*.whl
reference() {
  "$PYTHON" bindings-uniffi/python/reference.py
}
reference
"$PYTHON" bindings-uniffi/python/bench.py
reference
mvn --batch-mode --quiet -f "$folder/kotlin/module/pom.xml" test-compile exec:java
reference
swift_run "$folder/swift" swift run --quiet -c release --package-path Tests Bench
shipped=$(find "$folder/kotlin/module/src/main/resources" -name "$(basename "$library")")
printf 'the library, stripped: %s bytes, %s with gzip -9\n' "$(wc -c <"$shipped")" "$(gzip -9 <"$shipped" | wc -c)"
check_phone_size "$shipped"

#!/bin/sh
# Builds the library as an app ships it, for this machine, and fails if it is larger than an app is promised. The first build takes minutes.
set -eu
cd -- "$(dirname -- "$0")/.."
. scripts/setup.sh
. scripts/phone.sh
say "building the library of the phones, for its size"
build_phone --quiet --crate-type cdylib
shipped=$(phone_library).shipped
cp "$(phone_library)" "$shipped"
strip -x "$shipped"
say "the library of the phones, stripped: $(($(wc -c <"$shipped"))) bytes"
check_phone_size "$shipped"

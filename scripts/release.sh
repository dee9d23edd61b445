#!/bin/sh
# Makes a release in target/release-VERSION, each file with what it is made of, and the checksums of all:
#   scripts/release.sh                  everything but arm64
#   scripts/release.sh binary deb       some parts: binary, deb, binary-arm64, deb-arm64, npm, wheel, crate
#   scripts/release.sh verify [PART…]   makes it, makes it again from a fresh copy in another folder, and compares the two
#   scripts/release.sh try              installs the Debian package in a fresh Debian, and runs it there (as root, on Debian)
# Made so that the same commit gives the same bytes, on machines with the same compilers.
set -eu
cd -- "$(dirname -- "$0")/.."
. scripts/setup.sh
# shellcheck source=/dev/null
for room in tools binary sbom deb packages verify try; do . "scripts/release/$room.sh"; done

VERSION=$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml | head -n 1)
OUT=${RAILGATE_RELEASE_DIR:-$PWD/target/release-$VERSION}
WORK=${CARGO_TARGET_DIR:-$PWD/target}/release-work

give_up() {
  printf 'error: %s\n' "$*" >&2
  exit 1
}

build_part() {
  case $1 in
    binary | binary-*) build_binary "$(arch_of "$1")"; binary_sbom "$(arch_of "$1")" ;;
    deb | deb-*) build_deb "$(arch_of "$1")" ;;
    npm) build_npm ;;
    wheel) build_wheel ;;
    crate) build_crate ;;
    *) give_up "there is no part $1; there are: binary, deb, binary-arm64, deb-arm64, npm, wheel, crate" ;;
  esac
}

arch_of() { # PART
  case $1 in *-arm64) echo arm64 ;; *) echo amd64 ;; esac
}

# Files that nobody else can write, whatever the settings of whoever runs this.
umask 022
LC_ALL=C
TZ=UTC
export LC_ALL TZ
release_epoch

mkdir -p "$OUT" "$WORK"
case ${1:-} in
  verify) shift && verify "${@:-binary}"; exit ;;
  try) try_deb; exit ;;
  '') set -- binary deb npm wheel crate ;;
esac
for part; do build_part "$part"; done
rm -f "$OUT/SHA256SUMS"
(cd "$OUT" && sha256sum -- * >"$WORK/sums")
mv "$WORK/sums" "$OUT/SHA256SUMS"
say "the release is in $OUT:"
(cd "$OUT" && wc -c -- *)

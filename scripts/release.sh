#!/bin/sh
# Makes a release in target/release-VERSION, each file with what it is made of, and the checksums of all:
#   scripts/release.sh                  everything but arm64
#   scripts/release.sh binary deb       some parts: binary, deb, oci (of arm64: binary-arm64, deb-arm64, oci-arm64), npm, wheel, maven, swift, crate
#   scripts/release.sh verify [PART…]   makes it, makes it again from a fresh copy in another folder, and compares the two
#   scripts/release.sh sign             lists the checksums of what is there, and signs the list with RAILGATE_SIGNING_KEY
#   scripts/release.sh signer           prints which key that is, for those who check
#   scripts/release.sh try [WHAT…]      tries what was made: deb, deb-arm64 (in a fresh Debian), oci, oci-arm64 (in its container), these as root,
#                                       on Debian; signature; crate (whether what compiled with the last release, or the commit RAILGATE_BEFORE,
#                                       still does)
# Made so that the same commit gives the same bytes, on machines with the same compilers.
set -eu
cd -- "$(dirname -- "$0")/.."
. scripts/setup.sh
# shellcheck source=/dev/null
for room in tools binary sbom licences deb oci packages sign verify try; do . "scripts/release/$room.sh"; done

VERSION=$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml | head -n 1)
OUT=${RAILGATE_RELEASE_DIR:-$PWD/target/release-$VERSION}
WORK=${CARGO_TARGET_DIR:-$PWD/target}/release-work

give_up() {
  printf 'error: %s\n' "$*" >&2
  exit 1
}

build_part() {
  case $1 in
    binary | binary-*) build_binary "$(arch_of "$1")" ;;
    deb | deb-*) build_deb "$(arch_of "$1")" ;;
    oci | oci-*) build_oci "$(arch_of "$1")" ;;
    npm) build_npm ;;
    wheel) build_wheel ;;
    maven) build_maven ;;
    swift) build_swift ;;
    crate) build_crate ;;
    *) give_up "there is no part $1; there are: binary, deb, oci (of arm64: binary-arm64, deb-arm64, oci-arm64), npm, wheel, maven, swift, crate" ;;
  esac
}

try_part() {
  case $1 in
    deb | deb-*) try_deb "$(arch_of "$1")" ;;
    oci | oci-*) try_oci "$(arch_of "$1")" ;;
    signature) try_signature ;;
    crate) try_crate ;;
    *) give_up "$1 cannot be tried; what can: deb, oci (of arm64: deb-arm64, oci-arm64), signature, crate" ;;
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
  sign) sign_release; exit ;;
  signer) print_signer; exit ;;
  try) shift && for what in "${@:-deb}"; do try_part "$what"; done; exit ;;
  '') set -- binary deb oci npm wheel maven swift crate ;;
esac
for part; do build_part "$part"; done
sign_release
say "the release is in $OUT:"
(cd "$OUT" && wc -c -- *)

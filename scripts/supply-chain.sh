#!/bin/sh
# Checks what the project is built from against deny.toml:
#   scripts/supply-chain.sh               licences, forbidden and repeated crates, sources: needs the registry of crates at most
#   scripts/supply-chain.sh advisories    those, and known vulnerabilities: downloads the advisories' database from its repository
set -eu
cd -- "$(dirname -- "$0")/.."
. scripts/setup.sh
. scripts/release/tools.sh

checks='bans licenses sources'
case ${1:-} in
  '') ;;
  advisories) checks="advisories $checks" ;;
  *) warn "usage: scripts/supply-chain.sh [advisories]" && exit 2 ;;
esac
need_cargo_tool cargo-deny 0.20.2
# shellcheck disable=SC2086 # One word per check.
"$RELEASE_CACHE/cargo/bin/cargo-deny" --locked check $checks

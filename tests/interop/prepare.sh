#!/bin/sh
# Installs the dependencies of one of the clients in this folder, and prints the command that runs it, one word per line:
#
#   ./prepare.sh NAME FOLDER
#
# Everything goes into FOLDER (target/interop/NAME in the tests), in exactly the versions of the client's lock file. An
# existing folder is reused as long as that file is unchanged; an incomplete folder is replaced.
set -eu

name=$1 folder=$2
source=$(cd -- "$(dirname -- "$0")/$name" && pwd)

need() { # COMMAND…: each must run
  "$@" >/dev/null 2>&1 || {
    printf 'error: "%s" does not work here; ./check installs what the tests need\n' "$*" >&2
    exit 1
  }
}

# Whether FOLDER was made from this lock file.
made_from() { cmp -s "$1" "$folder/made-from"; }

anew() {
  rm -rf "$folder"
  mkdir -p "$folder"
  printf '· installing the %s client into %s\n' "$name" "$folder" >&2
}

case "$name" in
  node | *-node)
    need node --version
    need npm --version
    if ! made_from "$source/package-lock.json"; then
      anew
      cp "$source/package.json" "$source/package-lock.json" "$folder"
      npm ci --prefix "$folder" --ignore-scripts --no-audit --no-fund >&2
      cp "$source/package-lock.json" "$folder/made-from"
    fi
    # A module finds its packages in its own folder.
    cp "$source/client.js" "$source/package.json" "$folder"
    printf '%s\n' node "$folder/client.js"
    ;;
  python-* | *-python)
    need python3 -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 10))'
    if ! made_from "$source/requirements.txt"; then
      anew
      python3 -m venv "$folder/venv" >&2
      "$folder/venv/bin/python" -m pip install --quiet --disable-pip-version-check --require-hashes \
        --requirement "$source/requirements.txt" >&2
      cp "$source/requirements.txt" "$folder/made-from"
    fi
    printf '%s\n' "$folder/venv/bin/python" "$source/client.py"
    ;;
  go-*)
    need go version
    mkdir -p "$folder"
    # Go builds only changes, with the modules of go.sum. No cgo: the tests should not need a C compiler.
    (cd "$source" && CGO_ENABLED=0 GOFLAGS=-mod=readonly go build -o "$folder/$name" .) >&2
    printf '%s\n' "$folder/$name"
    ;;
  shell)
    need openssl version
    need curl --version
    printf '%s\n' sh "$source/tampered.sh"
    ;;
  *)
    printf 'error: no client is called %s\n' "$name" >&2
    exit 2
    ;;
esac

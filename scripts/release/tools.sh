# shellcheck shell=sh
# Sourced after setup.sh by scripts/release.sh and others: the tools of a release, each in one version, and what makes its builds repeatable.

RELEASE_CACHE=${XDG_CACHE_HOME:-$HOME/.cache}/railgate/release
RELEASE_PYTHON=$RELEASE_CACHE/python/bin/python

# The compiler and linker of C for musl (zig, which brings musl itself), what builds wheels, and what reads Rust for mutants: as pinned in requirements.txt.
need_release_python() {
  wanted=scripts/release/requirements.txt
  cmp -s "$wanted" "$RELEASE_CACHE/python/made-from" && return 0
  need_python
  say "installing what releases are built with into $RELEASE_CACHE/python (pip install)"
  rm -rf "$RELEASE_CACHE/python"
  python3 -m venv "$RELEASE_CACHE/python"
  "$RELEASE_PYTHON" -m pip install --quiet --disable-pip-version-check --require-hashes --only-binary :all: --requirement "$wanted" >&2
  cp "$wanted" "$RELEASE_CACHE/python/made-from"
}

# A program of crates.io in one version, built with its own lock file. Its speed does not matter, so it is built as fast as it gets.
need_cargo_tool() { # NAME VERSION
  "$RELEASE_CACHE/cargo/bin/$1" "${1#cargo-}" --version 2>/dev/null | grep -q " $2\$" && return 0
  say "installing $1 $2 into $RELEASE_CACHE/cargo (cargo install)"
  # Outside of this folder, whose compiler is pinned.
  (cd / && cargo install --quiet --debug --locked --root "$RELEASE_CACHE/cargo" --version "=$2" "$1" >&2)
}

need_target() { # TARGET
  [ -d "$(rustc --print sysroot)/lib/rustlib/$1" ] && return 0
  say "installing Rust's standard library for $1 (rustup target add)"
  rustup target add "$1" >&2
}

# The time of the commit, for everything that records a time.
release_epoch() {
  SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
  export SOURCE_DATE_EPOCH
}

# What is built must not tell in which folder: the names of this folder, of cargo's and of the compiler's are replaced.
release_flags() {
  sysroot=$(rustc --print sysroot)
  commit=$(rustc -vV | sed -n 's/^commit-hash: //p')
  cargo_home=${CARGO_HOME:-$HOME/.cargo}
  unset RUSTFLAGS CARGO_BUILD_RUSTFLAGS RUSTC_WRAPPER
  # Separated by a character that no path has.
  CARGO_ENCODED_RUSTFLAGS=$(printf '%s\037%s\037%s' "--remap-path-prefix=$cargo_home=/cargo" \
    "--remap-path-prefix=$sysroot/lib/rustlib/src/rust=/rustc/$commit" "--remap-path-prefix=$PWD=/railgate")
  CFLAGS="-ffile-prefix-map=$cargo_home=/cargo -ffile-prefix-map=$PWD=/railgate"
  export CARGO_ENCODED_RUSTFLAGS CFLAGS
  export CARGO_INCREMENTAL=0
}

# The browser sites, which the server embeds, and the npm package that they are made with, from modules that are up to date.
build_sites() {
  [ -z "${SITES_BUILT:-}" ] || return 0
  sh bindings-wasm/build.sh >&2
  sh scripts/web.sh
  SITES_BUILT=yes
}

# shellcheck shell=sh
# Sourced after setup.sh by scripts that build for browsers: `need_wasm` makes a compiler for wasm32-unknown-unknown available,
# and `cargo_wasm` runs cargo with it.
#
# The standard library is built from source along with the modules, for size and with panics that abort at once: this makes
# modules a fifth smaller. It only needs a compiler with the source of its standard library. Normally
# `rustup component add rust-src` provides it. If rustup cannot download anything, Debian's rustc-web and
# rust-web-src are unpacked, not installed, into a cache folder.
#
# RAILGATE_WASM_TOOLCHAIN=rustup or =debian selects one; by default rustup is tried first.

WASM_TARGET=wasm32-unknown-unknown
WASM_CACHE=${XDG_CACHE_HOME:-$HOME/.cache}/railgate/wasm
# Empty for rustup's compiler.
WASM_RUSTC=
# The output folder of cargo's modules, and the program that generates their JavaScript.
WASM_OUT=${CARGO_TARGET_DIR:-target}/$WASM_TARGET/wasm
WASM_TOOL=${CARGO_TARGET_DIR:-target}/tool/wasm-tool
WASM_TEST_RUNNER=${CARGO_TARGET_DIR:-$PWD/target}/tool/wasm-test-runner

wasm_library_source() { [ -f "$1/lib/rustlib/src/rust/library/Cargo.lock" ]; }

has_wasm_rustup() { wasm_library_source "$(rustc --print sysroot 2>/dev/null)"; }

# Not every machine has `timeout`; without it rustup gives up by itself, only later.
within() { # SECONDS COMMAND…
  if command -v timeout >/dev/null 2>&1; then timeout "$@"; else shift && "$@"; fi
}

need_wasm_rustup() {
  has_wasm_rustup && return 0
  command -v rustup >/dev/null 2>&1 || return 1
  say "installing the source of Rust's standard library (rustup component add rust-src)"
  within 180 rustup component add rust-src >&2 && has_wasm_rustup
}

# Downloads the packages even if they are installed; their dependencies only if they are missing.
wasm_apt_fetch() { # LINKER
  apt_beside "$WASM_CACHE/apt" apt-get update -qq >&2 || say "apt-get update had errors; continuing"
  # The library in the compiler's version, which the unversioned package depends on.
  wasm_std=$(apt_beside "$WASM_CACHE/apt" apt-cache show --no-all-versions libstd-rust-web-dev | sed -n 's/^Depends: //p' | grep -o 'libstd-rust-web-[0-9.]*' | head -n 1)
  # shellcheck disable=SC2086
  apt_beside "$WASM_CACHE/apt" apt-get install -y -qq --no-install-recommends --download-only --reinstall rustc-web rust-web-src libstd-rust-web-dev $wasm_std $1 >&2
}

# The linker may be rustup's, which is removed with its toolchain.
has_wasm_debian() {
  [ -f "$WASM_CACHE/ready" ] && [ -x "$(find "$WASM_CACHE/root/usr/lib/rustlib" -name rust-lld)" ] &&
    wasm_library_source "$WASM_CACHE/root/usr" && "$WASM_CACHE/rustc" -V
}

need_wasm_debian() {
  has_wasm_debian >/dev/null 2>&1 && return 0
  command -v apt-get >/dev/null 2>&1 || return 1
  say "unpacking Debian's compiler for $WASM_TARGET into $WASM_CACHE (rustc-web, rust-web-src)"
  wasm_host=$(rustc -vV | sed -n 's/^host: //p')
  # rustup's linker also links for wasm.
  wasm_lld=$(rustc --print sysroot)/lib/rustlib/$wasm_host/bin/rust-lld
  [ -x "$wasm_lld" ] && wasm_linker='' || wasm_linker=lld
  rm -rf "$WASM_CACHE/apt"
  apt_beside_begin "$WASM_CACHE/apt" </dev/null
  wasm_apt_fetch "$wasm_linker" || return 1
  rm -rf "$WASM_CACHE/root" "$WASM_CACHE/ready"
  for package in "$WASM_CACHE"/apt/archives/*.deb; do dpkg-deb -x "$package" "$WASM_CACHE/root" || return 1; done
  rm -rf "$WASM_CACHE/apt" "$WASM_CACHE/root/usr/share"
  [ -n "$wasm_linker" ] && wasm_lld=$(find "$WASM_CACHE"/root/usr/bin "$WASM_CACHE"/root/usr/lib/llvm-*/bin -name 'wasm-ld*' | head -n 1)
  mkdir -p "$WASM_CACHE/root/usr/lib/rustlib/$wasm_host/bin"
  ln -sf "$wasm_lld" "$WASM_CACHE/root/usr/lib/rustlib/$wasm_host/bin/rust-lld"
  wasm_link_source || return 1
  for tool in rustc rustdoc; do
    cat >"$WASM_CACHE/$tool" <<WRAPPER || return 1
#!/bin/sh
for found in "$WASM_CACHE"/root/usr/lib/*-linux-gnu; do LD_LIBRARY_PATH=\$found\${LD_LIBRARY_PATH:+:\$LD_LIBRARY_PATH}; done
export LD_LIBRARY_PATH
exec "$WASM_CACHE/root/usr/bin/$tool" "\$@"
WRAPPER
    chmod +x "$WASM_CACHE/$tool"
  done
  "$WASM_CACHE/rustc" -V >"$WASM_CACHE/ready"
  has_wasm_debian >/dev/null
}

# The package's own link leads out of the folder it was unpacked into.
wasm_link_source() {
  for found in "$WASM_CACHE"/root/usr/src/rustc-*/; do
    mkdir -p "$WASM_CACHE/root/usr/lib/rustlib/src"
    ln -sfn "$found" "$WASM_CACHE/root/usr/lib/rustlib/src/rust"
  done
  wasm_library_source "$WASM_CACHE/root/usr"
}

need_wasm() {
  case ${RAILGATE_WASM_TOOLCHAIN:-} in
    rustup) need_wasm_rustup || wasm_give_up ;;
    debian) need_wasm_debian && WASM_RUSTC=$WASM_CACHE/rustc || wasm_give_up ;;
    *)
      if ! need_wasm_rustup; then
        say "rustup cannot provide the source of Rust's standard library; trying Debian's packages"
        need_wasm_debian && WASM_RUSTC=$WASM_CACHE/rustc || wasm_give_up
      fi
      ;;
  esac
}

wasm_give_up() {
  printf 'error: no compiler for %s; install one with: rustup component add rust-src\n' "$WASM_TARGET" >&2
  exit 1
}

# Inlines a little more than opt-level z does by itself, which exposes dead code and constants: modules are 1 % smaller.
WASM_LLVM='-Cllvm-args=-inline-threshold=25 -Clink-arg=-zstack-size=983040'

# SHA-256 with loops, not unrolled: a module is 6 KB smaller, at a quarter of the speed.
WASM_CFG='--cfg sha2_backend_soft="compact"'

# Only the build of the standard library uses unstable features; the project's code is stable Rust.
cargo_wasm() { # build|test ARGUMENTS…
  wasm_command=$1
  shift
  (
    [ -z "$WASM_RUSTC" ] || export RUSTC="$WASM_RUSTC" RUSTDOC="${WASM_RUSTC%c}doc"
    unset CARGO_ENCODED_RUSTFLAGS CARGO_BUILD_RUSTFLAGS RUSTC_WRAPPER
    export RUSTC_BOOTSTRAP=1 RUSTFLAGS="-Zunstable-options -Cpanic=immediate-abort -Zlocation-detail=none $WASM_LLVM $WASM_CFG"
    exec cargo "$wasm_command" --locked --profile wasm --target "$WASM_TARGET" \
      -Zbuild-std=std,panic_abort -Zbuild-std-features=optimize_for_size "$@"
  )
}

# In the version of the lock file, like the modules themselves.
need_wasm_tool() {
  say "building the generator of the modules' JavaScript"
  cargo build --quiet --locked --profile tool -p railgate-wasm-tool --features tool
}

need_wasm_test_runner() {
  say "building the runner of the modules' tests"
  cargo build --quiet --locked --profile tool -p railgate-wasm-tool --features runner
}

# shellcheck shell=sh
# Sourced by ./railgate and ./check: makes sure that what they need is here, and says what it does.
# Needs Rust (https://rustup.rs); everything else it installs itself with the platform's package manager.

say() { printf '\033[2m· %s\033[0m\n' "$*" >&2; }

as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"; elif command -v sudo >/dev/null 2>&1; then sudo "$@"; else
    printf 'error: need root to run: %s\n' "$*" >&2
    exit 1
  fi
}

need_cargo() {
  command -v cargo >/dev/null 2>&1 && return 0
  # rustup's own place, for shells that have not read its profile yet.
  if [ -x "${CARGO_HOME:-$HOME/.cargo}/bin/cargo" ]; then
    PATH="${CARGO_HOME:-$HOME/.cargo}/bin:$PATH"
    export PATH
    return 0
  fi
  printf 'error: Rust is not installed; get it from https://rustup.rs and run this again\n' >&2
  exit 1
}

# SQLite is compiled in, so a C compiler and a linker must be here.
need_cc() {
  command -v cc >/dev/null 2>&1 && return 0
  case "$(uname -s)" in
    Darwin)
      say "installing the command line developer tools (a window may ask you)"
      xcode-select --install || true
      printf 'error: run this again when the developer tools are installed\n' >&2
      exit 1
      ;;
    *)
      if command -v apt-get >/dev/null 2>&1; then
        say "installing a C compiler (apt-get install gcc libc6-dev)"
        as_root apt-get update -qq >&2
        as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends gcc libc6-dev >&2
      else
        printf 'error: no C compiler found; install gcc or clang and run this again\n' >&2
        exit 1
      fi
      ;;
  esac
}

need_cargo
need_cc

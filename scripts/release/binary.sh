# shellcheck shell=sh
# Sourced by scripts/release.sh: the server as one static file, which needs nothing of the system that it runs on.

# In bytes.
BINARY_MAX=25000000

# SQLite without its searches of texts and maps, which nothing here uses.
BINARY_SQLITE="-USQLITE_ENABLE_FTS3 -USQLITE_ENABLE_FTS3_PARENTHESIS -USQLITE_ENABLE_FTS5 -USQLITE_ENABLE_RTREE -USQLITE_ENABLE_DBSTAT_VTAB \
  -USQLITE_SOUNDEX"

# The target of Debian's architecture.
target_of() { # amd64|arm64
  case $1 in amd64) echo x86_64-unknown-linux-musl ;; arm64) echo aarch64-unknown-linux-musl ;; esac
}

# What cargo leaves it as.
built_binary() { # ARCHITECTURE
  printf '%s/%s/ship/railgate\n' "${CARGO_TARGET_DIR:-target}" "$(target_of "$1")"
}

build_binary() { # ARCHITECTURE
  need_release_python
  need_target "$(target_of "$1")"
  build_sites
  say "building railgate for $1; the first time takes ten minutes and more"
  (
    release_flags
    PATH=$RELEASE_CACHE/python/bin:$PATH
    CARGO_ZIGBUILD_PYTHON_PATH=$RELEASE_PYTHON
    LIBSQLITE3_FLAGS=$BINARY_SQLITE
    export PATH CARGO_ZIGBUILD_PYTHON_PATH LIBSQLITE3_FLAGS
    cargo zigbuild --quiet --locked --profile ship -p railgate-server --bin railgate --features written-document \
      --target "$(target_of "$1")"
  )
  check_binary "$(built_binary "$1")"
  cp "$(built_binary "$1")" "$OUT/railgate-$VERSION-linux-$1"
  binary_sbom "$1"
  binary_third_party "$1"
}

# Fails if it is not what a release promises: one file, nothing to load beside it, no symbols, no folder of whoever built it.
check_binary() { # FILE
  size=$(wc -c <"$1")
  [ "$((size))" -le "$BINARY_MAX" ] || give_up "$1 has $((size)) bytes, more than $BINARY_MAX"
  headers=$(readelf --program-headers --sections --dynamic --wide "$1")
  case $headers in
    *INTERP* | *NEEDED*) give_up "$1 is not static" ;;
    *.symtab* | *.debug_info*) give_up "$1 is not stripped" ;;
  esac
  for folder in "$PWD" "${CARGO_HOME:-$HOME/.cargo}"; do
    ! grep -aqF "$folder/" "$1" || give_up "$1 names the folder $folder"
  done
}

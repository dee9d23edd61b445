# shellcheck shell=sh
# How the library of the phones is built, for scripts that source this.

# SQLite without the extensions and interfaces that nothing here uses.
PHONE_SQLITE="-USQLITE_ENABLE_FTS3 -USQLITE_ENABLE_FTS3_PARENTHESIS -USQLITE_ENABLE_FTS5 -USQLITE_ENABLE_RTREE -USQLITE_ENABLE_STAT4 \
  -USQLITE_ENABLE_DBSTAT_VTAB -USQLITE_ENABLE_API_ARMOR -USQLITE_ENABLE_COLUMN_METADATA -USQLITE_ENABLE_LOAD_EXTENSION -USQLITE_SOUNDEX \
  -DSQLITE_OMIT_LOAD_EXTENSION -DSQLITE_OMIT_JSON -DSQLITE_OMIT_DEPRECATED -DSQLITE_OMIT_SHARED_CACHE -DSQLITE_OMIT_TRACE \
  -DSQLITE_OMIT_PROGRESS_CALLBACK -DSQLITE_OMIT_TCL_VARIABLE -DSQLITE_OMIT_COMPLETE -DSQLITE_OMIT_GET_TABLE -DSQLITE_OMIT_INCRBLOB \
  -DSQLITE_OMIT_AUTHORIZATION -DSQLITE_OMIT_DESERIALIZE -DSQLITE_OMIT_UTF16"
# Nothing unwinds through it.
PHONE_C=-fno-asynchronous-unwind-tables

# Alone, a shared library (`--crate-type cdylib`) is smallest: beside others, the optimizer must keep what those might use.
# Called from the project's folder.
build_phone() { # ARGUMENTS OF CARGO…
  LIBSQLITE3_FLAGS=$PHONE_SQLITE CFLAGS="${CFLAGS:-} $PHONE_C" cargo rustc --locked --profile phone -p railgate-uniffi --lib "$@" \
    -- -C linker="$PWD/scripts/phone-gcc"
}

# What that made for this machine.
phone_library() {
  case "$(uname -s)" in Darwin) extension=dylib ;; *) extension=so ;; esac
  printf '%s/phone/librailgate_uniffi.%s\n' "${CARGO_TARGET_DIR:-$PWD/target}" "$extension"
}

# Fails if the library as shipped is larger than it may be.
PHONE_LIBRARY_MAX=4000000
check_phone_size() { # LIBRARY
  size=$(wc -c <"$1")
  [ "$((size))" -le "$PHONE_LIBRARY_MAX" ] && return
  printf 'error: %s has %s bytes, more than the %s that an app is promised\n' "$1" "$((size))" "$PHONE_LIBRARY_MAX" >&2
  return 1
}

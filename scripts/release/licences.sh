# shellcheck shell=sh
# Sourced by scripts/release.sh: the licences of what is compiled into each file, with their texts, which most of them ask for.

# Writes FILE for what a crate of the workspace is compiled to. Standard input lists what is in it and no crate, as licences.mjs wants it.
third_party() { # CRATE TARGET FILE
  need_node
  mkdir -p "$WORK/licences"
  cat >"$WORK/licences/others"
  others_of_rust >>"$WORK/licences/others"
  cargo metadata --locked --format-version 1 >"$WORK/licences/metadata.json"
  # Without what only the compiler runs.
  cargo tree --quiet --locked -p "$1" --target "$2" --edges normal,no-proc-macro --prefix none --format '{p}' >"$WORK/licences/tree"
  node scripts/release/licences.mjs "$WORK/licences/metadata.json" "$WORK/licences/tree" "$WORK/licences/others" >"$3"
}

other() { # NAME LICENCE FILE…
  line=$1
  shift
  for field; do line=$(printf '%s\t%s' "$line" "$field"); done
  printf '%s\n' "$line"
}

others_of_rust() {
  rust=$(rustc --print sysroot)/share/doc/rust
  other "Rust's standard library" "Apache-2.0 OR MIT, and as listed in its text" "$rust/COPYRIGHT-library.html" "$rust/licenses/Apache-2.0.txt" \
    "$rust/licenses/MIT.txt" "$rust/licenses/Unicode-3.0.txt"
}

binary_third_party() { # ARCHITECTURE
  zig=$("$RELEASE_PYTHON" -c 'import os, ziglang; print(os.path.dirname(ziglang.__file__))')
  {
    other "musl" MIT "$zig/lib/libc/musl/COPYRIGHT"
    other "LLVM's libunwind" "Apache-2.0 WITH LLVM-exception" "$zig/lib/libunwind/LICENSE.TXT"
    other "Zig's compiler-rt" MIT "$zig/LICENSE"
    other SQLite "public domain"
    other "The time zone database" "public domain"
    other "Noto Sans" OFL-1.1 server/src/pdf/fonts/OFL.txt
    for package in preact @preact/signals @preact/signals-core minisearch; do
      other "$package (npm)" MIT server/web/node_modules/"$package"/LICENSE*
    done
  } | third_party railgate-server "$(target_of "$1")" "$OUT/railgate-$VERSION-linux-$1.third-party.txt"
}

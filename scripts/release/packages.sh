# shellcheck shell=sh
# Sourced by scripts/release.sh: the packages for npm, Python, Kotlin, Swift and Rust, as their indexes take them.

build_npm() {
  build_sites
  npm run --prefix bindings-wasm/npm --silent compile >&2
  for package in npm npm-workers; do
    packed=$(cd "bindings-wasm/$package" && npm pack --silent --pack-destination "$OUT")
    npm_sbom "bindings-wasm/$package" "$OUT/$packed.cdx.json"
    third_party railgate-wasm wasm32-unknown-unknown "$OUT/$packed.third-party.txt" </dev/null
  done
}

host() { rustc -vV | sed -n 's/^host: //p'; }

# The library of the phones for this machine, in the package of a language, below `$WORK/LANGUAGE`.
phone_package() { # LANGUAGE
  need_release_python
  (
    release_flags
    . scripts/phone.sh
    say "building the library of the packages"
    cargo build --quiet --locked -p railgate-uniffi --lib --example uniffi-bindgen
    build_phone --quiet --crate-type cdylib
    PYTHON=$RELEASE_PYTHON STRIP='strip -x' sh bindings-uniffi/package.sh "$1" "$(phone_library)" \
      "${CARGO_TARGET_DIR:-$PWD/target}/debug/examples/uniffi-bindgen" "$WORK/$1"
  )
}

# What such a package is made of, beside it.
described_package() { # FILE
  crate_sbom railgate-uniffi bindings-uniffi "$(host)" "$1.cdx.json"
  other SQLite "public domain" | third_party railgate-uniffi "$(host)" "$1.third-party.txt"
}

# The same bytes of the same files, whoever packs them and when.
packed_folder() { # FOLDER NAME FILE
  tar --sort=name --format=ustar --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX --mtime="@$SOURCE_DATE_EPOCH" -C "$1" -cf - "$2" | gzip -9 -n >"$3"
}

build_wheel() {
  phone_package python
  for wheel in "$WORK"/python/dist/*.whl; do
    cp "$wheel" "$OUT"
    described_package "$OUT/$(basename "$wheel")"
  done
}

# A repository of one Maven module, as Maven Central takes it, but for the signatures of whoever publishes it.
build_maven() {
  need_jvm
  phone_package kotlin
  say "building the Maven module"
  mvn --batch-mode --quiet --no-transfer-progress -Dstyle.color=never -Dmaven.test.skip=true \
    "-Dproject.build.outputTimestamp=$(date -u -d "@$SOURCE_DATE_EPOCH" +%Y-%m-%dT%H:%M:%SZ)" -f "$WORK/kotlin/module/pom.xml" package >&2
  repository=$WORK/kotlin/repository
  module=$repository/dev/railgate/railgate/$VERSION
  rm -rf "$repository"
  mkdir -p "$module"
  cp "$WORK/kotlin/module/target/railgate-$VERSION.jar" "$WORK/kotlin/module/target/railgate-$VERSION-sources.jar" "$module"
  cp bindings-uniffi/kotlin/pom.xml "$module/railgate-$VERSION.pom"
  for file in "$module"/*; do
    md5sum <"$file" | cut -d ' ' -f 1 >"$file.md5"
    sha1sum <"$file" | cut -d ' ' -f 1 >"$file.sha1"
  done
  bundle=$OUT/railgate-maven-$VERSION-$(uname -s | tr '[:upper:]' '[:lower:]')-$(uname -m).tar.gz
  packed_folder "$repository" dev "$bundle"
  described_package "$bundle"
}

build_swift() {
  phone_package swift
  bundle=$OUT/railgate-swift-$VERSION-$(uname -s | tr '[:upper:]' '[:lower:]')-$(uname -m).tar.gz
  packed_folder "$WORK/swift" railgate "$bundle"
  described_package "$bundle"
}

# The engine, for programs that embed it. Cargo builds the crate from what it has packed, so that a file that is missing is found here.
build_crate() {
  say "packing the crate"
  cargo package --quiet --locked -p railgate --target-dir "$WORK/crate" >&2
  cp "$WORK/crate/package/railgate-$VERSION.crate" "$OUT"
  crate_sbom railgate core "$(host)" "$OUT/railgate-$VERSION.crate.cdx.json"
}

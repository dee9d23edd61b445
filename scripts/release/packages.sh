# shellcheck shell=sh
# Sourced by scripts/release.sh: the packages for npm, Python and Rust, as `npm publish`, a package index and `cargo publish` take them.

build_npm() {
  build_sites
  npm run --prefix bindings-wasm/npm --silent compile >&2
  for package in npm npm-workers; do
    packed=$(cd "bindings-wasm/$package" && npm pack --silent --pack-destination "$OUT")
    npm_sbom "bindings-wasm/$package" "$OUT/$packed.cdx.json"
  done
}

# The library of the phones for this machine, in a wheel.
build_wheel() {
  need_release_python
  say "building the Python package"
  (
    release_flags
    . scripts/phone.sh
    cargo build --quiet --locked -p railgate-uniffi --lib --example uniffi-bindgen
    build_phone --quiet --crate-type cdylib
    PYTHON=$RELEASE_PYTHON STRIP='strip -x' sh bindings-uniffi/package.sh python "$(phone_library)" \
      "${CARGO_TARGET_DIR:-$PWD/target}/debug/examples/uniffi-bindgen" "$WORK/python"
  )
  for wheel in "$WORK"/python/dist/*.whl; do
    cp "$wheel" "$OUT"
    crate_sbom railgate-uniffi bindings-uniffi "$(rustc -vV | sed -n 's/^host: //p')" "$OUT/$(basename "$wheel").cdx.json"
  done
}

# The engine, for programs that embed it. Cargo builds the crate from what it has packed, so that a file that is missing is found here.
build_crate() {
  say "packing the crate"
  cargo package --quiet --locked -p railgate --target-dir "$WORK/crate" >&2
  cp "$WORK/crate/package/railgate-$VERSION.crate" "$OUT"
  crate_sbom railgate core "$(rustc -vV | sed -n 's/^host: //p')" "$OUT/railgate-$VERSION.crate.cdx.json"
}

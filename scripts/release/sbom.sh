# shellcheck shell=sh
# Sourced by scripts/release.sh: what each file of a release is made of, as CycloneDX.

CYCLONEDX_VERSION=0.5.9
# It writes into the folder of every crate; this name is nothing else's.
CYCLONEDX_NAME=railgate-release-sbom

# Leaves `$WORK/sbom/CRATE.tree` and `.json` for one crate of the workspace.
crate_components() { # CRATE FOLDER TARGET
  need_node
  need_cargo_tool cargo-cyclonedx "$CYCLONEDX_VERSION"
  mkdir -p "$WORK/sbom"
  cargo tree --quiet --locked -p "$1" --target "$3" --edges normal,build --prefix none --format '{p}' >"$WORK/sbom/$1.tree"
  "$RELEASE_CACHE/cargo/bin/cargo-cyclonedx" cyclonedx -qq --manifest-path "$2/Cargo.toml" --format json --spec-version 1.5 \
    --target "$3" --override-filename "$CYCLONEDX_NAME"
  mv "$2/$CYCLONEDX_NAME.json" "$WORK/sbom/$1.json"
  find core server tests bindings-* -maxdepth 2 -name "$CYCLONEDX_NAME.json" -exec rm {} +
}

crate_sbom() { # CRATE FOLDER TARGET FILE
  crate_components "$1" "$2" "$3"
  node scripts/release/sbom.mjs "$PWD" "$WORK/sbom/$1.tree" "$WORK/sbom/$1.json" >"$4"
}

binary_sbom() { # ARCHITECTURE
  crate_sbom railgate-server server "$(target_of "$1")" "$OUT/railgate-$VERSION-linux-$1.cdx.json"
}

# What npm installs with a package, and the crates that its modules are made of.
npm_sbom() { # FOLDER FILE
  crate_components railgate-wasm bindings-wasm wasm32-unknown-unknown
  (cd "$1" && npm sbom --sbom-format cyclonedx --omit dev) >"$WORK/sbom/npm.json"
  node scripts/release/sbom.mjs "$PWD" "$WORK/sbom/railgate-wasm.tree" "$WORK/sbom/railgate-wasm.json" "$WORK/sbom/npm.json" >"$2"
}

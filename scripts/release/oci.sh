# shellcheck shell=sh
# Sourced by scripts/release.sh: a container image with the static binary and nothing else, as an archive of the OCI's layout. Nothing is
# taken from a registry, and nothing is left in the machine's own store of images.

# Of nobody on the machine that runs it.
OCI_USER=65532

has_buildah() { buildah --version; }

buildah_here() {
  as_root buildah --root "$WORK/buildah" --runroot "$WORK/buildah-run" --storage-driver vfs "$@"
}

build_oci() { # ARCHITECTURE
  need has_buildah "buildah" buildah buildah
  binary=$OUT/railgate-$VERSION-linux-$1
  [ -f "$binary" ] || build_binary "$1"
  image=$OUT/railgate-$VERSION-oci-$1.tar
  say "building the image for $1"
  forget_images
  oci_files "$binary" "$WORK/oci"
  container=$(buildah_here from --arch "$1" scratch)
  buildah_here copy --quiet --chown 0:0 "$container" "$WORK/oci/system" / >&2
  buildah_here copy --quiet --chown "$OCI_USER:$OCI_USER" "$container" "$WORK/oci/data" /data >&2
  # The data folder is the home as well: what the command line remembers stays with the books.
  buildah_here config --arch "$1" --user "$OCI_USER:$OCI_USER" --volume /data --workingdir /data --port 8080 \
    --entrypoint '["/usr/bin/railgate"]' --cmd serve --stop-signal SIGTERM \
    --env PATH=/usr/bin --env HOME=/data --env RAILGATE_DATA_DIR=/data \
    --label org.opencontainers.image.title=railgate --label "org.opencontainers.image.version=$VERSION" \
    --label 'org.opencontainers.image.licenses=Apache-2.0 OR MIT' --created-by "scripts/release.sh oci" "$container"
  buildah_here commit --quiet --format oci --disable-compression=false --identity-label=false --timestamp "$SOURCE_DATE_EPOCH" "$container" "oci:$WORK/oci/layout:railgate:$VERSION" >&2
  as_root chown -R "$(id -u):$(id -g)" "$WORK/oci/layout"
  # buildah can pack it too, but with the time of now.
  (cd "$WORK/oci/layout" && tar --sort=name --format=ustar --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX \
    --mtime="@$SOURCE_DATE_EPOCH" -cf "$image" oci-layout index.json blobs)
  forget_images
  cp "$binary.cdx.json" "$image.cdx.json"
  cp "$binary.third-party.txt" "$image.third-party.txt"
}

forget_images() {
  as_root rm -rf "$WORK/buildah" "$WORK/buildah-run" "$WORK/oci"
}

oci_files() { # BINARY FOLDER
  install -d -m 755 "$2" "$2/system" "$2/system/usr" "$2/system/usr/bin" "$2/system/usr/share" "$2/system/usr/share/doc" \
    "$2/system/usr/share/doc/railgate" "$2/system/etc" "$2/system/etc/ssl" "$2/system/etc/ssl/certs"
  install -d -m 700 "$2/data"
  install -d -m 1777 "$2/system/tmp"
  install -m 755 "$1" "$2/system/usr/bin/railgate"
  install -m 644 LICENSE LICENSE-APACHE LICENSE-MIT "$2/system/usr/share/doc/railgate"
  install -m 644 "$1.third-party.txt" "$2/system/usr/share/doc/railgate/third-party.txt"
  install -m 644 "$1.cdx.json" "$2/system/usr/share/doc/railgate/sbom.cdx.json"
  need_python
  # The list of the crate that Cargo.lock names: the same wherever the image is built, unlike the machine's.
  authorities=$(cargo metadata --locked --format-version 1 | python3 -c 'import json, sys
print(next(one["manifest_path"] for one in json.load(sys.stdin)["packages"] if one["name"] == "webpki-root-certs"))')
  python3 scripts/release/authorities.py <"$(dirname "$authorities")/src/lib.rs" >"$2/system/etc/ssl/certs/ca-certificates.crt"
  printf 'railgate:x:%s:%s::/data:\n' "$OCI_USER" "$OCI_USER" >"$2/system/etc/passwd"
  printf 'railgate:x:%s:\n' "$OCI_USER" >"$2/system/etc/group"
  chmod 644 "$2/system/etc/passwd" "$2/system/etc/group" "$2/system/etc/ssl/certs/ca-certificates.crt"
}

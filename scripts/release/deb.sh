# shellcheck shell=sh
# Sourced by scripts/release.sh: the Debian package of the static binary, with its unit for systemd.

has_dpkg_deb() { dpkg-deb --version; }

build_deb() { # ARCHITECTURE
  need has_dpkg_deb "dpkg-deb" dpkg dpkg
  binary=$OUT/railgate-$VERSION-linux-$1
  [ -f "$binary" ] || build_binary "$1"
  root=$WORK/deb-$1
  rm -rf "$root"
  install -d -m 755 "$root" "$root/DEBIAN" "$root/usr" "$root/usr/bin" "$root/usr/share" "$root/usr/share/doc" "$root/usr/share/doc/railgate" \
    "$root/usr/lib" "$root/usr/lib/systemd" "$root/usr/lib/systemd/system" "$root/etc"
  install -d -m 750 "$root/etc/railgate"
  install -m 755 "$binary" "$root/usr/bin/railgate"
  install -m 644 scripts/release/debian/railgate.service "$root/usr/lib/systemd/system"
  install -m 640 scripts/release/debian/railgate.toml "$root/etc/railgate"
  deb_documents "$root/usr/share/doc/railgate" "$binary"
  install -m 755 scripts/release/debian/postinst scripts/release/debian/prerm scripts/release/debian/postrm "$root/DEBIAN"
  echo /etc/railgate/railgate.toml >"$root/DEBIAN/conffiles"
  deb_control "$1" "$root" >"$root/DEBIAN/control"
  chmod 644 "$root/DEBIAN/conffiles" "$root/DEBIAN/control"
  # One thread: with more, what is compressed depends on how many there are. Times are not later than the commit, owners are root.
  find "$root" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
  dpkg-deb --root-owner-group -Zxz --threads-max=1 --build "$root" "$OUT/railgate_${VERSION}_$1.deb" >&2
  cp "$binary.cdx.json" "$OUT/railgate_${VERSION}_$1.deb.cdx.json"
  cp "$binary.third-party.txt" "$OUT/railgate_${VERSION}_$1.deb.third-party.txt"
}

deb_documents() { # FOLDER BINARY
  install -m 644 README.md LICENSE LICENSE-APACHE LICENSE-MIT "$1"
  # Of the project, and of all that the binary contains.
  cat LICENSE LICENSE-MIT "$2.third-party.txt" >"$1/copyright"
  chmod 644 "$1/copyright"
  install -m 644 "$2.cdx.json" "$1/sbom.cdx.json"
  gzip -9 -n <CHANGELOG.md >"$1/changelog.gz"
  chmod 644 "$1/changelog.gz"
}

deb_control() { # ARCHITECTURE ROOT
  cat <<CONTROL
Package: railgate
Version: $VERSION
Architecture: $1
Maintainer: The maintainers of railgate <maintainers@railgate.invalid>
Installed-Size: $((($(find "$2/usr" "$2/etc" -type f -exec cat {} + | wc -c) + 1023) / 1024))
Recommends: ca-certificates
Section: net
Priority: optional
Description: settlement gateway
 Validates, routes, traces, reverses and reconciles payments across payment
 rails, and hides the operators behind one interface. One static binary: the
 server and its command line.
CONTROL
}

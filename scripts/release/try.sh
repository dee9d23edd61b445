# shellcheck shell=sh
# Sourced by scripts/release.sh: what was made, where it has never been: the Debian package in a fresh Debian under a systemd of its own,
# the image by itself.

TRY_DEBIAN=bookworm

has_debootstrap() { PATH=$PATH:/usr/sbin debootstrap --version; }
has_nspawn() { systemd-nspawn --version; }

# Programs of arm64 run elsewhere too, emulated. The kernel holds the emulator open, so that it need not be in the system that is tried.
has_emulator() { [ -e /usr/lib/binfmt.d/qemu-aarch64.conf ]; }
need_emulator() { # ARCHITECTURE
  [ "$1" = arm64 ] && [ "$(uname -m)" != aarch64 ] || return 0
  need has_emulator "an emulator of arm64" qemu-user-static qemu
  handlers=/proc/sys/fs/binfmt_misc
  [ -e "$handlers/register" ] || as_root mount -t binfmt_misc binfmt_misc "$handlers"
  # shellcheck disable=SC2016 # The inner shell fills it in.
  [ -e "$handlers/qemu-aarch64" ] || as_root sh -c 'cat /usr/lib/binfmt.d/qemu-aarch64.conf >"$0/register"' "$handlers"
}

# A system with nothing but systemd, which is made once and copied.
need_fresh_debian() {
  need has_debootstrap "debootstrap" debootstrap debootstrap
  need has_nspawn "systemd-nspawn" systemd-container systemd
  fresh=$RELEASE_CACHE/$TRY_DEBIAN
  [ ! -f "$fresh/made" ] || return 0
  # The machine's own mirror, because it is reachable; debootstrap knows one if there is none.
  # shellcheck disable=SC2016 # apt-get fills it in.
  mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Component: main' "Release: $TRY_DEBIAN" | head -n 1)
  say "making a fresh Debian in $fresh (debootstrap)"
  as_root rm -rf "$fresh"
  as_root debootstrap --variant=minbase --include=systemd,systemd-sysv,dbus,ca-certificates,curl "$TRY_DEBIAN" \
    "$fresh" ${mirror:+"$mirror"} >"$WORK/debootstrap.log"
  as_root touch "$fresh/made"
}

# Boots a copy, which runs try-inside.sh and halts. It has no network but its own loopback.
try_deb() { # ARCHITECTURE
  package=$OUT/railgate_${VERSION}_$1.deb
  [ -f "$package" ] || build_deb "$1"
  need_emulator "$1"
  need_fresh_debian
  root=$WORK/debian
  as_root rm -rf "$root"
  as_root cp -a "$fresh" "$root"
  as_root cp "$package" "$root/root/railgate.deb"
  as_root install -m 755 scripts/release/debian/try-inside.sh "$root/root"
  as_root install -m 644 scripts/release/debian/try.service "$root/etc/systemd/system"
  as_root ln -s /etc/systemd/system/try.service "$root/etc/systemd/system/multi-user.target.wants/try.service"
  say "booting a fresh Debian, and installing $(basename "$package") in it"
  as_root systemd-nspawn --quiet --directory="$root" --private-network --register=no --keep-unit --console=pipe --boot >"$WORK/debian.log" 2>&1 </dev/null || true
  as_root cat "$root/root/said"
  as_root test -f "$root/root/passed" || give_up "the package does not do what it must; the boot is in $WORK/debian.log"
  as_root rm -rf "$root"
}

# Runs the image as it says how, and pays in it. Its network is a loopback of its own.
try_oci() { # ARCHITECTURE
  need_emulator "$1"
  need has_buildah "buildah" buildah buildah
  need has_ip "ip" iproute2 iproute2mac
  image=$OUT/railgate-$VERSION-oci-$1.tar
  [ -f "$image" ] || build_oci "$1"
  forget_images
  container=$(buildah_here from "oci-archive:$image")
  say "running $(basename "$image")"
  as_root unshare --net sh scripts/release/oci-inside.sh "$WORK" "$container" "$OCI_USER" || give_up "the image does not do what it must"
  forget_images
}

has_ip() { ip -V; }

# The interface of the crate against the one before (cargo semver-checks): a difference must show in the version.
try_crate() {
  before=${RAILGATE_BEFORE:-$(git describe --tags --abbrev=0 --match 'v[0-9]*' 2>/dev/null)} ||
    give_up "there is no release yet to compare with; RAILGATE_BEFORE=COMMIT names something else"
  need_cargo_tool cargo-semver-checks 0.51.0
  say "comparing the crate with $before (cargo semver-checks)"
  PATH=$RELEASE_CACHE/cargo/bin:$PATH cargo semver-checks --package railgate --all-features --baseline-rev "$before"
}

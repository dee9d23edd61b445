# shellcheck shell=sh
# Sourced after setup.sh by scripts that build Swift: `need_swift` (or `want_swift`, which continues without) makes Swift 5.9 or
# newer available, and `swift_run` runs a command with it. Standalone: sh scripts/swift.sh FOLDER[:FOLDER…] COMMAND…
#
# A Mac has its own Swift; elsewhere one from swift.org may be installed. Debian has Swift since version 13: on a Debian without
# it, the packages of version 13 are unpacked once, not installed, into a cache folder, and the command runs there (chroot) with
# access to the given folders. Only the command sees these mounts; they end with it, and so do all processes that it started.
#
# RAILGATE_SWIFT=path or =debian selects one; by default a Swift in PATH is preferred. ./check sets =none if there is none.

SWIFT_CACHE=${XDG_CACHE_HOME:-$HOME/.cache}/railgate/swift
SWIFT_DEBIAN=trixie
# Empty for the Swift in PATH.
SWIFT_ROOT=

has_swift_path() { swift --version 2>/dev/null | grep -Eq 'Swift version (5\.(9|[1-9][0-9])|[6-9]|[1-9][0-9])'; }

# Configures apt as if nothing were installed. After an interruption, earlier downloads are reused.
swift_apt_begin() { # MIRROR
  mkdir -p "$SWIFT_CACHE/apt"
  : >"$SWIFT_CACHE/apt/status"
  cat >"$SWIFT_CACHE/apt/mirror.sources" <<SOURCES
Types: deb
URIs: $1
Suites: $SWIFT_DEBIAN
Components: main
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg
SOURCES
  apt_beside_begin "$SWIFT_CACHE/apt" <<CONF
Dir::Etc::sourcelist "$SWIFT_CACHE/apt/mirror.sources";
Dir::Etc::sourceparts "/dev/null";
Dir::Etc::preferences "/dev/null";
Dir::Etc::preferencesparts "/dev/null";
Dir::State::status "$SWIFT_CACHE/apt/status";
Dir::State::extended_states "$SWIFT_CACHE/apt/extended";
Acquire::Languages "none";
CONF
}

# The machine's own mirror, because it is reachable.
swift_mirror() {
  codename=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
  # shellcheck disable=SC2016
  mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Component: main' "Release: $codename" | head -n 1)
  printf '%s\n' "${mirror:-http://deb.debian.org/debian/}"
}

# Unpacks a package without files for editors, debuggers and manuals, which are half of it.
swift_unpack() { # PACKAGE FOLDER
  dpkg-deb --fsys-tarfile "$1" | tar -x --keep-directory-symlink -C "$2" \
    --exclude './usr/share/doc' --exclude './usr/share/man' --exclude './usr/share/locale' --exclude './usr/share/info' \
    --exclude './usr/libexec/swift/bin/*lld*' --exclude './usr/libexec/swift/bin/wasm-ld' --exclude './usr/libexec/swift/bin/clangd' \
    --exclude './usr/libexec/swift/bin/docc' --exclude './usr/libexec/swift/bin/sourcekit-lsp' \
    --exclude './usr/libexec/swift/bin/swift-format' --exclude './usr/libexec/swift/bin/llvm-cov' \
    --exclude './usr/libexec/swift/lib/liblldb*' --exclude './usr/libexec/swift/lib/libsourcekitdInProc.so' \
    --exclude './usr/libexec/swift/lib/libLTO*' --exclude './usr/libexec/swift/lib/swift/embedded' \
    --exclude './usr/libexec/swift/lib/swift_static'
}

has_swift_debian() { [ -x "$SWIFT_CACHE/root/usr/bin/swift" ]; }

swift_make_root() {
  mirror=$(swift_mirror)
  say "unpacking Debian's Swift 6 into $SWIFT_CACHE/root, once (swiftlang of $SWIFT_DEBIAN; 550 MB from $mirror)"
  swift_apt_begin "$mirror"
  apt_beside "$SWIFT_CACHE/apt" apt-get update -qq >&2 || return 1
  apt_beside "$SWIFT_CACHE/apt" apt-get install -y -qq --no-install-recommends --download-only \
    swiftlang libc6-dev libstdc++-14-dev base-files dash coreutils >&2 || return 1
  rm -rf "$SWIFT_CACHE/root.new"
  mkdir "$SWIFT_CACHE/root.new" || return 1
  # base-files first: it has the links from /bin and /lib into /usr.
  for package in "$SWIFT_CACHE"/apt/archives/base-files_*.deb "$SWIFT_CACHE"/apt/archives/*.deb; do
    swift_unpack "$package" "$SWIFT_CACHE/root.new" || return 1
  done
  # The link that the package's own script would have made.
  ln -s ../libexec/swift/bin/swift "$SWIFT_CACHE/root.new/usr/bin/swift" || return 1
  mv "$SWIFT_CACHE/root.new" "$SWIFT_CACHE/root" || return 1
  rm -rf "$SWIFT_CACHE/apt"
}

need_swift_debian() {
  SWIFT_MISSING='there is no Swift 5.9 or newer in PATH, and this is not Debian'
  command -v apt-get >/dev/null 2>&1 && grep -qx 'ID=debian' /etc/os-release || return 1
  mkdir -p "$SWIFT_CACHE"
  SWIFT_MISSING='the packages of Debian 13 could not be fetched and unpacked'
  # A concurrent run waits here and then finds it made.
  (
    flock 9
    has_swift_debian || swift_make_root
  ) 9>"$SWIFT_CACHE/lock" || return 1
  SWIFT_MISSING='mounting is not permitted here (unshare --mount, for an ordinary user with --map-root-user)'
  SWIFT_ROOT=$SWIFT_CACHE/root
  swift_run "$SWIFT_CACHE" swift --version >/dev/null
}

# Sets SWIFT_MISSING to the reason if there is none.
find_swift() {
  SWIFT_MISSING='there is no Swift 5.9 or newer in PATH'
  case ${RAILGATE_SWIFT:-} in
    path) has_swift_path ;;
    debian) need_swift_debian ;;
    none)
      SWIFT_MISSING='it is disabled (RAILGATE_SWIFT=none)'
      return 1
      ;;
    *) has_swift_path || need_swift_debian ;;
  esac
}

need_swift() {
  find_swift && return 0
  printf 'error: no Swift: %s; install it from https://swift.org/install\n' "$SWIFT_MISSING" >&2
  exit 1
}

# For ./check: not every machine can have Swift, which is reported, not ignored.
want_swift() {
  find_swift && return 0
  RAILGATE_SWIFT=none
  export RAILGATE_SWIFT
  warn "the tests of Swift will be SKIPPED: $SWIFT_MISSING; install it from https://swift.org/install"
}

# The first process of a new namespace: mounts what the command needs, then executes it.
# shellcheck disable=SC2016
SWIFT_INSIDE='
root=$1 folders=$2
shift 2
mount -t proc proc "$root/proc" && mount --rbind /dev "$root/dev" && mount -t tmpfs tmpfs "$root/tmp" || exit 125
here=${folders%%:*}
IFS=:
for folder in $folders; do
  mkdir -p "$root$folder" && mount --bind "$folder" "$root$folder" || exit 125
done
unset IFS
set -- sh -c "cd \"\$1\" && shift && exec \"\$@\"" sh "$here" "$@"
for name in $(env | sed -n "s/^\(RAILGATE_[A-Z_]*\)=.*/\1/p"); do
  eval "set -- \"$name=\$$name\" \"\$@\""
done
exec chroot "$root" env -i PATH=/usr/bin:/usr/libexec/swift/bin HOME=/root LANG=C.UTF-8 "$@"
'

# Runs a command in the first of the folders, which have the same paths as outside, with the environment variables that begin
# with RAILGATE_. It shares the host's network.
swift_run() { # FOLDER[:FOLDER…] COMMAND…
  if [ -z "$SWIFT_ROOT" ]; then
    (cd -- "${1%%:*}" && shift && exec "$@")
    return
  fi
  [ "$(id -u)" = 0 ] && as_user='' || as_user=--map-root-user
  # shellcheck disable=SC2086
  unshare $as_user --mount --propagation private --pid --fork --kill-child sh -c "$SWIFT_INSIDE" sh "$SWIFT_ROOT" "$@"
}

case ${0##*/} in
  swift.sh)
    set -eu
    # shellcheck source=scripts/setup.sh
    . "$(dirname -- "$0")/setup.sh"
    need_swift
    swift_run "$@"
    ;;
esac

# shellcheck shell=sh
# Sourced by ./railgate and ./check: installs their dependencies and reports what it does.
# Needs Rust (https://rustup.rs); installs everything else with the platform's package manager.

say() { printf '\033[2m· %s\033[0m\n' "$*" >&2; }

# A message that must not be overlooked.
warn() { printf '\033[1;33m! %s\033[0m\n' "$*" >&2; }

as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"; elif command -v sudo >/dev/null 2>&1; then sudo "$@"; else
    printf 'error: need root to run: %s\n' "$*" >&2
    exit 1
  fi
}

need_cargo() {
  command -v cargo >/dev/null 2>&1 && return 0
  # rustup's default folder, for shells that have not read its profile yet.
  if [ -x "${CARGO_HOME:-$HOME/.cargo}/bin/cargo" ]; then
    PATH="${CARGO_HOME:-$HOME/.cargo}/bin:$PATH"
    export PATH
    return 0
  fi
  printf 'error: Rust is not installed; get it from https://rustup.rs and run this again\n' >&2
  exit 1
}

install_packages() { # WHAT DEBIAN_PACKAGES BREW_PACKAGES: the packages are lists of words
  # shellcheck disable=SC2086
  if command -v apt-get >/dev/null 2>&1; then
    say "installing $1 (apt-get install $2)"
    as_root apt-get update -qq >&2
    # dpkg's messages about each package are useless; errors go to standard error.
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $2 >/dev/null
  elif command -v brew >/dev/null 2>&1; then
    say "installing $1 (brew install $3)"
    brew install --quiet $3 >&2
  else
    printf 'error: no %s found; install it and run this again\n' "$1" >&2
    exit 1
  fi
}

# An apt separate from the machine's own: it downloads to FOLDER, installs nothing, needs no root, and no other run of apt
# empties FOLDER meanwhile. `apt_beside_begin` reads further lines of configuration from standard input.
apt_beside_begin() { # FOLDER
  mkdir -p "$1/archives/partial" "$1/lists/partial"
  cat >"$1/apt.conf" <<CONF
Dir::Etc::main "$1/late.conf";
Dir::State::lists "$1/lists";
Dir::Cache::archives "$1/archives";
Dir::Cache::pkgcache "";
Dir::Cache::srcpkgcache "";
APT::Sandbox::User "$(id -un)";
Debug::NoLocking "true";
Acquire::Retries "3";
Acquire::http::Timeout "30";
CONF
  cat >>"$1/apt.conf"
  # Container images empty the archives after each update.
  printf '#clear %s;\n' APT::Update::Post-Invoke APT::Update::Post-Invoke-Success DPkg::Post-Invoke >"$1/late.conf"
}

apt_beside() { # FOLDER COMMAND…
  (export APT_CONFIG="$1/apt.conf" && shift && exec "$@")
}

# Runs CHECK before and after the installation to see whether the tool works.
need() { # CHECK WHAT DEBIAN_PACKAGES BREW_PACKAGES
  "$1" >/dev/null 2>&1 && return 0
  install_packages "$2" "$3" "$4"
  "$1" >/dev/null 2>&1 && return 0
  printf 'error: %s was installed and is still not found; is an older one before it in PATH?\n' "$2" >&2
  exit 1
}

# SQLite is compiled in, so a C compiler and a linker must be here.
has_cc() { command -v cc; }
need_cc() {
  if [ "$(uname -s)" = Darwin ] && ! has_cc >/dev/null 2>&1; then
    say "installing the command line developer tools (a window may ask for confirmation)"
    xcode-select --install || true
    printf 'error: run this again when the developer tools are installed\n' >&2
    exit 1
  fi
  need has_cc "a C compiler" "gcc libc6-dev" gcc
}

# Dependencies of the tests: clients in JavaScript, Python, Go, shell and on the JVM, a browser with its driver, and a database
# server. Only ./check calls these.

# The bundlers in the npm package's tests need 20.19; the package itself needs any 20.
has_node() { node -e 'const [a, b] = process.versions.node.split(".").map(Number); process.exit(a > 20 || (a === 20 && b >= 19) ? 0 : 1)' && npm --version; }
has_chromium() { "${CHROMIUM:-chromium}" --version; }
has_python() { python3 -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 10))'; }
has_go() { go version | grep -Eq ' go1\.(19|[2-9][0-9])'; }
has_openssl() { openssl version; }
has_curl() { curl --version; }
# Checks the Java that Maven runs on.
has_jvm() { javac -version && mvn -v | grep -Eq '^Java version: (1[7-9]|[2-9][0-9])'; }
# Debian keeps the server's programs outside PATH, in a folder for each version.
has_postgres() {
  for found in /usr/lib/postgresql/*/bin/initdb "$(pg_config --bindir)/initdb"; do
    [ -x "$found" ] && "$found" --version | grep -Eq ' (1[4-9]|[2-9][0-9])(\.|$|[^0-9])' && return 0
  done
  return 1
}

need_node() {
  has_node >/dev/null 2>&1 && return 0
  npm --version >/dev/null 2>&1 || install_packages "Node with npm" "nodejs npm" node
  has_node >/dev/null 2>&1 && return 0
  # The distribution's Node may be too old. npm offers newer ones as packages.
  case $(uname -m) in aarch64 | arm64) arch=arm64 ;; *) arch=x64 ;; esac
  node_package=node-$(uname -s | tr '[:upper:]' '[:lower:]')-$arch
  node_folder=${XDG_CACHE_HOME:-$HOME/.cache}/railgate/node
  if [ ! -x "$node_folder/node_modules/$node_package/bin/node" ]; then
    say "installing Node 22 into $node_folder (npm install $node_package)"
    npm install --silent --prefix "$node_folder" --no-audit --no-fund "$node_package@22" >&2
  fi
  PATH=$node_folder/node_modules/$node_package/bin:$PATH
  export PATH
  need has_node "Node 20.19 or newer with npm" "nodejs npm" node
}
has_cxx() { c++ --version; }
need_cxx() { need has_cxx "a C++ compiler" g++ gcc; }
need_chromium() { need has_chromium "Chromium" chromium chromium; }
has_chromedriver() { "${CHROMEDRIVER:-chromedriver}" --version; }
need_chromedriver() { need has_chromedriver "ChromeDriver" chromium-driver chromedriver; }
need_python() { need has_python "Python 3.10 or newer with venv" "python3 python3-venv" python3; }
need_go() { need has_go "Go 1.19 or newer" golang-go go; }
need_openssl() { need has_openssl "openssl" openssl openssl; }
need_curl() { need has_curl "curl" "curl ca-certificates" curl; }
need_postgres() { need has_postgres "PostgreSQL 14 or newer" postgresql postgresql; }
has_pgbouncer() { PATH=$PATH:/usr/sbin pgbouncer --version; }
need_pgbouncer() { need has_pgbouncer "PgBouncer" pgbouncer pgbouncer; }
has_nginx() { PATH=$PATH:/usr/sbin nginx -v; }
need_nginx() { need has_nginx "nginx" nginx-light nginx; }
has_promtool() { promtool --version; }
need_promtool() { need_unpacked has_promtool promtool prometheus prometheus; }
has_faketime() { ls /usr/lib/*/faketime/libfaketime.so.1; }
# A clock for one process. Without Debian's package its test is skipped.
want_faketime() { ! command -v apt-get >/dev/null 2>&1 || need has_faketime "libfaketime" libfaketime libfaketime; }
has_etcd() { etcd --version; }
has_haproxy() { PATH=$PATH:/usr/sbin haproxy -v; }
has_patroni() { patroni --version; }
# Patroni with etcd and HAProxy. Without Debian's packages their tests are skipped.
want_patroni() {
  if has_patroni >/dev/null 2>&1 || command -v apt-get >/dev/null 2>&1; then
    need has_patroni "Patroni" "patroni python3-psycopg2 python3-etcd" patroni
    need has_haproxy "HAProxy" haproxy haproxy
    need_unpacked has_etcd etcd etcd-server etcd
  else
    RAILGATE_PATRONI=none && export RAILGATE_PATRONI
  fi
}
# Takes a program out of its package: installed, that would start a server.
need_unpacked() { # CHECK PROGRAM DEBIAN_PACKAGE BREW_PACKAGE
  "$1" >/dev/null 2>&1 && return 0
  command -v apt-get >/dev/null 2>&1 || { need "$1" "$2" "$3" "$4" && return 0; }
  unpacked=${XDG_CACHE_HOME:-$HOME/.cache}/railgate/$2
  if [ ! -x "$unpacked/usr/bin/$2" ]; then
    say "getting $2 into $unpacked (apt-get download $3)"
    as_root apt-get update -qq >&2
    mkdir -p "$unpacked"
    (cd "$unpacked" && apt-get download -qq "$3" >&2 && dpkg-deb -x "$3"_*.deb . && rm "$3"_*.deb)
  fi
  PATH=$unpacked/usr/bin:$PATH
  export PATH
  need "$1" "$2" "$3" "$4"
}
need_jvm() { need has_jvm "a JDK 17 or newer with Maven" "openjdk-17-jdk-headless maven" "openjdk@17 maven"; }

need_cargo
need_cc

#!/bin/sh
# Builds the browser sites /console and /docs into server/web/dist, which the build of the server embeds: scripts/web.sh
# Does nothing if they are newer than what they are made of. The modules of the npm package are only built if they are missing:
# bindings-wasm/build.sh keeps them up to date.
set -eu
cd -- "$(dirname -- "$0")/.."
. scripts/setup.sh

web=server/web
npm=bindings-wasm/npm
stamp=$web/build/built

# Whether FILE is newer than everything else that is named.
is_newer() { # FILE PATH…
  newer_file=$1 && shift
  [ -f "$newer_file" ] && [ -z "$(find "$@" -newer "$newer_file" | head -n 1)" ]
}

# Whether every module of the npm package was built, also one that is new.
has_modules() {
  node --input-type=module -e "import { existsSync } from 'node:fs'; import { modules } from './$npm/scripts/modules.mjs';
    process.exit(modules.every((name) => existsSync('$npm/wasm/' + name + '.js')) ? 0 : 1);"
}

# Installs what a lock file lists, unless it is there.
installed() { # FOLDER
  is_newer "$1/node_modules/.package-lock.json" "$1/package-lock.json" && return 0
  say "installing what $1 is built with (npm ci)"
  npm ci --prefix "$1" --silent --ignore-scripts --no-audit --no-fund --prefer-offline --fetch-retries=5 >&2
}

need_node
# What the pages of the documentation are made of.
pages='docs README.md CHANGELOG.md BENCHMARKS.md bindings-wasm/npm/README.md bindings-uniffi/README.md bindings-uniffi/kotlin/README.md
  bindings-uniffi/swift/README.md bindings-uniffi/python/README.md core/src/error.rs server/tests/http/snapshots'
sources="$web/src $web/console $web/docs $web/scripts $web/vite.config.js $web/package-lock.json $npm/src $pages"
# shellcheck disable=SC2086 # One word per path.
is_newer "$stamp" $sources && exit 0
has_modules || sh bindings-wasm/build.sh >&2
installed "$npm"
if ! is_newer "$npm/dist/client.js" "$npm/src" "$npm/wasm"; then
  say "building the npm package"
  npm run --prefix "$npm" --silent compile >&2
fi
installed "$web"
say "building the browser sites"
npm run --prefix "$web" --silent check >&2
npm run --prefix "$web" --silent build >&2
: >"$stamp"

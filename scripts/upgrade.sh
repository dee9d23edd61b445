#!/bin/sh
# Tests the upgrade from an earlier build: builds COMMIT, then replaces two of its nodes by this build under load.
#
#   scripts/upgrade.sh [COMMIT]
#
# Without COMMIT: the last release (a tag v…), or, as long as there is none, the commit that tests/upgrade-from names.
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
. "$here/scripts/setup.sh"
need_postgres
cd -- "$here"
commit=${1:-$(git describe --tags --abbrev=0 --match 'v[0-9]*' 2>/dev/null || grep -v '^#' tests/upgrade-from)}
commit=$(git rev-parse --verify --quiet "$commit^{commit}") || {
  printf 'error: there is no commit %s; a shallow clone needs: git fetch --unshallow --tags\n' "${1:-of before}" >&2
  exit 1
}
before=$PWD/target/upgrade/railgate-$commit
if [ ! -x "$before" ]; then
  source=$PWD/target/upgrade/source
  say "building $(git log -1 --format='%h, %s' "$commit"); the first time takes several minutes"
  git worktree remove --force "$source" 2>/dev/null || rm -rf "$source"
  git worktree prune
  git worktree add --quiet --force --detach "$source" "$commit"
  (cd "$source" && CARGO_TARGET_DIR=$here/target/upgrade cargo build --quiet --locked -p railgate-server --bin railgate)
  cp target/upgrade/debug/railgate "$before.new"
  mv "$before.new" "$before"
  git worktree remove --force "$source"
fi
say "upgrading from $(git log -1 --format='%h of %cs' "$commit")"
RAILGATE_BEFORE=$before cargo test --quiet --locked --workspace --test upgrade -- --ignored --nocapture

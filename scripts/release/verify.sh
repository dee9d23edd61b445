# shellcheck shell=sh
# Sourced by scripts/release.sh: whether two builds in two folders give the same bytes.

# Builds the commit here and in a fresh copy of it elsewhere, and says which files differ, and in what.
verify() { # PART…
  [ -z "$(git status --porcelain)" ] || give_up "there are changes that are not committed; the two builds are of a commit"
  copy=$(mktemp -d "${TMPDIR:-/tmp}/railgate-verify-XXXXXX")
  # shellcheck disable=SC2064 # The folder of now.
  trap "git worktree remove --force '$copy/elsewhere' 2>/dev/null; rm -rf '$copy'" EXIT
  git worktree add --quiet --detach "$copy/elsewhere" HEAD
  sh scripts/release.sh "$@"
  (unset CARGO_TARGET_DIR && RAILGATE_RELEASE_DIR=$copy/there sh "$copy/elsewhere/scripts/release.sh" "$@")
  compared "$OUT" "$copy/there"
}

compared() { # FOLDER FOLDER
  differ=0 same=0
  for file in "$2"/*; do
    name=$(basename "$file")
    [ "$name" != SHA256SUMS ] || continue
    if cmp -s "$1/$name" "$file"; then
      same=$((same + 1))
    else
      differ=$((differ + 1))
      warn "$name differs: $(cmp -l "$1/$name" "$file" 2>/dev/null | wc -l) bytes of $(wc -c <"$file"), the first: $(cmp "$1/$name" "$file" 2>&1)"
    fi
  done
  [ "$same" -gt 0 ] || [ "$differ" -gt 0 ] || give_up "nothing was built"
  say "of $((same + differ)) files, $same have the same bytes"
  [ "$differ" = 0 ]
}

# shellcheck shell=sh
# Sourced by scripts/release.sh: the checksums of all files, and who says that they are right.
# OpenSSH signs, because whoever checks has it already, and because the key may be in an agent or on a token.

# Both are part of what is signed: a signature for something else does not count here.
SIGNER=release@railgate
SIGNED_AS=railgate-release

has_ssh_keygen() { command -v ssh-keygen; }

# Lists the checksums, and signs the list if RAILGATE_SIGNING_KEY names a private key, or the public one of a key in the agent.
sign_release() {
  rm -f "$OUT/SHA256SUMS" "$OUT/SHA256SUMS.sig"
  (cd "$OUT" && sha256sum -- *) >"$WORK/sums"
  mv "$WORK/sums" "$OUT/SHA256SUMS"
  if [ -z "${RAILGATE_SIGNING_KEY:-}" ]; then
    warn "SHA256SUMS is not signed: RAILGATE_SIGNING_KEY names no key"
    return 0
  fi
  need has_ssh_keygen "ssh-keygen" openssh-client openssh
  ssh-keygen -Y sign -f "$RAILGATE_SIGNING_KEY" -n "$SIGNED_AS" "$OUT/SHA256SUMS" >&2
}

# The line that whoever checks must have from elsewhere than the release: which key may sign one.
print_signer() {
  key=${RAILGATE_SIGNING_KEY:?names no key}
  case $key in
    *.pub) public=$(cat "$key") ;;
    *) public=$(ssh-keygen -y -f "$key") ;;
  esac
  printf '%s namespaces="%s" %s\n' "$SIGNER" "$SIGNED_AS" "$(printf '%s\n' "$public" | cut -d ' ' -f 1,2)"
}

# Runs what docs/operations/install.md tells people to run, on a small release that a key of now has signed: it must accept that, and
# nothing that was changed.
try_signature() {
  need has_ssh_keygen "ssh-keygen" openssh-client openssh
  tried=$(mktemp -d "${TMPDIR:-/tmp}/railgate-signed-XXXXXX")
  # shellcheck disable=SC2064 # The folder of now.
  trap "rm -rf '$tried'" EXIT
  ssh-keygen -q -t ed25519 -N '' -f "$tried/key"
  ssh-keygen -q -t ed25519 -N '' -f "$tried/stranger"
  awk '/^## Verify/ { here = 1 } here && /^```$/ { exit } printing { print } here && /^```sh$/ { printing = 1 }' \
    docs/operations/install.md >"$tried/printed"
  grep -q 'ssh-keygen -Y verify' "$tried/printed" || give_up "docs/operations/install.md does not say how to verify"
  RAILGATE_SIGNING_KEY=$tried/key sh scripts/release.sh signer >"$tried/signers"

  accepted "as it was signed" true
  refused "a file was changed" 'echo more >>binary'
  refused "a file and its checksum were changed" 'echo more >>binary && sha256sum binary other >SHA256SUMS'
  refused "somebody else signed" "ssh-keygen -q -Y sign -f '$tried/stranger' -n $SIGNED_AS <SHA256SUMS >SHA256SUMS.sig"
  refused "it was signed as something else" "ssh-keygen -q -Y sign -f '$tried/key' -n file <SHA256SUMS >SHA256SUMS.sig"
  refused "there is no signature" 'rm SHA256SUMS.sig'
  say "the printed commands accept what was signed, and nothing else"
}

# Whether the printed commands succeed in a release to which CHANGE was done. What they say is in `$tried/said`.
verified_after() { # CHANGE
  rm -rf "$tried/release"
  mkdir "$tried/release"
  echo one >"$tried/release/binary"
  echo another >"$tried/release/other"
  RAILGATE_SIGNING_KEY=$tried/key RAILGATE_RELEASE_DIR=$tried/release sh scripts/release.sh sign 2>"$tried/said" >&2
  cp "$tried/signers" "$tried/release/railgate-signers"
  (cd "$tried/release" && sh -euc "$1" && sh "$tried/printed") >"$tried/said" 2>&1
}

accepted() { # WHAT CHANGE
  verified_after "$2" || give_up "refused, although $1: $(cat "$tried/said")"
}

refused() { # WHAT CHANGE
  ! verified_after "$2" || give_up "accepted, although $1: $(cat "$tried/said")"
  say "refused, because $1: $(tail -n 1 "$tried/said")"
}

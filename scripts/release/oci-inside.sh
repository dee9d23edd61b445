#!/bin/sh
# Runs in a network of its own: starts the image as it says how, pays, crashes, starts it again: oci-inside.sh WORK CONTAINER USER
set -eu
work=$1 container=$2 user=$3
buildah_there() { buildah --root "$work/buildah" --runroot "$work/buildah-run" --storage-driver vfs "$@"; }
# chroot is enough to see whether it needs anything but itself, and works where containers cannot be nested.
inside() { buildah_there run --isolation chroot "$container" -- "$@"; }
said() { printf '· %s\n' "$*"; }
# As docs/operations/install.md says.
health() { inside /usr/bin/railgate curl GET /readyz --server http://127.0.0.1:9090 --profile none; }
# As buildah has read it from the image.
entrypoint=$(buildah_there inspect --format '{{range .OCIv1.Config.Entrypoint}}{{.}} {{end}}{{range .OCIv1.Config.Cmd}}{{.}}{{end}}' "$container")

start() {
  # shellcheck disable=SC2086 # One word per argument.
  inside $entrypoint >"$work/oci.log" 2>&1 &
  runs=$!
  for _ in $(seq 100); do
    health 2>/dev/null && echo && break
    kill -0 "$runs"
    sleep 0.1
  done
  # An emulator has its own name before that.
  main=$(pgrep --ns $$ --nslist net --full "^(/[^ ]*qemu[^ ]* [^ ]* )?$entrypoint")
}

main=
trap '[ $? = 0 ] || cat "$work/oci.log"; [ -z "$main" ] || kill -KILL "$main"' EXIT
ip link set lo up
said "starting: $entrypoint"
! health 2>/dev/null || { said "it is ready before it was started" && exit 1; }
start
said "it runs as the user $(stat --format %u "/proc/$main"), with $(grep ^CapEff: "/proc/$main/status" | tr -s '\t' ' ')"
[ "$(stat --format %u "/proc/$main")" = "$user" ]

said "paying"
inside /usr/bin/railgate enroll --name Tour
inside /usr/bin/railgate settle 25 EUR sim:ok --reference inv-1 --wait 10

said "killing it"
kill -KILL "$main"
wait "$runs" || true
start
inside /usr/bin/railgate status inv-1
inside /usr/bin/railgate ledger verify
kill -TERM "$main"
wait "$runs"
main=
said "it ended when it was asked to"

#!/bin/sh
# Runs in the fresh Debian that scripts/release/try.sh boots: installs the package, pays, crashes, removes it.
set -eu
store=sqlite:/var/lib/railgate/railgate.db
said() { printf '· %s\n' "$*"; }
ready() {
  for _ in $(seq 100); do
    curl --silent --fail http://127.0.0.1:8080/readyz && echo && return 0
    sleep 0.1
  done
  journalctl --unit railgate --no-pager
  return 1
}

arch=$(dpkg-deb --field /root/railgate.deb Architecture)
if [ "$arch" != "$(dpkg --print-architecture)" ]; then
  # Its programs run in an emulator, which executes what it has written. All else of the unit holds for the emulator too.
  dpkg --add-architecture "$arch"
  mkdir -p /etc/systemd/system/railgate.service.d
  printf '[Service]\nMemoryDenyWriteExecute=no\n' >/etc/systemd/system/railgate.service.d/emulated.conf
fi

said "installing"
dpkg --install /root/railgate.deb
if systemctl is-active --quiet railgate; then said "it runs before anybody started it" && exit 1; fi
dpkg --verify railgate
[ "$(stat --format '%a %U' /etc/railgate/railgate.toml)" = '640 root' ]

said "starting"
systemctl enable --now --quiet railgate
ready
main=$(systemctl show --property MainPID --value railgate)
said "it runs as the user $(stat --format %u "/proc/$main"), with: $(grep -E '^(CapEff|NoNewPrivs|Seccomp):' "/proc/$main/status" | tr -s '\t\n' ' ')"
[ "$(stat --format %u "/proc/$main")" != 0 ]

said "paying"
railgate enroll --name Tour
railgate settle 25 EUR sim:ok --reference inv-1 --wait 10

said "killing it"
kill -KILL "$main"
sleep 2
ready
railgate status inv-1
railgate ledger verify --store "$store"
systemctl show --property NRestarts railgate

said "upgrading, to the same version"
dpkg --install /root/railgate.deb
ready

said "removing and purging it"
dpkg --remove railgate
if systemctl is-active --quiet railgate; then said "it still runs" && exit 1; fi
dpkg --purge railgate
[ ! -e /usr/bin/railgate ] && [ ! -e /etc/railgate/railgate.toml ]
[ -s /var/lib/private/railgate/railgate.db ] || [ -s /var/lib/railgate/railgate.db ]
said "the books are still there"
: >/root/passed

#!/bin/sh
# Runs in the fresh Debian that scripts/release/try.sh boots: installs the package, pays, crashes, does as root what
# docs/operations/install.md, key-compromise.md and backup.md say, removes it.
set -eu
export RAILGATE_CONFIG=/etc/railgate/railgate.toml
said() { printf '· %s\n' "$*"; }
ready() { # [ORIGIN]
  for _ in $(seq 100); do
    curl --silent --fail --insecure "${1:-http://127.0.0.1:8080}/readyz" && echo && return 0
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
railgate ledger verify
systemctl show --property NRestarts railgate

said "rotating the master key as root"
railgate keys rotate master
railgate keys list
systemctl restart railgate
ready

said "restoring a backup as root"
railgate backup --to /root/copy.db
systemctl stop railgate
(cd /var/lib/railgate && mkdir lost && mv railgate.db* lost && cp /root/copy.db railgate.db && cp lost/railgate.db.keys . &&
  chown --reference=. railgate.db railgate.db.keys)
railgate ledger verify
railgate log new-epoch
systemctl start railgate
ready
railgate status inv-1

said "serving with TLS"
cp "$RAILGATE_CONFIG" /root/without-tls.toml
openssl req -x509 -newkey rsa:2048 -nodes -subj /CN=localhost -days 1 -keyout /etc/railgate/privkey.pem -out /etc/railgate/fullchain.pem 2>/dev/null
mkdir -p /etc/systemd/system/railgate.service.d
printf '[Service]\nLoadCredential=cert.pem:/etc/railgate/fullchain.pem\nLoadCredential=key.pem:/etc/railgate/privkey.pem\n' \
  >/etc/systemd/system/railgate.service.d/tls.conf
sed -i 's/^# \(listen\|tls-cert\|tls-key\|public-url\) = /\1 = /' "$RAILGATE_CONFIG"
railgate config check | grep -E '^(data-dir|store|listen|public-url|tls-cert|tls-key) '
systemctl daemon-reload
systemctl restart railgate
ready https://127.0.0.1:8443
railgate ledger verify
cp /root/without-tls.toml "$RAILGATE_CONFIG"
rm -r /etc/systemd/system/railgate.service.d/tls.conf /etc/railgate/privkey.pem /etc/railgate/fullchain.pem
systemctl daemon-reload
systemctl restart railgate
ready

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

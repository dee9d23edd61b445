#!/bin/sh
# Signs and verifies a webhook with only openssl:
#
#   sh webhook.sh sign SECRET ID TIMESTAMP BODY_FILE
#   sh webhook.sh verify SECRET ID TIMESTAMP BODY_FILE SIGNATURES
#
# `sign` prints the signature; `verify` exits with 0 if the webhook is genuine and was sent within five minutes, otherwise
# with 1. Only for manual tests: the key is in openssl's command line, where other users of the machine can see it.
set -eu

action=$1 secret=$2 id=$3 timestamp=$4 body=$5

# --- The signature ---------------------------------------------------------------------------------------------------

key=$(printf '%s' "${secret#whsec_}" | openssl base64 -d -A | od -An -v -tx1 | tr -d ' \n')
expected=v1,$({ printf '%s.%s.' "$id" "$timestamp"; cat "$body"; } |
  openssl dgst -sha256 -mac HMAC -macopt "hexkey:$key" -binary | openssl base64 -A)

# --- The command -----------------------------------------------------------------------------------------------------

if [ "$action" = sign ]; then
  printf '%s\n' "$expected"
  exit
fi
away=$(($(date +%s) - timestamp))
[ "$away" -le 300 ] && [ "$away" -ge -300 ] || exit 1
case " $6 " in
  *" $expected "*) ;;
  *) exit 1 ;;
esac

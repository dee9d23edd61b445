#!/bin/sh
# A webhook signed and verified with nothing but openssl:
#
#   sh webhook.sh sign SECRET ID TIMESTAMP BODY_FILE
#   sh webhook.sh verify SECRET ID TIMESTAMP BODY_FILE SIGNATURES
#
# `sign` prints the signature; `verify` ends with 0 if the webhook is genuine and was sent within five minutes, with 1 if
# not. For trying things by hand: the key stands in openssl's command line, where other users of the machine see it.
set -eu

action=$1 secret=$2 id=$3 timestamp=$4 body=$5

# --- What a signature is ---------------------------------------------------------------------------------------------

key=$(printf '%s' "${secret#whsec_}" | openssl base64 -d -A | od -An -v -tx1 | tr -d ' \n')
expected=v1,$({ printf '%s.%s.' "$id" "$timestamp"; cat "$body"; } |
  openssl dgst -sha256 -mac HMAC -macopt "hexkey:$key" -binary | openssl base64 -A)

# --- What is asked for -----------------------------------------------------------------------------------------------

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

#!/bin/sh
# A railgate client that needs only a POSIX shell, openssl and curl:  ./client.sh https://gateway.example
#
# It makes a key, enrols it in the sandbox, gets a token, settles 12.50 EUR and waits for the outcome. Each step is
# printed as one line of JSON. The private key never leaves this machine.
set -eu

# The public base URL of the gateway: signatures cover the full URL of each call.
api=${1:?usage: client.sh BASE_URL}/api/v1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

base64() { openssl base64 -A; }
base64url() { openssl base64 -A | tr '+/' '-_' | tr -d '='; }
sha256() { openssl dgst -sha256 -binary; }

# The string member NAME of the last response. (With jq: jq -r .NAME.)
field() { grep -o "\"$1\" *: *\"[^\"]*\"" "$work/answer" | head -n 1 | cut -d '"' -f 4; }

step() { # NAME EXPECTED_STATUS: says what the last call gave, and stops when that is something else
  printf '{"step": "%s", "status": %s}\n' "$1" "$status"
  [ "$status" = "$2" ] || { printf '%s: expected %s, got %s: ' "$1" "$2" "$status"; cat "$work/answer"; exit 1; } >&2
}

# --- The key -----------------------------------------------------------------------------------------------------

# Makes a P-256 key and sets `jwk`, its public key, and `key_id`, its RFC 7638 thumbprint.
new_key() {
  openssl ecparam -name prime256v1 -genkey -noout -out "$work/key.pem"
  # The public point is the last 64 bytes of the DER form: x and y, 32 bytes each.
  openssl ec -in "$work/key.pem" -pubout -outform DER 2>/dev/null | tail -c 64 >"$work/point"
  x=$(head -c 32 "$work/point" | base64url)
  y=$(tail -c 32 "$work/point" | base64url)
  # The members in this order and without spaces: the thumbprint is computed from exactly this text.
  jwk='{"crv":"P-256","kty":"EC","x":"'$x'","y":"'$y'"}'
  key_id=$(printf %s "$jwk" | sha256 | base64url)
}

# Turns the DER of an ECDSA signature into the 64 bytes r‖s: each number as 64 hexadecimal digits, then as bytes.
r_and_s() {
  openssl asn1parse -inform DER | sed -n 's/.*INTEGER *://p' |
    while read -r number; do printf '%64s\n' "$number" | tr ' ' 0; done |
    fold -w 2 | while read -r byte; do printf "\\$(printf %03o "0x$byte")"; done
}

# --- A signed call -----------------------------------------------------------------------------------------------

cover() { # NAME VALUE: puts one component under the signature
  components="$components${components:+ }\"$1\""
  base="$base\"$1\": $2
"
}

seal() { # PARAMETERS: signs what is covered, with the key or in the session; sets `signature_input` and `signature`
  signature_input="sig1=$1"
  signature="sig1=:$(printf '%s"@signature-params": %s' "$base" "$1" | made | base64):"
}

made() {
  if [ -n "$session_key" ]; then
    openssl dgst -sha256 -mac HMAC -macopt "hexkey:$session_key" -binary
  else
    openssl dgst -sha256 -sign "$work/key.pem" | r_and_s
  fi
}

parameters() { # A nonce is the server's challenge and a suffix of ours; each is good for one call.
  calls=$((calls + 1))
  by="keyid=\"$key_id\";alg=\"ecdsa-p256-sha256\""
  [ -z "$session_key" ] || by="keyid=\"$session_id\";alg=\"hmac-sha256\""
  parameters="($components);created=$(date +%s);$by"
  parameters="$parameters;nonce=\"$challenge.$calls\";tag=\"railgate\""
}

sign() { # METHOD URL [BODY]: signs a call, without sending it; sets `digest` when there is a body
  components='' base=''
  cover @method "$1"
  cover @target-uri "$2"
  [ -z "$token" ] || cover authorization "Bearer $token"
  if [ -n "${3-}" ]; then
    digest="sha-256=:$(printf %s "$3" | sha256 | base64):"
    cover content-type "$type"
    cover content-digest "$digest"
  fi
  parameters
  seal "$parameters"
}

send() { # METHOD URL [BODY]: sends what was signed; sets `status`, and `challenge` to the fresh one of the answer
  method=$1 url=$2 body=${3-}
  set -- -H "Signature-Input: $signature_input" -H "Signature: $signature"
  [ -z "$token" ] || set -- "$@" -H "Authorization: Bearer $token"
  [ -z "$body" ] || set -- "$@" -H "Content-Type: $type" -H "Content-Digest: $digest" --data-binary "$body"
  status=$(curl -sS -X "$method" -D "$work/head" -o "$work/answer" -w '%{http_code}' "$@" "$url")
  challenge=$(tr -d '\r' <"$work/head" | sed -n 's/^[Ss]ignature-[Cc]hallenge: *//p')
}

call() { sign "$@" && send "$@"; }

# --- A session: the key signs the token call alone ------------------------------------------------------------------

hex() { od -An -v -tx1 | tr -d ' \n'; }

# Gets a token, and agrees with the gateway on `session_key`, in hexadecimal.
new_session() {
  token='' session_key=''
  openssl genpkey -algorithm X25519 -out "$work/ephemeral.pem"
  x=$(openssl pkey -in "$work/ephemeral.pem" -pubout -outform DER | tail -c 32 | base64url)
  call POST "$api/auth/tokens" '{"session": {"jwk": {"crv": "X25519", "kty": "OKP", "x": "'$x'"}}}'
  step session 200
  token=$(field access_token) session_id=$(field key_id)
  # Their key in DER: what says that it is of X25519, and its 32 bytes.
  { printf '\060\052\060\005\006\003\053\145\156\003\041\000' && printf '%s=' "$(field x)" | tr -- '-_' '+/' | openssl base64 -d -A; } |
    openssl pkey -pubin -inform DER -out "$work/theirs.pem"
  agreed=$(openssl pkeyutl -derive -inkey "$work/ephemeral.pem" -peerkey "$work/theirs.pem" | hex)
  info=$(printf 'railgate-session-v1\0sandbox\0%s\0%s' "$key_id" "$session_id" | hex)
  session_key=$(openssl kdf -binary -keylen 32 -kdfopt digest:SHA256 -kdfopt "hexkey:$agreed" \
    -kdfopt "hexsalt:$(printf %s "$token" | sha256 | hex)" -kdfopt "hexinfo:$info" HKDF | hex)
}

# --- What it does -------------------------------------------------------------------------------------------------

new_key
session_key='' token='' digest='' calls=0 type=application/json
reference=shell-$(date +%s)-$$

status=$(curl -sS -X POST -o "$work/answer" -w '%{http_code}' "$api/auth/challenges")
challenge=$(field challenge)
step challenge 200

call POST "$api/auth/enrollments" '{"jwk": '"$jwk"', "client_name": "shell, openssl and curl"}'
step enrol 201

# The enrolment returned a first token; this gets the next one after it has expired.
call POST "$api/auth/tokens"
step token 200
token=$(field access_token)

settlement='{"amount": 12.5, "currency": "EUR", "to": "sim:ok", "reference": "'$reference'"}'
call POST "$api/gateway/settlements" "$settlement"
step create 201

call GET "$api/gateway/settlements/$reference/status?wait=5&version=1"
step status 200

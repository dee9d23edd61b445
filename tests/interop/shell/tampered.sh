#!/bin/sh
# Runs client.sh, then takes calls that it has signed but not sent, alters one thing in each, and sends them. Each must be
# refused, for the reason stated here.
#
#   ./tampered.sh BASE_URL
set -eu
. "$(dirname -- "$0")/client.sh"

settlements=$api/gateway/settlements
status_url="$settlements/$reference/status?wait=0&version=1"

refused() { # NAME STATUS CODE: what the last call must have been answered
  code=$(field code || true)
  printf '{"step": "tampered: %s", "status": %s, "code": "%s", "expected": "%s"}\n' "$1" "$status" "$code" "$3"
  [ "$status $code" = "$2 $3" ] ||
    { printf 'tampered: %s: expected %s %s, got %s: ' "$1" "$2" "$3" "$status"; cat "$work/answer"; exit 1; } >&2
}

# Other settlements: if a tampered call were accepted, one of them would exist.
small='{"amount": 1, "currency": "EUR", "to": "sim:ok", "reference": "'$reference'-tampered"}'
large='{"amount": 900, "currency": "EUR", "to": "sim:ok", "reference": "'$reference'-tampered"}'

digest_of() { printf 'sha-256=:%s:' "$(printf %s "$1" | sha256 | base64)"; }

# --- Covered parts cannot be altered -------------------------------------------------------------------------------

sign GET "$settlements"
send POST "$settlements"
refused 'changed method' 401 signature_invalid

sign GET "$status_url"
send GET "$settlements/$reference"
refused 'changed path' 401 signature_invalid

sign GET "$status_url"
send GET "$settlements/$reference/status?wait=0&version=2"
refused 'changed query' 401 signature_invalid

sign POST "$settlements" "$small"
send POST "$settlements" "$large"
refused 'changed body' 400 digest_mismatch

sign POST "$settlements" "$small"
digest=$(digest_of "$large")
send POST "$settlements" "$large"
refused 'changed body and digest' 401 signature_invalid

sign POST "$settlements" "$small"
type='application/json; charset=utf-8'
send POST "$settlements" "$small"
type=application/json
refused 'changed content type' 401 signature_invalid

# --- A token is bound to its key, and the call to its token --------------------------------------------------------

own=$token own_key_id=$key_id
token='' && call POST "$api/auth/tokens"
step 'second token' 200
second=$(field access_token)
token=$own && sign GET "$status_url"
token=$second && send GET "$status_url"
refused 'other token of the same key' 401 signature_invalid

mv "$work/key.pem" "$work/own.pem"
token='' && new_key
call POST "$api/auth/enrollments" '{"jwk": '"$jwk"', "client_name": "another shell"}'
step 'second enrolment' 201
foreign=$(field access_token)
mv "$work/own.pem" "$work/key.pem"
key_id=$own_key_id token=$own
sign GET "$status_url"
token=$foreign && send GET "$status_url"
refused 'token of another enrolment' 401 signature_invalid
sign GET "$status_url" && send GET "$status_url"
refused 'token of another enrolment, signed with the own key' 401 signature_invalid
token=$own

# --- A body must be covered, by exactly one signature --------------------------------------------------------------

components='' base=''
cover @method POST
cover @target-uri "$settlements"
cover authorization "Bearer $token"
cover content-type "$type"
parameters
seal "$parameters"
# The digest is right, but nothing proves that it is from the client.
digest=$(digest_of "$small")
send POST "$settlements" "$small"
refused 'body not covered' 401 signature_invalid

sign GET "$status_url"
first_input=$signature_input first=$signature
sign GET "$status_url"
signature_input="$first_input, sig2=${signature_input#sig1=}"
signature="$first, sig2=${signature#sig1=}"
send GET "$status_url"
refused 'two signatures' 401 signature_invalid

# --- Nonce and time ------------------------------------------------------------------------------------------------

# A status call, correctly signed over parameters that a sed command has altered.
sign_with() {
  sign GET "$status_url"
  seal "$(printf %s "$parameters" | sed "$1")"
  send GET "$status_url"
}

# Alters the first character of the challenge's authentication tag.
sign_with 's/\(nonce="c1\.[^.]*\.\)A/\1_/; t
  s/\(nonce="c1\.[^.]*\.\)./\1A/'
refused 'forged challenge' 401 challenge_invalid

call GET "$status_url"
step 'call to repeat' 200
send GET "$status_url"
refused 'same nonce twice' 401 nonce_replayed
used=$signature_input
used=${used#*nonce=\"}
sign_with "s/nonce=\"[^\"]*\"/nonce=\"${used%%\"*}\"/"
refused 'used nonce in another call' 401 nonce_replayed

sign_with "s/created=[0-9]*/created=$(($(date +%s) - 600))/"
refused 'created ten minutes ago' 401 clock_skew

sign_with "s/created=[0-9]*/created=$(($(date +%s) + 600))/"
refused 'created in ten minutes' 401 clock_skew

sign_with 's/created=[0-9]*;//'
refused 'created missing' 401 signature_invalid

# --- None of it had an effect --------------------------------------------------------------------------------------

call GET "$settlements"
step list 200
[ "$(grep -o '"reference"' "$work/answer" | wc -l)" -eq 1 ] || { echo 'a tampered call has created a settlement' >&2; exit 1; }
printf '{"step": "nothing else was created", "status": %s}\n' "$status"

# --- In a session --------------------------------------------------------------------------------------------------

new_session
call POST "$settlements" "$(printf %s "$settlement" | sed "s/$reference/$reference-session/")"
step 'create in the session' 201
call GET "$settlements/$reference-session/status"
step 'status in the session' 200

sign GET "$status_url"
send GET "$settlements/$reference/status?wait=0&version=2"
refused 'changed query in the session' 401 signature_invalid
call POST "$api/auth/tokens" '{}'
refused 'token call in the session' 401 signature_key_required

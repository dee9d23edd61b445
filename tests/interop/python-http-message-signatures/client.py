"""A railgate client with the Python package http-message-signatures:  python client.py https://gateway.example

The key is Ed25519. Each step is printed as one line of JSON.
"""

import base64
import hashlib
import json
import os
import sys
import time
import urllib.error
import urllib.request
from dataclasses import dataclass, field, replace

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from http_message_signatures import ContentDigest, HTTPMessageSigner, MappingKeyResolver, algorithms

API = sys.argv[1] + "/api/v1"

# --- The key ---------------------------------------------------------------------------------------------------------


def base64url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


private_key = Ed25519PrivateKey.generate()
jwk = {"crv": "Ed25519", "kty": "OKP", "x": base64url(private_key.public_key().public_bytes_raw())}
# The RFC 7638 thumbprint: the hash of these three members in this order, without spaces.
key_id = base64url(hashlib.sha256(json.dumps(jwk, separators=(",", ":")).encode()).digest())
signer = HTTPMessageSigner(
    signature_algorithm=algorithms.ED25519,
    key_resolver=MappingKeyResolver(private_keys={key_id: private_key}, public_keys={}),
)

# --- A signed call ---------------------------------------------------------------------------------------------------


@dataclass
class Call:
    """The message for the signer: a method, a full URL and header fields, to which it adds the signature."""

    method: str
    url: str
    body: bytes | None = None
    headers: dict[str, str] = field(default_factory=dict)


challenge = ""  # The latest from the server; every response carries a fresh one.
token = ""
calls = 0


def sign(method: str, path: str, body: bytes | None = None, session: "Session | None" = None) -> Call:
    """A call before it is sent, signed by the key or in a session."""
    global calls
    calls += 1
    call = Call(method, API + path, body)
    covered = ["@method", "@target-uri"]
    if token:
        call.headers["Authorization"] = f"Bearer {token}"
        covered.append("authorization")
    if body is not None:
        call.headers["Content-Type"] = "application/json"
        covered.append("content-type")
    (session.signer if session else signer).sign(
        call,
        key_id=session.id if session else key_id,
        # A nonce is the server's challenge and our suffix; each is valid for one call.
        nonce=f"{challenge}.{calls}",
        tag="railgate",
        label="sig1",
        covered_component_ids=covered,
        body=body,  # Adds Content-Digest and covers it.
    )
    return call


def send(call: Call) -> tuple[int, dict]:
    """Status and JSON of the response, whether success or problem."""
    global challenge
    request = urllib.request.Request(call.url, call.body, call.headers, method=call.method)
    try:
        response = urllib.request.urlopen(request)
    except urllib.error.HTTPError as problem:
        response = problem
    with response:
        challenge = response.headers["Signature-Challenge"]
        return response.status, json.load(response)


def step(name: str, expected: int, result: tuple[int, dict]) -> dict:
    status, answer = result
    print(json.dumps({"step": name, "status": status}))
    if status != expected:
        sys.exit(f"{name}: expected {expected}, got {status}: {answer}")
    return answer


# --- The session -----------------------------------------------------------------------------------------------------

challenge = step("challenge", 200, send(Call("POST", API + "/auth/challenges")))["challenge"]

enrolment = json.dumps({"jwk": jwk, "client_name": "python http-message-signatures"}).encode()
step("enrol", 201, send(sign("POST", "/auth/enrollments", enrolment)))

# The enrolment returned a first token; this gets the next one after it has expired.
token = step("token", 200, send(sign("POST", "/auth/tokens")))["access_token"]

SETTLEMENTS = "/gateway/settlements"
reference = f"python-{time.time_ns()}-{os.getpid()}"
settlement = {"amount": 12.5, "currency": "EUR", "to": "sim:ok", "reference": reference}
step("create", 201, send(sign("POST", SETTLEMENTS, json.dumps(settlement).encode())))

status_path = f"{SETTLEMENTS}/{reference}/status?wait=5&version=1"
step("status", 200, send(sign("GET", status_path)))

# --- Tampering: each of these calls is altered after signing, and refused ---------------------------------------------


def refused(name: str, status: int, code: str, call: Call) -> None:
    got, answer = send(call)
    print(json.dumps({"step": f"tampered: {name}", "status": got, "code": answer.get("code"), "expected": code}))
    if (got, answer.get("code")) != (status, code):
        sys.exit(f"{name}: expected {status} {code}, got {got}: {answer}")


small = json.dumps({**settlement, "amount": 1, "reference": f"{reference}-tampered"}).encode()
large = json.dumps({**settlement, "amount": 900, "reference": f"{reference}-tampered"}).encode()

refused("changed method", 401, "signature_invalid", replace(sign("GET", SETTLEMENTS), method="POST"))

other_url = f"{API}{SETTLEMENTS}/{reference}"
refused("changed path", 401, "signature_invalid", replace(sign("GET", status_path), url=other_url))

other_url = API + status_path.replace("wait=5", "wait=4")
refused("changed query", 401, "signature_invalid", replace(sign("GET", status_path), url=other_url))

refused("changed body", 400, "digest_mismatch", replace(sign("POST", SETTLEMENTS, small), body=large))

signed = sign("POST", SETTLEMENTS, small)
signed.headers["Content-Digest"] = ContentDigest.create(large)
refused("changed body and digest", 401, "signature_invalid", replace(signed, body=large))

signed = sign("GET", status_path)
step("call to repeat", 200, send(signed))
refused("same nonce twice", 401, "nonce_replayed", signed)

listed = step("list", 200, send(sign("GET", SETTLEMENTS)))
if len(listed["data"]) != 1:
    sys.exit("a tampered call has created a settlement")
print(json.dumps({"step": "nothing else was created", "status": 200}))

# --- In a session: the key signs the token call alone ----------------------------------------------------------------


class Session:
    """A key on which both sides have agreed in the token call."""

    def __init__(self) -> None:
        global token
        ours = X25519PrivateKey.generate()
        offered = {"crv": "X25519", "kty": "OKP", "x": base64url(ours.public_key().public_bytes_raw())}
        asked = json.dumps({"session": {"jwk": offered}}).encode()
        granted = step("session", 200, send(sign("POST", "/auth/tokens", asked)))
        token, self.id = granted["access_token"], granted["session"]["key_id"]
        theirs = X25519PublicKey.from_public_bytes(base64.urlsafe_b64decode(granted["session"]["jwk"]["x"] + "="))
        info = b"\0".join(part.encode() for part in ("railgate-session-v1", "sandbox", key_id, self.id))
        salt = hashlib.sha256(token.encode()).digest()
        secret = HKDF(algorithm=hashes.SHA256(), length=32, salt=salt, info=info).derive(ours.exchange(theirs))
        keys = MappingKeyResolver(private_keys={self.id: secret}, public_keys={})
        self.signer = HTTPMessageSigner(signature_algorithm=algorithms.HMAC_SHA256, key_resolver=keys)


shared = Session()
again = json.dumps({**settlement, "reference": f"{reference}-session"}).encode()
step("create in the session", 201, send(sign("POST", SETTLEMENTS, again, shared)))
step("status in the session", 200, send(sign("GET", f"{SETTLEMENTS}/{reference}-session/status", session=shared)))

other_url = API + status_path.replace("wait=5", "wait=4")
changed = replace(sign("GET", status_path, session=shared), url=other_url)
refused("changed query in the session", 401, "signature_invalid", changed)
refused("token call in the session", 401, "signature_key_required", sign("POST", "/auth/tokens", b"{}", shared))

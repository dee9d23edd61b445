"""A railgate client with Requests and requests-http-signature:  python client.py https://gateway.example

The key is P-256. The library signs each request once its `HTTPSignatureAuth` is the session's `auth`; it only needs a source
of nonces. Each step is printed as one line of JSON.
"""

import base64
import hashlib
import json
import os
import sys
import time

import requests
from cryptography.hazmat.primitives.asymmetric import ec
from requests_http_signature import HTTPSignatureAuth, algorithms

API = sys.argv[1] + "/api/v1"

# --- The key ---------------------------------------------------------------------------------------------------------


def base64url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


private_key = ec.generate_private_key(ec.SECP256R1())
point = private_key.public_key().public_numbers()
x, y = (base64url(n.to_bytes(32, "big")) for n in (point.x, point.y))
jwk = {"crv": "P-256", "kty": "EC", "x": x, "y": y}
# The RFC 7638 thumbprint: the hash of these four members in this order, without spaces.
key_id = base64url(hashlib.sha256(json.dumps(jwk, separators=(",", ":")).encode()).digest())

# --- Signed calls ----------------------------------------------------------------------------------------------------


class RailgateAuth(HTTPSignatureAuth):
    """The library's signer with the server's challenges as nonces.

    It also covers Authorization and Content-Digest, and adds the digest to every call, also for an empty body.
    """

    challenge = ""  # The latest from the server; every response carries a fresh one.
    calls = 0

    def get_nonce(self, request):
        # A nonce is the server's challenge and our suffix; each is valid for one call.
        self.calls += 1
        return f"{self.challenge}.{self.calls}"

    def get_covered_component_ids(self, request):
        covered = super().get_covered_component_ids(request)
        return [*covered, "content-type"] if "Content-Type" in request.headers else covered

    def keep_challenge(self, response, **_):
        self.challenge = response.headers["Signature-Challenge"]


auth = RailgateAuth(
    signature_algorithm=algorithms.ECDSA_P256_SHA256,
    key=private_key,
    key_id=key_id,
    covered_component_ids=("@method", "@target-uri"),
    label="sig1",
    tag="railgate",
)
session = requests.Session()
session.hooks["response"] = [auth.keep_challenge]


def step(name: str, expected: int, response: requests.Response) -> dict:
    print(json.dumps({"step": name, "status": response.status_code}))
    if response.status_code != expected:
        sys.exit(f"{name}: expected {expected}, got {response.status_code}: {response.text}")
    return response.json()


# --- The session -----------------------------------------------------------------------------------------------------

step("challenge", 200, session.post(f"{API}/auth/challenges"))

session.auth = auth  # From here on every call is signed.
enrolment = {"jwk": jwk, "client_name": "python requests-http-signature"}
step("enrol", 201, session.post(f"{API}/auth/enrollments", json=enrolment))

# The enrolment returned a first token; this gets the next one after it has expired.
token = step("token", 200, session.post(f"{API}/auth/tokens"))["access_token"]
session.headers["Authorization"] = f"Bearer {token}"

settlements = f"{API}/gateway/settlements"
reference = f"requests-{time.time_ns()}-{os.getpid()}"
settlement = {"amount": 12.5, "currency": "EUR", "to": "sim:ok", "reference": reference}
step("create", 201, session.post(settlements, json=settlement))

status_url = f"{settlements}/{reference}/status?wait=5&version=1"
step("status", 200, session.get(f"{settlements}/{reference}/status", params={"wait": 5, "version": 1}))

# --- Tampering: each of these calls is altered after signing, and refused ---------------------------------------------


def sign(method: str, url: str, **more) -> requests.PreparedRequest:
    """A signed call before it is sent."""
    return session.prepare_request(requests.Request(method, url, **more))


def refused(name: str, status: int, code: str, call: requests.PreparedRequest, **changes) -> None:
    for attribute, value in changes.items():
        setattr(call, attribute, value)
    response = session.send(call)
    got = response.json().get("code")
    print(json.dumps({"step": f"tampered: {name}", "status": response.status_code, "code": got, "expected": code}))
    if (response.status_code, got) != (status, code):
        sys.exit(f"{name}: expected {status} {code}, got {response.status_code}: {response.text}")


small = {**settlement, "amount": 1.00, "reference": f"{reference}-tampered"}
large = json.dumps({**small, "amount": 9.00}).encode()  # As long as the small one, so that Content-Length is right.

refused("changed method", 401, "signature_invalid", sign("GET", settlements), method="POST")
refused("changed path", 401, "signature_invalid", sign("GET", status_url), url=f"{settlements}/{reference}")
other_url = status_url.replace("wait=5", "wait=4")
refused("changed query", 401, "signature_invalid", sign("GET", status_url), url=other_url)
refused("changed body", 400, "digest_mismatch", sign("POST", settlements, json=small), body=large)

signed = sign("POST", settlements, json=small)
signed.headers["Content-Digest"] = f"sha-256=:{base64.b64encode(hashlib.sha256(large).digest()).decode()}:"
refused("changed body and digest", 401, "signature_invalid", signed, body=large)

signed = sign("GET", status_url)
step("call to repeat", 200, session.send(signed))
refused("same nonce twice", 401, "nonce_replayed", signed)

listed = step("list", 200, session.get(settlements))
if len(listed["data"]) != 1:
    sys.exit("a tampered call has created a settlement")
print(json.dumps({"step": "nothing else was created", "status": 200}))

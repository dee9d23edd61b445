"""Verifies receipts with the Python package joserfc:  python client.py https://gateway.example RECEIPT…

Each RECEIPT is a compact JWS. Only the keys are fetched from the gateway. Then each receipt is altered in every way that
must be detected. Each step is printed as one line of JSON.
"""

import base64
import hmac
import json
import sys
import urllib.request

from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import ECKey, KeySet

BASE, *RECEIPTS = sys.argv[1:]
if not RECEIPTS:
    sys.exit("usage: python client.py BASE_URL RECEIPT…")

# --- Verifying a receipt ---------------------------------------------------------------------------------------------

with urllib.request.urlopen(BASE + "/.well-known/jwks.json") as response:
    jwks = json.load(response)
published = KeySet.import_key_set(jwks)


class NotAReceipt(Exception):
    """Validly signed, but not a receipt."""


def check(receipt: str, keys: KeySet = published) -> dict:
    token = jwt.decode(receipt, keys, algorithms=["ES256"])
    if token.header.get("typ") != "settlement-receipt+jwt":
        raise NotAReceipt("typ")
    return token.claims


# --- Genuine and altered receipts --------------------------------------------------------------------------------------


def show(step: str, **more) -> None:
    print(json.dumps({"step": step, **more}))


def refused(name: str, receipt: str, keys: KeySet = published) -> None:
    try:
        check(receipt, keys)
    # A key that is not in the set is a ValueError here.
    except (JoseError, NotAReceipt, ValueError) as error:
        show(name, refused=type(error).__name__)
        return
    sys.exit(f"{name}: accepted")


def encode(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def decode(part: str) -> bytes:
    return base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))


show("keys", kids=[key["kid"] for key in jwks["keys"]])

for receipt in RECEIPTS:
    claims = check(receipt)
    show("genuine", claims=claims)

    header, payload, signature = receipt.split(".")
    headers = json.loads(decode(header))

    def with_header(signature: str = signature, payload: str = payload, **changed) -> str:
        return ".".join([encode(json.dumps({**headers, **changed}).encode()), payload, signature])

    forged = encode(json.dumps({**claims, "amt": "999.00"}).encode())
    refused("changed payload", ".".join([header, forged, signature]))
    changed = bytearray(decode(signature))
    changed[40] ^= 1
    refused("changed signature", ".".join([header, payload, encode(bytes(changed))]))
    refused("no signature", ".".join([header, payload, ""]))
    refused("algorithm none", with_header(signature="", alg="none"))

    # The public key used as a shared secret.
    own = next(key for key in jwks["keys"] if key["kid"] == headers["kid"])
    secret = ECKey.import_key(own).as_pem(private=False)
    signed = with_header(alg="HS256").rpartition(".")[0]
    refused("algorithm HS256", f"{signed}.{encode(hmac.digest(secret, signed.encode(), 'sha256'))}")

    # Signed by another key with the key id of the gateway's.
    other = ECKey.generate_key("P-256", {"kid": headers["kid"]})
    refused("another key", jwt.encode(headers, claims, other, algorithms=["ES256"]))
    swapped = KeySet([ECKey.import_key(other.as_dict(private=False))])
    refused("swapped key set", receipt, swapped)
    refused("another type", jwt.encode({**headers, "typ": "JWT"}, claims, other, algorithms=["ES256"]), swapped)
    others = [key for key in jwks["keys"] if key["kid"] != headers["kid"]]
    refused("key not published", receipt, KeySet.import_key_set({"keys": others}))

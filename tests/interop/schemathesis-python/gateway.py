"""Keys that sign calls of a railgate (RFC 9421), and whoever holds them."""

import base64
import hashlib
import json
import os
import time

import requests
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from http_message_signatures import HTTPMessageSigner, MappingKeyResolver, algorithms


def base64url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


class Holder(requests.auth.AuthBase):
    """Signs what `requests` is about to send, with a token as soon as there is one."""

    def __init__(self, api: str, environment: str) -> None:
        self.api, self.environment = api, environment
        self.private = Ed25519PrivateKey.generate()
        self.jwk = {"crv": "Ed25519", "kty": "OKP", "x": base64url(self.private.public_key().public_bytes_raw())}
        # The RFC 7638 thumbprint: the hash of these three members in this order, without spaces.
        self.key_id = base64url(hashlib.sha256(json.dumps(self.jwk, separators=(",", ":")).encode()).digest())
        keys = MappingKeyResolver(private_keys={self.key_id: self.private}, public_keys={})
        self.signer = HTTPMessageSigner(signature_algorithm=algorithms.ED25519, key_resolver=keys)
        self.token = ""
        self.calls = 0
        self.challenge, self.challenged = "", 0.0

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        # What was sent already is prepared again to be shown.
        if "Signature" in request.headers:
            return request
        if self.token:
            request.headers["Authorization"] = f"Bearer {self.token}"
        return self.sign(request)

    def sign(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        """Adds a signature that covers everything that the gateway asks for."""
        self.calls += 1
        if isinstance(request.body, str):
            request.body = request.body.encode()
        named = ["authorization", "content-type", "idempotency-key"]
        self.signer.sign(
            request,
            key_id=self.key_id,
            nonce=f"{self.fresh()}.{self.calls}",
            tag="railgate",
            label="sig1",
            covered_component_ids=["@method", "@target-uri", *(name for name in named if name in request.headers)],
            # Adds Content-Digest, and covers it.
            body=request.body or None,
        )
        return request

    def fresh(self) -> str:
        """A challenge, which serves for any number of calls until it expires."""
        if time.monotonic() - self.challenged > 120:
            asked = {"environment": self.environment}
            self.challenge = requests.post(f"{self.api}/auth/challenges", json=asked).json()["challenge"]
            self.challenged = time.monotonic()
        return self.challenge

    def call(self, method: str, path: str, body: object = None, **headers: str) -> dict:
        """The answer to a call that must succeed."""
        response = requests.request(method, self.api + path, json=body, headers=headers, auth=self)
        if not response.ok:
            raise SystemExit(f"{method} {path}: {response.status_code} {response.text}")
        return response.json() if response.content else {}

    def enrol(self, path: str, body: dict) -> dict:
        """Enrols the key, and takes the token of the answer."""
        enrolled = self.call("POST", path, {**body, "jwk": self.jwk})
        self.token = enrolled["access_token"]
        return enrolled

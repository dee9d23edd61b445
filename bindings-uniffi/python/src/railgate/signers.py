"""A signer for keys of the package `cryptography`; phones have key stores."""

import asyncio

from ._native import Signer, SignerError


class CryptographySigner(Signer):
    """Signs with a private key of the package `cryptography`: P-256 or Ed25519."""

    def __init__(self, private_key):
        from cryptography.hazmat.primitives import hashes
        from cryptography.hazmat.primitives.asymmetric import ec

        self._key = private_key
        self._how = (ec.ECDSA(hashes.SHA256()),) if isinstance(private_key, ec.EllipticCurvePrivateKey) else ()

    def public_key(self) -> bytes:
        from cryptography.hazmat.primitives import serialization as forms

        return self._key.public_key().public_bytes(forms.Encoding.DER, forms.PublicFormat.SubjectPublicKeyInfo)

    async def sign(self, message: bytes) -> bytes:
        try:
            # The key may be in a slow device.
            return await asyncio.to_thread(self._key.sign, message, *self._how)
        except Exception as error:
            raise SignerError.Unavailable(detail=str(error)) from error

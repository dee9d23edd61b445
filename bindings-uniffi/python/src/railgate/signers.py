"""A signer for keys of the package `cryptography`; phones have key stores."""

import asyncio
import contextlib
import os
import stat
import tempfile
from pathlib import Path

from ._native import Signer, SignerError


class CryptographySigner(Signer):
    """Signs with a private key of the package `cryptography`: P-256 or Ed25519."""

    def __init__(self, private_key):
        from cryptography.hazmat.primitives import hashes
        from cryptography.hazmat.primitives.asymmetric import ec

        self._key = private_key
        self._how = (ec.ECDSA(hashes.SHA256()),) if isinstance(private_key, ec.EllipticCurvePrivateKey) else ()

    @classmethod
    def from_pem(cls, pem: bytes | str, password: bytes | None = None) -> "CryptographySigner":
        """The private key in a PEM, such as one from a secret manager; raises `ValueError` if there is none of P-256 or Ed25519."""
        from cryptography.hazmat.primitives.asymmetric import ec, ed25519
        from cryptography.hazmat.primitives.serialization import load_pem_private_key

        key = load_pem_private_key(pem.encode() if isinstance(pem, str) else pem, password)
        is_p256 = isinstance(key, ec.EllipticCurvePrivateKey) and isinstance(key.curve, ec.SECP256R1)
        if not (is_p256 or isinstance(key, ed25519.Ed25519PrivateKey)):
            raise ValueError("the key must be of P-256 or Ed25519")
        return cls(key)

    @classmethod
    def from_file(cls, path: str | os.PathLike) -> "CryptographySigner":
        """The private key in a PEM file that only its owner can read (mode 0600). Makes a P-256 key if there is no such file; processes
        that start at once get the same one. Raises `PermissionError` if others can read the file."""
        path = Path(path)
        if not path.exists():
            _make(path)
        if os.name == "posix" and stat.S_IMODE(path.stat().st_mode) & 0o077:
            raise PermissionError(f"{path} can be read or changed by others; run: chmod 600 {path}")
        return cls.from_pem(path.read_bytes())

    def public_key(self) -> bytes:
        from cryptography.hazmat.primitives import serialization as forms

        return self._key.public_key().public_bytes(forms.Encoding.DER, forms.PublicFormat.SubjectPublicKeyInfo)

    async def sign(self, message: bytes) -> bytes:
        try:
            # The key may be in a slow device.
            return await asyncio.to_thread(self._key.sign, message, *self._how)
        except Exception as error:
            raise SignerError.Unavailable(detail=str(error)) from error


def _make(path: Path) -> None:
    """Makes a key, unless another process was faster."""
    from cryptography.hazmat.primitives import serialization as forms
    from cryptography.hazmat.primitives.asymmetric import ec

    pem = ec.generate_private_key(ec.SECP256R1()).private_bytes(forms.Encoding.PEM, forms.PrivateFormat.PKCS8, forms.NoEncryption())
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    # Only its owner can read such a file.
    handle, made = tempfile.mkstemp(prefix=f"{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(pem)
            file.flush()
            os.fsync(file.fileno())
        # Unlike a rename, it replaces nothing.
        with contextlib.suppress(FileExistsError):
            os.link(made, path)
    finally:
        os.unlink(made)
    if os.name == "posix":
        # Makes the new name durable.
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)

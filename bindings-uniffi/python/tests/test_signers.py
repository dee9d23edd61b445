"""Keys that outlive a process."""

import stat
import subprocess
import sys

import pytest
import railgate
from conftest import run
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa

SIGNED = b"what is signed"


def pem(key, password=None):
    how = serialization.BestAvailableEncryption(password) if password else serialization.NoEncryption()
    return key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, how)


def test_a_key_in_a_pem_signs():
    key = ec.generate_private_key(ec.SECP256R1())
    for signer in [
        railgate.CryptographySigner.from_pem(pem(key)),
        railgate.CryptographySigner.from_pem(pem(key).decode()),
        railgate.CryptographySigner.from_pem(pem(key, b"secret"), b"secret"),
    ]:
        assert signer.public_key() == railgate.CryptographySigner(key).public_key()
        key.public_key().verify(run(signer.sign(SIGNED)), SIGNED, ec.ECDSA(hashes.SHA256()))
    other = ed25519.Ed25519PrivateKey.generate()
    other.public_key().verify(run(railgate.CryptographySigner.from_pem(pem(other)).sign(SIGNED)), SIGNED)


def test_other_keys_are_refused():
    for key in [ec.generate_private_key(ec.SECP384R1()), rsa.generate_private_key(65_537, 2_048)]:
        with pytest.raises(ValueError):
            railgate.CryptographySigner.from_pem(pem(key))
    for text in ["", "no key"]:
        with pytest.raises(ValueError):
            railgate.CryptographySigner.from_pem(text)


def test_a_file_keeps_a_key_for_its_owner_alone(tmp_path):
    path = tmp_path / "deep" / "railgate.pem"
    made = railgate.CryptographySigner.from_file(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [file.name for file in path.parent.iterdir()] == [path.name]
    assert railgate.CryptographySigner.from_file(str(path)).public_key() == made.public_key()
    path.chmod(0o640)
    with pytest.raises(PermissionError, match="chmod 600"):
        railgate.CryptographySigner.from_file(path)


def test_processes_that_start_at_once_share_one_key(tmp_path):
    program = "import railgate, sys; print(railgate.CryptographySigner.from_file(sys.argv[1]).public_key().hex())"
    starts = [
        subprocess.Popen([sys.executable, "-c", program, str(tmp_path / "railgate.pem")], stdout=subprocess.PIPE, text=True) for _ in range(6)
    ]
    assert len({start.communicate()[0] for start in starts}) == 1
    assert [start.returncode for start in starts] == [0] * 6

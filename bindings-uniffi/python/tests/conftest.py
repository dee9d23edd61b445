"""What the tests share: a gateway that somebody else started, and a new client of it."""

import asyncio
import os
import uuid
from decimal import Decimal

import pytest
import railgate
from cryptography.hazmat.primitives.asymmetric import ec

# No test waits for anything longer; this says nothing about how long anything takes.
AT_MOST_S = 300


def run(coroutine):
    """Runs one test's coroutine to its end."""
    return asyncio.run(asyncio.wait_for(coroutine, AT_MOST_S))


def new_signer():
    return railgate.CryptographySigner(ec.generate_private_key(ec.SECP256R1()))


def request(amount="10.50", reference=None, to="sim:ok", **more):
    reference = reference or f"t-{uuid.uuid4()}"
    return railgate.SettlementRequest(amount=Decimal(amount), currency="EUR", to=to, reference=reference, **more)


@pytest.fixture(scope="session")
def url():
    return os.environ["RAILGATE_TEST_URL"]


@pytest.fixture
def connect(url):
    """Makes an enrolled client over a transport; one of its own unless told."""

    async def enrolled(transport=None, signer=None):
        transport = transport or railgate.UrllibTransport()
        client = railgate.GatewayClient(url, railgate.Environment.SANDBOX, signer or new_signer(), transport)
        await client.enroll("Test")
        return client

    return enrolled

"""Shared fixtures: the gateway that the Rust test started, and a new client for it."""

import asyncio
import os
import uuid
from decimal import Decimal

import pytest
import railgate
from cryptography.hazmat.primitives.asymmetric import ec

# A timeout against hangs, not a measure of how long anything takes.
AT_MOST_S = 300


def run(coroutine):
    """Runs a test's coroutine to completion."""
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
    """Makes an enrolled client over the given transport, or a new one by default."""

    async def enrolled(transport=None, signer=None):
        transport = transport or railgate.UrllibTransport()
        client = railgate.GatewayClient(url, railgate.Environment.SANDBOX, signer or new_signer(), transport)
        await client.enroll("Test")
        return client

    return enrolled

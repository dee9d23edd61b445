"""Enrols, settles, follows, and verifies the receipt:

    python settle.py http://127.0.0.1:8080
"""

import asyncio
import sys
from decimal import Decimal

import railgate
from cryptography.hazmat.primitives.asymmetric import ec


async def main(url):
    # A real app makes the key once, in a key store, and keeps client.session() beside it.
    signer = railgate.CryptographySigner(ec.generate_private_key(ec.SECP256R1()))
    client = railgate.GatewayClient(url, railgate.Environment.SANDBOX, signer, railgate.UrllibTransport())
    enrollment = await client.enroll("Corner shop")
    print("enrolled", enrollment.client_id)

    await client.create(
        railgate.SettlementRequest(amount=Decimal("25.00"), currency="EUR", to="sim:ok", reference="inv-1")
    )
    async for status in client.follow("inv-1"):
        print("status", status.status.name.lower())

    receipt = await client.receipt("inv-1")
    claims = railgate.verify_receipt(receipt.jws, await client.receipt_keys())
    print("receipt", claims.amount, claims.currency, claims.status.name.lower())


asyncio.run(main(sys.argv[1]))

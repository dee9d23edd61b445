"""A process that adds settlements to an outbox and sends them until it is killed:

    python outbox_child.py URL FOLDER KILL_AT before|after
"""

import asyncio
import pathlib
import sys

import railgate
from conftest import request
from cryptography.hazmat.primitives.serialization import load_pem_private_key
from lies import Killer

ENTRIES = 5


async def main(url, folder, at, when):
    key = load_pem_private_key((folder / "key.pem").read_bytes(), None)
    transport = Killer(railgate.UrllibTransport(), int(at), when == "after")
    session = (folder / "session").read_text()
    signer = railgate.CryptographySigner(key)
    client = railgate.GatewayClient(url, railgate.Environment.SANDBOX, signer, transport, session)
    outbox = await railgate.open_outbox(str(folder / "outbox.db"), client)
    for n in range(ENTRIES):
        await outbox.put(request("7", f"pay-{n}"))
    while True:
        await outbox.flush()
        entries = await outbox.entries()
        if all(entry.state is railgate.OutboxState.DELIVERED for entry in entries):
            break
    print(*sorted(entry.settlement.id for entry in entries))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], pathlib.Path(sys.argv[2]), *sys.argv[3:]))

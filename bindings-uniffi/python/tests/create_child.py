"""A process that creates settlements on the device, 32 at once, and prints the reference of each answered one until it is killed:

    python create_child.py DATABASE NAME
"""

import asyncio
import sys

import railgate
from conftest import request

AT_ONCE = 32


async def main(database, name):
    sandbox = await railgate.open_sandbox(database, railgate.SandboxOptions())

    async def lane(number):
        count = 0
        while True:
            made = await sandbox.create(request("1", reference=f"{name}-{number}-{count}"))
            print(made.reference, flush=True)
            count += 1

    await asyncio.gather(*(lane(number) for number in range(AT_ONCE)))


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))

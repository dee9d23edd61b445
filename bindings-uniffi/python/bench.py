"""Calls a second of the gateway on the device, over SQLite; `bench.sh` runs it."""

import asyncio
import datetime
import tempfile
import time
from decimal import Decimal

import railgate

WARM_UP_S = 2
MEASURED_S = 5


def request(reference):
    return railgate.SettlementRequest(amount=Decimal("10.50"), currency="EUR", to="sim:ok", reference=reference)


async def rate(at_once, call):
    """Measures calls a second at the given concurrency."""

    async def calls(name, for_s):
        start = time.monotonic()

        async def lane(number):
            count = 0
            while time.monotonic() - start < for_s:
                await call(f"{name}-{number}-{count}")
                count += 1
            return count

        counts = await asyncio.gather(*(lane(number) for number in range(at_once)))
        return sum(counts) / (time.monotonic() - start)

    await calls(f"warm-{at_once}", WARM_UP_S)
    return int(await calls(f"run-{at_once}", MEASURED_S))


async def main(folder):
    sandbox = await railgate.open_sandbox(f"{folder}/sandbox.db", railgate.SandboxOptions())
    await sandbox.fund("EUR", Decimal("900000000"))
    now = datetime.datetime.now(datetime.timezone.utc)

    async def validate(reference):
        railgate.validate_settlement(request(reference), now)

    print("| Python | validate |", await rate(1, validate), "|")
    print("| Python | check |", await rate(1, lambda reference: sandbox.check(request(reference))), "|")
    print("| Python | create, one at a time |", await rate(1, lambda reference: sandbox.create(request(reference))), "|")
    print("| Python | create, 32 at once |", await rate(32, lambda reference: sandbox.create(request(reference))), "|")


with tempfile.TemporaryDirectory() as folder:
    asyncio.run(main(folder))

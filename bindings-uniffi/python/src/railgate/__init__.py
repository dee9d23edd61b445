"""railgate: a client for a settlement gateway, an offline outbox, and verification of receipts and webhooks on the device.

    import railgate

    client = railgate.GatewayClient(url, railgate.Environment.SANDBOX, signer, railgate.UrllibTransport())
    await client.enroll("Corner shop")
    settlement = await client.create(railgate.SettlementRequest(
        amount=Decimal("10.50"), currency="EUR", to="sim:ok", reference="inv-1"))
    async for status in client.follow("inv-1"):
        print(status.status)

Amounts are `decimal.Decimal`, times aware `datetime.datetime`. Errors are subclasses of `GatewayError`, each with a `problem`.
"""

from ._native import *  # noqa: F403: the generated module defines its public names
from ._native import FeedFollower, NotificationFollower, OutboxWatcher, StatusFollower
from ._native import __all__ as _generated
from .gateway import Gateway, Simulator
from .signers import CryptographySigner
from .transports import HttpxTransport, UrllibTransport

__all__ = [*_generated, "CryptographySigner", "Gateway", "HttpxTransport", "Simulator", "UrllibTransport"]


def _itself(self):
    return self


async def _next_status(self):
    status = await self.next()
    if status is None:
        raise StopAsyncIteration
    return status


async def _next_changes(self):
    return await self.next()


# `async for status in client.follow(reference)`: the status now, and at each change until the last.
StatusFollower.__aiter__ = _itself
StatusFollower.__anext__ = _next_status
# `async for entries in outbox.watch()`: the changed entries; does not end.
OutboxWatcher.__aiter__ = _itself
OutboxWatcher.__anext__ = _next_changes
# `async for events in client.follow_feed()`: the events as they happen; does not end.
FeedFollower.__aiter__ = _itself
FeedFollower.__anext__ = _next_changes
# `async for notifications in phone.follow_notifications()`: the notifications as they come; does not end.
NotificationFollower.__aiter__ = _itself
NotificationFollower.__anext__ = _next_changes

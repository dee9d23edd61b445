"""Transports that misbehave as networks do."""

import asyncio
import os
import random
import signal

import railgate


class Offline(railgate.HttpTransport):
    """A network that is unavailable until it is switched on; counts the requests."""

    def __init__(self, inner):
        self.inner, self.online, self.tried = inner, False, 0

    async def send(self, request):
        self.tried += 1
        if not self.online:
            raise railgate.TransportError.NotSent(detail="there is no network")
        return await self.inner.send(request)

    async def pause(self, ms):
        await asyncio.sleep(0)


class Liar(railgate.HttpTransport):
    """Loses requests and responses, sends twice, truncates responses, and returns responses late, out of order and to other calls.

    The same seed lies the same way.
    """

    WAYS = ["honest", "honest", "unsent", "lost", "twice", "late", "cut", "swapped", "made up"]

    def __init__(self, inner, seed):
        self.inner, self.random, self.kept, self.told = inner, random.Random(seed), [], {}

    async def send(self, request):
        way = self.random.choice(self.WAYS)
        self.told[way] = self.told.get(way, 0) + 1
        if way == "unsent":
            raise railgate.TransportError.NotSent(detail=way)
        if way == "made up":
            body = b'{"code":"insufficient_funds","retryable":false,"status":422}'
            return railgate.HttpResponse(status=422, headers=[], body=body)
        answer = await self.inner.send(request)
        if way == "honest":
            return answer
        if way == "twice":
            return await self.inner.send(request)
        if way == "cut":
            return railgate.HttpResponse(status=answer.status, headers=answer.headers, body=answer.body[: len(answer.body) // 2])
        if way == "late" or not self.kept:
            self.kept.append(answer)
            raise railgate.TransportError.NoAnswer(detail=way)
        if way == "swapped":
            other = self.kept.pop(self.random.randrange(len(self.kept)))
            self.kept.append(answer)
            return other
        raise railgate.TransportError.NoAnswer(detail=way)

    async def pause(self, ms):
        await asyncio.sleep(0)


class Loses(railgate.HttpTransport):
    """Sends requests to this path and loses the responses: all, or only to the request with this number, from 1."""

    def __init__(self, inner, path, only=None):
        self.inner, self.path, self.only, self.sent = inner, path, only, 0

    async def send(self, request):
        answer = await self.inner.send(request)
        if request.url.endswith(self.path):
            self.sent += 1
            if self.only in (None, self.sent):
                raise railgate.TransportError.NoAnswer(detail="lost")
        return answer

    async def pause(self, ms):
        await asyncio.sleep(0)


class Killer(railgate.HttpTransport):
    """Kills its own process at the given create: before it is sent, or when its response arrived but was not reported."""

    def __init__(self, inner, at, after):
        self.inner, self.at, self.after, self.creates = inner, at, after, 0

    async def send(self, request):
        create = request.method == "POST" and request.url.endswith("/settlements")
        self.creates += create
        now = create and self.creates == self.at
        if now and not self.after:
            os.kill(os.getpid(), signal.SIGKILL)
        answer = await self.inner.send(request)
        if now:
            os.kill(os.getpid(), signal.SIGKILL)
        return answer

    async def pause(self, ms):
        await asyncio.sleep(0)

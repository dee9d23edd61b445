"""Connections to a gateway: one with only the standard library, one over httpx. An app may provide its own.

A transport must report `NotSent` only if nothing can have been sent, and must never send a request again.
"""

import asyncio
import http.client
import socket
import ssl
import threading
from urllib.parse import urlsplit

from ._native import HttpHeader, HttpRequest, HttpResponse, HttpTransport, TransportError

# Far more than any response of a gateway; an endless one must not exhaust the memory.
MOST_BYTES = 16 * 1024 * 1024


def _address(request: HttpRequest):
    address = urlsplit(request.url)
    try:
        address.port
    except ValueError as error:
        raise TransportError.NotSent(detail=f"{address.hostname}: {error}") from error
    return address


def _why(error) -> str:
    """The reason for which there is no connection or no response, for people."""
    if isinstance(error, ConnectionRefusedError):
        return "connection refused: nothing listens there"
    if isinstance(error, socket.gaierror):
        return f"the host is not found, or this device is offline: {error.strerror}"
    if isinstance(error, TimeoutError):
        return "time-out"
    return str(error) or repr(error)


def _too_long(host) -> TransportError:
    return TransportError.NoAnswer(detail=f"{host}: the response has more than {MOST_BYTES} bytes")


class _Exchange:
    """One request and its response, in a thread; another thread can give it up."""

    def __init__(self, context: ssl.SSLContext, request: HttpRequest):
        self._context, self._request, self._address = context, request, _address(request)
        self._lock = threading.Lock()
        self._given_up, self._left, self._socket = False, False, None

    def give_up(self) -> bool:
        """Ends it now. Returns True if part of the request may have been sent."""
        with self._lock:
            self._given_up = True
            if self._socket is not None:
                try:
                    # Bypasses TLS's own method, which is not safe for another thread's connection.
                    socket.socket.shutdown(self._socket, socket.SHUT_RDWR)
                except OSError:
                    pass
            return self._left

    def run(self) -> HttpResponse:
        connection = self._connect()
        try:
            with self._lock:
                if self._given_up:
                    raise TransportError.NotSent(detail=f"{self._address.hostname}: given up")
                self._left, self._socket = True, connection.sock
            return self._answer(connection)
        except (OSError, http.client.HTTPException) as error:
            raise TransportError.NoAnswer(detail=f"{self._address.hostname}: {error!r}") from error
        finally:
            connection.close()

    def _connect(self):
        address, timeout = self._address, self._request.timeout_ms / 1000
        if address.scheme == "https":
            connection = http.client.HTTPSConnection(address.hostname, address.port, timeout=timeout, context=self._context)
        else:
            connection = http.client.HTTPConnection(address.hostname, address.port, timeout=timeout)
        try:
            connection.connect()
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            raise TransportError.NotSent(detail=f"{address.hostname}: {_why(error)}") from error
        return connection

    def _answer(self, connection) -> HttpResponse:
        address, request = self._address, self._request
        path = address.path + (f"?{address.query}" if address.query else "")
        connection.request(request.method, path, request.body or None, {h.name: h.value for h in request.headers})
        with connection.getresponse() as answer:
            body = answer.read(MOST_BYTES + 1)
            if len(body) > MOST_BYTES:
                raise _too_long(address.hostname)
            if answer.length:
                raise http.client.IncompleteRead(body, answer.length)
            headers = [HttpHeader(name=name, value=value) for name, value in answer.getheaders()]
            return HttpResponse(status=answer.status, headers=headers, body=body)


def _settle(future, answer, error):
    if future.done():
        return
    if error is None:
        future.set_result(answer)
    else:
        future.set_exception(error)


class UrllibTransport(HttpTransport):
    """A transport with only the standard library: each request has its own connection and thread, so that no event loop is
    blocked and no call waits for another.

    It uses no proxy. A cancelled call ends at once and closes its connection.
    """

    def __init__(self, context: "ssl.SSLContext | None" = None):
        self._context = context or ssl.create_default_context()

    async def send(self, request: HttpRequest) -> HttpResponse:
        exchange = _Exchange(self._context, request)
        loop = asyncio.get_running_loop()
        future = loop.create_future()

        def work():
            answer, problem = None, None
            try:
                answer = exchange.run()
            except Exception as error:
                problem = error
            try:
                loop.call_soon_threadsafe(_settle, future, answer, problem)
            except RuntimeError:
                # The loop has ended: nobody waits for the result.
                pass

        try:
            # Not a thread of asyncio's pool: it has few, and long polls occupy them for a long time.
            threading.Thread(target=work, name="railgate", daemon=True).start()
        except RuntimeError as error:
            raise TransportError.NotSent(detail=str(error)) from error
        # The socket's own timeout restarts with every byte.
        done = False
        try:
            answer = await asyncio.wait_for(future, request.timeout_ms / 1000)
            done = True
            return answer
        except asyncio.TimeoutError as error:
            done = True
            kind = TransportError.NoAnswer if exchange.give_up() else TransportError.NotSent
            raise kind(detail=f"no complete response within {request.timeout_ms} ms") from error
        finally:
            if not done:
                exchange.give_up()

    async def pause(self, ms: int) -> None:
        await asyncio.sleep(ms / 1000)


class HttpxTransport(HttpTransport):
    """A transport over your `httpx.AsyncClient` or a new one, with keep-alive connections. Your client's settings for redirects
    and authentication are ignored: a request is sent once, unchanged."""

    def __init__(self, client=None):
        import httpx

        self._httpx = httpx
        self._client = client or httpx.AsyncClient()

    async def send(self, request: HttpRequest) -> HttpResponse:
        httpx = self._httpx
        host = _address(request).hostname
        timeout = request.timeout_ms / 1000
        try:
            return await asyncio.wait_for(self._exchange(request, host), timeout)
        except asyncio.TimeoutError as error:
            raise TransportError.NoAnswer(detail=f"{host}: no complete response within {request.timeout_ms} ms") from error
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.UnsupportedProtocol, httpx.InvalidURL) as error:
            raise TransportError.NotSent(detail=f"{host}: {error}") from error
        except httpx.HTTPError as error:
            raise TransportError.NoAnswer(detail=repr(error)) from error

    async def _exchange(self, request: HttpRequest, host) -> HttpResponse:
        # Half of the time for connecting, so that httpx's own timeout, which proves that nothing was sent, expires first.
        whole = request.timeout_ms / 1000
        timeout = self._httpx.Timeout(whole, connect=whole / 2, pool=whole / 2)
        headers, body = [(h.name, h.value) for h in request.headers], bytearray()
        exchange = self._client.stream(
            request.method,
            request.url,
            headers=headers,
            content=request.body or None,
            timeout=timeout,
            # After a redirect, an error of the second request must not be reported as `NotSent` for the first.
            follow_redirects=False,
            auth=None,
        )
        async with exchange as answer:
            async for part in answer.aiter_bytes():
                body += part
                if len(body) > MOST_BYTES:
                    raise _too_long(host)
        headers = [HttpHeader(name=name, value=value) for name, value in answer.headers.multi_items()]
        return HttpResponse(status=answer.status_code, headers=headers, body=bytes(body))

    async def pause(self, ms: int) -> None:
        await asyncio.sleep(ms / 1000)

    async def close(self) -> None:
        """Closes the keep-alive connections."""
        await self._client.aclose()

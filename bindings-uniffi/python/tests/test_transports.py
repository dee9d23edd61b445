"""The transports with servers that are slow, send too much or are unreachable."""

import asyncio
import socket
import threading
import time

import httpx
import pytest
import railgate
from conftest import run

TransportError = railgate.TransportError


class Redirecting(railgate.HttpxTransport):
    """A transport over a client that is configured to follow redirects."""

    def __init__(self):
        super().__init__(httpx.AsyncClient(follow_redirects=True, auth=("user", "password")))


BOTH = pytest.mark.parametrize("transport", [railgate.UrllibTransport, railgate.HttpxTransport])


def whole_request(connection):
    """Reads a whole request: head and body may arrive separately, and closing with unread data resets the connection."""
    read = b""
    while not read.endswith(b"\r\n\r\n{}"):
        part = connection.recv(65536)
        if not part:
            break
        read += part
    return read


@pytest.fixture
def serve():
    """Serves every connection with a function, in a separate thread; returns the port."""
    listeners = []

    def served(answer):
        listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        listeners.append(listener)

        def one(connection):
            with connection:
                try:
                    answer(connection)
                except OSError:
                    pass

        def every():
            while True:
                try:
                    connection, _ = listener.accept()
                except OSError:
                    return
                threading.Thread(target=one, args=(connection,), daemon=True).start()

        threading.Thread(target=every, daemon=True).start()
        return listener.getsockname()[1]

    yield served
    for listener in listeners:
        listener.close()


def to(port, timeout_ms=60_000):
    return railgate.HttpRequest(method="POST", url=f"http://127.0.0.1:{port}/a?b=c", headers=[], body=b"{}", timeout_ms=timeout_ms)


@BOTH
@pytest.mark.parametrize("head", [b"HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\n", b"HTTP/1.1 200 OK\r\na: "])
def test_a_server_that_trickles_is_given_up(serve, transport, head):
    ended = threading.Event()

    def trickle(connection):
        whole_request(connection)
        try:
            connection.sendall(head)
            while True:
                connection.sendall(b"x")
                time.sleep(0.1)
        finally:
            ended.set()

    async def scenario():
        with pytest.raises(TransportError.NoAnswer):
            await transport().send(to(serve(trickle), 3_000))

    run(scenario())
    # The connection is closed, and reading stops.
    assert ended.wait(60)


@BOTH
def test_a_cancelled_request_closes_its_connection(serve, transport):
    arrived, ended = threading.Event(), threading.Event()

    def hold(connection):
        whole_request(connection)
        arrived.set()
        if connection.recv(1) == b"":
            ended.set()

    async def scenario():
        sending = asyncio.ensure_future(transport().send(to(serve(hold))))
        await asyncio.to_thread(arrived.wait)
        sending.cancel()
        with pytest.raises(asyncio.CancelledError):
            await sending

    run(scenario())
    assert ended.wait(60)


@BOTH
@pytest.mark.parametrize("chunked", [False, True])
def test_an_answer_without_end_is_none(serve, transport, chunked):
    part = b"x" * 65536

    def flood(connection):
        whole_request(connection)
        connection.sendall(b"HTTP/1.1 200 OK\r\n" + (b"transfer-encoding: chunked\r\n\r\n" if chunked else b"\r\n"))
        while True:
            connection.sendall(b"10000\r\n" + part + b"\r\n" if chunked else part)

    async def scenario():
        with pytest.raises(TransportError.NoAnswer, match="more than"):
            await transport().send(to(serve(flood)))

    run(scenario())


@BOTH
@pytest.mark.parametrize(
    "answer",
    [b"content-length: 9\r\n\r\nshort", b"transfer-encoding: chunked\r\n\r\n9\r\nshort", b"transfer-encoding: chunked\r\n\r\n1\r\na\r\n"],
)
def test_an_answer_that_is_cut_is_none(serve, transport, answer):
    def cut(connection):
        whole_request(connection)
        connection.sendall(b"HTTP/1.1 200 OK\r\n" + answer)

    async def scenario():
        with pytest.raises(TransportError.NoAnswer):
            await transport().send(to(serve(cut)))

    run(scenario())


@pytest.mark.parametrize("transport", [railgate.UrllibTransport, railgate.HttpxTransport, Redirecting])
def test_a_redirect_is_an_answer_and_what_has_arrived_was_sent(serve, transport):
    seen = []

    def redirect(connection):
        seen.append(whole_request(connection))
        # Nothing listens on this port.
        connection.sendall(b"HTTP/1.1 307 Elsewhere\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\n\r\n")

    async def scenario():
        answer = await transport().send(to(serve(redirect)))
        assert (answer.status, answer.body) == (307, b"")

    run(scenario())
    assert len(seen) == 1 and seen[0].startswith(b"POST /a?b=c HTTP/1.1\r\n") and b"uthorization" not in seen[0]


@BOTH
@pytest.mark.parametrize("port", ["1", "99999", "-1", "x"])
def test_where_nobody_can_be_nothing_is_sent(transport, port):
    async def scenario():
        with pytest.raises(TransportError.NotSent):
            await transport().send(to(port))

    run(scenario())


def test_many_answers_that_are_held_back_hold_up_no_other(connect, serve):
    held = []
    enough = threading.Event()

    def hold(connection):
        whole_request(connection)
        held.append(connection)
        if len(held) == 40:
            enough.set()
        connection.recv(1)

    async def scenario():
        transport, port = railgate.UrllibTransport(), serve(hold)
        client = await connect(transport)
        waiting = [asyncio.ensure_future(transport.send(to(port))) for _ in range(40)]
        # All are in flight at once, and a call is made meanwhile.
        while not enough.is_set():
            await asyncio.sleep(0.01)
        assert await client.balances()
        assert not any(each.done() for each in waiting)
        for each in waiting:
            each.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)

    run(scenario())

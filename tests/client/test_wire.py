"""Connections: to a server that is known by its name, to one that has several addresses."""

import asyncio
import socket

import pytest

from podium.client.answer_parser import BadAnswer
from podium.client.endpoint import Endpoint
from podium.client.wire import CannotConnect, Wires
from podium.clock import FakeClock

REQUEST = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"


async def answer(reader, writer):
    await reader.readuntil(b"\r\n\r\n")
    writer.write(ANSWER)
    writer.close()


class Addresses(asyncio.SelectorEventLoop):
    """Knows one name; the first of its addresses leads nowhere, the second to this machine."""

    async def getaddrinfo(self, host, port, **_):
        if host != "apiserver":
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        found = (socket.AF_INET, socket.SOCK_STREAM, 0, "")
        return [(*found, ("127.0.0.2", port)), (*found, ("127.0.0.1", port))]


async def asked(host):
    server = await asyncio.start_server(answer, sock=socket.create_server(("127.0.0.1", 0)))
    port = server.sockets[0].getsockname()[1]
    wires = Wires(Endpoint(f"http://{host}:{port}", "the test"), None, FakeClock())
    async with server:
        (found,) = await wires.exchange(REQUEST)
        await wires.close()
    return found.body


@pytest.mark.parametrize("host", ["127.0.0.1", "apiserver"])
def test_a_server_by_address_and_by_name(host):
    with asyncio.Runner(loop_factory=Addresses) as runner:
        assert runner.run(asked(host)) == b"hi"


def test_a_name_that_nobody_knows():
    runner = asyncio.Runner(loop_factory=Addresses)
    with runner, pytest.raises(CannotConnect, match="Name or service not known"):
        runner.run(asked("nowhere"))


async def asked_together(said, count):
    """What a server's bytes mean to a client that has sent several requests at once."""

    async def say(reader, writer):
        for _ in range(count):
            await reader.readuntil(b"\r\n\r\n")
        for piece in said:
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(0)
        writer.close()

    server = await asyncio.start_server(say, sock=socket.create_server(("127.0.0.1", 0)))
    port = server.sockets[0].getsockname()[1]
    wires = Wires(Endpoint(f"http://127.0.0.1:{port}", "the test"), None, FakeClock())
    async with server:
        found = await wires.exchange(REQUEST * count, count)
        await wires.close()
    return [answer.body for answer in found]


CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nho\r\n0\r\n\r\n"
ENDLESS = b"HTTP/1.1 200 OK\r\n\r\nhu"  # up to the end of the connection


@pytest.mark.parametrize(
    "said",
    [
        pytest.param([ANSWER + CHUNKED + ENDLESS], id="at-once"),
        pytest.param([ANSWER, CHUNKED, ENDLESS], id="one-by-one"),
        pytest.param([ANSWER[:30], ANSWER[30:] + CHUNKED[:5], CHUNKED[5:] + ENDLESS], id="cut"),
    ],
)
def test_requests_that_are_sent_together_are_answered_in_order(said):
    assert asyncio.run(asked_together(said, 3)) == [b"hi", b"ho", b"hu"]


@pytest.mark.parametrize(
    "said",
    [
        pytest.param([ANSWER], id="after-an-answer"),
        pytest.param([ANSWER + CHUNKED[:20]], id="in-the-middle"),
        pytest.param([ANSWER + b"SSH-2.0\r\n\r\n"], id="nonsense"),
    ],
)
def test_a_server_that_does_not_answer_all(said):
    with pytest.raises(BadAnswer):
        asyncio.run(asked_together(said, 2))

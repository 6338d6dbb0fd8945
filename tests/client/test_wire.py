"""Connections: to a server that is known by its name, to one that has several addresses."""

import asyncio
import socket

import pytest

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
    wires = Wires(f"http://{host}:{port}", None, "", FakeClock())
    async with server:
        found = await wires.exchange(REQUEST)
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

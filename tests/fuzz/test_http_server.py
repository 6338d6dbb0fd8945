"""Fuzzers of the HTTP servers: no request harms the next one."""

import asyncio

from hypothesis import given

from podium.apiserver.bootstrap import new_api
from podium.apiserver.server import EmbeddedServer
from podium.clock import LoopClock
from tests.fuzz.test_decoders import mangled
from tests.support.search import examples

REQUEST = (
    b"POST /api/v1/namespaces/default/pods?fieldManager=a HTTP/1.1\r\nHost: localhost\r\n"
    b"Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"
)
GOOD = b"GET /readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
# A request may be incomplete, so that the server waits for the rest of it.
PATIENCE_SECONDS = 0.02


async def talk(host, port, data, patience=None):
    reader, writer = await asyncio.open_connection(host, port)
    try:
        writer.write(data)
        async with asyncio.timeout(patience):
            return await reader.read(65536)
    except (TimeoutError, ConnectionError):
        return b""
    finally:
        writer.close()


def test_requests():
    loop = asyncio.new_event_loop()
    server = EmbeddedServer(new_api(LoopClock()))
    loop.run_until_complete(server.start())
    host, _, port = server.url.removeprefix("http://").partition(":")

    @given(data=mangled(REQUEST))
    @examples(200, deadline=None)
    def check(data):
        answer = loop.run_until_complete(talk(host, int(port), data, PATIENCE_SECONDS))
        assert not answer.startswith(b"HTTP/1.1 500"), answer
        assert b"200" in loop.run_until_complete(talk(host, int(port), GOOD)).split(b"\r\n")[0]

    try:
        check()
    finally:
        loop.run_until_complete(server.stop())
        loop.close()

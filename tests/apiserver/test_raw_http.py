"""Bytes on a connection that no HTTP library would send: an answer, and no harm to others."""

import asyncio
import json
from contextlib import suppress

import pytest

from podium.apiserver.bootstrap import new_api
from podium.apiserver.server import EmbeddedServer
from podium.clock import FakeClock
from tests.support.apiserver import with_server

POST = b"POST /api/v1/namespaces HTTP/1.1\r\nHost: localhost\r\n"


async def exchange(client, raw):
    """The code and the body of the answer to these bytes."""
    port = int(client.url.rpartition(":")[2])
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        async with asyncio.timeout(20):
            writer.write(raw)
            head = await reader.readuntil(b"\r\n\r\n")
            length = next(line for line in head.lower().split(b"\r\n") if b"content-length" in line)
            body = await reader.readexactly(int(length.split(b":")[1]))
    finally:
        writer.close()
    return int(head.split(b" ")[1]), body


@pytest.mark.parametrize(
    "raw",
    [
        pytest.param(b"\x16\x03\x01\x02\x00\r\n\r\n", id="tls"),
        pytest.param(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", id="http-2"),
        pytest.param(b"GET / HTTP/9.9\r\nHost: localhost\r\n\r\n", id="version"),
        pytest.param(b"GET /" + b"a" * 70_000 + b" HTTP/1.1\r\n\r\n", id="long-line"),
        pytest.param(POST + b"X: " + b"a" * 70_000 + b"\r\n\r\n", id="long-header"),
        pytest.param(POST + b"Content-Length: x\r\n\r\n", id="length"),
        pytest.param(POST + b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n", id="two-lengths"),
        pytest.param(POST + b"X: a\x00b\r\n\r\n", id="nul"),
    ],
)
@with_server
async def test_what_is_no_http_is_told_in_plain_text(client, raw, caplog):
    """As by a real server, whose HTTP library answers before Kubernetes' code is reached."""
    code, body = await exchange(client, raw)

    assert code == 400
    assert not body.startswith(b"{")
    assert not caplog.records  # a client's nonsense is no fault of ours
    assert (await client.get("/api"))["versions"] == ["v1"]


@pytest.mark.parametrize(
    ("raw", "code"),
    [
        pytest.param(b"OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\n", 404, id="no-path"),
        pytest.param(b"CONNECT a:80 HTTP/1.1\r\nHost: localhost\r\n\r\n", 404, id="a-proxy"),
        pytest.param(b"GET /%zz/%ff HTTP/1.1\r\nHost: localhost\r\n\r\n", 404, id="bad-escapes"),
        pytest.param(b"GET /api HTTP/1.1\r\nHost: \xff\xfe\r\n\r\n", 403, id="host-in-bytes"),
        pytest.param(
            b"GET /api HTTP/1.1\r\nHost: localhost\r\nAccept: \xff\r\n\r\n",
            406,
            id="accept-in-bytes",
        ),
        pytest.param(
            POST + b"User-Agent: \xff\xfe\r\nContent-Length: 2\r\n\r\n{}",
            422,
            id="agent-in-bytes",
        ),
        pytest.param(
            POST + b"Content-Encoding: gzip\r\nContent-Length: 4\r\n\r\nabcd",
            400,
            id="compressed",
        ),
        pytest.param(POST + b"Content-Length: 99999999\r\n\r\n", 413, id="too-large"),
    ],
)
@with_server
async def test_odd_http_is_answered_with_a_status(client, raw, code):
    found, body = await exchange(client, raw)

    assert found == code
    assert (json.loads(body)["kind"], json.loads(body)["code"]) == ("Status", code)


@with_server
async def test_a_watch_over_http_1_0_ends_with_the_connection(client, caplog):
    """Such a client does not know chunks."""
    await client.create("/api/v1/namespaces", {"metadata": {"name": "seen"}})
    port = int(client.url.rpartition(":")[2])
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    query = b"watch=true&fieldSelector=metadata.name%3Dseen&timeoutSeconds=1"
    writer.write(b"GET /api/v1/namespaces?" + query + b" HTTP/1.0\r\nHost: localhost\r\n\r\n")
    async with asyncio.timeout(20):
        head, _, body = (await reader.read()).partition(b"\r\n\r\n")
    writer.close()

    assert head.startswith(b"HTTP/1.0 200")
    assert b"chunked" not in head.lower()
    assert [json.loads(line)["type"] for line in body.splitlines()] == ["ADDED"]
    assert not caplog.records


@with_server
async def test_a_body_that_is_cut_short_creates_nothing(client):
    port = int(client.url.rpartition(":")[2])
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(POST + b'Content-Length: 100\r\n\r\n{"metadata":{"name":"x"}}')
    writer.write_eof()
    async with asyncio.timeout(20):
        await reader.read()
    writer.close()

    assert (await client.call("GET", "/api/v1/namespaces/x"))[0] == 404


@pytest.mark.parametrize(
    "rest",
    [
        pytest.param(b"2\r\n{}\r\n", id="silence"),
        pytest.param(b"2\r\n{}\r\nzz\r\n", id="chunk-of-no-size"),
    ],
)
def test_a_body_that_does_not_end_is_given_up(rest):
    async def main():
        clock = FakeClock()
        async with EmbeddedServer(new_api(clock), clock=clock) as server:
            reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
            writer.write(POST + b"Transfer-Encoding: chunked\r\n\r\n")
            async with asyncio.timeout(20):
                while clock.until_next() is None:
                    await asyncio.sleep(0)
                writer.write(rest)
                clock.advance(60)
                with suppress(ConnectionResetError):  # cut off before it was all read
                    assert await reader.read() == b""
            writer.close()

    asyncio.run(main())

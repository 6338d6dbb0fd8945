"""The plain port: HTTP on a loopback address, for everyone on this machine."""

import asyncio

import pytest

from podium.errors import ServingError
from podium.live import accepting
from podium.live.serving import require_loopback
from tests.support.serving import Running, with_server


@pytest.mark.parametrize("path", ["/healthz", "/metrics", "/configz", "/nowhere"])
def test_no_answer_is_to_be_cached(path):
    async def scenario(running):
        headers = (await running.ask(path))[2]
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["Cache-Control"] == "no-cache, private"
        assert "Server" not in headers

    with_server(scenario)


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.53", "::1", "localhost"])
def test_loopback_addresses(host):
    require_loopback(host)


@pytest.mark.parametrize(
    ("host", "message"),
    [
        pytest.param("0.0.0.0", "only on a loopback address such as 127.0.0.1", id="all"),
        pytest.param("::", "only on a loopback address", id="all-of-ipv6"),
        pytest.param("192.0.2.7", "on 192.0.2.7", id="an-interface"),
        pytest.param("example.com", '"example.com" is not an IP address', id="a-name"),
        pytest.param("", '"" is not an IP address', id="nothing"),
    ],
)
def test_other_addresses_are_refused(host, message):
    async def scenario(running):
        with pytest.raises(ServingError, match=message):
            await running.server.start(host, 0)

    with_server(scenario)


def test_a_port_that_is_taken_is_named():
    async def scenario(running):
        another = Running()
        with pytest.raises(ServingError, match=f"127.0.0.1:{running.port} is taken"):
            await another.server.start("127.0.0.1", running.port)
        await another.server.stop()

    with_server(scenario)


def test_with_too_many_connections_the_oldest_makes_room(monkeypatch):
    monkeypatch.setattr(accepting, "MOST_CONNECTIONS", 3)

    async def scenario(running):
        held = [await asyncio.open_connection(running.host, running.port) for _ in range(3)]
        for _, writer in held:
            writer.write(b"GET /livez HTTP/1.1\r\nX: ")  # and no more
        assert (await running.ask("/livez"))[0] == 200
        oldest, *others = held
        assert await asyncio.wait_for(oldest[0].read(), 10) == b""
        for reader, writer in others:
            writer.write(b"y\r\nHost: a\r\n\r\n")
            assert (await asyncio.wait_for(reader.readline(), 10)).startswith(b"HTTP/1.1 200")
        for _, writer in held:
            writer.close()

    with_server(scenario)


def test_closed_connections_do_not_count(monkeypatch):
    monkeypatch.setattr(accepting, "MOST_CONNECTIONS", 2)

    async def scenario(running):
        reader, writer = await asyncio.open_connection(running.host, running.port)
        for _ in range(5):
            assert (await running.ask("/livez", headers={"Connection": "close"}))[0] == 200
        writer.write(b"GET /livez HTTP/1.1\r\nHost: a\r\n\r\n")
        assert (await asyncio.wait_for(reader.readline(), 10)).startswith(b"HTTP/1.1 200")
        writer.close()

    with_server(scenario)


@pytest.mark.parametrize(
    "sent",
    [
        pytest.param(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", id="preface-of-http-2"),
        pytest.param(b"GET / HTTP/1.1\r\nX: " + b"a" * 70_000 + b"\r\n\r\n", id="long-header"),
        pytest.param(b"GET /" + b"a" * 70_000 + b" HTTP/1.1\r\n\r\n", id="long-path"),
        pytest.param(b"\x16\x03\x01\x02\x00\x01\x00\x01", id="a-handshake"),
        pytest.param(b"GET / HTTP/1.1\r\nContent-Length: x\r\n\r\n", id="length"),
        pytest.param(b"GET / HTTP/1.1\r\nA: 1\r\n B: 2\r\n\r\n", id="folded-header"),
    ],
)
def test_what_is_no_request_is_refused(sent, caplog):
    """In a few words, without a trace in the log and without names of libraries."""

    async def scenario(running):
        reader, writer = await asyncio.open_connection(running.host, running.port)
        writer.write(sent)
        answer = await asyncio.wait_for(reader.read(), 10)
        assert answer.startswith((b"HTTP/1.0 400 ", b"HTTP/1.1 400 "))
        head, _, body = answer.partition(b"\r\n\r\n")
        assert body.startswith(b"400 Bad Request")
        assert len(body) < 100
        assert b"nosniff" in head
        assert b"Python" not in head
        assert caplog.records == []
        writer.close()
        assert (await running.ask("/livez"))[0] == 200

    with_server(scenario)


def test_a_header_that_is_too_long_is_named():
    async def scenario(running):
        status, text, _ = await running.ask("/livez", headers={"Authorization": "a" * 9000})
        assert (status, text) == (
            400,
            "400 Bad Request: the path or a header is longer than 8 KiB\n",
        )

    with_server(scenario)


def test_a_fault_of_ours_is_logged(caplog):
    def broken():
        raise RuntimeError("broken")

    async def scenario(running):
        status, text, headers = await running.ask("/debug/plugins")
        assert (status, "broken" in text, "Server" in headers) == (500, False, False)
        [record] = caplog.records
        assert str(record.exc_info[1]) == "broken"

    with_server(scenario, Running(plugins=broken))

"""Fuzzers of the secure port: no bytes open what is closed, or harm the next request.

Requests over TLS, handshakes that are not, and handshakes that stop half-way and stay open.
"""

import asyncio
import contextlib
import ssl

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fuzz.test_decoders import mangled
from tests.support.search import examples
from tests.support.secure_serving import Reviewer, delegating, kubeconfig
from tests.support.serving import Running, client_context

REQUEST = (
    b"GET /metrics?verbose=1 HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer abc.\xe9f\r\n"
    b"X-Remote-User: root\r\nX-Remote-Group: system:masters\r\n\r\n"
    b"PUT /debug/flags/v HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\n\r\n9"
)
GOOD = b"GET /livez HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
# What anonymous users must not see: a metric, a flag, the configuration.
SECRETS = (b"scheduler_", b"KubeSchedulerConfiguration", b"successfully set klog")
# A request may be incomplete, so that the server waits for the rest of it.
PATIENCE_SECONDS = 0.02
MOST_HALF = 20


def client_hello():
    """The first message of a handshake."""
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    tls = client_context().wrap_bio(incoming, outgoing, server_hostname="localhost")
    with contextlib.suppress(ssl.SSLWantReadError):
        tls.do_handshake()
    return outgoing.read()


HELLO = client_hello()


class Port:
    """A secure port, and a loop to talk to it on."""

    def __init__(self, loop, running):
        self._loop, self._running = loop, running

    def send(self, data, tls=None, patience=None):
        """What is answered to these bytes."""
        return self._loop.run_until_complete(self._send(data, tls, patience))

    async def _send(self, data, tls, patience):
        writer = None
        try:
            reader, writer = await self._open(tls)
            writer.write(data)
            async with asyncio.timeout(patience):
                return await reader.read(1 << 20)
        except (TimeoutError, ConnectionError, ssl.SSLError):
            return b""
        finally:
            if writer is not None:
                writer.close()

    def _open(self, tls=None):
        return asyncio.open_connection(self._running.host, self._running.port, ssl=tls)

    def is_well(self):
        return self.send(GOOD, client_context()).startswith(b"HTTP/1.1 200")

    @contextlib.contextmanager
    def left_open(self, sent):
        """Connections on which these bytes were sent, and nothing more."""
        opened = [self._loop.run_until_complete(self._open()) for _ in sent]
        for data, (_, writer) in zip(sent, opened, strict=True):
            writer.write(data)
        yield
        for _, writer in opened:
            writer.close()


@pytest.fixture(scope="module")
def port(tmp_path_factory):
    """A port that asks an API server about tokens and rights, so that odd ones must be sent."""
    loop = asyncio.new_event_loop()
    reviewer = Reviewer()
    loop.run_until_complete(reviewer.__aenter__())
    asking = delegating(kubeconfig(tmp_path_factory.mktemp("port"), reviewer.url))
    running = Running(is_profiled=True).secured(asking)
    loop.run_until_complete(running.__aenter__())
    yield Port(loop, running)
    loop.run_until_complete(running.__aexit__())
    loop.run_until_complete(reviewer.__aexit__())
    loop.close()


def test_requests(port, caplog):
    tls = client_context()

    @given(data=mangled(REQUEST))
    @examples(60, deadline=None)
    def check(data):
        answer = port.send(data, tls, PATIENCE_SECONDS)
        assert b"HTTP/1.1 500" not in answer, answer
        assert not any(each in answer for each in SECRETS), answer
        assert port.is_well()

    check()
    assert not [record for record in caplog.records if record.exc_info]  # no fault of ours


def test_what_is_not_tls(port):
    @given(data=st.one_of(mangled(HELLO), mangled(REQUEST), st.binary(max_size=400)))
    @examples(60, deadline=None)
    def check(data):
        answer = port.send(data, patience=PATIENCE_SECONDS)
        assert b"HTTP/" not in answer, answer
        assert port.is_well()

    check()


def test_handshakes_that_stop_half_way(port):
    @given(cuts=st.lists(st.integers(0, len(HELLO)), min_size=1, max_size=MOST_HALF))
    @examples(10, deadline=None)
    def check(cuts):
        with port.left_open([HELLO[:cut] for cut in cuts]):
            assert port.is_well()
        assert port.is_well()

    check()

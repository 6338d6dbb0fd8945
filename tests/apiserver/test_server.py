"""Who may connect, and to which address the server binds."""

import asyncio
import ssl

import aiohttp
import pytest

from podium.apiserver.bootstrap import new_api
from podium.apiserver.server import Access, EmbeddedServer, NotOnLoopback
from podium.clock import FakeClock
from tests.apiserver.harness import with_server


@pytest.mark.parametrize(
    ("host", "access"),
    [
        pytest.param("0.0.0.0", Access(), id="everywhere-without-anything"),
        pytest.param("0.0.0.0", Access(tokens=("t",)), id="tokens-without-tls"),
        pytest.param(
            "192.0.2.1", Access(tls=ssl.create_default_context()), id="tls-without-tokens"
        ),
    ],
)
def test_only_loopback_is_open(host, access):
    with pytest.raises(NotOnLoopback):
        EmbeddedServer(new_api(FakeClock()), host=host, access=access)


def test_tokens_are_asked_for():
    async def scenario():
        api = new_api(FakeClock())
        server = EmbeddedServer(api, access=Access(tokens=("secret",)))
        async with server, aiohttp.ClientSession() as session:
            codes = []
            for headers in ({}, {"Authorization": "Bearer secret"}, {"Authorization": "Bearer x"}):
                async with session.get(f"{server.url}/api/v1/pods", headers=headers) as got:
                    codes.append(got.status)
            return codes

    assert asyncio.run(scenario()) == [401, 200, 401]


@with_server
async def test_web_pages_of_other_hosts_are_kept_out(client):
    status, answer = await client.call("GET", "/api/v1/pods", Host="evil.example:80")

    assert (status, answer["reason"]) == (403, "Forbidden")

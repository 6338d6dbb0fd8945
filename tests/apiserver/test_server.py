"""Who may connect, to which address the server binds, and who waits for whom."""

import asyncio
import ssl
import threading

import aiohttp
import pytest

from podium.apiserver import server as serving
from podium.apiserver.bootstrap import new_api
from podium.apiserver.decoding import read_yaml
from podium.apiserver.server import Access, EmbeddedServer
from podium.clock import FakeClock
from podium.errors import NotOnLoopback
from tests.support.apiserver import APPLY, CONFIG_MAPS, with_server


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


YAML = "application/yaml"
LARGE = b"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n" + b"".join(
    b"  k%d: 'some text'\n" % number for number in range(3000)
)


@with_server
async def test_nobody_waits_for_much_yaml(client, monkeypatch):
    is_started, may_end = threading.Event(), threading.Event()

    def slowly(body):
        is_started.set()
        assert may_end.wait(10)
        return read_yaml(body)

    monkeypatch.setattr(serving, "read_yaml", slowly)
    writing = asyncio.create_task(client.call("POST", CONFIG_MAPS, LARGE, YAML))
    assert await asyncio.to_thread(is_started.wait, 10)
    status, _ = await client.call("GET", CONFIG_MAPS)
    may_end.set()

    assert status == 200
    status, made = await writing
    assert (status, len(made["data"])) == (201, 3000)


@pytest.mark.parametrize(
    ("method", "path", "content_type"),
    [("POST", CONFIG_MAPS, YAML), ("PATCH", f"{CONFIG_MAPS}/a?fieldManager=me", APPLY)],
    ids=["create", "apply"],
)
@with_server
async def test_much_yaml_is_refused_like_a_little(client, method, path, content_type):
    answers = [
        await client.call(method, path, body, content_type)
        for body in (b"a: [", LARGE + b"b: [", b"- a", b"- a\n" * 20_000)
    ]

    assert [status for status, _ in answers] == [400] * 4
    little, much, a_list, a_long_list = (answer["message"] for _, answer in answers)
    assert "did not find expected node content" in little
    assert much.partition("\n")[0] == little.partition("\n")[0]
    assert a_long_list == a_list

"""An embedded server and a client on loopback, for tests that are coroutines."""

import asyncio
import functools
import inspect
import io
import json
from dataclasses import dataclass

import aiohttp

from podium.apiserver.api import Api
from podium.apiserver.bootstrap import new_api
from podium.apiserver.server import EmbeddedServer
from podium.clock import FakeClock
from podium.release import LATEST

PODS = "/api/v1/namespaces/default/pods"
CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"
DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments"

MERGE = "application/merge-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"
JSON_PATCH = "application/json-patch+json"
APPLY = "application/apply-patch+yaml"


@dataclass
class Client:
    """Requests to one server; answers are a code and parsed JSON."""

    session: aiohttp.ClientSession
    url: str
    api: Api
    clock: FakeClock

    async def call(self, method, path, body=None, content_type="application/json", **headers):
        data = body if isinstance(body, bytes | None) else json.dumps(body).encode()
        if data is not None and len(data) > 500_000:
            data = io.BytesIO(data)  # aiohttp warns of large bodies as bytes
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        if data is not None:
            sent["Content-Type"] = content_type
        async with self.session.request(method, self.url + path, data=data, headers=sent) as got:
            raw = await got.read()
            parsed = json.loads(raw) if "json" in got.headers["Content-Type"] else raw
            return got.status, parsed

    async def get(self, path, **headers):
        return (await self.call("GET", path, **headers))[1]

    async def create(self, path, body):
        status, made = await self.call("POST", path, body)
        assert status == 201, made
        return made

    async def watch(self, path, count):
        """The next ``count`` events of a watch, as (type, object)."""
        found = []
        async with self.session.get(self.url + path) as got:
            assert got.status == 200, await got.read()
            async for line in got.content:
                event = json.loads(line)
                found.append((event["type"], event["object"]))
                if len(found) == count:
                    return found
        return found


def with_server(test):
    """Run a test coroutine with a client of a fresh server; the cluster's time is a FakeClock."""

    @functools.wraps(test)
    def wrapper(*args, **kwargs):
        asyncio.run(_run(test, *args, **kwargs))

    # pytest must not take the client for a fixture.
    del wrapper.__wrapped__
    names = test.__code__.co_varnames[1 : test.__code__.co_argcount]
    kind = inspect.Parameter.KEYWORD_ONLY
    wrapper.__signature__ = inspect.Signature([inspect.Parameter(name, kind) for name in names])
    return wrapper


async def _run(test, *args, **kwargs):
    clock = FakeClock()
    release = kwargs.get("release", LATEST)  # a test may be parametrized with the server's release
    api = new_api(clock, history=50, seed=1, release=release)
    timeout = aiohttp.ClientTimeout(total=20)
    async with EmbeddedServer(api) as server, aiohttp.ClientSession(timeout=timeout) as session:
        await test(Client(session, server.url, api, clock), *args, **kwargs)
    api.store.check_invariants()


def pod(name="p", **spec):
    containers = [{"name": "c", "image": "nginx:1"}]
    return {"metadata": {"name": name}, "spec": {"containers": containers, **spec}}


def config_map(name="c", data=None, **meta):
    return {"metadata": {"name": name, **meta}, "data": data or {}}


def deployment(name="web", replicas=1, image="nginx:1"):
    labels = {"app": name}
    template = {
        "metadata": {"labels": labels},
        "spec": {"containers": [{"name": "c", "image": image}]},
    }
    spec = {"replicas": replicas, "selector": {"matchLabels": labels}, "template": template}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name}, "spec": spec}

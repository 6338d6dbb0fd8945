"""The two servers of a comparison, and requests to either: a code and what the body says."""

import asyncio
import contextlib
import http.client
import json
import ssl
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import yaml

from podium.apiserver.bootstrap import new_api
from podium.apiserver.server import EmbeddedServer
from podium.clock import LoopClock
from podium.release import LATEST
from tests.support.control_plane.plane import write_kubeconfig

_DEADLINE_SECONDS = 60
_IDLE_SECONDS = 20  # less than kube-apiserver waits before it hangs up


def _changes(watch):
    """The events of a watch until it ends; one that was refused has none."""
    for line in watch:
        event = json.loads(line)
        if "object" in event and event["type"] != "ERROR":
            yield event


@dataclass(frozen=True)
class Side:
    """One server: where it is, and how a client gets in."""

    name: str
    url: str
    kubeconfig: Path
    trust: ssl.SSLContext | None = None
    _kept: list = field(default_factory=list, compare=False)  # since when, and an open connection

    def request(self, method, path, body=None, **headers):
        """One request; a body of JSON or YAML is parsed, any other is text."""
        connection = self._fresh()
        try:
            connection.request(method, path, body, headers)
            answer = connection.getresponse()
            raw = answer.read()
        except BaseException:
            connection.close()
            raise
        self._keep(connection, answer)
        warnings = answer.headers.get_all("Warning") or []
        return answer.status, _parsed(raw, answer.headers["Content-Type"]), warnings

    def close(self):
        while self._kept:
            self._kept.pop()[1].close()

    def _fresh(self):
        """A connection that is open: a kept one that was used a moment ago, or a new one."""
        while self._kept:
            used_at, connection = self._kept.pop()
            if time.monotonic() - used_at < _IDLE_SECONDS:
                return connection
            connection.close()
        return self._connection()

    def _keep(self, connection, answer):
        """For the next request, unless the server said that it hangs up."""
        if answer.will_close:
            connection.close()
        else:
            self._kept.append((time.monotonic(), connection))

    def events(self, path, count):
        """The first events of a watch."""
        with contextlib.closing(self._connection()) as connection:
            connection.request("GET", path, headers={"Accept": "application/json"})
            answer = connection.getresponse()
            return answer.status, [json.loads(answer.readline()) for _ in range(count)]

    def wait_for(self, path, is_wanted):
        """List a collection and watch it from there until an object is as wanted.

        A watch alone would not do: with an etcd before 3.5.13, kube-apiserver refuses to begin one
        while anything else in the cluster has changed more recently, or ends it after some seconds.
        """
        end = time.monotonic() + _DEADLINE_SECONDS
        while not self._is_shown(path, is_wanted):
            assert time.monotonic() < end, f"{path}: never as wanted"

    def _is_shown(self, path, is_wanted):
        """Whether a list or the watch from there on shows it, before the server ends the watch."""
        separator = "&" if "?" in path else "?"
        code, listed, _ = self.request("GET", path, Accept="application/json")
        assert code == 200, listed
        if any(is_wanted(obj) for obj in listed["items"]):
            return True
        version = listed["metadata"]["resourceVersion"]
        watched = f"{path}{separator}watch=true&resourceVersion={version}"
        with contextlib.closing(self._connection()) as connection:
            connection.request("GET", watched, headers={"Accept": "application/json"})
            answer = connection.getresponse()
            return any(is_wanted(event["object"]) for event in _changes(answer))

    def _connection(self):
        at = urlsplit(self.url)
        if self.trust is None:
            return http.client.HTTPConnection(at.hostname, at.port, timeout=_DEADLINE_SECONDS)
        return http.client.HTTPSConnection(
            at.hostname, at.port, timeout=_DEADLINE_SECONDS, context=self.trust
        )


def _parsed(raw, media):
    if "json" in media:
        return json.loads(raw)
    return yaml.safe_load(raw) if "yaml" in media else raw.decode()


def real(plane):
    """kube-apiserver, as somebody who may do everything."""
    trust = ssl.create_default_context(cafile=plane.authority)
    user = json.loads(plane.admin.read_text())["users"][0]["user"]
    trust.load_cert_chain(user["client-certificate"], user["client-key"])
    side = Side("kube-apiserver", plane.url, plane.admin, trust)
    plane.before_it_ends(side.close)
    return side


@contextlib.contextmanager
def embedded(folder, history=8192, release=LATEST, features=frozenset(), **options):
    """podium's server in a thread, without controllers and kubelets, as the real one has none."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="embedded server")
    thread.start()

    def call(coroutine):
        return asyncio.run_coroutine_threadsafe(coroutine, loop).result(_DEADLINE_SECONDS)

    async def start():
        api = new_api(LoopClock(), history=history, release=release, features=features)
        server = EmbeddedServer(api, **options)
        await server.start()
        return server

    try:
        server = call(start())
        cluster = {"server": server.url}
        config = write_kubeconfig(folder / "embedded.kubeconfig", cluster, {})
        with contextlib.closing(Side("podium", server.url, config)) as side:
            yield side
        call(server.stop())
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()

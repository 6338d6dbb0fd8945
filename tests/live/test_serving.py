"""The server of health, metrics and configuration, over HTTP on a loopback address."""

import asyncio

import aiohttp
import pytest

from podium.errors import ServingError
from podium.live.health import Health
from podium.live.serving import Server, require_loopback
from podium.metrics import Metrics


class Running:
    """A server whose health tests change, and a client of it."""

    def __init__(self):
        self.stopping = False
        self.metrics = Metrics()
        health = Health(
            is_stopping=lambda: self.stopping,
            is_synced=lambda: True,
            watches=lambda: None,
            event_loop=lambda: None,
        )
        self.server = Server(health, self.metrics, lambda: {"kind": "KubeSchedulerConfiguration"})

    async def __aenter__(self):
        self.host, self.port = await self.server.start("127.0.0.1", 0)
        self.session = aiohttp.ClientSession(f"http://{self.host}:{self.port}")
        return self

    async def __aexit__(self, *_):
        await self.session.close()
        await self.server.stop()

    async def ask(self, path, method="GET"):
        async with self.session.request(method, path) as answer:
            return answer.status, await answer.text(), answer.headers


def with_server(scenario):
    async def run():
        async with Running() as running:
            await scenario(running)

    asyncio.run(run())


@pytest.mark.parametrize(
    ("path", "status", "text"),
    [
        pytest.param("/healthz", 200, "ok", id="healthz"),
        pytest.param("/livez", 200, "ok", id="livez"),
        pytest.param("/readyz", 200, "ok", id="readyz"),
        pytest.param(
            "/livez?verbose",
            200,
            "[+]ping ok\n[+]event-loop ok\nlivez check passed\n",
            id="verbose",
        ),
        pytest.param("/livez/ping", 200, "ok", id="one-check"),
        pytest.param("/readyz/ping", 404, "404: Not Found", id="check-of-another-endpoint"),
        pytest.param("/", 404, "404: Not Found", id="unknown-path"),
        pytest.param("/configz/", 404, "404: Not Found", id="trailing-slash"),
    ],
)
def test_answers_when_all_is_well(path, status, text):
    async def scenario(running):
        assert (await running.ask(path))[:2] == (status, text)

    with_server(scenario)


def test_a_process_that_stops_is_not_ready_but_alive():
    async def scenario(running):
        running.stopping = True

        status, text, _ = await running.ask("/readyz")
        assert status == 500
        assert text.splitlines()[0] == "[-]shutdown failed: reason withheld"
        assert (await running.ask("/readyz?exclude=shutdown"))[:2] == (200, "ok")
        assert (await running.ask("/readyz/shutdown"))[:2] == (
            500,
            "internal server error: process is shutting down\n",
        )
        assert (await running.ask("/livez"))[0] == 200

    with_server(scenario)


def test_metrics_are_shown_and_reset():
    async def scenario(running):
        running.metrics.incoming("active", "NodeAdd")
        line = 'scheduler_queue_incoming_pods_total{event="NodeAdd",queue="active"} 1.0'

        status, text, headers = await running.ask("/metrics")
        assert (status, line in text.splitlines()) == (200, True)
        assert headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"

        assert (await running.ask("/metrics", "DELETE"))[:2] == (200, "metrics reset\n")
        assert line not in (await running.ask("/metrics"))[1]

    with_server(scenario)


def test_the_configuration_is_shown():
    async def scenario(running):
        status, text, headers = await running.ask("/configz")

        assert (status, text) == (
            200,
            '{"componentconfig": {"kind": "KubeSchedulerConfiguration"}}',
        )
        assert headers["Content-Type"].startswith("application/json")

    with_server(scenario)


@pytest.mark.parametrize("path", ["/healthz", "/metrics", "/configz", "/nowhere"])
def test_no_answer_is_to_be_cached(path):
    async def scenario(running):
        headers = (await running.ask(path))[2]
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["Cache-Control"] == "no-cache, private"

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

    with_server(scenario)

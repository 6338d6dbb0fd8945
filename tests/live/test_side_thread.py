"""A loop in a thread of its own goes on while ours is busy; and the parts that run there."""

import asyncio
import http.client
import threading

import pytest

from podium.clock import LoopClock, give_way
from podium.live.endpoints import Shown
from podium.live.event_loop import SideThread
from podium.live.health import Health, Watchdog
from podium.live.serving import Server
from podium.metrics import Metrics

SOON = 30  # seconds until a test that hangs is ended


def test_work_runs_in_another_thread():
    async def where():
        return threading.get_ident()

    with SideThread() as side:
        assert side.spawn(where()).result(SOON) != threading.get_ident()


def test_faults_come_back():
    async def fail():
        raise KeyError("a bug")

    with SideThread() as side, pytest.raises(KeyError, match="a bug"):
        side.spawn(fail()).result(SOON)


def test_calls_are_made_there():
    called = threading.Event()

    with SideThread() as side:
        side.call(called.set)
        assert called.wait(SOON)


def test_what_still_runs_is_cancelled_at_the_end():
    ended = []

    async def forever():
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(True)

    async def started():
        """Behind the other one."""

    with SideThread() as side:
        side.spawn(forever())
        side.spawn(started()).result(SOON)

    assert ended == [True]


def test_a_stalled_loop_is_seen_from_outside():
    """The loop of this test stands still between two waits, as under a plugin that hangs."""

    async def scenario():
        loop = asyncio.get_running_loop()
        watchdog = Watchdog(LoopClock(), loop.call_soon_threadsafe, threading.get_ident(), limit=0)
        health = Health(
            is_stopping=lambda: False,
            is_synced=lambda: True,
            watches=lambda: None,
            event_loop=watchdog.failing,
        )
        shown = Shown(health=health, metrics=Metrics(), clock=LoopClock(), configuration=dict)
        server = Server(shown)
        with SideThread() as side:
            host, port = side.spawn(server.start("127.0.0.1", 0)).result(SOON)
            side.call(watchdog.look)
            status, text = fetch(host, port, "/livez")
            assert status == 500
            assert "[-]event-loop failed: reason withheld" in text

            for _ in range(3):
                await give_way()
            assert fetch(host, port, "/livez") == (200, "ok")
            side.spawn(server.stop()).result(SOON)

    asyncio.run(scenario())


def fetch(host, port, path):
    connection = http.client.HTTPConnection(host, port, timeout=SOON)
    connection.request("GET", path)
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer.status, text

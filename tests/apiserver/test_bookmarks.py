"""Bookmarks of a watch: every minute whatever else there is to send, and once before its end."""

import asyncio
import json
from contextlib import asynccontextmanager

import pytest

from podium.apiserver.bootstrap import new_api
from podium.apiserver.requests import find_target
from podium.apiserver.watching import WatchRequest, WatchStream
from podium.clock import FakeClock, give_way


class PlainView:
    def event(self, item):
        return item.encoded


class PunctualClock(FakeClock):
    """Time passes while a timer is set, as on a machine; it is called on time all the same."""

    def call_later(self, seconds, call):
        timer = super().call_later(seconds, call)
        self.advance(0.001)
        return timer


class Watched:
    """A watch of the config maps with a label, and when each of its frames came."""

    def __init__(self, clock, query):
        self.clock = clock
        self.api = new_api(clock, seed=1)
        self.frames = []
        self._began = clock.now()
        target = find_target(self.api.kinds, ["api", "v1", "configmaps"])
        asked = {"resourceVersion": str(self.api.store.version), "labelSelector": "seen", **query}
        request = WatchRequest(self.api, target, asked)
        self.stream = WatchStream(request, PlainView(), self, clock)

    async def write(self, data):
        seconds = round(self.clock.now() - self._began)
        for line in data.splitlines():
            frame = json.loads(line)
            version = int(frame["object"]["metadata"]["resourceVersion"])
            self.frames.append((seconds, frame["type"], version))

    def abort(self):
        raise AssertionError("nobody is slow here")

    def change(self, name, **labels):
        meta = {"name": name, "namespace": "default", "labels": labels}
        body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta}
        return self.api.store.create("configmaps", body).version

    async def pass_time(self, seconds):
        """Every timer on the way is called on time, and what it wakes runs at once."""
        end = self.clock.now() + seconds
        await _settle()
        while (left := end - self.clock.now()) > 0:
            due = self.clock.until_next()
            self.clock.advance(left if due is None else min(left, due))
            await _settle()

    def times(self, kind="BOOKMARK"):
        return [seconds for seconds, type_, _ in self.frames if type_ == kind]


async def _settle():
    for _ in range(5):
        await give_way()


@asynccontextmanager
async def watching(clock=None, bookmarks="true", **query):
    watched = Watched(clock or FakeClock(), {"allowWatchBookmarks": bookmarks, **query})
    task = asyncio.ensure_future(watched.stream.run())
    try:
        yield watched
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


@pytest.mark.parametrize("clock", [FakeClock, PunctualClock])
def test_one_comes_each_minute(clock):
    async def scenario():
        async with watching(clock()) as watched:
            await watched.pass_time(200)
            assert watched.times() == [60, 120, 180]

    asyncio.run(scenario())


@pytest.mark.parametrize("labels", [{}, {"seen": "yes"}], ids=["left out", "sent"])
def test_other_events_put_none_off(labels):
    async def scenario():
        async with watching() as watched:
            for number in range(13):
                watched.change(f"c{number}", **labels)
                await watched.pass_time(10)
            assert watched.times() == [60, 120]
            assert len(watched.times("ADDED")) == (13 if labels else 0)

    asyncio.run(scenario())


def test_it_tells_the_version_up_to_which_everything_was_sent():
    async def scenario():
        async with watching() as watched:
            watched.change("a", seen="yes")
            last = watched.change("b")
            await watched.pass_time(60)
            assert watched.frames[-1] == (60, "BOOKMARK", last)

    asyncio.run(scenario())


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [("1", []), ("2", []), ("3", [1]), ("60", [58]), ("62", [60]), ("100", [60, 98])],
)
def test_the_last_one_comes_two_seconds_before_the_end(seconds, expected):
    async def scenario():
        async with watching(timeoutSeconds=seconds) as watched:
            await watched.pass_time(120)
            assert watched.times() == expected

    asyncio.run(scenario())


def test_who_asks_for_none_gets_none():
    async def scenario():
        async with watching(bookmarks="false", timeoutSeconds="300") as watched:
            await watched.pass_time(301)
            assert watched.frames == []

    asyncio.run(scenario())

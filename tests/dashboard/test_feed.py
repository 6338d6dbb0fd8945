"""The live stream: throttled, shared, and kind to slow readers."""

import asyncio
import json

import msgspec
import pytest

from podium.clock import FakeClock, give_way
from podium.dashboard.desk import Look
from podium.dashboard.feed import MOST_READERS, MOST_WAITING, TICK_SECONDS, Feed, TooManyReaders
from podium.dashboard.values import Lanes, MapChange, Overview
from podium.live.asking import SchedulerBusy


class Told:
    """A desk that says what it is told."""

    def __init__(self):
        self.looks = 0
        self.is_same = False
        self.is_other = False
        self.fault = None

    async def look(self, follower):
        self.looks += 1
        if self.fault is not None:
            raise self.fault
        overview = Overview(at=str(self.looks), server="", release="", profiles=(), nodes=1,
                            pods=0, lanes=Lanes(), pending=0)  # fmt: skip
        change = MapChange(version=1, nodes=[0], columns={}, pods=[self.looks], flags=[0])
        return Look(overview, change, self.is_other, self.is_same)


def event(update):
    name, data = update.decode().strip().split("\n")
    return name.removeprefix("event: "), json.loads(data.removeprefix("data: "))


async def settle():
    for _ in range(20):
        await give_way()


class Stage:
    def __init__(self):
        self.desk, self.clock = Told(), FakeClock()
        self.feed = Feed(self.desk, self.clock)

    async def tick(self, seconds=TICK_SECONDS):
        self.clock.advance(seconds)
        await settle()


def play(scene):
    async def run():
        stage = Stage()
        try:
            await scene(stage)
        finally:
            await stage.feed.close()

    asyncio.run(run())


def test_a_newcomer_gets_everything_and_then_changes():
    async def scene(stage):
        async with stage.feed.reader() as reader:
            await settle()
            name, whole = event(await reader.next())
            assert (name, whole["map"]["kind"]) == ("whole", "NodeMap")
            await stage.tick()
            name, update = event(await reader.next())
            assert (name, update["change"]["pods"]) == ("update", [2])

    play(scene)


def test_nobody_looks_while_nobody_reads():
    async def scene(stage):
        async with stage.feed.reader():
            await settle()
        await stage.tick(5)
        looks = stage.desk.looks
        await stage.tick(50)
        assert stage.desk.looks == looks
        async with stage.feed.reader():
            await settle()
            assert stage.desk.looks == looks + 1

    play(scene)


def test_at_most_two_updates_a_second_and_one_look_for_all():
    async def scene(stage):
        async with stage.feed.reader() as one, stage.feed.reader() as other:
            await settle()
            await one.next()
            await other.next()
            for _ in range(20):
                await stage.tick(TICK_SECONDS / 5)
            assert 4 <= stage.desk.looks <= 5  # in two seconds
            first, second = await one.next(), await other.next()
            assert first is second  # encoded once

    play(scene)


def test_a_reader_that_is_slow_gets_everything_anew():
    async def scene(stage):
        async with stage.feed.reader() as reader:
            await settle()
            for _ in range(3 * MOST_WAITING):
                await stage.tick()
            names = []
            while reader._waiting:
                names.append(event(await reader.next())[0])
            assert len(names) <= MOST_WAITING
            assert names[0] == "whole"
            assert set(names[1:]) == {"update"}

    play(scene)


def test_other_nodes_are_sent_as_a_whole():
    async def scene(stage):
        async with stage.feed.reader() as reader:
            await settle()
            await reader.next()
            stage.desk.is_other = True
            await stage.tick()
            assert event(await reader.next())[0] == "whole"

    play(scene)


def test_a_quiet_scheduler_gives_signs_of_life():
    async def scene(stage):
        async with stage.feed.reader() as reader:
            await settle()
            await reader.next()
            stage.desk.is_same = True
            for _ in range(40):
                await stage.tick()
            names = [event(await reader.next())[0] for _ in range(len(reader._waiting))]
            assert set(names) == {"alive"}
            assert len(names) <= 5

    play(scene)


@pytest.mark.parametrize("fault", [SchedulerBusy("it did not answer"), RuntimeError("broken")])
def test_a_busy_scheduler_is_reported_and_the_stream_goes_on(fault):
    async def scene(stage):
        async with stage.feed.reader() as reader:
            stage.desk.fault = fault
            await settle()
            name, said = event(await reader.next())
            assert name == "busy"
            assert said["error"]
            stage.desk.fault = None
            await stage.tick()
            assert event(await reader.next())[0] == "whole"

    play(scene)


def test_readers_are_limited():
    async def scene(stage):
        readers = [stage.feed.reader() for _ in range(MOST_READERS)]
        for each in readers:
            await each.__aenter__()
        with pytest.raises(TooManyReaders):
            await stage.feed.reader().__aenter__()
        for each in readers:
            await each.__aexit__(None, None, None)

    play(scene)


def test_the_end_of_the_server_ends_all_streams():
    async def scene(stage):
        async with stage.feed.reader() as reader:
            await settle()
            await reader.next()
            await stage.feed.close()
            assert await reader.next() == b""

    play(scene)


def test_events_are_one_line_each():
    """A line break inside a message would end the event early."""
    encoded = msgspec.json.encode({"message": "a\nb\r\u2028"})

    assert b"\n" not in encoded
    assert b"\r" not in encoded


def test_the_end_reaches_a_reader_with_as_many_updates_as_can_wait():
    async def scene(stage):
        async with stage.feed.reader() as reader:
            while len(reader._waiting) < MOST_WAITING:
                await stage.tick(10 * TICK_SECONDS)
            await stage.feed.close()
            assert await asyncio.wait_for(reader.next(), 10) == b""

    play(scene)

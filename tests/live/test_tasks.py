"""Background work is supervised, drained within a bound, and cancelled."""

import asyncio
import logging

from podium.clock import FakeClock, give_way, sleep
from podium.live.slices import Slices
from podium.live.tasks import Tasks


async def broken():
    raise ZeroDivisionError("broken work")


def test_a_fault_is_logged_by_name_and_ends_nothing_else(caplog):
    async def run():
        tasks, done = Tasks(FakeClock()), []

        async def fine():
            await give_way()
            done.append(True)

        tasks.spawn("bad one", broken())
        tasks.spawn("good one", fine())
        assert await tasks.drain(1) == 0
        assert done == [True]

    with caplog.at_level(logging.ERROR):
        asyncio.run(run())

    assert "bad one" in caplog.text
    assert "broken work" in caplog.text


def test_draining_waits_no_longer_than_told():
    async def run():
        clock = FakeClock()
        tasks = Tasks(clock)
        tasks.spawn("slow", sleep(clock, 60))
        tasks.spawn("quick", sleep(clock, 1))
        drained = asyncio.ensure_future(tasks.drain(5))
        for _ in range(3):
            await give_way()
        clock.advance(1)
        for _ in range(3):
            await give_way()
        assert (len(tasks), drained.done()) == (1, False)

        clock.advance(4)

        assert await drained == 1
        await tasks.cancel()
        assert len(tasks) == 0
        assert clock.until_next() is None  # nothing left behind

    asyncio.run(run())


def test_a_slice_ends_when_its_time_is_used_up():
    async def run():
        now, story = 0.0, []
        slices = Slices(lambda: story.append("between"), seconds=5, timer=lambda: now)

        async def other():
            story.append("other")

        task = asyncio.ensure_future(other())
        now = 4.9
        await slices.yield_to_io()
        assert story == []
        now = 5
        await slices.yield_to_io()
        assert story == ["between", "other"]
        await slices.yield_to_io()
        assert story == ["between", "other"]
        await task

    asyncio.run(run())


def test_nothing_is_added_to_a_slice_that_is_long_already():
    async def run():
        now, story = 0.0, []
        slices = Slices(lambda: story.append("between"), seconds=5, timer=lambda: now)
        now = 20
        await slices.yield_to_io()
        assert story == []
        now = 26
        await slices.yield_to_io()
        assert story == ["between"]

    asyncio.run(run())


def test_what_refuses_to_end_is_named_and_not_waited_for(caplog):
    async def run():
        clock, stubborn = FakeClock(), True

        async def refuses():
            while stubborn:
                try:
                    await asyncio.Event().wait()
                except asyncio.CancelledError:
                    continue

        tasks = Tasks(clock)
        tasks.spawn("refuses", refuses())
        await give_way()
        cancelled = asyncio.ensure_future(tasks.cancel())
        for _ in range(3):
            await give_way()
        assert not cancelled.done()
        clock.advance(1)
        await cancelled
        assert len(tasks) == 1
        stubborn = False
        await tasks.cancel()
        assert len(tasks) == 0

    asyncio.run(run())
    assert "ignored their cancellation tasks=['refuses']" in caplog.text


def test_after_these_means_what_runs_now():
    async def run():
        clock, called = FakeClock(), []
        tasks = Tasks(clock)
        tasks.after_these(lambda: called.append("at once"))
        assert called == ["at once"]

        tasks.spawn("old", sleep(clock, 1))
        await give_way()
        tasks.after_these(lambda: called.append("later"))
        tasks.spawn("new", sleep(clock, 60))
        await give_way()
        assert called == ["at once"]
        clock.advance(1)
        for _ in range(5):
            await give_way()
        assert called == ["at once", "later"]
        await tasks.cancel()

    asyncio.run(run())

"""Waiting by a clock that only moves when told to."""

import asyncio

import pytest

from podium.clock import FakeClock, sleep


def test_sleeping_takes_as_long_as_it_should():
    clock = FakeClock()

    async def wait():
        task = asyncio.ensure_future(sleep(clock, 2))
        seen = []
        for seconds in (1.5, 0.5):
            await asyncio.sleep(0)
            clock.advance(seconds)
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            seen.append(task.done())
        return seen

    assert asyncio.run(wait()) == [False, True]


def test_a_cancelled_sleep_leaves_no_timer():
    clock = FakeClock()

    async def wait():
        task = asyncio.ensure_future(sleep(clock, 2))
        await asyncio.sleep(0)
        assert clock.until_next() == 2
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(wait())
    assert clock.until_next() is None


def test_the_next_call_is_the_first_that_is_left():
    clock = FakeClock()
    calls = []
    first = clock.call_later(1, lambda: calls.append("first"))
    clock.call_later(3, lambda: calls.append("second"))
    first.cancel()
    assert clock.until_next() == 3
    clock.advance(3)
    assert (calls, clock.until_next()) == (["second"], None)

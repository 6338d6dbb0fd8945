"""Waiting by a clock that only moves when told to."""

import asyncio

import pytest

from podium.clock import Deadline, FakeClock, sleep


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


def test_a_deadline_ends_a_wait():
    clock = FakeClock()

    async def wait():
        async with Deadline(clock, 5):
            await asyncio.Event().wait()

    async def run():
        task = asyncio.ensure_future(wait())
        await asyncio.sleep(0)
        clock.advance(4.9)
        await asyncio.sleep(0)
        assert not task.done()
        clock.advance(0.1)
        with pytest.raises(TimeoutError):
            await task

    asyncio.run(run())


def test_a_deadline_can_be_extended():
    clock = FakeClock()
    ended_at = []

    async def wait(deadline):
        async with deadline:
            await asyncio.Event().wait()

    async def run():
        deadline = Deadline(clock, 5)
        task = asyncio.ensure_future(wait(deadline))
        task.add_done_callback(lambda _: ended_at.append(clock.now()))
        await asyncio.sleep(0)
        begun = clock.now()
        for _ in range(3):
            clock.advance(4)
            deadline.extend()
        while not ended_at:
            clock.advance(1)
            for _ in range(5):
                await asyncio.sleep(0)
        assert isinstance(task.exception(), TimeoutError)
        return ended_at[0] - begun

    assert asyncio.run(run()) == 17


@pytest.mark.parametrize("cancelled", [False, True])
def test_a_deadline_that_was_not_needed_leaves_no_timer(cancelled):
    clock = FakeClock()

    async def work():
        async with Deadline(clock, 5):
            if cancelled:
                await asyncio.Event().wait()

    async def run():
        task = asyncio.ensure_future(work())
        await asyncio.sleep(0)
        if cancelled:
            task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        return task.cancelled()

    assert asyncio.run(run()) == cancelled
    assert clock.until_next() is None

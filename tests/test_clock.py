"""Waiting by a clock that only moves when told to."""

import asyncio

import pytest

from podium.clock import Alarms, Deadline, FakeClock, TimeLimit, sleep


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


def test_alarms_ring_in_order_and_share_one_timer():
    clock, rung = FakeClock(), []
    begun, alarms = clock.now(), Alarms(clock, 5)

    def ring(name):
        return lambda: rung.append((name, clock.now() - begun))

    alarms.set(ring("first"))
    clock.advance(1)
    cancelled = alarms.set(ring("cancelled"))
    clock.advance(1)
    alarms.set(ring("second"))
    alarms.cancel(cancelled)
    clock.advance(10)

    assert rung == [("first", 5), ("second", 7)]
    assert clock.until_next() is None


def test_alarms_that_were_not_needed_leave_no_timer():
    clock = FakeClock()
    alarms = Alarms(clock, 5)
    numbers = [alarms.set(lambda: pytest.fail("it was cancelled")) for _ in range(2)]
    for number in numbers:
        alarms.cancel(number)
        alarms.cancel(number)

    assert clock.until_next() is None


@pytest.mark.parametrize(
    ("seconds", "cancels", "expected"),
    [
        pytest.param(4.9, False, "still waits", id="in-time"),
        pytest.param(5, False, TimeoutError, id="too-long"),
        pytest.param(4.9, True, asyncio.CancelledError, id="cancelled"),
        pytest.param(5, True, asyncio.CancelledError, id="cancelled-and-too-long"),
    ],
)
def test_a_time_limit_ends_a_wait(seconds, cancels, expected):
    clock = FakeClock()

    async def run():
        limit = TimeLimit(clock, 5)
        task = asyncio.ensure_future(limit.of(asyncio.Event().wait()))
        await asyncio.sleep(0)
        clock.advance(seconds)
        if cancels:
            task.cancel()
        await asyncio.wait({task}, timeout=0.05 if expected == "still waits" else None)
        if not task.done():
            task.cancel()
            return "still waits"
        return asyncio.CancelledError if task.cancelled() else type(task.exception())

    assert asyncio.run(run()) == expected


def test_a_time_limit_gives_the_result_and_leaves_the_task_as_it_was():
    clock = FakeClock()

    async def run():
        result = await TimeLimit(clock, 5).of(asyncio.sleep(0, "done"))
        return result, asyncio.current_task().cancelling(), clock.until_next()

    assert asyncio.run(run()) == ("done", 0, None)

"""Which requests are in flight: decisions first, and notes when the server has time."""

import asyncio
from functools import wraps

from hypothesis import given
from hypothesis import strategies as st

from podium.client.lanes import BUSY, IN_FLIGHT, NOTES_WHEN_BUSY, Lanes
from podium.clock import give_way


def on_a_loop(test):
    @wraps(test)
    def run(**arguments):
        asyncio.run(test(**arguments))

    return run


class Crowd:
    """Requests that enter the lanes, and leave them in any order."""

    def __init__(self):
        self.lanes = Lanes()
        self.waiting = {True: [], False: []}
        self.in_flight = {True: [], False: []}

    async def enter(self, number, *, is_note):
        for _ in range(number):
            self.waiting[is_note].append(asyncio.ensure_future(self.lanes.enter(is_note=is_note)))
        await self.settle()

    async def leave(self, number, *, is_note):
        for _ in range(number):
            del self.in_flight[is_note][0]
            self.lanes.leave(is_note=is_note)
        await self.settle()

    async def cancel(self, position, *, is_note):
        self.waiting[is_note].pop(position).cancel()
        await self.settle()

    async def settle(self):
        for _ in range(3):
            await give_way()
        for is_note, waiting in self.waiting.items():
            self.in_flight[is_note] += [task for task in waiting if task.done()]
            self.waiting[is_note] = [task for task in waiting if not task.done()]

    @property
    def counts(self):
        """Decisions in flight, notes in flight."""
        return len(self.in_flight[False]), len(self.in_flight[True])


@on_a_loop
async def test_notes_wait_while_many_decisions_are_in_flight():
    crowd = Crowd()
    await crowd.enter(BUSY, is_note=False)
    await crowd.enter(10, is_note=True)
    assert crowd.counts == (BUSY, NOTES_WHEN_BUSY)

    await crowd.leave(1, is_note=False)
    assert crowd.counts == (BUSY - 1, 10)


@on_a_loop
async def test_notes_come_one_after_another_even_if_the_server_stays_busy():
    crowd = Crowd()
    await crowd.enter(IN_FLIGHT, is_note=False)
    await crowd.enter(10, is_note=True)
    await crowd.leave(NOTES_WHEN_BUSY, is_note=True)

    assert crowd.counts == (IN_FLIGHT, NOTES_WHEN_BUSY)
    assert len(crowd.waiting[True]) == 10 - 2 * NOTES_WHEN_BUSY


@on_a_loop
async def test_decisions_never_wait_for_notes():
    crowd = Crowd()
    await crowd.enter(IN_FLIGHT, is_note=True)
    await crowd.enter(IN_FLIGHT + 1, is_note=False)

    assert crowd.counts == (IN_FLIGHT, IN_FLIGHT)


@on_a_loop
async def test_a_request_cancelled_when_its_turn_has_come_gives_it_to_the_next():
    lanes = Lanes()
    for _ in range(IN_FLIGHT):
        await lanes.enter(is_note=False)
    first, second = (asyncio.ensure_future(lanes.enter(is_note=False)) for _ in range(2))
    await give_way()

    lanes.leave(is_note=False)
    first.cancel()
    await asyncio.gather(first, return_exceptions=True)
    await second


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["enter", "leave", "cancel"]),
        st.booleans(),
        st.integers(1, IN_FLIGHT + BUSY),
    ),
    max_size=12,
)


@given(STEPS)
@on_a_loop
async def test_nobody_waits_while_there_is_room(steps):
    crowd = Crowd()
    for step, is_note, number in steps:
        match step:
            case "enter":
                await crowd.enter(number, is_note=is_note)
            case "leave":
                await crowd.leave(min(number, len(crowd.in_flight[is_note])), is_note=is_note)
            case "cancel" if crowd.waiting[is_note]:
                await crowd.cancel(number % len(crowd.waiting[is_note]), is_note=is_note)
        decisions, notes = crowd.counts
        assert decisions <= IN_FLIGHT
        assert notes <= IN_FLIGHT
        assert decisions == IN_FLIGHT or not crowd.waiting[False]
        most = NOTES_WHEN_BUSY if decisions >= BUSY else IN_FLIGHT
        assert notes >= most or not crowd.waiting[True]

"""The watchdog, with a loop that answers when told to."""

import asyncio
import logging
import threading

import pytest

from podium.clock import FakeClock, give_way
from podium.live.health import Watchdog, stack_of


class Loop:
    def __init__(self):
        self.asked = []

    def answer(self):
        for call in self.asked:
            call()
        self.asked.clear()


@pytest.fixture
def clock():
    return FakeClock()


@pytest.fixture
def loop():
    return Loop()


@pytest.fixture
def watchdog(clock, loop):
    return Watchdog(clock, loop.asked.append, threading.get_ident())


def looks(watchdog, clock, seconds):
    for _ in range(seconds):
        watchdog.look()
        clock.advance(1)


def test_a_loop_that_answers_is_well(watchdog, clock, loop, caplog):
    for _ in range(100):
        looks(watchdog, clock, 9)
        loop.answer()

    assert watchdog.failing() is None
    assert caplog.records == []


def test_the_loop_is_asked_once_at_a_time(watchdog, clock, loop):
    looks(watchdog, clock, 20)

    assert len(loop.asked) == 1


def test_a_stall_fails_the_check_until_the_loop_goes_on(watchdog, clock, loop):
    looks(watchdog, clock, 10)
    assert watchdog.failing() is None
    looks(watchdog, clock, 1)
    assert watchdog.failing() == "the event loop has not answered for 11 s"

    loop.answer()
    assert watchdog.failing() is None


def test_each_stall_is_shown_once_with_the_stack(watchdog, clock, loop, caplog):
    caplog.set_level(logging.INFO)
    looks(watchdog, clock, 60)

    (stalls,) = caplog.messages
    assert stalls.startswith("event loop stalled\n")
    assert "in test_each_stall_is_shown_once_with_the_stack" in stalls
    assert "seconds=11.0" in stalls

    loop.answer()
    assert caplog.messages[1:] == ["event loop runs again seconds=60.0"]
    looks(watchdog, clock, 60)
    assert len(caplog.messages) == 3


def test_it_looks_every_second(clock, loop, watchdog):
    async def scenario():
        running = asyncio.ensure_future(watchdog.run())
        for _ in range(12):
            for _ in range(5):
                await give_way()
            clock.advance(1)
        assert watchdog.failing()
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)

    asyncio.run(scenario())


def test_a_thread_that_has_ended_has_no_stack():
    thread = threading.Thread(target=lambda: None)
    thread.start()
    thread.join()

    assert stack_of(thread.ident) == "its thread has ended\n"

"""Beats are fixed, and nothing is scheduled while nothing is to be done."""

import pytest

from podium.clock import FakeClock
from podium.queue.ticker import Ticker


class Work:
    def __init__(self, now, period=1.0):
        self.clock = FakeClock(now)
        self.left = 0
        self.times = []
        self.ticker = Ticker(self.clock, period, self.tick, lambda: self.left)

    def tick(self):
        self.times.append(self.clock.now())
        self.left -= 1


@pytest.mark.parametrize(
    ("period", "origin", "expected"),
    [
        pytest.param(1.0, 0.0, [11.0, 12.0], id="whole-seconds"),
        pytest.param(30.0, 10.25, [40.25, 70.25], id="from-its-start"),
        pytest.param(30.0, -5.0, [25.0, 55.0], id="from-before"),
    ],
)
def test_beats(period, origin, expected):
    work = Work(10.25, period)
    work.left = 2
    work.ticker.start(origin)

    work.clock.advance(200.0)

    assert work.times == expected


def test_idle_means_no_timer():
    work = Work(10.25)
    work.ticker.start(0.0)

    assert work.clock.until_next() is None
    work.left = 1
    work.ticker.arm()
    work.ticker.arm()
    work.clock.advance(5.0)
    assert work.times == [11.0]
    assert work.clock.until_next() is None


def test_work_before_the_start_waits_for_it():
    work = Work(10.25)
    work.left = 1
    work.ticker.arm()
    work.clock.advance(3.0)
    assert work.times == []

    work.ticker.start(0.0)
    work.clock.advance(1.0)
    assert work.times == [14.0]


def test_on_the_beat_the_next_one_counts():
    work = Work(10.0)
    work.left = 1
    work.ticker.start(0.0)

    work.clock.advance(0.999)
    assert work.times == []
    work.clock.advance(0.001)
    assert work.times == [11.0]


def test_a_call_too_early_waits_for_the_rest():
    class Hasty(FakeClock):
        def call_later(self, seconds, call):
            return super().call_later(seconds / 2 if seconds > 0.3 else seconds, call)

    work = Work(10.0)
    work.clock.__class__ = Hasty
    work.left = 1
    work.ticker.start(0.0)
    work.clock.advance(2.0)

    assert work.times == [11.0]


def test_stopped():
    work = Work(10.0)
    work.left = 1
    work.ticker.start(0.0)
    work.ticker.stop()
    work.ticker.arm()
    work.clock.advance(5.0)

    assert work.times == []

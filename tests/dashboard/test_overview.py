"""Rates and times out of counters."""

import pytest

from podium.cycle.record import Record
from podium.dashboard.overview import Trend, decision, quantile
from podium.dashboard.sampling import Counts

BOUNDS = (0.1, 0.2, 0.4)


@pytest.mark.parametrize(
    ("counts", "share", "expected"),
    [
        pytest.param([10, 0, 0, 0], 0.5, 0.05, id="inside-the-first-bucket"),
        pytest.param([5, 5, 0, 0], 0.5, 0.1, id="at-a-bound"),
        pytest.param([0, 0, 4, 0], 0.5, 0.3, id="inside-a-later-bucket"),
        pytest.param([1, 0, 0, 99], 0.99, 0.4, id="beyond-the-last-bound"),
    ],
)
def test_quantile(counts, share, expected):
    assert quantile(BOUNDS, counts, share) == pytest.approx(expected)


def counted(bound, attempts=None, waits=(0, 0, 0, 0)):
    return Counts(bound, bound if attempts is None else attempts, waits)


def test_rates_are_those_of_the_last_seconds():
    trend = Trend(BOUNDS)
    rates = [trend.add(at, counted(100 * at)) for at in range(10)]

    assert rates[0].bound == 0.0
    assert {each.bound for each in rates[1:]} == {100.0}

    for at in range(10, 15):
        last = trend.add(at, counted(900))
    assert (last.bound, last.attempts) == (0.0, 0.0)


def test_counters_that_were_reset_give_no_negative_rate():
    trend = Trend(BOUNDS)
    trend.add(0, counted(500, waits=(500, 0, 0, 0)))
    rates = trend.add(1, counted(3, waits=(3, 0, 0, 0)))

    assert (rates.bound, rates.time_to_bind.pods) == (0.0, 0)


def test_time_to_bind_is_that_of_the_last_minute():
    trend = Trend(BOUNDS)
    trend.add(0, counted(0, waits=()))
    early = trend.add(1, counted(10, waits=(10, 0, 0, 0))).time_to_bind
    for at in range(2, 100):
        late = trend.add(at, counted(10, waits=(10, 0, 0, 0))).time_to_bind

    assert (early.pods, early.p50) == (10, 0.05)
    assert (late.pods, late.p50) == (0, 0.0)
    assert late.window <= 60


def test_a_decision_is_an_attempt_in_short():
    record = Record("ns/p", "uid", 3, "s", at=0.0, node="n1", seconds={"cycle": 0.25})

    found = decision(record)

    assert (found.pod, found.attempt, found.node, found.seconds) == ("ns/p", 3, "n1", 0.25)
    assert found.at == "1970-01-01T00:00:00.000000Z"

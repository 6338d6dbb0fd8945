"""The protocol of leader election, step by step; the expected steps are client-go's."""

import logging
import math
from dataclasses import replace

import pytest

from podium.clock import FakeClock
from podium.config import LeaderElection
from podium.errors import ConfigError, Conflict, Forbidden, NotFound, Unreachable
from podium.live.election import (
    EXPIRY_JITTER,
    REMEDY,
    Create,
    Elector,
    Get,
    Leading,
    Lost,
    Record,
    Stopped,
    Update,
    Wait,
    check,
)
from podium.metrics import Metrics

START = 1_700_000_000.0
DEFAULTS = LeaderElection()
THEIRS = Record("other", 15, START - 60, START - 1, 4)


class Steps:
    """A candidate led by hand: each method answers one step and returns the next one."""

    def __init__(self, settings=DEFAULTS, chance=0.5):
        self.clock = FakeClock(START)
        self.metrics = Metrics()
        self.elector = Elector("me", settings, self.clock, self.metrics, lambda: chance)
        self.steps = self.elector.run()
        self.step = next(self.steps)

    def answer(self, record=None):
        self.step = self.steps.send(record)
        return self.step

    def fail(self, fault=None):
        self.step = self.steps.throw(fault or Unreachable("cut"))
        return self.step

    def wait(self):
        assert isinstance(self.step, Wait)
        self.clock.advance(self.step.seconds)
        return self.answer()

    def end(self, advance):
        with pytest.raises(StopIteration) as ended:
            advance()
        return ended.value.value

    @property
    def gauge(self):
        return self.metrics.leading.series()[("kube-scheduler",)]


def leading(**options):
    """A candidate that has created the lease and leads."""
    steps = Steps(**options)
    steps.fail(NotFound("no lease"))
    assert steps.answer() == Leading()
    return steps


def mine(renewed=START, acquired=START, transitions=0):
    return Record("me", 15, acquired, renewed, transitions)


def test_a_lease_that_is_missing_is_created():
    steps = Steps()
    assert steps.step == Get(5)
    assert steps.gauge == 0

    assert steps.fail(NotFound("no lease")) == Create(mine(), 5)
    assert steps.answer() == Leading()
    assert steps.gauge == 1
    assert steps.answer() == Update(mine(), 5), "the first renewal follows at once"


def test_a_lease_of_another_is_waited_for_with_jitter():
    steps = Steps(chance=0.5)

    assert steps.answer(THEIRS) == Wait(2 * (1 + 1.2 * 0.5))
    assert steps.elector.leader == "other"
    assert steps.wait() == Get(5)


def test_a_lease_runs_out_by_our_clock_and_its_own_duration():
    theirs = Record("other", 7, START - 9000, START - 9000, 4)
    steps = Steps()

    steps.answer(theirs)
    for _ in range(2):  # seen 0, 3.2 and 6.4 seconds ago
        steps.wait()
        assert isinstance(steps.answer(theirs), Wait)
    steps.wait()  # 9.6
    now = steps.clock.now()

    assert steps.answer(theirs) == Update(Record("me", 15, now, now, 5), 5)
    assert steps.answer() == Leading()


def test_a_renewal_of_the_other_starts_the_wait_anew():
    steps = Steps()

    steps.answer(THEIRS)
    steps.clock.advance(14)
    steps.wait()
    renewed = Record("other", 15, THEIRS.acquire_time, START + 16, 4)
    steps.answer(renewed)
    steps.clock.advance(11)
    steps.wait()

    assert isinstance(steps.answer(renewed), Wait)


def test_renewals_within_one_second_are_told_apart_unlike_in_client_go():
    steps = Steps(chance=0)
    steps.answer(Record("other", 4, START, START + 0.1, 0))
    steps.wait()
    steps.answer(Record("other", 4, START, START + 0.9, 0))
    steps.wait()

    assert isinstance(steps.answer(Record("other", 4, START, START + 0.9, 0)), Wait)


def test_a_standby_is_there_when_the_lease_expires():
    steps = Steps(chance=0.5)
    steps.answer(replace(THEIRS, duration_seconds=4))
    steps.wait()  # 3.2 of 4 seconds

    left = steps.answer(replace(THEIRS, duration_seconds=4)).seconds
    assert left == pytest.approx(0.8 + 0.5 * EXPIRY_JITTER)
    steps.wait()
    assert isinstance(steps.answer(replace(THEIRS, duration_seconds=4)), Update)


@pytest.mark.parametrize("skew", [0.0, 3600.0, -3600.0])
def test_the_end_of_a_lease_counts_from_its_renewal_not_from_when_that_was_seen(skew):
    """By the holder's clock, which is an hour off; the first two renewals are seen at once."""
    steps = Steps(chance=0)
    renewals = [steps.clock.now() + skew + after for after in (0.0, 2.0, 2.5)]
    for renewed in renewals:  # at 0, 2 and 4 seconds: the last one 1.5 seconds late
        waits = steps.answer(Record("other", 15, START, renewed, 0))
        steps.wait()

    assert isinstance(waits, Wait)
    assert steps.elector._observed_at == pytest.approx(START + 2.5)


def test_a_clock_that_was_put_back_does_not_end_a_lease_early():
    steps = Steps(chance=0)
    for renewed in (START, START + 2, START - 3600):  # seen at 0, 2 and 4 seconds
        steps.answer(Record("other", 15, START, renewed, 0))
        steps.wait()

    assert steps.elector._observed_at == START + 2, "the last look before the renewal was seen"


def test_a_leader_knows_how_long_no_other_can_lead():
    steps = Steps()
    assert steps.elector.holds_until == -math.inf
    steps.fail(NotFound("no lease"))
    steps.answer()

    assert steps.elector.holds_until == math.floor(START) + 15


def test_a_lease_that_nobody_holds_is_taken_at_once():
    steps = Steps()

    free = Record("", 1, START, START, 7)

    assert steps.answer(free) == Update(mine(transitions=8), 5)


def test_our_own_lease_from_before_is_taken_up():
    """As after an update whose answer was lost: the lease is ours, and nothing changes hands."""
    steps = Steps()

    ours = mine(renewed=START - 3, acquired=START - 9, transitions=3)

    assert steps.answer(ours) == Update(mine(acquired=START - 9, transitions=3), 5)
    assert steps.metrics.slow_renewals.series() == {("kube-scheduler",): 1}


def test_renewals_go_without_reading_first():
    steps = leading()
    steps.answer()

    assert steps.answer() == Wait(2)
    assert steps.wait() == Update(mine(renewed=START + 2), 5)
    assert steps.answer() == Wait(2)
    assert steps.metrics.slow_renewals.series() == {}


def test_a_failed_renewal_reads_the_lease():
    steps = leading()
    steps.answer()

    assert steps.fail(Conflict("newer")) == Get(5)
    assert steps.answer(mine()) == Update(mine(), 5)
    assert steps.answer() == Wait(2)
    assert steps.metrics.slow_renewals.series() == {("kube-scheduler",): 1}


def test_renewing_is_tried_each_period_until_the_deadline():
    steps = leading()
    steps.answer()
    began = []
    while steps.step != Lost():
        began.append(steps.clock.now() - START)
        assert isinstance(steps.step, Update)
        steps.fail()
        steps.fail()
        if isinstance(steps.step, Wait):
            steps.wait()

    assert began == [0, 2, 4, 6, 8]
    assert steps.gauge == 0
    assert steps.answer() == Get(5), "the release"
    assert steps.end(steps.fail) is True


def test_slow_requests_do_not_outlive_the_deadline():
    steps = leading()
    steps.answer()
    timeouts = []
    while steps.step != Lost():
        timeouts.append(steps.step.timeout)
        steps.clock.advance(steps.step.timeout)
        steps.fail()

    assert timeouts == [5, 5]
    assert steps.clock.now() == START + 10


def test_an_attempt_that_took_long_is_followed_at_the_next_whole_period():
    steps = leading()
    steps.answer()
    steps.clock.advance(3)
    steps.fail()

    assert steps.fail() == Wait(0), "the tick at 2 is due"
    steps.wait()
    steps.fail()
    assert steps.fail() == Wait(1), "then the one at 4"


def test_a_leader_that_sees_another_one_stops_at_once():
    steps = leading()
    steps.answer()
    steps.clock.advance(60)  # paused
    steps.fail(Conflict("newer"))
    assert steps.answer(Record("other", 15, START + 20, START + 58, 1)) == Lost()
    assert steps.gauge == 0
    assert steps.end(steps.answer) is True, "the lease of another is not released"


def test_a_lease_deleted_meanwhile_is_created_again():
    steps = leading()
    steps.answer()
    steps.fail(NotFound("gone"))

    assert steps.fail(NotFound("gone")) == Create(mine(), 5)
    assert steps.answer() == Wait(2)


def test_who_is_asked_to_stop_releases_the_lease():
    steps = leading()
    steps.answer()
    steps.answer()
    steps.clock.advance(1)

    assert steps.fail(Stopped()) == Get(5)
    assert steps.gauge == 0
    assert steps.answer(mine(transitions=3)) == Update(Record("", 1, START + 1, START + 1, 3), 5)
    assert steps.end(steps.answer) is False


def test_a_lease_that_another_took_is_not_released():
    steps = leading()
    steps.answer()
    steps.answer()
    steps.fail(Stopped())

    assert steps.end(lambda: steps.answer(THEIRS)) is False


@pytest.mark.parametrize("found", [mine(START + 1), THEIRS], ids=["our-own-renewal", "another"])
def test_a_release_that_meets_another_write_looks_again_once(found, caplog):
    steps = leading()
    steps.answer()
    steps.answer()
    steps.fail(Stopped())
    free = steps.answer(mine())

    assert steps.fail(Conflict("modified")) == Get(5)
    if found is THEIRS:
        assert steps.end(lambda: steps.answer(found)) is False
    else:
        assert steps.answer(found) == free
        assert steps.end(lambda: steps.fail(Conflict("modified"))) is False
    assert ("Failed to release lease" in caplog.text) is (found is not THEIRS)


@pytest.mark.parametrize("at_step", range(3), ids=["reading", "waiting", "reading-again"])
def test_a_standby_that_is_asked_to_stop_just_ends(at_step):
    steps = Steps()
    if at_step > 0:
        steps.answer(THEIRS)
    if at_step > 1:
        steps.wait()

    assert steps.end(lambda: steps.fail(Stopped())) is False


def test_health_fails_when_a_leader_renews_no_more():
    steps = leading()
    assert steps.elector.failing() is None
    steps.clock.advance(35)
    assert steps.elector.failing() is None
    steps.clock.advance(0.1)

    assert steps.elector.failing() == (
        "failed election to renew leadership on lease kube-scheduler"
    )


def test_health_of_a_standby_is_good():
    steps = Steps()
    steps.answer(THEIRS)
    steps.clock.advance(3600)

    assert steps.elector.failing() is None


@pytest.mark.parametrize(
    ("durations", "message"),
    [
        pytest.param((10, 10, 2), "leaseDuration must be greater than renewDeadline", id="lease"),
        pytest.param(
            (15, 2.4, 2),
            r"renewDeadline must be greater than retryPeriod\*JitterFactor",
            id="retry",
        ),
    ],
)
def test_durations_that_cannot_work_are_refused(durations, message):
    with pytest.raises(ConfigError, match=message):
        check(LeaderElection(True, *durations))


def told(caplog, level):
    return [one.getMessage() for one in caplog.records if one.levelno >= level]


def test_each_holder_is_told_once(caplog):
    caplog.set_level(logging.INFO)
    steps = Steps()
    for holder in ("other", "other", "third"):
        steps.answer(Record(holder, 15, START, steps.clock.now(), 4))
        steps.wait()

    assert [line for line in told(caplog, logging.INFO) if "Standing by" in line] == [
        f"Standing by: another process leads lock='kube-system/kube-scheduler' holder='{holder}'"
        for holder in ("other", "third")
    ]


def test_the_same_fault_is_told_once(caplog):
    steps = Steps()
    for fault in [Forbidden("no right")] * 3 + [Unreachable("cut")] * 2:
        steps.fail(fault)
        steps.wait()

    assert told(caplog, logging.WARNING) == [
        f"Error retrieving lease lock lock='kube-system/kube-scheduler' {why}"
        for why in (f"why='no right' remedy='{REMEDY}'", "why='cut'")
    ]

"""How long a failed pod waits, and in which order such pods come out."""

import pytest

from podium import framework as fwk
from podium.clock import FakeClock
from podium.queue.backoff import Backoff
from podium.testing.builders import pod

NOW = 1000.0


def backoff(clock, initial=1, maximum=10):
    return Backoff(initial, maximum, lambda queued: -queued.info.priority, clock.now)


def failed(name="p", *, at=NOW, rejected=0, errors=0, priority=0):
    """With errors it failed, else a plugin rejected it."""
    queued = fwk.QueuedPod.of(pod(name, priority=priority), at)
    queued.unschedulable_count, queued.consecutive_errors = rejected, errors
    queued.rejected_by([] if errors else ["F"])
    return queued


@pytest.mark.parametrize(
    ("limits", "counts", "expected"),
    [
        pytest.param((1, 10), (0, 0), 0, id="never-failed"),
        pytest.param((1, 10), (1, 0), 1, id="first"),
        pytest.param((1, 10), (2, 0), 2, id="doubles"),
        pytest.param((1, 10), (4, 0), 8, id="doubles-again"),
        pytest.param((1, 10), (5, 0), 10, id="up-to-the-maximum"),
        pytest.param((1, 10), (100_000, 0), 10, id="very-often"),
        pytest.param((3, 10), (2, 0), 6, id="other-initial"),
        pytest.param((3, 10), (3, 0), 10, id="no-power-of-two"),
        pytest.param((1, 10), (4, 1), 1, id="errors-have-their-own-count"),
        pytest.param((1, 10), (1, 3), 4, id="errors-win"),
        pytest.param((1, 0), (3, 3), 0, id="switched-off"),
        pytest.param((5, 5), (1, 0), 5, id="always-the-same"),
    ],
)
def test_duration(limits, counts, expected):
    rejected, errors = counts

    found = backoff(FakeClock(NOW), *limits).duration(failed(rejected=rejected, errors=errors))

    assert found == expected


@pytest.mark.parametrize(
    ("failed_at", "now", "expected"),
    [
        pytest.param(1000.0, 1000.0, True, id="at-once"),
        pytest.param(1000.0, 1001.0, True, id="after-its-second-still"),
        pytest.param(1000.0, 1001.99, True, id="to-the-end-of-the-second"),
        pytest.param(1000.0, 1002.0, False, id="the-second-after"),
        pytest.param(1000.9, 1001.95, True, id="late-failure-counts-from-the-whole-second"),
        pytest.param(1000.9, 1002.0, False, id="so-it-waits-little-more-than-its-time"),
    ],
)
def test_whole_seconds(failed_at, now, expected):
    queued = failed(at=failed_at, rejected=1)

    assert backoff(FakeClock(now)).is_backing_off(queued) is expected


def test_who_never_failed_does_not_wait():
    assert not backoff(FakeClock(0.0)).is_backing_off(failed(at=0.0))


def test_the_end_is_kept_until_the_next_failure():
    clock = FakeClock(NOW)
    subject, queued = backoff(clock), failed(rejected=1)
    first = subject.expiry(queued)

    queued.timestamp += 100

    assert subject.expiry(queued) == first == 1001
    queued.backoff_expiry = None
    assert subject.expiry(queued) == 1101


def test_order_is_expiry_then_the_queues_own():
    subject = backoff(FakeClock(NOW))
    subject.push(failed("late", at=1005.0, rejected=1, priority=9))
    subject.push(failed("low", at=1000.1, rejected=1))
    subject.push(failed("high", at=1000.9, rejected=1, priority=5))
    subject.push(failed("error", at=999.0, errors=1))

    popped = [subject.pop_early().pod.name for _ in range(3)]

    assert popped == ["high", "low", "late"]
    assert subject.pop_early() is None, "errors wait out their time"
    assert [queued.pod.name for queued in subject] == ["error"]


def test_rejected_pods_come_out_before_errors():
    clock = FakeClock(NOW)
    subject = backoff(clock)
    subject.push(failed("e2", at=1000.5, errors=1, priority=9))
    subject.push(failed("e1", at=999.0, errors=1))
    subject.push(failed("r", at=1000.9, rejected=1))
    subject.push(failed("waits", at=1003.0, rejected=1))

    clock.advance(2.0)

    assert [queued.pod.name for queued in subject.pop_expired()] == ["r", "e1", "e2"]
    assert len(subject) == 1
    subject.check_invariants()


def test_errors_of_one_second_come_as_they_were():
    subject = backoff(FakeClock(NOW + 10))
    subject.push(failed("low", errors=1))
    subject.push(failed("high", errors=1, priority=9))

    assert [queued.pod.name for queued in subject.pop_expired()] == ["low", "high"]


@pytest.mark.parametrize("errors", [0, 1])
def test_get_and_remove(errors):
    subject, queued = backoff(FakeClock(NOW)), failed(rejected=1, errors=errors)
    subject.push(queued)

    assert subject.get("default/p") is queued
    assert "default/p" in subject
    assert subject.remove("default/p") is queued
    assert subject.remove("default/p") is None
    assert len(subject) == 0

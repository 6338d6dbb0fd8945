import pytest

from podium import framework as fwk
from podium.clock import FakeClock
from podium.framework.waiting_pods import WaitingPod, WaitingPods
from podium.testing.builders import pod


@pytest.fixture
def clock():
    return FakeClock()


def waiting(clock, name="pod", **waits):
    return WaitingPod(pod(name), waits or {"P": 10}, clock)


def rejected(text, plugin):
    return fwk.Status.unschedulable(text).by(plugin)


def timeout(seconds, plugin):
    text = f"rejected due to timeout after waiting {seconds} at plugin {plugin}"
    return rejected(text, plugin)


def test_a_pod_waits_for_all_plugins(clock):
    subject = waiting(clock, P=10, Q=10)
    assert sorted(subject.pending_plugins) == ["P", "Q"]

    subject.allow("P")
    assert subject.pending_plugins == ["Q"]
    assert subject.outcome is None

    subject.allow("Q")
    assert subject.outcome is fwk.SUCCESS


def test_allowing_twice_is_fine(clock):
    subject = waiting(clock, P=10, Q=10)
    subject.allow("P")
    subject.allow("P")

    assert subject.outcome is None


def test_a_stranger_allows_nothing(clock):
    subject = waiting(clock)
    subject.allow("Z")

    assert subject.outcome is None


@pytest.mark.parametrize(
    ("waits", "advance", "expected"),
    [
        pytest.param({"P": 10}, 9.9, None, id="before"),
        pytest.param({"P": 10}, 10, timeout("10s", "P"), id="on-time"),
        pytest.param({"P": 30, "Q": 20}, 60, timeout("20s", "Q"), id="first-timer-wins"),
        pytest.param({"P": 90}, 90, timeout("1m30s", "P"), id="minutes"),
        pytest.param({"P": 10**6}, 899.9, None, id="before-the-longest"),
        pytest.param({"P": 10**6}, 900, timeout("15m0s", "P"), id="the-longest"),
        pytest.param({"P": 0}, 0, timeout("0s", "P"), id="no-time-at-all"),
        pytest.param({"P": -5}, 0, timeout("-5s", "P"), id="less-than-no-time"),
        pytest.param({"P": 0.25}, 1, timeout("250ms", "P"), id="a-moment"),
    ],
)
def test_time_runs_out(clock, waits, advance, expected):
    subject = waiting(clock, **waits)
    clock.advance(advance)

    assert subject.outcome == expected


def test_a_timer_is_void_once_its_plugin_allows(clock):
    subject = waiting(clock, P=10, Q=60)
    subject.allow("P")
    clock.advance(59)
    assert subject.outcome is None

    clock.advance(1)
    assert subject.outcome == timeout("1m0s", "Q")


def test_no_timer_fires_after_the_end(clock):
    subject = waiting(clock, P=10, Q=20)
    subject.allow("P")
    subject.allow("Q")
    clock.advance(60)

    assert subject.outcome is fwk.SUCCESS


def test_rejection_needs_one_plugin_only(clock):
    subject = waiting(clock, P=10, Q=10)

    assert subject.reject("P", "no quota")
    assert subject.outcome == rejected("no quota", "P")


def test_preemption_is_an_error_so_that_the_pod_is_tried_again(clock):
    subject = waiting(clock)

    assert subject.preempt("Preempting", "preempted")
    assert subject.outcome == fwk.Status.error("preempted").by("Preempting")


@pytest.mark.parametrize("end", ["allow", "reject", "preempt", "timeout"])
def test_the_first_end_wins(clock, end):
    subject = waiting(clock)
    ends = {
        "allow": lambda: subject.allow("P"),
        "reject": lambda: subject.reject("P", "first"),
        "preempt": lambda: subject.preempt("P", "first"),
        "timeout": lambda: clock.advance(10),
    }
    ends[end]()
    outcome = subject.outcome

    assert outcome is not None
    assert not subject.reject("P", "second")
    assert not subject.preempt("P", "second")
    subject.allow("P")
    clock.advance(60)
    assert subject.outcome is outcome


def test_listeners_hear_the_outcome_once(clock):
    subject, heard = waiting(clock), []
    subject.when_done(heard.append)
    subject.reject("P", "no")
    subject.allow("P")

    assert heard == [rejected("no", "P")]


def test_late_listeners_hear_it_at_once(clock):
    subject, heard = waiting(clock), []
    subject.allow("P")
    subject.when_done(heard.append)

    assert heard == [fwk.SUCCESS]


def test_waiting_pods_are_found_by_uid(clock):
    pods, subject = WaitingPods(), waiting(clock, "web")
    pods.add(subject)

    assert pods.get("uid-web") is subject
    assert (list(pods), len(pods)) == ([subject], 1)

    pods.remove("uid-web")
    pods.remove("uid-web")  # again is fine
    assert pods.get("uid-web") is None
    assert len(pods) == 0


def test_a_deleted_pod_is_rejected_by_nobody(clock):
    pods, subject = WaitingPods(), waiting(clock, "web")
    pods.add(subject)

    assert pods.reject("uid-web")
    assert subject.outcome == rejected("removed", "")
    assert not pods.reject("uid-web")
    assert not pods.reject("uid-other")


def test_pods_may_leave_while_they_are_looked_at(clock):
    pods = WaitingPods()
    for name in "abc":
        pods.add(waiting(clock, name))

    for found in pods:
        pods.remove(found.pod.uid)

    assert len(pods) == 0

"""The stand-in for the scheduling queue."""

import pytest

from podium.bench.pending import Pending
from podium.framework.queued_pod import QueuedPod
from podium.testing.builders import pod


@pytest.fixture
def pending():
    return Pending()


def queued(name, priority=0):
    return QueuedPod.of(pod(name, priority=priority))


def names(pending):
    found = []
    while (next_pod := pending.pop()) is not None:
        found.append(next_pod.pod.name)
    return found


def test_gated_pods_never_wake(pending):
    pending.gate(pod("gated"), "waiting for scheduling gates: [a]")

    pending.wake()

    assert names(pending) == []
    assert [(p.name, why) for p, why in pending.rejected()] == [
        ("gated", "waiting for scheduling gates: [a]")
    ]


def test_deleted_gated_pods_are_forgotten(pending):
    gated = pod("gated")
    pending.gate(gated, "gates")

    pending.discard(gated.uid)

    assert pending.rejected() == []


def test_priority_first_then_order(pending):
    for waiting in (queued("a"), queued("b"), queued("high", 10), queued("c")):
        pending.push(waiting)

    assert names(pending) == ["high", "a", "b", "c"]


def test_who_got_room_comes_before_its_equals(pending):
    for waiting in (queued("a"), queued("b"), queued("high", 10)):
        pending.push(waiting)
    pending.push_first(queued("evictor"))

    assert names(pending) == ["high", "evictor", "a", "b"]


def test_rejected_pods_wait_to_be_woken(pending):
    pending.push(queued("a"))
    pending.reject(queued("b"), "no room")

    assert names(pending) == ["a"]
    assert [(p.name, why) for p, why in pending.rejected()] == [("b", "no room")]

    pending.wake()
    assert names(pending) == ["b"]
    assert pending.rejected() == []


def test_deleted_pods_are_not_tried(pending):
    waiting, rejected = queued("a"), queued("b")
    pending.push(waiting)
    pending.reject(rejected, "no room")

    pending.discard(waiting.pod.uid)
    pending.discard(rejected.pod.uid)
    pending.wake()

    assert names(pending) == []

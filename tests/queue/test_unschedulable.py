"""Unschedulable pods are found by who rejected them, without looking at the others."""

import pytest

from podium import framework as fwk
from podium.queue.unschedulable import UnschedulablePods
from podium.testing.builders import pod

PROFILE = "default-scheduler"


def rejected(name, *plugins, pending=(), scheduler=PROFILE):
    queued = fwk.QueuedPod.of(pod(name, scheduler_name=scheduler))
    queued.rejected_by(plugins, pending)
    return queued


def cannot_tell(gate):
    return None


@pytest.fixture
def pods():
    pods = UnschedulablePods()
    for queued in (
        rejected("c", "F"),
        rejected("b", "F", "G"),
        rejected("a", pending=["G"]),
        rejected("d", "F", scheduler="other"),
    ):
        assert pods.put(queued)
    return pods


@pytest.mark.parametrize(
    ("listeners", "expected"),
    [
        pytest.param({}, "", id="nobody-listens"),
        pytest.param({PROFILE: ["X"]}, "", id="none-of-the-rejectors"),
        pytest.param({PROFILE: ["F"]}, "cb", id="in-the-order-they-came"),
        pytest.param({PROFILE: ["G"]}, "ba", id="pending-plugins-too"),
        pytest.param({PROFILE: ["G", "F"]}, "cba", id="each-once"),
        pytest.param({"other": ["F", "G"]}, "d", id="by-profile"),
        pytest.param({"other": ["F"], PROFILE: ["G"]}, "bad", id="of-all-profiles"),
    ],
)
def test_rejected_by(pods, listeners, expected):
    by_profile = {name: dict.fromkeys(who, ()) for name, who in listeners.items()}
    found = pods.rejected_by(by_profile, cannot_tell)

    assert "".join(queued.pod.name for queued in found) == expected


def test_a_pod_that_changes_is_found_anew(pods):
    changed = pods.get("default/c")
    changed.unschedulable_plugins = frozenset(["X"])
    changed.gating_plugin = "X"
    with pytest.raises(AssertionError, match="listed under other plugins"):
        pods.check_invariants()

    assert not pods.put(changed), "it was here before"
    pods.check_invariants()
    assert pods.rejected_by({PROFILE: {"X": ()}}, cannot_tell) == [changed]
    assert pods.gated == 1
    both = pods.rejected_by({PROFILE: {"F": (), "X": ()}}, cannot_tell)
    assert [queued.pod.name for queued in both] == ["c", "b"], "it keeps its place"


def test_remove(pods):
    removed = pods.remove("default/b")

    assert removed.pod.name == "b"
    assert pods.remove("default/b") is None
    assert "default/b" not in pods
    assert len(pods) == 3
    pods.check_invariants()


def test_nothing_is_left_behind(pods):
    for name in "abcd":
        pods.remove(f"default/{name}")

    assert (len(pods), pods.gated, pods._by_rejector) == (0, 0, {})


@pytest.mark.parametrize(
    ("listeners", "held", "expected"),
    [
        pytest.param(["F"], None, "c", id="another-plugins-event-does-not-reach-a-gated-pod"),
        pytest.param(["Gate"], None, "gh", id="all-if-the-gate-cannot-tell"),
        pytest.param(["Gate"], "g", "h", id="those-it-no-longer-holds"),
        pytest.param(["Gate"], "gh", "", id="none-if-it-holds-all"),
        pytest.param(["F", "Gate"], "h", "cg", id="in-the-order-they-came"),
    ],
)
def test_gated_pods(listeners, held, expected):
    pods = UnschedulablePods()
    for name in "cgh":
        queued = rejected(name, "F")
        if name in "gh":
            queued.unschedulable_plugins |= {"Gate"}
            queued.gating_plugin = "Gate"
        pods.put(queued)
    pods.check_invariants()
    uids = held and {queued.uid for queued in pods if queued.pod.name in held}

    found = pods.rejected_by({PROFILE: dict.fromkeys(listeners, ())}, {(PROFILE, "Gate"): uids}.get)

    assert "".join(queued.pod.name for queued in found) == expected


@pytest.mark.parametrize(
    ("listeners", "about", "expected"),
    [
        pytest.param(["F"], {"c"}, "c", id="only-the-pod-that-it-concerns"),
        pytest.param(["F"], {"c", "b"}, "cb", id="several"),
        pytest.param(["F"], {"a"}, "", id="rejected-by-another-plugin"),
        pytest.param(["F", "G"], {"c"}, "cba", id="plugins-without-topics-are-asked-about-all"),
    ],
)
def test_topics(listeners, about, expected):
    pods = UnschedulablePods(lambda rejector, pod: {pod.name} if rejector[1] == "F" else ())
    for queued in (rejected("c", "F"), rejected("b", "F", "G"), rejected("a", pending=["G"])):
        pods.put(queued)
    pods.check_invariants()

    by_profile = {PROFILE: dict.fromkeys(listeners, ())}
    found = pods.rejected_by(by_profile, cannot_tell, {(PROFILE, "F"): about})

    assert "".join(queued.pod.name for queued in found) == expected
    for name in "abc":
        pods.remove(f"default/{name}")
    assert pods._by_subject == {}


def test_topics_of_a_gated_pod_follow_its_changes():
    """A gated pod that was changed is put again, and found under what concerns it now."""
    pods = UnschedulablePods(lambda rejector, pod: set(pod.labels))
    queued = rejected("a", "Gate")
    queued.gating_plugin = "Gate"
    pods.put(queued)
    listeners, gate = {PROFILE: {"Gate": ()}}, (PROFILE, "Gate")
    assert pods.rejected_by(listeners, cannot_tell, {gate: {"claim"}}) == []

    queued.replace(pod("a", labels="claim=made"))
    pods.put(queued)

    pods.check_invariants()
    assert pods.rejected_by(listeners, cannot_tell, {gate: {"claim"}}) == [queued]

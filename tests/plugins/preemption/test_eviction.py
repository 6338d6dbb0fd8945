"""Carrying a preemption out: the order of writes, and who is held back meanwhile."""

import asyncio

import pytest

from podium import framework as fwk
from podium.clock import give_way
from podium.errors import NotFound, PodiumError
from podium.framework.preemption import Candidate
from podium.framework.waiting_pods import WaitingPod
from podium.plugins.preemption import DefaultPreemption
from podium.plugins.preemption.eviction import RETRY_SECONDS, UNSEEN_SECONDS
from podium.release import LATEST, V1_36, V1_37
from podium.testing.builders import node, pod
from podium.testing.handle import FakeHandle
from tests.support.releases import plugin_of

PREEMPTOR = pod("high", priority=10)


def run_spawned_later(handle):
    """What was spawned runs to its end, in the time that it takes to try again."""

    async def everything():
        tasks = [asyncio.ensure_future(work) for _, work in handle.spawned]
        await give_way()
        handle.clock.advance(RETRY_SECONDS)
        await asyncio.gather(*tasks)

    asyncio.run(everything())
    handle.spawned.clear()


def run_spawned(handle):
    spawned = [work for _, work in handle.spawned]
    handle.spawned.clear()

    async def everything():
        await asyncio.gather(*spawned)

    asyncio.run(everything())


class Counted:
    """Remembers what is to be counted."""

    def __init__(self):
        self.told = []

    def preempted(self, victims):
        self.told.append(victims)

    def evicted(self, result, seconds):
        self.told.append(result)


def started(*names, leaving=(), release=LATEST):
    """A handle with these victims on node a, and a preemption of all of them under way."""
    pods = [
        pod(name, node="a", deletion_timestamp="2026-01-01T00:00:00Z" if name in leaving else "")
        for name in names
    ]
    handle = FakeHandle(node("a"), *pods)
    handle.metrics = Counted()
    evictions = plugin_of("DefaultPreemption", release, handle)._evictions
    victims = tuple(handle.state.pods[victim.uid] for victim in pods)
    evictions.start(PREEMPTOR, Candidate("a", victims, 0))
    return handle, evictions


def test_each_victim_is_marked_then_deleted_the_last_one_last():
    handle, _ = started("v1", "v2", "v3")
    run_spawned(handle)
    writes = [(kind, key) for kind, key, *_ in handle.client.writes]
    assert writes[-2:] == [("condition", "default/v3"), ("delete", "default/v3")]
    assert set(writes) == {(k, f"default/v{i}") for k in ("condition", "delete") for i in (1, 2, 3)}


def test_what_the_victim_is_told():
    handle, _ = started("v1")
    run_spawned(handle)
    condition = handle.client.writes[0][2]
    assert (condition.type, condition.status) == ("DisruptionTarget", "True")
    assert condition.reason == "PreemptionByScheduler"
    assert condition.message == (
        "default-scheduler: preempting to accommodate a higher priority pod"
    )
    note = fwk.EventNote("Normal", "Preempted", "Preempting", "Preempted by pod uid-high on node a")
    assert handle.events.recorded == [("default/v1", "default/high", note)]


def test_victims_on_their_way_out_are_left_alone():
    handle, evictions = started("v1", leaving=("v1",))
    assert not handle.spawned
    assert handle.metrics.told == [1]
    assert not evictions.holds(PREEMPTOR.uid)


def test_a_waiting_victim_is_ended_in_memory():
    handle, _ = started("v1")
    waiting = WaitingPod(pod("v1"), {"Some": 60}, handle.clock)
    handle.waiting_pods.add(waiting)
    run_spawned(handle)
    assert waiting.outcome == fwk.Status(fwk.Code.ERROR, ("preempted",), "DefaultPreemption")
    assert handle.client.writes == []
    assert handle.events.recorded[0][2].note.endswith("on node a (in kube-scheduler memory).")


@pytest.mark.parametrize(
    ("release", "woken"), [(V1_36, []), (V1_37, ["default/high"])], ids=["1.36", "1.37"]
)
@pytest.mark.parametrize("binds", [True, False], ids=["in-pre-bind", "waiting"])
def test_who_wakes_the_pod_when_the_last_victim_was_never_bound(release, woken, binds):
    """No deletion will be announced. As 1.36, the pod waits for some other event."""
    handle, _ = started("v1", "v2", release=release)
    if binds:
        handle.pods_in_pre_bind.add("uid-v2", lambda reason: None)
    else:
        handle.waiting_pods.add(WaitingPod(pod("v2"), {"Some": 60}, handle.clock))

    run_spawned(handle)

    assert handle.client.writes[-1] == ("delete", "default/v1")
    assert [pod.key for pod in handle.activated] == woken


def test_a_deleted_victim_wakes_the_pod_by_its_event():
    handle, _ = started("v1", "v2")
    handle.waiting_pods.add(WaitingPod(pod("v1"), {"Some": 60}, handle.clock))
    run_spawned(handle)
    assert handle.client.writes[-1] == ("delete", "default/v2")
    assert not handle.activated


def test_a_victim_in_pre_bind_is_called_off():
    handle, _ = started("v1")
    reasons = []
    handle.pods_in_pre_bind.add("uid-v1", reasons.append)
    run_spawned(handle)
    assert reasons == ["preempted by DefaultPreemption"]
    assert handle.client.writes == []


def test_a_victim_past_pre_bind_is_deleted():
    handle, _ = started("v1")
    handle.pods_in_pre_bind.add("uid-v1", lambda reason: None).mark_prebound()
    run_spawned(handle)
    assert handle.client.writes[-1] == ("delete", "default/v1")


def test_lower_nominations_are_cleared_before_the_evictions():
    handle, _ = started("v1")
    for name, priority in (("lower", 1), ("higher", 11)):
        other = pod(name, priority=priority, status={"nominated_node_name": "a"})
        handle.nominator.add(fwk.PodInfo(other))
    run_spawned(handle)
    assert handle.client.writes[0] == ("clear nomination", "default/lower")
    assert ("clear nomination", "default/higher") not in handle.client.writes


@pytest.mark.parametrize(
    ("fault", "activated", "events"),
    [
        pytest.param(NotFound("gone"), [], 0, id="gone-by-itself"),
        pytest.param(PodiumError("refused"), ["default/high"], 0, id="any-other-fault"),
    ],
)
def test_faults(fault, activated, events):
    handle, evictions = started("v1", "v2")

    async def refuse(victim, condition=None):
        raise fault

    handle.client.patch_pod_condition = refuse
    run_spawned(handle)
    assert not handle.activated
    run_spawned_later(handle)
    assert [activated.key for activated in handle.activated] == activated
    assert len(handle.events.recorded) == events
    assert handle.metrics.told == [2, "error" if activated else "success"]
    # The watch has yet to show what is gone.
    assert evictions.holds(PREEMPTOR.uid) == (not activated)


def test_the_pod_is_held_back_until_only_a_leaving_victim_is_left():
    """While the last eviction is under way, a deletion seen by the watch is enough."""
    handle, evictions = started("v1")
    assert evictions.holds(PREEMPTOR.uid)
    seen = []

    async def delete(victim):
        seen.append((evictions.holds(PREEMPTOR.uid), set(evictions.held())))
        handle.state.remove_pod(victim)
        seen.append((evictions.holds(PREEMPTOR.uid), set(evictions.held())))

    handle.client.delete_pod = delete
    run_spawned(handle)
    assert seen == [(True, {PREEMPTOR.uid}), (False, set())]
    assert not evictions.holds(PREEMPTOR.uid)
    assert not evictions.held()


@pytest.mark.parametrize("shows", ["nothing", "gone", "terminating"])
def test_an_attempt_waits_until_the_watch_shows_that_the_last_victim_leaves(shows):
    handle, evictions = started("v1", "v2")
    run_spawned(handle)
    assert evictions.holds(PREEMPTOR.uid)
    assert set(evictions.held()) == {PREEMPTOR.uid}

    match shows:
        case "nothing":
            handle.clock.advance(UNSEEN_SECONDS)
        case "gone":
            handle.state.remove_pod(pod("v2", node="a"))
        case "terminating":
            handle.state.update_pod(pod("v2", node="a", deletion_timestamp="2026-01-01T00:00:00Z"))

    assert not evictions.holds(PREEMPTOR.uid)
    assert not evictions.held()


def test_pre_enqueue_says_why():
    handle = FakeHandle(node("a"), pod("v1", node="a"))
    plugin = DefaultPreemption(DefaultPreemption.Args(), handle)
    assert plugin.pre_enqueue(PREEMPTOR).ok
    victims = (handle.state.pods["uid-v1"],)
    plugin._evictions.start(PREEMPTOR, Candidate("a", victims, 0))
    status = plugin.pre_enqueue(PREEMPTOR)
    assert status.code is fwk.Code.UNSCHEDULABLE_AND_UNRESOLVABLE
    assert status.message == "waiting for the preemption for this pod to be finished"
    run_spawned(handle)


def test_no_event_wakes_the_pod_because_of_this_plugin():
    (registration,) = DefaultPreemption(DefaultPreemption.Args(), FakeHandle()).events_to_register()
    assert registration.hint is not None
    assert not registration.hint(PREEMPTOR, pod("v1", node="a"), None)

"""Pods that wait: on Permit, in PreBind, in Bind; and what happens to them meanwhile."""

import asyncio

import msgspec
import pytest

from podium import framework as fwk
from podium.api.objects import ObjectMeta
from podium.testing.builders import pod
from tests.support import toys
from tests.support.live import play

WEB = pod("web")
BOUND = "Successfully assigned default/web to n1"


class Permit(toys.Permit, fwk.EnqueueExtensions):
    def events_to_register(self):
        return [fwk.on("Pod", "delete")]


def updated(old, **meta):
    version = str(int(old.metadata.resource_version or 0) + 1)
    return msgspec.structs.replace(
        old, metadata=msgspec.structs.replace(old.metadata, resource_version=version, **meta)
    )


async def begin(desk):
    """The pod and a node for it are seen, and what follows from that has happened."""
    desk.see_nodes("n1")
    desk.see(WEB)
    await desk.settle()


def failing_bind(answer, why):
    """A Bind that fails for this reason, once it is told to answer."""

    async def binding():
        await answer.wait()
        return fwk.Status.error(why)

    return toys.Bind("Bind", lambda *_: binding())


def test_a_waiting_pod_is_bound_once_it_is_allowed():
    async def scene(desk):
        await begin(desk)
        assert desk.story() == []
        assert desk.statuses() == [(None, None, "n1")]  # where it is expected
        assert desk.queue.in_flight_events() == {"PodPopped": 1}

        desk.services.waiting_pods.get(WEB.uid).allow("P")
        await desk.settle()
        assert desk.story() == [BOUND]
        assert len(desk.services.waiting_pods) == 0

    play(scene, Permit("P", fwk.wait(60)), toys.Bind("Bind"))


def test_a_waiting_pod_runs_out_of_time():
    async def scene(desk):
        await begin(desk)
        await desk.wait(10)

        why = "rejected due to timeout after waiting 10s at plugin P"
        message = f"0/1 nodes are available: 1 {why}."
        assert desk.story() == [message]
        assert desk.statuses()[-1] == ("Unschedulable", message, "")
        # Its own leaving is a deletion, which P waits for; but not its own.
        assert desk.queue.queue_of(WEB.key) == "unschedulable"

    play(scene, Permit("P", fwk.wait(10)), toys.Bind("Bind"))


def test_the_leaving_of_a_refused_pod_wakes_others():
    other = pod("other")

    async def scene(desk):
        desk.see_nodes("n1")
        desk.see(other)
        await desk.settle()
        await desk.wait(10)
        assert desk.queue.queue_of(other.key) == "unschedulable"
        desk.see(WEB)
        await desk.settle()
        await desk.wait(10)

        assert desk.queue.queue_of(WEB.key) == "unschedulable"
        assert desk.services.waiting_pods.get(other.uid) is not None  # tried again, waits again

    play(scene, Permit("P", fwk.wait(10)), toys.Bind("Bind"))


def test_a_preempted_waiting_pod_is_retried_as_after_an_error():
    async def scene(desk):
        await begin(desk)
        desk.services.waiting_pods.get(WEB.uid).preempt("DefaultPreemption", "preempted")
        await desk.settle()

        assert desk.story() == ["waiting on permit for pod: preempted"]
        assert desk.queue.queue_of(WEB.key) == "backoff"

    play(scene, Permit("P", fwk.wait(10)), toys.Bind("Bind"))


def test_a_pod_deleted_while_it_waits_leaves_its_node_and_is_not_requeued():
    async def scene(desk):
        await begin(desk)
        desk.lose(WEB)
        await desk.settle()

        assert WEB.uid not in desk.cluster.pods
        assert desk.queue.pending().total == 0
        assert desk.queue.in_flight_events() == {}

    play(scene, Permit("P", fwk.wait(10)), toys.Bind("Bind"))


def test_a_waiting_pod_marked_for_deletion_is_let_go():
    async def scene(desk):
        await begin(desk)
        desk.see(updated(WEB, deletion_timestamp="2026-01-01T00:00:00Z"))
        await desk.settle()

        assert WEB.uid not in desk.cluster.pods
        assert len(desk.services.waiting_pods) == 0

    play(scene, Permit("P", fwk.wait(10)), toys.Bind("Bind"))


def test_a_pod_deleted_while_it_is_bound_is_forgotten_at_once():
    answer = asyncio.Event()

    async def scene(desk):
        await begin(desk)
        desk.lose(WEB)
        await desk.settle()
        assert WEB.uid not in desk.cluster.pods

        answer.set()
        await desk.settle()
        assert desk.queue.pending().total == 0
        assert desk.story() == ['running Bind plugin "Bind": not found']

    play(scene, failing_bind(answer, "not found"))


def test_a_pod_made_again_while_the_old_one_is_bound_is_scheduled_for_itself():
    answer = asyncio.Event()
    anew = msgspec.structs.replace(
        WEB, metadata=ObjectMeta(name="web", namespace="default", uid="uid-2")
    )

    async def binding(subject, _):
        if subject.uid == WEB.uid:
            await answer.wait()
            return fwk.Status.error("conflict")
        return None

    async def scene(desk):
        await begin(desk)
        desk.see(anew)
        await desk.settle()
        assert set(desk.cluster.pods) == {"uid-2"}

        answer.set()
        await desk.settle()
        # Nothing is said about the old pod: people would take it for the new one.
        assert desk.story() == [BOUND]
        assert set(desk.cluster.pods) == {"uid-2"}

    play(scene, toys.Bind("Bind", binding))


def test_an_update_while_in_flight_is_taken_back_to_the_queue():
    async def scene(desk):
        await begin(desk)
        desk.see(updated(WEB, labels={"new": "yes"}))
        await desk.wait(10)

        (queued,) = desk.queue.pods()
        assert queued.pod.labels == {"new": "yes"}

    play(scene, Permit("P", fwk.wait(10)), toys.Bind("Bind"))


def test_an_event_during_the_attempt_wakes_the_pod_when_it_comes_back():
    """P waits for deletions: one that happens while the pod waits on Permit counts."""
    other = pod("other", node="n1")

    async def scene(desk):
        desk.see_nodes("n1")
        desk.see(other)
        desk.see(WEB)
        await desk.settle()
        desk.lose(other)
        await desk.wait(10)

        # Without the event it would be unschedulable; with it, it is tried again at once.
        assert desk.services.waiting_pods.get(WEB.uid) is not None

    play(scene, Permit("P", fwk.wait(10)), toys.Bind("Bind"))


@pytest.mark.parametrize("is_late", [False, True], ids=["in-pre-bind", "after-pre-bind"])
def test_a_binding_can_be_called_off_until_pre_bind_is_done(is_late):
    ready, bind = asyncio.Event(), asyncio.Event()

    async def pre_bind():
        await ready.wait()

    async def binding():
        await bind.wait()

    async def scene(desk):
        await begin(desk)
        if is_late:
            ready.set()
            await desk.settle()
        called_off = desk.services.pods_in_pre_bind.get(WEB.uid).cancel("preempted by P")
        bind.set()
        await desk.settle()

        assert called_off is not is_late
        assert desk.story() == ([BOUND] if is_late else ["preempted by P"])
        assert desk.services.pods_in_pre_bind.get(WEB.uid) is None

    play(
        scene,
        toys.PreBind("P", lambda *_: pre_bind()),
        toys.Bind("Bind", lambda *_: binding()),
    )


def test_the_watch_may_show_a_binding_before_its_answer_comes():
    answer = asyncio.Event()

    async def scene(desk):
        await begin(desk)
        desk.see_bound(WEB, "n1")
        answer.set()
        await desk.settle()

        assert desk.cluster.pods[WEB.uid].pod.node_name == "n1"
        assert desk.queue.pending().total == 0

    play(scene, failing_bind(answer, "timed out"))

"""Plugins that hold pods back or fail, told through the API alone."""

import asyncio

import pytest

from podium import framework as fwk
from tests.support.scenarios import node, play, pod, reasons

pytestmark = pytest.mark.slow

SCHEDULED = ("Scheduled", "Successfully assigned default/web to n1")


class Pairs(fwk.PermitPlugin, fwk.EnqueueExtensions):
    """Pods come in pairs: the first waits until the second is there."""

    name = "Pairs"

    def __init__(self, args, handle):
        self._handle = handle

    def permit(self, state, subject, node_name):
        waiting = list(self._handle.waiting_pods)
        if not waiting:
            return fwk.wait(30)
        waiting[0].allow(self.name)
        return None

    def events_to_register(self):
        return [fwk.on("Node", "add")]


def test_a_pod_that_waits_on_permit_is_released_by_another():
    async def scene(cluster):
        await cluster.create(node(), pod("first"))
        await cluster.settle()
        assert cluster.node_of("first") is None
        # Where it is expected is known, and its room is taken.
        assert cluster.get("pods", "first")["status"]["nominatedNodeName"] == "n1"

        await cluster.wait(20)
        await cluster.create(pod("second"))
        await cluster.settle()
        assert (cluster.node_of("first"), cluster.node_of("second")) == ("n1", "n1")
        assert "nominatedNodeName" not in cluster.get("pods", "first")["status"]

    play(scene, Pairs)


def test_a_pod_that_waits_on_permit_runs_out_of_time():
    async def scene(cluster):
        await cluster.create(node(), pod("web"))
        await cluster.wait(31)

        why = "rejected due to timeout after waiting 30s at plugin Pairs"
        message = f"0/1 nodes are available: 1 {why}."
        assert cluster.why_pending("web") == message
        assert reasons(cluster) == [("FailedScheduling", message)]
        assert "nominatedNodeName" not in cluster.get("pods", "web")["status"]

        # What its plugin named comes: a node.
        await cluster.create(node("n2"))
        await cluster.wait(3)
        await cluster.create(pod("other"))
        await cluster.settle()
        assert {cluster.node_of("web"), cluster.node_of("other")} == {"n1", "n2"}

    play(scene, Pairs)


class Once:
    """An answer that a plugin gives the first time it is asked."""

    def __init__(self, answer):
        self._answer = answer
        self.undone = []

    def take(self):
        answer, self._answer = self._answer, None
        if isinstance(answer, BaseException):
            raise answer
        return answer


def failing_reserve(once):
    class Failing(fwk.ReservePlugin, fwk.EnqueueExtensions):
        name = "Failing"

        def events_to_register(self):
            return [fwk.on("Node", "add")]

        def reserve(self, state, subject, node_name):
            return once.take()

        def unreserve(self, state, subject, node_name):
            once.undone.append(node_name)

    return Failing


def failing_pre_bind(once):
    class Failing(fwk.ReservePlugin, fwk.PreBindPlugin):
        name = "Failing"

        def reserve(self, state, subject, node_name):
            return None

        def unreserve(self, state, subject, node_name):
            once.undone.append(node_name)

        async def pre_bind(self, state, subject, node_name):
            return once.take()

    return Failing


BROKEN = fwk.Status.error("broken")
REFUSING = fwk.Status.unschedulable("not now")


@pytest.mark.parametrize(
    ("make", "answer", "message", "reason"),
    [
        pytest.param(
            failing_reserve,
            BROKEN,
            'running Reserve plugin "Failing": broken',
            "SchedulerError",
            id="reserve-error",
        ),
        pytest.param(
            failing_reserve,
            REFUSING,
            "0/1 nodes are available: 1 not now.",
            "Unschedulable",
            id="reserve-refuses",
        ),
        pytest.param(
            failing_pre_bind,
            BROKEN,
            'running PreBind plugin "Failing": broken',
            "SchedulerError",
            id="pre-bind-error",
        ),
        pytest.param(failing_pre_bind, REFUSING, "not now", "Unschedulable", id="pre-bind-refuses"),
        pytest.param(
            failing_pre_bind,
            ZeroDivisionError("oops"),
            'running PreBind plugin "Failing": oops',
            "SchedulerError",
            id="pre-bind-raises",
        ),
    ],
)
def test_a_failure_is_told_undone_and_tried_again(make, answer, message, reason):
    once = Once(answer)

    async def scene(cluster):
        await cluster.create(node(), pod("web"))
        await cluster.settle()
        (condition,) = [
            one
            for one in cluster.get("pods", "web")["status"]["conditions"]
            if one["type"] == "PodScheduled"
        ]
        assert (condition["status"], condition["reason"]) == ("False", reason)
        assert condition["message"] == message
        assert condition["observedGeneration"] == 1
        assert once.undone == ["n1"]

        # After an error it is tried again anyway; a plugin that refused it waits for nodes.
        await cluster.create(node("n0", taints=[{"key": "x", "effect": "NoSchedule"}]))
        await cluster.wait(3)
        assert reasons(cluster) == [("FailedScheduling", message), SCHEDULED]

    play(scene, make(once))


def test_an_unexpected_fault_in_a_binding_is_undone_and_tried_again(caplog):
    """A future that somebody else cancelled: to the binding it looks like its own end."""
    once = Once(asyncio.CancelledError())

    class Cancelled(fwk.PreBindPlugin):
        name = "Cancelled"

        async def pre_bind(self, state, subject, node_name):
            once.take()

    async def scene(cluster):
        await cluster.create(node(), pod("web"))
        await cluster.settle()
        assert cluster.node_of("web") is None
        await cluster.wait(3)
        assert reasons(cluster) == [("FailedScheduling", "CancelledError"), SCHEDULED]

    play(scene, Cancelled)
    assert "binding cycle failed" in caplog.text


class Slow(fwk.PreBindPlugin):
    """PreBind takes until the test says so."""

    name = "Slow"
    gates = None

    def __init__(self, args, handle):
        type(self).gates = {}

    @classmethod
    def gate(cls, name):
        return cls.gates.setdefault(name, asyncio.Event())

    async def pre_bind(self, state, subject, node_name):
        await self.gate(subject.name).wait()


def test_a_pod_deleted_while_it_waits_on_permit_gives_its_room_back():
    async def scene(cluster):
        await cluster.create(node(cpu="1"), pod("web", cpu="1"))
        await cluster.settle()
        await cluster.delete("pods", "web")
        await cluster.settle()
        assert cluster.get("pods", "web") is None
        await cluster.create(pod("next", cpu="1"), pod("pair"))
        await cluster.wait(2)

        assert (cluster.node_of("next"), cluster.node_of("pair")) == ("n1", "n1")

    play(scene, Pairs)


def test_a_pod_deleted_while_it_is_being_bound_gives_its_room_back():
    async def scene(cluster):
        await cluster.create(node(cpu="1"), pod("web", cpu="1"))
        await cluster.settle()
        await cluster.create(pod("next", cpu="1"))
        await cluster.settle()
        assert "1 Insufficient cpu" in cluster.why_pending("next")

        await cluster.delete("pods", "web")
        await cluster.settle()
        Slow.gate("web").set()  # its Bind finds no pod
        Slow.gate("next").set()
        await cluster.wait(3)
        assert cluster.node_of("next") == "n1"
        assert cluster.get("pods", "web") is None

    play(scene, Slow)


def test_a_node_deleted_between_assume_and_bind_is_not_the_pods_end():
    async def scene(cluster):
        await cluster.create(node(), pod("web"))
        await cluster.settle()
        await cluster.delete("nodes", "n1")
        await cluster.settle()
        Slow.gate("web").set()
        await cluster.settle()
        # As upstream, the binding goes through: the API server does not look for the node. The
        # cluster's garbage collector then ends the pod.
        await cluster.wait(60)
        assert cluster.get("pods", "web") is None

        await cluster.create(node("n2"), pod("web2"))
        Slow.gate("web2").set()
        await cluster.settle()
        assert cluster.node_of("web2") == "n2"

    play(scene, Slow)


def test_a_pod_updated_while_in_flight_is_judged_anew_when_it_returns():
    term = {"topologyKey": "kubernetes.io/hostname"}
    apart = {**term, "labelSelector": {"matchLabels": {"loud": "yes"}}}
    rules = {"requiredDuringSchedulingIgnoredDuringExecution": [apart]}
    neighbour = pod("neighbour", nodeName="n1", affinity={"podAntiAffinity": rules})

    def become_loud(obj):
        obj["metadata"]["labels"] = {"loud": "yes"}

    async def scene(cluster):
        await cluster.create(node("n1", {"kubernetes.io/hostname": "n1"}), neighbour)
        await cluster.create(pod("web"))
        await cluster.settle()
        assert cluster.get("pods", "web")["status"]["nominatedNodeName"] == "n1"

        await cluster.update("pods", "web", become_loud)
        await cluster.wait(30)  # Permit refuses it now
        worse = [{"key": "busy", "effect": "PreferNoSchedule"}]
        await cluster.create(node("n2", {"kubernetes.io/hostname": "n2"}, worse))
        await cluster.wait(3)
        await cluster.create(pod("other"))
        await cluster.settle()
        assert cluster.node_of("web") == "n2"  # its neighbour on n1 wants no loud pods

    play(scene, Pairs)


class Full(fwk.PermitPlugin, fwk.FilterPlugin, fwk.EnqueueExtensions):
    """Holds the pod for ten seconds, then says no unless the node is labelled ``ready``."""

    name = "Full"

    def filter(self, state, subject, candidate):
        return None

    def permit(self, state, subject, node_name):
        return None if node_name == "ready" else fwk.wait(10)

    def events_to_register(self):
        return [fwk.on("Node", "add", hint=lambda _, old, new: new.name == "ready")]


def test_an_event_during_the_attempt_counts_when_the_attempt_fails():
    """Without it the pod would sleep for five minutes: its event came while it was in flight."""

    async def scene(cluster):
        await cluster.create(node(cpu="1"), pod("web", cpu="500m"))
        await cluster.wait(5)
        await cluster.create(node("ready", cpu="64"))
        await cluster.wait(4)
        assert cluster.node_of("web") is None
        await cluster.wait(4)
        assert cluster.node_of("web") == "ready"

    play(scene, Full)

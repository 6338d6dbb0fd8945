"""One attempt after another: bound, skipped, refused, failed; and what is undone when it fails."""

import asyncio

import pytest

from podium import framework as fwk
from podium.errors import ApiError
from podium.testing.builders import pod
from tests.support import toys
from tests.support.live import play

WEB = pod("web")
NO_ROOM = fwk.Status.unschedulable("no room")


class Registering(toys.Toy, fwk.EnqueueExtensions):
    """Mixed in: a toy that only new nodes help."""

    def events_to_register(self):
        return [fwk.on("Node", "add")]


class Filter(Registering, toys.Filter):
    pass


class Permit(Registering, toys.Permit):
    pass


class Reserve(Registering, toys.Reserve):
    pass


def test_a_pod_is_bound_and_stays_assumed_until_the_watch_shows_it():
    bind = toys.Bind("Bind")

    async def scene(desk):
        desk.see_nodes("n1")
        desk.see(WEB)
        await desk.settle()

        assert bind.asked == ["Bind"]
        assert desk.story() == ["Successfully assigned default/web to n1"]
        assert desk.cluster.is_assumed(WEB.uid)
        assert desk.queue.pending().total == 0
        assert desk.queue.in_flight_events() == {}

        desk.see_bound(WEB, "n1")
        assert not desk.cluster.is_assumed(WEB.uid)
        assert desk.cluster.pods[WEB.uid].pod.node_name == "n1"

    play(scene, bind)


def test_a_pod_that_is_being_deleted_is_skipped():
    async def scene(desk):
        desk.see_nodes("n1")
        desk.see(pod("web", deletion_timestamp="2026-01-01T00:00:00Z"))
        await desk.settle()

        assert desk.story() == ["skip schedule deleting pod: default/web"]
        assert desk.queue.pending().total == 0
        assert desk.queue.in_flight_events() == {}

    play(scene, toys.Bind("Bind"))


def test_a_pod_of_another_scheduler_is_left_alone():
    bind = toys.Bind("Bind")

    async def scene(desk):
        desk.see_nodes("n1")
        desk.see(pod("web", scheduler_name="other"))
        await desk.settle()

        assert (bind.asked, desk.story(), desk.queue.pending().total) == ([], [], 0)

    play(scene, bind)


def test_no_nodes_is_told_as_unschedulable_and_retried_as_an_error():
    async def scene(desk):
        desk.see(WEB)
        await desk.settle()

        message = "no nodes available to schedule pods"
        assert desk.story() == [message]
        assert desk.statuses() == [("Unschedulable", message, "")]
        assert desk.queue.queue_of(WEB.key) == "backoff"

        desk.see_nodes("n1")
        await desk.wait(2)
        assert desk.story()[1:] == ["Successfully assigned default/web to n1"]

    play(scene, toys.Bind("Bind"))


def test_a_rejected_pod_waits_for_the_event_its_plugin_named():
    full = Filter("Full", lambda _, node: NO_ROOM if node.name == "n1" else None)

    async def scene(desk):
        desk.see_nodes("n1")
        desk.see(WEB)
        await desk.settle()

        message = "0/1 nodes are available: 1 no room."
        assert desk.story() == [message]
        assert desk.statuses() == [("Unschedulable", message, "")]
        assert desk.queue.queue_of(WEB.key) == "unschedulable"

        desk.see(pod("other", node="n1"))
        await desk.wait(20)
        assert len(desk.story()) == 1

        desk.see_nodes("n2")
        await desk.settle()
        assert desk.story()[1:] == ["Successfully assigned default/web to n2"]

    play(scene, full, toys.Bind("Bind"))


ERROR = fwk.Status.error("broken")
REFUSED = "0/1 nodes are available: 1 no room."

FAILURES = [
    pytest.param(Reserve("P", NO_ROOM), "Unschedulable", REFUSED, "unschedulable", id="Reserve"),
    pytest.param(
        Reserve("P", ERROR), "SchedulerError", 'running Reserve plugin "P": broken', "backoff",
        id="Reserve-error",
    ),
    pytest.param(Permit("P", NO_ROOM), "Unschedulable", REFUSED, "unschedulable", id="Permit"),
    pytest.param(
        Permit("P", ERROR), "SchedulerError", 'running Permit plugin "P": broken', "backoff",
        id="Permit-error",
    ),
    pytest.param(
        toys.PreBind("P", NO_ROOM), "Unschedulable", "no room", "backoff",
        id="PreBind-rejects-nobody-to-blame",
    ),
    pytest.param(
        toys.PreBind("P", ERROR), "SchedulerError", 'running PreBind plugin "P": broken',
        "backoff", id="PreBind-error",
    ),
    pytest.param(
        toys.Bind("P", ERROR), "SchedulerError", 'running Bind plugin "P": broken', "backoff",
        id="Bind-error",
    ),
    pytest.param(
        toys.Bind("P", ZeroDivisionError("oops")), "SchedulerError",
        'running Bind plugin "P": oops', "backoff", id="Bind-raises",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("plugin", "reason", "message", "place"), FAILURES)
def test_every_failure_is_undone_in_order_told_and_requeued(plugin, reason, message, place):
    done = []
    first, last = toys.Reserve("First", log=done), toys.Reserve("Last", log=done)

    async def scene(desk):
        desk.see_nodes("n1")
        desk.see(WEB)
        await desk.settle()

        undone = [name for what, name in done if what == "unreserve"]
        assert undone == ["Last", "First"]
        assert WEB.uid not in desk.cluster.pods
        assert desk.story() == [message]
        assert desk.statuses()[-1] == (reason, message, "")
        assert desk.queue.queue_of(WEB.key) == place
        assert desk.queue.in_flight_events() == {}

    play(scene, first, plugin, last, toys.Bind("Bind"))


def test_all_bind_plugins_skipping_is_retried_but_not_told():
    async def scene(desk):
        desk.see_nodes("n1")
        desk.see(WEB)
        await desk.settle()

        assert (desk.story(), desk.statuses()) == ([], [])
        assert desk.queue.queue_of(WEB.key) == "backoff"

    play(scene, toys.Bind("Bind", fwk.skip()))


def test_an_unexpected_fault_in_a_binding_is_undone_and_requeued(caplog):
    reserve = toys.Reserve("R")

    async def scene(desk):
        desk.client.fault = ZeroDivisionError("a bug")  # no error of the API: nobody expects it
        desk.see_nodes("n1")
        desk.see(WEB)
        await desk.settle()
        assert ("unreserve", "R") in reserve.asked
        assert WEB.uid not in desk.cluster.pods
        assert desk.story() == ["a bug"]

        desk.client.fault = None
        await desk.wait(2)
        assert desk.story()[1:] == ["Successfully assigned default/web to n1"]

    play(scene, reserve, toys.PreBind("P"), toys.Bind("Bind"))
    assert "binding cycle failed" in caplog.text


def test_an_unexpected_fault_in_a_cycle_ends_neither_the_loop_nor_the_pod(caplog):
    async def scene(desk):
        desk.see_nodes("n1")
        whole, desk.profile.filters = desk.profile.filters, None  # a fault that is no plugin's
        desk.see(WEB)
        await desk.settle()
        assert len(desk.story()) == 1
        assert desk.queue.queue_of(WEB.key) == "backoff"

        desk.profile.filters = whole
        await desk.wait(2)
        assert desk.story()[1:] == ["Successfully assigned default/web to n1"]

    play(scene, toys.Bind("Bind"))
    assert "scheduling cycle failed" in caplog.text


def test_an_async_unreserve_is_awaited_before_the_pod_is_forgotten():
    release = asyncio.Event()
    reserve = toys.Reserve("R", NO_ROOM)

    async def giving_back():
        await release.wait()

    reserve.undo = lambda *_: giving_back()

    async def scene(desk):
        reserve.answer = None
        desk.see_nodes("n1")
        desk.see(WEB)
        await desk.settle()
        assert desk.cluster.is_assumed(WEB.uid)

        release.set()
        await desk.settle()
        assert WEB.uid not in desk.cluster.pods
        assert desk.queue.queue_of(WEB.key) == "backoff"

    play(scene, reserve, toys.Bind("Bind", ERROR))


def test_stashed_pods_are_activated_when_the_pod_is_bound():
    other = pod("other")

    class Full(toys.Unsigned, Filter):
        """So that nothing is kept of its first answer."""

    full = Full("Full", lambda subject, _: NO_ROOM if subject.name == "other" else None)

    class Stashing(toys.Toy, fwk.PostBindPlugin):
        async def post_bind(self, state, subject, node_name):
            state.get(fwk.PodsToActivate).pods[other.key] = other

    async def scene(desk):
        desk.see_nodes("n1")
        desk.see(other)
        await desk.settle()
        assert desk.queue.queue_of(other.key) == "unschedulable"
        full.answer = None

        desk.see(WEB)
        await desk.settle()
        assert "Successfully assigned default/other to n1" in desk.story()

    play(scene, full, Stashing("S"), toys.Bind("Bind"))


def test_a_failing_status_write_is_logged_and_no_more(caplog):
    async def scene(desk):
        desk.client.fault = ApiError("unavailable")
        desk.see(WEB)
        await desk.settle()
        assert desk.queue.queue_of(WEB.key) == "backoff"

    play(scene, toys.Bind("Bind"))
    assert "Error updating pod" in caplog.text

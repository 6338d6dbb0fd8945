"""Writes about pods that go through the dispatcher: in order, in the background, counted."""

import asyncio

import pytest

from podium.api.objects import Condition
from podium.clock import FakeClock, give_way
from podium.config.feature_gates import FeatureGates
from podium.errors import ApiError, Conflict
from podium.live.api_dispatcher import ApiDispatcher, DispatchedStatuses, DispatchingClient
from podium.live.tasks import Tasks
from podium.metrics import Metrics
from podium.testing import SimulatedCluster
from podium.testing.builders import pod
from tests.support.live import StatusClient
from tests.support.scenarios import HIGH, node, reasons, scrape
from tests.support.scenarios import pod as manifest

WEB = pod("web")
NO_ROOM = Condition("PodScheduled", "False", reason="Unschedulable", message="no room")


class SlowClient(StatusClient):
    """Answers when it is told to."""

    def __init__(self):
        super().__init__()
        self.may_answer = asyncio.Event()

    async def patch_pod_status(self, pod, condition, nominated):
        await super().patch_pod_status(pod, condition, nominated)
        await self.may_answer.wait()

    async def bind(self, pod, node_name):
        if self.fault is not None:
            raise self.fault
        await super().bind(pod, node_name)


class Desk:
    def __init__(self):
        self.client, self.metrics, self.tasks = SlowClient(), Metrics(), Tasks(FakeClock())
        clock = FakeClock()
        self.dispatcher = ApiDispatcher(self.client, clock, self.metrics, self.tasks.spawn)
        self.statuses = DispatchedStatuses(self.client, self.dispatcher)
        self.plugins = DispatchingClient(self.client, self.dispatcher, self.statuses)

    @property
    def kinds(self):
        return [kind for kind, *_ in self.client.writes]


def at_desk(scene):
    async def run():
        desk = Desk()
        await scene(desk)
        await desk.tasks.cancel()

    asyncio.run(run())


async def turns():
    for _ in range(10):
        await give_way()


def test_a_status_is_written_without_waiting():
    async def scene(desk):
        await desk.statuses.write(WEB, NO_ROOM, None)
        assert desk.client.writes == []
        await turns()
        assert desk.client.writes == [("status", "default/web", "Unschedulable", "no room", None)]

    at_desk(scene)


def test_a_binding_waits_for_its_result_and_for_a_status_under_way():
    async def scene(desk):
        await desk.statuses.write(WEB, NO_ROOM, None)
        await turns()
        bound = asyncio.ensure_future(desk.plugins.bind(WEB, "n1"))
        await turns()
        assert desk.kinds == ["status"]
        desk.client.may_answer.set()
        await bound
        assert desk.kinds == ["status", "bind"]

    at_desk(scene)


def test_a_binding_that_fails_raises():
    async def scene(desk):
        desk.client.fault = Conflict("pod web is already assigned", 409)
        with pytest.raises(Conflict, match="already assigned"):
            await desk.plugins.bind(WEB, "n1")
        await turns()
        assert series(desk.metrics.api_calls) == {("pod_binding", "error"): 1}

    at_desk(scene)


def test_a_status_that_fails_is_logged(caplog):
    async def scene(desk):
        desk.client.fault = ApiError("no luck", 500)
        await desk.statuses.write(WEB, NO_ROOM, None)
        await turns()

    at_desk(scene)

    assert "Error updating pod" in caplog.text
    assert "no luck" in caplog.text


def test_writes_of_one_turn_are_merged():
    async def scene(desk):
        await desk.statuses.write(WEB, NO_ROOM, None)
        await desk.statuses.write(WEB, None, "n1")
        await turns()
        assert desk.client.writes == [("status", "default/web", "Unschedulable", "no room", "n1")]

    at_desk(scene)


def test_a_nomination_is_cleared_unless_the_informer_shows_that_it_is_gone():
    nominated = WEB.nominated_to("n1")

    async def scene(desk):
        await desk.plugins.clear_nominated_node_name(nominated)
        desk.dispatcher.on_pod(nominated, WEB)
        await turns()
        assert desk.client.writes == []
        await desk.plugins.clear_nominated_node_name(nominated)
        await turns()
        assert desk.client.writes == [("status", "default/web", None, None, "")]

    at_desk(scene)


def test_the_calls_that_wait_are_counted():
    async def scene(desk):
        await desk.statuses.write(WEB, NO_ROOM, None)
        pending = desk.metrics.pending_api_calls
        assert series(pending) == {("pod_status_patch",): 1, ("pod_binding",): 0}
        await turns()
        assert series(pending) == {("pod_status_patch",): 0, ("pod_binding",): 0}

    at_desk(scene)


def series(family):
    return family.series()


# --- the whole scheduler -------------------------------------------------------------------------


class Dispatching(SimulatedCluster):
    gates = FeatureGates(chosen={"SchedulerAsyncAPICalls": True})


@pytest.mark.parametrize("kind", [SimulatedCluster, Dispatching])
def test_a_pod_waits_until_a_node_fits(kind):
    async def scene(cluster):
        await cluster.create(node("small", cpu="1"), manifest("web", cpu="2"))
        await cluster.settle()
        assert "1 Insufficient cpu" in cluster.why_pending("web")
        await cluster.create(node("big", cpu="4"))
        await cluster.wait(2)
        assert cluster.node_of("web") == "big"
        assert [reason for reason, _ in reasons(cluster)] == ["FailedScheduling", "Scheduled"]
        total = scrape(cluster)
        sent = [
            total("scheduler_async_api_call_execution_total", call_type=call, result="success")
            for call in ("pod_status_patch", "pod_binding")
        ]
        assert sent == ([1, 1] if kind is Dispatching else [None, None])

    run(kind, scene)


@pytest.mark.parametrize("kind", [SimulatedCluster, Dispatching])
def test_a_preemption_nominates_and_makes_room(kind):
    async def scene(cluster):
        await cluster.create(HIGH, node("n1", cpu="1"), manifest("low", cpu="1"))
        await cluster.settle()
        await cluster.create(manifest("web", cpu="1", priorityClassName="high"))
        await cluster.settle()
        assert cluster.get("pods", "web")["status"]["nominatedNodeName"] == "n1"
        await cluster.wait(40)
        assert cluster.node_of("web") == "n1"

    run(kind, scene)


def run(kind, scene):
    async def everything():
        async with kind() as cluster:
            await scene(cluster)

    asyncio.run(everything())

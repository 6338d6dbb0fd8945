"""Preemption without SchedulerAsyncPreemption: victims are gone before the attempt ends."""

import asyncio

import pytest

from podium import app
from podium import framework as fwk
from podium.api.objects import Condition
from podium.app.feature_gates import LiveOptions
from podium.config.feature_gates import FeatureGates
from podium.errors import ApiError, NotFound
from podium.framework.preemption import Candidate, Evicting, unasked
from podium.plugins.preemption import DefaultPreemption, SynchronousPreemption
from podium.release import V1_36, V1_37
from podium.testing import SimulatedCluster
from podium.testing.builders import node, pod
from podium.testing.handle import FakeHandle
from tests.support.faulty_proxy import answering
from tests.support.scenarios import HIGH, ClusterBehindProxy, reasons, scrape
from tests.support.scenarios import node as node_manifest
from tests.support.scenarios import pod as manifest

PREEMPTOR = pod("high", priority=10)
OFF = {"SchedulerAsyncPreemption": False}
TEXT = "preemption: found a potential placement for pod on node a, preempting 2 victims"


def chosen(*names, leaving=()):
    """A plugin that has chosen a node with these victims."""
    pods = [
        pod(name, node="a", deletion_timestamp="2026-01-01T00:00:00Z" if name in leaving else "")
        for name in names
    ]
    handle = FakeHandle(node("a"), *pods)
    plugin = SynchronousPreemption(DefaultPreemption.Args(), handle)
    victims = tuple(handle.state.pods[victim.uid] for victim in pods)
    return handle, plugin.choose(PREEMPTOR, [Candidate("a", victims, 0)])


def run(evicting):
    assert isinstance(evicting, Evicting)
    asyncio.run(evicting.run())
    return evicting.answer


def written(handle):
    return {(kind, key) for kind, key, *_ in handle.client.writes}


def test_all_victims_are_evicted_before_there_is_an_answer():
    handle, evicting = chosen("v1", "v2")
    assert handle.client.writes == []

    nominate, status = run(evicting)

    assert nominate == fwk.Nominate("a")
    assert (status.ok, status.message) == (True, TEXT)
    assert written(handle) == {
        (kind, f"default/{name}") for kind in ("condition", "delete") for name in ("v1", "v2")
    }
    assert not handle.spawned


def test_nothing_is_sent_for_victims_on_their_way_out():
    handle, evicting = chosen("v1", "v2", leaving=("v1",))

    run(evicting)

    assert written(handle) == {("condition", "default/v2"), ("delete", "default/v2")}


def test_lower_nominations_are_cleared_after_the_evictions():
    handle, evicting = chosen("v1")
    lower = pod("lower", priority=1, status={"nominated_node_name": "a"})
    handle.nominator.add(fwk.PodInfo(lower))

    run(evicting)

    assert handle.client.writes[-1] == ("clear nomination", "default/lower")


@pytest.mark.parametrize(
    ("fault", "nominate", "text"),
    [
        pytest.param(ApiError("refused", 500), None, "preemption: refused", id="refused"),
        pytest.param(NotFound("gone", 404), fwk.Nominate("a"), TEXT, id="gone-already"),
    ],
)
def test_a_victim_that_cannot_be_evicted(fault, nominate, text):
    handle, evicting = chosen("v1", "v2")

    async def refuse(victim, condition: Condition):
        raise fault

    handle.client.patch_pod_condition = refuse

    wish, status = run(evicting)

    assert (wish, status.message) == (nominate, text)
    assert (status.code is fwk.Code.ERROR) is (nominate is None)


def test_the_pod_is_not_held_back():
    plugin = SynchronousPreemption(DefaultPreemption.Args(), FakeHandle())

    assert plugin.pre_enqueue(PREEMPTOR).ok
    assert plugin.events_to_register() == []


def test_a_cycle_that_cannot_wait_says_so():
    _, evicting = chosen("v1")

    def steps():
        yield evicting

    with pytest.raises(RuntimeError, match="waits for its evictions"):
        unasked(steps())
    asyncio.run(evicting.run())


@pytest.mark.parametrize("release", [V1_36, V1_37], ids=str)
@pytest.mark.parametrize("is_async", [True, False])
def test_the_gate_chooses_in_both_releases(release, is_async):
    gates = FeatureGates(release, {"SchedulerAsyncPreemption": is_async})
    entry = app.in_tree(gates).entry("DefaultPreemption")

    plugin = entry.build(entry.args(), FakeHandle())

    assert isinstance(plugin, SynchronousPreemption) is not is_async
    assert LiveOptions(gates).evicts_in_cycle is not is_async


# --- the whole scheduler -------------------------------------------------------------------------


class Synchronous(SimulatedCluster):
    gates = FeatureGates(chosen=OFF)


class SynchronousBehindProxy(ClusterBehindProxy):
    gates = FeatureGates(chosen=OFF)


def play(kind, scene):
    async def everything():
        async with kind() as cluster:
            await cluster.create(HIGH, node_manifest("n1", cpu="1"), manifest("low", cpu="1"))
            await cluster.settle()
            await cluster.create(manifest("web", cpu="1", priorityClassName="high"))
            await cluster.settle()
            await scene(cluster)

    asyncio.run(everything())


@pytest.mark.parametrize("kind", [SimulatedCluster, Synchronous])
def test_room_is_made_either_way(kind):
    async def scene(cluster):
        assert cluster.get("pods", "web")["status"]["nominatedNodeName"] == "n1"
        assert "preempting 1 victims" in reasons(cluster)[0][1]
        assert "Preempted" in [reason for reason, _ in reasons(cluster, "low")]
        await cluster.wait(40)
        assert cluster.node_of("web") == "n1"
        in_background = scrape(cluster)("scheduler_preemption_goroutines_execution_total")
        assert in_background == (None if kind is Synchronous else 1)

    play(kind, scene)


def test_a_refused_eviction_is_in_the_message():
    async def scene(cluster):
        assert "nominatedNodeName" not in cluster.get("pods", "web")["status"]
        assert "preemption: " in cluster.why_pending("web")
        assert cluster.node_of("low") == "n1"

    class Refusing(SynchronousBehindProxy):
        async def address(self, url):
            found = await super().address(url)
            self.proxy.instead("/pods/low/status", *[answering(403)] * 4)
            return found

    play(Refusing, scene)

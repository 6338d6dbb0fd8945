"""A whole cluster whose scheduler is configured with extenders in another process."""

import asyncio

import pytest

from podium import app, config
from podium.testing import SimulatedCluster
from tests.support.scenarios import node, pod, reasons

pytestmark = pytest.mark.slow

ROUNDS = 200
IMPORTANT = {
    "apiVersion": "scheduling.k8s.io/v1",
    "kind": "PriorityClass",
    "metadata": {"name": "important"},
    "value": 1000,
}


def play(scene, *extenders, **fields):
    """Run ``scene(cluster)`` with these entries of ``extenders`` in its configuration."""
    value = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "extenders": extenders,
        **fields,
    }

    async def run():
        async with SimulatedCluster(config.from_value(value, app.in_tree())) as made:
            await scene(made)

    asyncio.run(run())


async def until(cluster, told, condition):
    """Extenders answer in their own time: settle between further exchanges with their process."""
    for _ in range(ROUNDS):
        await cluster.settle()
        if condition():
            return
        await asyncio.to_thread(told.calls)
    raise AssertionError("it does not happen")


def test_an_extender_filters_scores_and_sees_whole_objects(server):
    told = server.told(
        filter={"keep": ["n1", "n2"]}, score={"reply": [{"Host": "n2", "Score": 10}]}
    )

    async def scene(cluster):
        await cluster.create(node("n1"), node("n2"), node("n3"))
        await cluster.create(pod(terminationGracePeriodSeconds=7, hostname="h"))
        await until(cluster, told, lambda: cluster.node_of("web") == "n2")

        asked, scored = told.bodies()
        assert asked["Pod"]["spec"]["hostname"] == "h"
        assert asked["Pod"]["spec"]["terminationGracePeriodSeconds"] == 7
        assert "kind" not in asked["Pod"]
        assert "managedFields" not in asked["Pod"]["metadata"]
        by_name = {each["metadata"]["name"]: each for each in asked["Nodes"]["items"]}
        assert by_name.keys() == {"n1", "n2", "n3"}
        assert by_name["n1"]["status"]["capacity"]["cpu"] == "4"
        assert [each["metadata"]["name"] for each in scored["Nodes"]["items"]] == ["n1", "n2"]

    verbs = {"filterVerb": "filter", "prioritizeVerb": "score", "weight": 1}
    play(scene, {"urlPrefix": told.url, **verbs})


def test_a_pod_that_an_extender_refuses_says_so_and_is_tried_again_when_anything_happens(server):
    told = server.told(filter={"reply": {"FailedNodes": {"n1": "no licence"}, "NodeNames": []}})

    async def scene(cluster):
        await cluster.create(node("n1"), pod())
        await until(cluster, told, lambda: cluster.why_pending("web"))
        assert cluster.why_pending("web").startswith("0/1 nodes are available: 1 no licence. ")

        told.changes(filter={"keep": ["n1", "n2"]})
        await cluster.create(node("n2"))
        await cluster.wait(2)
        await until(cluster, told, lambda: cluster.node_of("web"))

    play(scene, {"urlPrefix": told.url, "filterVerb": "filter", "nodeCacheCapable": True})


@pytest.mark.parametrize("capable", [False, True])
def test_an_extender_chooses_whom_to_preempt(server, capable):
    told = server.told()

    async def scene(cluster):
        await cluster.create(node("n1", cpu="1"), node("n2", cpu="1"))
        await cluster.create(pod("low-1", cpu="1", hostname="h"), pod("low-2", cpu="1"))
        await cluster.settle()
        victim = cluster.get("pods", "low-1")
        name, uid = victim["spec"]["nodeName"], victim["metadata"]["uid"]
        told.changes(preempt={"reply": {"NodeNameToMetaVictims": {name: {"Pods": [{"UID": uid}]}}}})
        await cluster.create(IMPORTANT, pod("high", cpu="1", priorityClassName="important"))
        await until(cluster, told, told.calls)
        await until(cluster, told, lambda: reasons(cluster, "low-1")[1:])
        assert reasons(cluster, "low-1")[1][0] == "Preempted"
        (asked,) = told.bodies()
        victims = asked["NodeNameToMetaVictims" if capable else "NodeNameToVictims"]
        assert victims.keys() == {"n1", "n2"}
        if not capable:
            assert victims[name]["Pods"][0]["spec"]["hostname"] == "h"

        await cluster.wait(40)
        await until(cluster, told, lambda: cluster.node_of("high") == name)
        assert cluster.get("pods", "low-2") is not None

    entry = {"urlPrefix": told.url, "preemptVerb": "preempt", "nodeCacheCapable": capable}
    play(scene, entry)


def test_an_extender_binds_the_pods_whose_resource_it_manages(server):
    told = server.told(bind={"reply": {"Error": "not today"}})

    async def scene(cluster):
        await cluster.create(node("n1"))
        gpu = {
            "resources": {"limits": {"example.com/gpu": "1"}, "requests": {"example.com/gpu": "1"}}
        }
        wanting = {"name": "c", "image": "app:1", **gpu}
        await cluster.create(pod("plain"), pod("gpu", containers=[wanting]))
        await until(cluster, told, lambda: cluster.why_pending("gpu"))
        assert cluster.node_of("plain") == "n1"
        assert cluster.why_pending("gpu") == "not today"
        (asked,) = told.bodies()
        assert (asked["PodName"], asked["PodNamespace"], asked["Node"]) == ("gpu", "default", "n1")
        assert asked["PodUID"] == cluster.get("pods", "gpu")["metadata"]["uid"]

    managed = [{"name": "example.com/gpu", "ignoredByScheduler": True}]
    play(scene, {"urlPrefix": told.url, "bindVerb": "bind", "managedResources": managed})


def test_parallelism_bounds_bindings(server):
    told = server.told(bind="hang")

    async def scene(cluster):
        await cluster.create(node("n1"), pod("one"), pod("two"))
        await until(cluster, told, told.calls)
        await until(cluster, told, lambda: cluster.scheduler.scheduler.queue.pending().total == 0)
        assert len(told.calls()) == 1

        await cluster.wait(5)
        await until(cluster, told, lambda: len(told.calls()) == 2)

    play(scene, {"urlPrefix": told.url, "bindVerb": "bind"}, parallelism=1)


def test_a_hanging_extender_costs_its_timeout_and_no_more(server):
    hanging, well = server.told(filter="hang"), server.told(filter={"keep": ["n1"]})

    async def scene(cluster):
        await cluster.create(node("n1"), pod())
        await until(cluster, hanging, hanging.calls)
        assert cluster.node_of("web") is None

        await cluster.wait(3)
        await until(cluster, well, lambda: cluster.node_of("web"))

    play(
        scene,
        {"urlPrefix": hanging.url, "filterVerb": "filter", "httpTimeout": "3s", "ignorable": True},
        {"urlPrefix": well.url, "filterVerb": "filter", "ignorable": True},
    )


def test_a_hanging_extender_that_matters_fails_the_attempt(server):
    told = server.told(filter="hang")

    async def scene(cluster):
        await cluster.create(node("n1"), pod())
        await until(cluster, told, told.calls)
        await cluster.wait(5)
        await until(cluster, told, lambda: cluster.why_pending("web"))
        url = f"{told.url}/filter"
        assert cluster.why_pending("web") == (
            f"failed filter with extender at URL {url}: no reply within 5 s"
        )
        told.changes(filter={"keep": ["n1"]})
        await cluster.wait(2)
        await until(cluster, told, lambda: cluster.node_of("web"))

    play(scene, {"urlPrefix": told.url, "filterVerb": "filter"})


def test_a_scheduler_stops_while_an_extender_hangs(server):
    told = server.told(filter="hang")

    async def scene(cluster):
        await cluster.create(node("n1"), pod())
        await until(cluster, told, told.calls)

    play(scene, {"urlPrefix": told.url, "filterVerb": "filter", "httpTimeout": "1h"})
    assert len(told.calls()) == 1

"""Several profiles, gated pods and preemption, told through the API alone."""

import asyncio

from podium import app, config
from podium.testing import SimulatedCluster
from tests.scenarios.harness import node, play, pod, reasons

TWO_PROFILES = {
    "apiVersion": "kubescheduler.config.k8s.io/v1",
    "kind": "KubeSchedulerConfiguration",
    "profiles": [
        {"schedulerName": "default-scheduler"},
        {
            "schedulerName": "packing",
            "pluginConfig": [
                {
                    "name": "NodeResourcesFit",
                    "args": {
                        "scoringStrategy": {
                            "type": "MostAllocated",
                            "resources": [{"name": "cpu", "weight": 1}],
                        }
                    },
                }
            ],
        },
    ],
}


def test_two_profiles_schedule_their_own_pods_their_own_way():
    async def run():
        registry = app.in_tree()
        configuration = config.from_value(TWO_PROFILES, registry)
        async with SimulatedCluster(configuration, registry) as cluster:
            await cluster.create(node("n1"), node("n2"))
            await cluster.create(pod("first", cpu="2", nodeName="n1"))
            await cluster.create(
                pod("spread", cpu="1"),
                pod("packed", cpu="1", scheduler="packing"),
                pod("foreign", cpu="1", scheduler="somebody-else"),
            )
            await cluster.settle()

            assert cluster.node_of("spread") == "n2"
            assert cluster.node_of("packed") == "n1"
            assert cluster.node_of("foreign") is None
            (event,) = (e for e in cluster.events_of("packed") if e["reason"] == "Scheduled")
            assert event["reportingInstance"].startswith("packing-")

    asyncio.run(run())


def test_a_gated_pod_waits_until_its_last_gate_is_gone():
    async def scene(cluster):
        gates = [{"name": "a"}, {"name": "b"}]
        await cluster.create(node(), pod("web", schedulingGates=gates))
        await cluster.wait(10)
        assert cluster.node_of("web") is None
        assert reasons(cluster) == []

        def open_one(obj):
            del obj["spec"]["schedulingGates"][0]

        await cluster.update("pods", "web", open_one)
        await cluster.wait(10)
        assert cluster.node_of("web") is None

        await cluster.update("pods", "web", open_one)
        await cluster.settle()
        assert cluster.node_of("web") == "n1"

    play(scene)


HIGH = {
    "apiVersion": "scheduling.k8s.io/v1",
    "kind": "PriorityClass",
    "metadata": {"name": "high"},
    "value": 1000,
}


def slow_to_stop(obj, seconds):
    obj["metadata"]["annotations"] = {"podium.dev/stop-after": f"{seconds}s"}
    return obj


def test_preemption_waits_for_a_victim_that_takes_its_time():
    async def scene(cluster):
        victim = slow_to_stop(pod("victim", cpu="3"), 20)
        await cluster.create(HIGH, node(cpu="4"), victim)
        await cluster.wait(5)
        assert cluster.get("pods", "victim")["status"]["phase"] == "Running"

        await cluster.create(pod("web", cpu="2", priorityClassName="high"))
        await cluster.settle()
        assert cluster.get("pods", "web")["status"]["nominatedNodeName"] == "n1"
        leaving = cluster.get("pods", "victim")
        assert "deletionTimestamp" in leaving["metadata"]
        conditions = {one["type"]: one for one in leaving["status"]["conditions"]}
        assert conditions["DisruptionTarget"]["reason"] == "PreemptionByScheduler"
        (told,) = (one for one in cluster.events_of("victim") if one["reason"] == "Preempted")
        assert told["message"].endswith("on node n1")

        # The room is promised: a pod of lower priority does not get it.
        await cluster.create(pod("low", cpu="2"))
        await cluster.wait(15)
        assert (cluster.node_of("web"), cluster.node_of("low")) == (None, None)

        await cluster.wait(10)
        assert cluster.get("pods", "victim") is None
        assert (cluster.node_of("web"), cluster.node_of("low")) == ("n1", "n1")

    play(scene)


def test_promised_room_is_taken_before_the_api_server_knows():
    async def scene(cluster):
        victim = slow_to_stop(pod("victim", cpu="3"), 20)
        await cluster.create(HIGH, node(cpu="4"), victim)
        await cluster.wait(5)
        # Beside the victim there is room for the second, but not beside the first.
        await cluster.create(pod("web", cpu="4", priorityClassName="high"), pod("low", cpu="1"))
        await cluster.settle()
        assert cluster.node_of("low") is None
        assert "1 Insufficient cpu" in cluster.why_pending("low")

        await cluster.wait(25)
        assert (cluster.node_of("web"), cluster.node_of("low")) == ("n1", None)

    play(scene)


def test_a_nomination_that_is_given_up_wakes_the_pods_it_kept_out():
    async def scene(cluster):
        victim = slow_to_stop(pod("victim", cpu="3"), 10)
        await cluster.create(HIGH, node(cpu="4"), victim)
        await cluster.wait(5)
        await cluster.create(pod("web", cpu="3", priorityClassName="high"))
        await cluster.settle()
        await cluster.create(pod("low", cpu="3"))
        await cluster.settle()
        assert cluster.node_of("low") is None

        await cluster.delete("pods", "web")
        await cluster.wait(12)
        assert cluster.node_of("low") == "n1"

    play(scene)

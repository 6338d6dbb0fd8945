"""CapacityScheduling as the documentation and integration tests of scheduler-plugins describe it.

All of it through the API of a cluster. Its two nodes have 100 bytes of memory each, as theirs.
"""

import re

import pytest

from tests.support.scenarios import node, reasons
from tests.support.scheduler_plugins import (
    capacity_scheduling,
    member,
    namespace,
    placed,
    quota,
)
from tests.support.scheduler_plugins import play as play_with

pytestmark = pytest.mark.slow

QUOTAS = "elasticquotas.scheduling.x-k8s.io"
NODES = [node(name, memory="100", cpu="100", pods="32") for name in ("n1", "n2")]
NAMESPACES = [namespace(f"ns{i}") for i in (1, 2, 3)]
CLASSES = [
    {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": name},
        "value": value,
    }
    for name, value in (("low", 0), ("middle", 100), ("high", 1000))
]
SMALL = {"memory": "100", "cpu": "100m"}
LARGE = {"memory": "200", "cpu": "200m"}
TWO = [quota("ns1", SMALL, LARGE), quota("ns2", SMALL, LARGE)]
THREE = [
    quota("ns1", {"memory": "100", "cpu": "1m"}, {"memory": "200", "cpu": "3m"}),
    quota("ns2", {"memory": "100", "cpu": "3m"}, {"memory": "200", "cpu": "3m"}),
    quota("ns3", {"memory": "100", "cpu": "3m"}, {"memory": "200", "cpu": "4m"}),
]


def play(scene):
    play_with(scene, capacity_scheduling(), definitions=("elastic-quotas",))


def pod(name, of, priority="middle", on=None, **requests):
    requests = {"memory": "50", "cpu": "10m", **requests}
    made = member(name, namespace=of, priority=priority, **requests)
    made["spec"]["terminationGracePeriodSeconds"] = 0
    if on:
        made["spec"]["nodeName"] = on
    return made


def tiny(name, of, priority="middle", on=None):
    return pod(name, of, priority, on, memory="0", cpu="1m")


@pytest.mark.parametrize(
    ("quotas", "there", "added", "expected"),
    [
        pytest.param(
            TWO,
            [
                pod("p1", "ns1", on="n1"),
                pod("p2", "ns1", on="n1"),
                pod("p3", "ns1", "low", on="n2"),
            ],
            [pod("p4", "ns2"), pod("p5", "ns2"), pod("p6", "ns2", "low")],
            {"p1", "p2", "p4", "p5"},
            id="what-was-borrowed-is-taken-back",
        ),
        pytest.param(
            TWO,
            [
                pod("p1", "ns1", on="n1"),
                pod("p2", "ns1", "low", on="n1"),
                pod("p3", "ns2", on="n2"),
                pod("p4", "ns2", "low", on="n2"),
            ],
            [pod("p5", "ns1"), pod("p6", "ns2")],
            {"p1", "p3", "p5", "p6"},
            id="lower-priorities-of-the-same-quota-leave",
        ),
        pytest.param(
            [],
            [
                pod("p1", "ns1", "high", on="n1"),
                pod("p2", "ns1", "low", on="n1"),
                pod("p3", "ns2", "high", on="n2"),
                pod("p4", "ns2", "low", on="n2"),
            ],
            [pod("p5", "ns1"), pod("p6", "ns2")],
            {"p1", "p3", "p5", "p6"},
            id="without-quotas-it-preempts-as-usual",
        ),
        pytest.param(
            TWO,
            [
                pod("p1", "ns1", on="n1"),
                pod("p2", "ns1", on="n1"),
                pod("p3", "ns1", "low", on="n2"),
                pod("p4", "ns2", on="n2"),
            ],
            [pod("p5", "ns1", "high", memory="150"), pod("p6", "ns2", "high", memory="150")],
            {"p1", "p2", "p3", "p4"},
            id="no-node-is-large-enough",
        ),
        pytest.param(
            TWO,
            [
                pod("p1", "ns1", on="n1"),
                pod("p2", "ns2", "high", on="n1"),
                pod("p3", "ns2", "high", on="n2"),
                pod("p4", "ns2", "high", on="n2"),
            ],
            [pod("p5", "ns2", "high")],
            {"p1", "p2", "p3", "p4"},
            id="who-has-borrowed-takes-nothing-from-others",
        ),
        pytest.param(
            TWO,
            [
                pod("p1", "ns1", "low", on="n1"),
                pod("p2", "ns1", "low", on="n2"),
                pod("p3", "ns2", on="n1"),
                pod("p4", "ns2", on="n2"),
            ],
            [
                pod("p5", "ns1", "high", memory="100", cpu="20m"),
                pod("p6", "ns2", "high", memory="100", cpu="20m"),
            ],
            {"p1", "p2", "p3", "p4"},
            id="victims-are-on-one-node",
        ),
        pytest.param(
            THREE,
            [
                tiny("p1", "ns1", "high", on="n1"),
                tiny("p2", "ns1", on="n2"),
                tiny("p3", "ns1", on="n2"),
                tiny("p5", "ns2", on="n2"),
                tiny("p6", "ns2", on="n1"),
                tiny("p7", "ns2", on="n2"),
            ],
            [tiny(f"p{i}", "ns3") for i in (9, 10, 11, 12)],
            {"p1", "p5", "p6", "p7", "p9", "p10", "p11"},
            id="three-quotas",
        ),
    ],
)
def test_who_leaves_and_who_starts(quotas, there, added, expected):
    async def scene(cluster):
        await cluster.create(*NAMESPACES, *CLASSES, *NODES, *quotas, *there)
        await cluster.settle()
        await cluster.create(*added)
        await cluster.wait(20)
        assert placed(cluster) == expected

    play(scene)


def deployment(of, replicas):
    template = {"metadata": {"labels": {"app": "nginx"}}, "spec": member("x", cpu="2")["spec"]}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "nginx", "namespace": of},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": "nginx"}},
            "template": template,
        },
    }


def test_the_documented_example():
    def running(cluster, of):
        return sum(bool(one["spec"].get("nodeName")) for one in cluster.list("pods", of))

    async def scene(cluster):
        await cluster.create(*NAMESPACES, node("n1", cpu="4"), node("n2", cpu="4"))
        for of in ("ns1", "ns2"):
            await cluster.create(quota(of, {"cpu": 4}, {"cpu": 6}))
        # A list without memory allows none: the pods of this example request none.
        await cluster.create(deployment("ns1", 4))
        await cluster.wait(15)
        assert running(cluster, "ns1") == 3
        assert cluster.get(QUOTAS, "ns1/ns1")["status"] == {"used": {"cpu": "6"}}
        [waiting] = [one for one in cluster.list("pods", "ns1") if not one["spec"].get("nodeName")]
        name = waiting["metadata"]["name"]
        why = f"Pod ns1/{name} is rejected in PreFilter because ElasticQuota ns1 is more than Max"
        assert why in cluster.why_pending(f"ns1/{name}")

        await cluster.create(deployment("ns2", 2))
        await cluster.wait(60)
        assert (running(cluster, "ns1"), running(cluster, "ns2")) == (2, 2)
        used = {of: cluster.get(QUOTAS, f"{of}/{of}")["status"]["used"] for of in ("ns1", "ns2")}
        assert used == {"ns1": {"cpu": "4"}, "ns2": {"cpu": "4"}}
        notes = {one["message"] for one in cluster.events_of("ns2") if one["reason"] == "Synced"}
        assert notes == {"Elastic Quota ns2/ns2 synced successfully"}

    play(scene)


def test_messages():
    async def scene(cluster):
        await cluster.create(*NAMESPACES, *CLASSES, *NODES, *TWO)
        await cluster.create(*(pod(f"p{i}", "ns1", on="n1") for i in (1, 2)))
        await cluster.create(*(pod(f"p{i}", "ns2", on="n2") for i in (3, 4)))
        await cluster.create(pod("p5", "ns1"))
        await cluster.settle()

        rejected = "Pod ns1/p5 is rejected in PreFilter because"
        none = "No victims found on node {} for preemptor pod p5"
        assert cluster.why_pending("ns1/p5") == (
            f"0/2 nodes are available: {rejected} total ElasticQuota used is more than min. "
            f"0/2 nodes are available: 1 {none.format('n1')}, 1 {none.format('n2')}."
        )
        await cluster.delete("pods", "ns1/p1")
        await cluster.wait(3)
        assert placed(cluster) == {"p2", "p3", "p4", "p5"}

    play(scene)


def test_the_victim_learns_who_takes_its_place():
    async def scene(cluster):
        await cluster.create(*NAMESPACES, *CLASSES, NODES[0], *TWO)
        await cluster.create(pod("p1", "ns1", on="n1", memory="100"))
        await cluster.update(QUOTAS, "ns1/ns1", lambda obj: obj["spec"]["min"].update(memory="50"))
        await cluster.create(pod("p2", "ns2", "low"))
        await cluster.wait(5)

        assert placed(cluster) == {"p2"}  # also from a pod of higher priority
        [note] = [text for reason, text in reasons(cluster, "p1") if reason == "Preempted"]
        assert re.fullmatch("Preempted by pod .+ on node n1", note)

    play(scene)


def test_a_minimum_above_the_maximum():
    """The maximum counts; other namespaces notice nothing."""

    async def scene(cluster):
        await cluster.create(*NAMESPACES, *CLASSES, *NODES)
        await cluster.create(quota("ns1", LARGE, {"memory": "50", "cpu": "1"}), quota("ns2", SMALL))
        await cluster.create(pod("p1", "ns1"), pod("p2", "ns1"))
        await cluster.create(pod("p3", "ns2"), pod("p4", "ns3"))
        await cluster.wait(3)

        assert placed(cluster) == {"p1", "p3", "p4"}
        assert "ElasticQuota ns1 is more than Max" in cluster.why_pending("ns1/p2")

    play(scene)


def test_a_used_amount_that_somebody_else_writes_is_set_right():
    async def scene(cluster):
        await cluster.create(*NAMESPACES, *CLASSES, *NODES)
        await cluster.create(quota("ns1", LARGE, LARGE), quota("ns2", SMALL, LARGE))
        await cluster.create(pod("p1", "ns1"), pod("p2", "ns2"))
        await cluster.wait(3)
        right = cluster.get(QUOTAS, "ns1/ns1")["status"]["used"]
        much = {"memory": "1000", "cpu": "1"}
        await cluster.set_status(QUOTAS, "ns1/ns1", lambda old: old.update(used=much))
        await cluster.create(pod("p3", "ns1"))  # what is written there does not count
        await cluster.wait(3)

        assert placed(cluster) == {"p1", "p2", "p3"}
        await cluster.delete("pods", "ns1/p3")
        await cluster.wait(3)
        assert cluster.get(QUOTAS, "ns1/ns1")["status"]["used"] == right

    play(scene)


def test_a_quota_that_comes_changes_and_goes():
    async def scene(cluster):
        await cluster.create(*NAMESPACES, *CLASSES, *NODES, pod("p1", "ns1"), pod("p2", "ns1"))
        await cluster.settle()
        await cluster.create(quota("ns1", SMALL, SMALL))
        await cluster.wait(3)
        await cluster.create(pod("p3", "ns1"))
        await cluster.settle()
        assert placed(cluster) == {"p1", "p2"}  # pods from before the quota count
        assert cluster.get(QUOTAS, "ns1/ns1")["status"]["used"] == {"memory": "100", "cpu": "20m"}

        await cluster.update(
            QUOTAS, "ns1/ns1", lambda obj: obj["spec"].update(min=LARGE, max=LARGE)
        )
        await cluster.wait(3)
        assert placed(cluster) == {"p1", "p2", "p3"}

        await cluster.create(pod("p4", "ns1", memory="0", cpu="1"))
        await cluster.settle()
        assert "p4" not in placed(cluster)
        await cluster.delete(QUOTAS, "ns1/ns1")
        await cluster.wait(3)
        assert "p4" in placed(cluster)

    play(scene)


def test_pods_of_namespaces_without_quotas_keep_theirs():
    async def scene(cluster):
        await cluster.create(*NAMESPACES, *CLASSES, NODES[0], TWO[0])
        await cluster.create(pod("p1", "ns3", "low", on="n1", memory="100"))
        await cluster.create(pod("p2", "ns1", "high"))
        await cluster.wait(5)
        assert placed(cluster) == {"p1"}

    play(scene)

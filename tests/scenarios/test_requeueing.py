"""A rejected pod is tried again when something happens that may help, and not otherwise."""

import asyncio
from dataclasses import dataclass, field
from typing import Any

import pytest

from podium.framework.plugin import EnqueueExtensions
from podium.plugins import IN_TREE
from podium.testing.builders_devices import resource_claim, resource_slice
from tests.support.faulty_proxy import holding
from tests.support.scenarios import HIGH, ClusterBehindProxy, node, play, pod, reasons, scrape

pytestmark = pytest.mark.slow

MOMENT = 12  # longer than any backoff, far from the five minutes after which all are tried


@dataclass
class Case:
    """``why`` is in the pod's message; ``helps`` is (verb, *arguments) of the cluster."""

    plugin: str
    pod: Any
    why: str
    helps: tuple
    world: list = field(default_factory=list)
    helps_not: list = field(default_factory=list)


def claim(name, volume="", mode="ReadWriteOnce"):
    found = {
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": name},
        "spec": {
            "accessModes": [mode],
            "storageClassName": "standard",
            "resources": {"requests": {"storage": "1Gi"}},
        },
    }
    if volume:
        found["spec"]["volumeName"] = volume
    return found


def volume(name, claimed_by, labels=None):
    return {
        "kind": "PersistentVolume",
        "metadata": {"name": name, "labels": labels or {}},
        "spec": {
            "capacity": {"storage": "1Gi"},
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": "standard",
            "persistentVolumeReclaimPolicy": "Retain",
            "csi": {"driver": "disks.example.com", "volumeHandle": name},
            "claimRef": {"kind": "PersistentVolumeClaim", "namespace": "default"}
            | {"name": claimed_by},
        },
    }


def of_class(name, found):
    found["spec"]["storageClassName"] = name
    return found


def raise_the_limit(csi_node):
    csi_node["spec"]["drivers"][0]["allocatable"]["count"] = 2


def uses(*claims):
    return [{"name": one, "persistentVolumeClaim": {"claimName": one}} for one in claims]


def with_ports(found, port):
    found["spec"]["containers"][0]["ports"] = [{"containerPort": port, "hostPort": port}]
    return found


def on_n1(found):
    found["spec"]["nodeName"] = "n1"
    return found


def setting(*path, to):
    """A change of one field."""

    def change(obj):
        *outer, last = path
        for step in outer:
            obj = obj.setdefault(step, {})
        obj[last] = to

    return change


STANDARD = {
    "apiVersion": "storage.k8s.io/v1",
    "kind": "StorageClass",
    "metadata": {"name": "standard"},
    "provisioner": "podium.dev/simulated",
    "volumeBindingMode": "WaitForFirstConsumer",
}
IMMEDIATE = {
    **STANDARD,
    "metadata": {"name": "immediate"},
    "provisioner": "kubernetes.io/no-provisioner",
    "volumeBindingMode": "Immediate",
}
CSI_NODE = {
    "apiVersion": "storage.k8s.io/v1",
    "kind": "CSINode",
    "metadata": {"name": "n1"},
    "spec": {"drivers": [{"name": "disks.example.com", "nodeID": "n1"}]},
}
CSI_NODE["spec"]["drivers"][0]["allocatable"] = {"count": 1}
THE_LIMIT = ("update", "csinodes.storage.k8s.io", "n1")
OTHER_CLAIM = {
    "apiVersion": "resource.k8s.io/v1",
    "kind": "ResourceClaim",
    "metadata": {"name": "other"},
    "spec": {"devices": {}},
}
CORDONED = {**node(), "spec": {"unschedulable": True}}
TAINTED = node(taints=[{"key": "gpu", "effect": "NoSchedule"}])
USER_NAMESPACES = "UserNamespacesHostNetworkSupport"
ZONE = "topology.kubernetes.io/zone"
SPREAD = {
    "maxSkew": 1,
    "topologyKey": "rack",
    "whenUnsatisfiable": "DoNotSchedule",
    "labelSelector": {"matchLabels": {"app": "web"}},
}
NEAR_DB = {
    "podAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": [
            {
                "topologyKey": "kubernetes.io/hostname",
                "labelSelector": {"matchLabels": {"app": "db"}},
            }
        ]
    }
}

CASES = [
    Case(
        "NodeUnschedulable",
        pod(),
        "1 node(s) were unschedulable",
        ("update", "nodes", "n1", setting("spec", "unschedulable", to=False)),
        [CORDONED],
        [("create", {**CORDONED, "metadata": {"name": "n2"}})],
    ),
    Case(
        "TaintToleration",
        pod(),
        "1 node(s) had untolerated taint(s)",
        ("update", "nodes", "n1", setting("spec", "taints", to=[])),
        [TAINTED],
        [("create", node("n2", taints=[{"key": "gpu", "effect": "NoSchedule"}]))],
    ),
    Case(
        "NodeAffinity",
        pod(nodeSelector={"disk": "ssd"}),
        "1 node(s) didn't match Pod's node affinity/selector",
        ("update", "nodes", "n1", setting("metadata", "labels", "disk", to="ssd")),
        [node()],
        [("update", "nodes", "n1", setting("metadata", "labels", "disk", to="hdd"))],
    ),
    Case(
        "NodePorts",
        with_ports(pod(), 80),
        "1 node(s) didn't have free ports",
        ("delete", "pods", "other"),
        [node(), on_n1(with_ports(pod("other"), 80)), on_n1(pod("third"))],
        [("delete", "pods", "third")],
    ),
    Case(
        "NodeResourcesFit",
        pod(cpu="3"),
        "1 Insufficient cpu",
        ("delete", "pods", "other"),
        [node(cpu="4"), on_n1(pod("other", cpu="2"))],
        [("set_status", "nodes", "n1", setting("allocatable", "memory", to="32Gi"))],
    ),
    Case(
        "VolumeRestrictions",
        pod(volumes=uses("data")),
        "ReadWriteOncePod access mode",
        ("delete", "pods", "other"),
        [
            *(STANDARD, node(), claim("data", mode="ReadWriteOncePod")),
            *(pod("other", volumes=uses("data")), on_n1(pod("third"))),
        ],
        [("delete", "pods", "third")],
    ),
    Case(
        "NodeVolumeLimits",
        pod(volumes=uses("mine")),
        "node(s) exceed max volume count",
        (*THE_LIMIT, raise_the_limit),
        [
            *(STANDARD, node(), CSI_NODE, volume("pv-a", "a"), volume("pv-mine", "mine")),
            *(claim("a", "pv-a"), claim("mine", "pv-mine")),
            *(on_n1(pod("other", volumes=uses("a"))), on_n1(pod("third"))),
        ],
        [
            ("delete", "pods", "third"),
            ("create", claim("another")),
            (*THE_LIMIT, setting("metadata", "annotations", "note", to="x")),
        ],
    ),
    Case(
        "VolumeBinding",
        pod(volumes=uses("data")),
        "pod has unbound immediate PersistentVolumeClaims",
        ("create", of_class("immediate", volume("pv", "data"))),
        [IMMEDIATE, STANDARD, node(), of_class("immediate", claim("data"))],
        [("create", claim("another"))],
    ),
    Case(
        "VolumeZone",
        pod(volumes=uses("data")),
        "node(s) had no available volume zone",
        ("update", "nodes", "n1", setting("metadata", "labels", ZONE, to="a")),
        [
            *(STANDARD, node(labels={ZONE: "b"})),
            *(volume("pv", "data", {ZONE: "a"}), claim("data", "pv")),
        ],
        [
            ("create", claim("another")),
            ("create", IMMEDIATE),
            ("update", "persistentvolumes", "pv", setting("metadata", "labels", "note", to="x")),
        ],
    ),
    Case(
        "PodTopologySpread",
        pod(labels={"app": "web"}, topologySpreadConstraints=[SPREAD]),
        "didn't match pod topology spread constraints (missing required label)",
        ("update", "nodes", "n1", setting("metadata", "labels", "rack", to="r1")),
        [node()],
        [("update", "nodes", "n1", setting("metadata", "labels", "row", to="r1"))],
    ),
    Case(
        "InterPodAffinity",
        pod(affinity=NEAR_DB),
        "node(s) didn't match pod affinity rules",
        ("create", on_n1(pod("db", {"app": "db"}))),
        [node()],
        [("create", on_n1(pod("cache", {"app": "cache"})))],
    ),
    Case(
        "DynamicResources",
        pod(resourceClaims=[{"name": "gpu", "resourceClaimName": "gpu"}]),
        "request request-0: device class gpus does not exist",
        (
            "create",
            {
                "apiVersion": "resource.k8s.io/v1",
                "kind": "DeviceClass",
                "metadata": {"name": "gpus"},
                "spec": {},
            },
        ),
        [node(), resource_claim("gpu", device_class="gpus"), resource_slice("n1", node="n1")],
        [("create", OTHER_CLAIM)],
    ),
    Case(
        "NodeDeclaredFeatures",
        pod(hostNetwork=True, hostUsers=False),
        "node(s) didn't match Pod's required features",
        ("set_status", "nodes", "n1", setting("declaredFeatures", to=[USER_NAMESPACES])),
        [node()],
    ),
]


def failures(cluster):
    """How often a pod was tried in vain, as a scrape shows; nobody but the subject ever is."""
    shown = scrape(cluster)
    results = ("unschedulable", "error")
    return sum(shown("scheduler_schedule_attempts_total", result=one) or 0 for one in results)


async def do(cluster, deed):
    verb, *given = deed
    await getattr(cluster, verb)(*given)
    await cluster.wait(MOMENT)


@pytest.mark.parametrize("case", CASES, ids=[case.plugin for case in CASES])
def test_a_rejected_pod_is_retried_by_what_may_help_alone(case):
    async def scene(cluster):
        await cluster.create(*case.world)
        await cluster.wait(MOMENT)  # nodes are ready, claims are bound
        await cluster.create({"kind": "Namespace", "metadata": {"name": "elsewhere"}}, case.pod)
        await cluster.wait(MOMENT)
        assert case.why in cluster.why_pending("web")
        assert scrape(cluster)("scheduler_unschedulable_pods", plugin=case.plugin) == 1
        before = failures(cluster)
        assert before

        stranger = on_n1(pod("stranger"))
        stranger["metadata"]["namespace"] = "elsewhere"
        for deed in [
            ("update", "nodes", "n1", setting("metadata", "annotations", "note", to="x")),
            ("create", stranger),
            *case.helps_not,
        ]:
            await do(cluster, deed)
            assert failures(cluster) == before, deed
            assert cluster.node_of("web") is None, deed

        await do(cluster, case.helps)
        assert cluster.node_of("web") is not None, cluster.why_pending("web")

    play(scene)


OF_ITS_OWN = {
    "SchedulingGates": "it keeps pods out of the queue: see below",
    "DefaultPreemption": "the same",
    "GangScheduling": "it keeps groups out of the queue: see tests/live/test_group_machine.py",
    "NodeName": "a pod that names a node is placed: no running scheduler ever judges it",
}


def test_no_plugin_is_forgotten():
    woken = {plugin.name for plugin in IN_TREE if issubclass(plugin, EnqueueExtensions)}
    assert woken == {case.plugin for case in CASES} | OF_ITS_OWN.keys()


def test_a_gated_pod_is_tried_when_its_gates_are_gone_and_by_nothing_else():
    async def scene(cluster):
        await cluster.create(node(), pod("web", schedulingGates=[{"name": "later"}]))
        for deed in [
            ("create", node("n2")),
            ("create", pod("other")),
            ("delete", "pods", "other"),
            ("update", "pods", "web", setting("metadata", "labels", "a", to="b")),
        ]:
            await do(cluster, deed)
            assert reasons(cluster) == [], deed

        await do(cluster, ("update", "pods", "web", setting("spec", "schedulingGates", to=[])))
        assert cluster.node_of("web")
        assert failures(cluster) == 0

    play(scene)


def test_a_pod_whose_victims_are_not_evicted_yet_is_tried_when_they_are():
    released = asyncio.Event()

    async def scene(cluster):
        world = [HIGH, node(cpu="4"), pod("victim", cpu="3"), on_n1(pod("third", cpu="500m"))]
        await cluster.create(*world)
        await cluster.wait(MOMENT)
        cluster.proxy.instead("/pods/victim/status", holding(released))
        await cluster.create(pod("web", cpu="3500m", priorityClassName="high"))
        await cluster.wait(MOMENT)
        assert failures(cluster) == 1

        # What rejected it would try it again; the preemption under way says that it is too early.
        for deed in [("delete", "pods", "third"), ("create", node("n2", cpu="1"))]:
            await do(cluster, deed)
            assert failures(cluster) == 1, deed

        released.set()
        await cluster.wait(MOMENT)
        assert cluster.get("pods", "victim") is None
        assert cluster.node_of("web") == "n1"

    play(scene, cluster=ClusterBehindProxy)


def test_equal_pods_are_not_all_tried_after_an_event_that_does_not_help_them():
    """One of them is tried early; the others wait until their backoff ends."""
    small = pod("small-1", cpu="1", terminationGracePeriodSeconds=0)
    replicas = [pod(f"web-{number}", cpu="8") for number in range(20)]

    async def scene(cluster):
        await cluster.create(node("n1", cpu="8"))
        await cluster.create(on_n1(small), on_n1(pod("small-2", cpu="1")))
        await cluster.create(*replicas)
        await cluster.settle()
        assert failures(cluster) == len(replicas)

        await cluster.delete("pods", "small-1")
        await cluster.settle()
        assert failures(cluster) == len(replicas) + 1

        await cluster.create(node("n3", cpu="24"))
        await cluster.settle()
        assert sum(cluster.node_of(f"web-{number}") == "n3" for number in range(20)) == 3
        await cluster.wait(MOMENT)
        assert failures(cluster) <= 4 * len(replicas)

    play(scene)

"""`podium scheduler` under the rights of kube-scheduler on a real control plane.

The same stories are played with podium on the embedded cluster, and with kube-scheduler itself
where its program is at hand: all three must do and say the same.
"""

import pytest

from podium.release import V1_37
from tests.support.control_plane.comparison import JSON_PATCH, MERGE
from tests.support.control_plane.processes import LEASE, PACKER
from tests.support.control_plane.stage import CLASSES, PRIORITIES, VOLUMES

pytestmark = pytest.mark.cluster

CLAIMS = "persistentvolumeclaims"
SELECTED = "volume.kubernetes.io/selected-node"
BIND_COMPLETED = "pv.kubernetes.io/bind-completed"
ZONE = "topology.kubernetes.io/zone"


@pytest.fixture
def claims(binaries):
    """What DynamicResources adds to messages about pods without claims."""
    return "" if binaries.release >= V1_37 else "no new claims to deallocate, "


def assigned(stage, pod, node, profile="default-scheduler"):
    note = f"Successfully assigned {stage.namespace}/{pod} to {node}"
    return (profile, "Normal", "Scheduled", "Binding", note)


def failed(note, profile="default-scheduler"):
    return (profile, "Warning", "FailedScheduling", "Scheduling", note)


def bound(node):
    return {"node": node, "nominated": None, "conditions": ["True"]}


def pending(message, nominated=None):
    conditions = [f"False Unschedulable {message}"]
    return {"node": None, "nominated": nominated, "conditions": conditions}


def test_a_plain_pod_is_bound(stage):
    stage.nodes("a", "b")
    stage.pod("web", nodeSelector={"kubernetes.io/hostname": "b"})

    stage.until_told("web", "Scheduled")

    assert stage.outcome("web") == bound("b")
    assert stage.told("web") == [assigned(stage, "web", "b")]


def test_a_pod_waits_until_a_node_fits(stage, claims):
    stage.nodes("small", cpu="1")
    stage.pod("web", requests={"cpu": "2"})
    why = (
        f"0/1 nodes are available: 1 Insufficient cpu. {claims}preemption: "
        "0/1 nodes are available: 1 Preemption is not helpful for scheduling."
    )
    stage.until(stage.core("pods"), "web", lambda pod: "conditions" in pod["status"])
    assert stage.until_failed("web") == why
    assert stage.outcome("web") == pending(why)

    stage.nodes("big")
    stage.until_told("web", "Scheduled")

    assert stage.outcome("web") == bound("big")
    # New nodes are tainted for a moment, so there may be one more failure between the two.
    assert {assigned(stage, "web", "big"), failed(why)} <= set(stage.told("web"))


def test_a_gated_pod_is_left_alone_until_its_gate_opens(stage):
    stage.nodes("a")
    stage.pod("gated", schedulingGates=[{"name": "example.com/later"}])
    stage.pod("after")
    stage.until_told("after", "Scheduled")
    assert stage.outcome("gated")["conditions"] == [
        "False SchedulingGated Scheduling is blocked due to non-empty scheduling gates"
    ]
    assert stage.told("gated") == []

    gate = {"op": "remove", "path": "/spec/schedulingGates"}
    stage.patch(stage.core("pods/gated"), [gate], JSON_PATCH)
    stage.until_told("gated", "Scheduled")

    assert stage.outcome("gated") == bound("a")


def test_each_profile_schedules_its_own_pods(stage):
    stage.nodes("a", "b")
    stage.pod("first", schedulerName=PACKER, nodeSelector={"kubernetes.io/hostname": "b"})
    stage.until_bound("first")
    stage.pod("stranger", schedulerName="somebody-else")
    stage.pod("packed", schedulerName=PACKER)
    stage.until_bound("packed")
    stage.pod("spread")
    for name in ("packed", "spread"):
        stage.until_told(name, "Scheduled")

    assert stage.told("packed") == [assigned(stage, "packed", "b", PACKER)]
    assert stage.told("spread") == [assigned(stage, "spread", "a")]
    assert stage.outcome("stranger") == {"node": None, "nominated": None, "conditions": []}
    assert stage.told("stranger") == []


def test_required_anti_affinity(stage, claims):
    stage.nodes("a", "b")
    term = {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": "x"}}}
    apart = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    for name in ("one", "two"):
        stage.pod(name, {"app": "x"}, affinity=apart)
    stage.until_bound("one", "two")
    stage.pod("three", {"app": "x"}, affinity=apart)
    why = (
        f"0/2 nodes are available: 2 node(s) didn't match pod anti-affinity rules. {claims}"
        "preemption: 0/2 nodes are available: 2 No preemption victims found for incoming pod."
    )

    assert stage.until_failed("three") == why
    assert {stage.outcome(name)["node"] for name in ("one", "two")} == {"a", "b"}


def test_required_affinity_and_hard_spreading(stage, claims):
    for zone in ("z1", "z2"):
        stage.nodes(f"{zone}-a", f"{zone}-b", **{ZONE: zone})
    spread = {
        "maxSkew": 1,
        "topologyKey": ZONE,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": "s"}},
    }
    names = [f"s{number}" for number in range(4)]
    for name in names:
        stage.pod(name, {"app": "s"}, topologySpreadConstraints=[spread])
    stage.until_bound(*names)
    term = {"topologyKey": ZONE, "labelSelector": {"matchLabels": {"app": "alone"}}}
    together = {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    stage.pod("leader", {"app": "alone"}, nodeSelector={"kubernetes.io/hostname": "z2-a"})
    stage.until_bound("leader")
    stage.pod("follower", affinity=together, nodeSelector={"kubernetes.io/hostname": "z2-b"})
    stage.pod("lost", affinity=together, nodeSelector={"kubernetes.io/hostname": "z1-a"})

    stage.until_bound("follower")
    zones = sorted(stage.outcome(name)["node"][:2] for name in names)
    assert zones == ["z1", "z1", "z2", "z2"]
    assert stage.until_failed("lost") == (
        "0/4 nodes are available: 1 node(s) didn't match pod affinity rules, 3 node(s) didn't "
        f"match Pod's node affinity/selector. {claims}preemption: 0/4 nodes "
        "are available: 4 Preemption is not helpful for scheduling."
    )


def test_preemption(stage, binaries):
    for name, value in (("low", 10), ("high", 1000)):
        stage.create(PRIORITIES, {"metadata": {"name": name}, "value": value})
    stage.nodes("a", cpu="2")
    stage.pod("victim", requests={"cpu": "1"}, priorityClassName="low")
    stage.pod("spared", requests={"cpu": "500m"}, priorityClassName="high")
    stage.until_bound("victim", "spared")
    boss = stage.pod("boss", requests={"cpu": "1500m"}, priorityClassName="high")

    victim = stage.until(stage.core("pods"), "victim", lambda pod: is_leaving(pod))
    stage.until(stage.core("pods"), "boss", lambda pod: pod["status"].get("nominatedNodeName"))
    why = "0/1 nodes are available: 1 Insufficient cpu."
    if binaries.release >= V1_37:
        found = "found a potential placement for pod on node a, preempting 1 victims"
        why = f"{why} preemption: {found}"
    assert stage.until_failed("boss") == why
    (target,) = [
        each for each in victim["status"]["conditions"] if each["type"] == "DisruptionTarget"
    ]
    assert (target["status"], target["reason"]) == ("True", "PreemptionByScheduler")
    assert target["message"] == (
        "default-scheduler: preempting to accommodate a higher priority pod"
    )
    assert stage.outcome("boss") == pending(why, "a")
    note = f"Preempted by pod {boss['metadata']['uid']} on node a"
    assert stage.until_told("victim", "Preempted") == note

    stage.delete(stage.core("pods/victim"))
    stage.until_told("boss", "Scheduled")

    assert stage.outcome("boss") == bound("a")
    assert stage.outcome("spared") == bound("a")


def is_leaving(pod):
    return "deletionTimestamp" in pod["metadata"]


def claim(name, storage_class):
    spec = {
        "accessModes": ["ReadWriteOnce"],
        "storageClassName": storage_class,
        "resources": {"requests": {"storage": "1Gi"}},
    }
    return {"metadata": {"name": name}, "spec": spec}


def volume(name, storage_class, node, **spec):
    hostname = {"key": "kubernetes.io/hostname", "operator": "In", "values": [node]}
    spec = {
        "capacity": {"storage": "1Gi"},
        "accessModes": ["ReadWriteOnce"],
        "storageClassName": storage_class,
        "local": {"path": "/mnt"},
        "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [hostname]}]}},
        **spec,
    }
    return {"metadata": {"name": name}, "spec": spec}


def late_class(name, provisioner):
    mode = {"volumeBindingMode": "WaitForFirstConsumer"}
    return {"metadata": {"name": name}, "provisioner": provisioner, **mode}


def mounting(name):
    return [{"name": "v", "persistentVolumeClaim": {"claimName": name}}]


def finish_binding(stage, volume, name):
    """What the controller of persistent volumes does once a volume and a claim know each other."""
    stage.patch(f"{VOLUMES}/{volume}/status", {"status": {"phase": "Bound"}}, MERGE)
    annotations = {BIND_COMPLETED: "yes"}
    path = stage.core(f"{CLAIMS}/{name}")
    spec = {"metadata": {"annotations": annotations}, "spec": {"volumeName": volume}}
    stage.patch(path, spec, MERGE)
    stage.patch(f"{path}/status", {"status": {"phase": "Bound"}}, MERGE)


def test_a_static_volume_is_bound_where_the_pod_goes(stage):
    stage.nodes("a", "b")
    stage.create(CLASSES, late_class("local", "kubernetes.io/no-provisioner"))
    stage.create(VOLUMES, volume("disk", "local", "b"))
    stage.patch(f"{VOLUMES}/disk/status", {"status": {"phase": "Available"}}, MERGE)
    made = stage.create(stage.core(CLAIMS), claim("data", "local"))
    stage.pod("db", volumes=mounting("data"))

    disk = stage.until(VOLUMES, "disk", lambda volume: "claimRef" in volume["spec"])
    assert disk["spec"]["claimRef"]["uid"] == made["metadata"]["uid"]
    assert disk["metadata"]["annotations"] == {"pv.kubernetes.io/bound-by-controller": "yes"}
    nominated = stage.until(
        stage.core("pods"), "db", lambda pod: pod["status"].get("nominatedNodeName")
    )
    assert nominated["status"]["nominatedNodeName"] == "b"
    assert "nodeName" not in nominated["spec"]

    finish_binding(stage, "disk", "data")
    stage.until_told("db", "Scheduled")
    assert stage.outcome("db") == bound("b")
    assert stage.told("db") == [assigned(stage, "db", "b")]


def test_a_volume_is_provisioned_where_the_pod_goes(stage):
    stage.nodes("a", "b")
    stage.create(CLASSES, late_class("fast", "example.com/disks"))
    made = stage.create(stage.core(CLAIMS), claim("data", "fast"))
    only_b = {"kubernetes.io/hostname": "b"}
    stage.pod("db", volumes=mounting("data"), nodeSelector=only_b)

    asked = stage.until(
        stage.core(CLAIMS),
        "data",
        lambda claim: SELECTED in claim["metadata"].get("annotations", {}),
    )
    assert asked["metadata"]["annotations"][SELECTED] == "b"

    reference = {"kind": "PersistentVolumeClaim", "namespace": stage.namespace, "name": "data"}
    owner = {"claimRef": {**reference, "uid": made["metadata"]["uid"]}}
    stage.create(VOLUMES, volume("disk-1", "fast", "b", **owner))
    finish_binding(stage, "disk-1", "data")
    stage.until_told("db", "Scheduled")
    assert stage.outcome("db") == bound("b")


def test_a_claim_without_a_volume(stage, claims):
    stage.nodes("a")
    stage.create(CLASSES, late_class("local", "kubernetes.io/no-provisioner"))
    stage.create(stage.core(CLAIMS), claim("data", "local"))
    stage.pod("db", volumes=mounting("data"))

    assert stage.until_failed("db") == (
        "0/1 nodes are available: 1 node(s) didn't find available persistent volumes to bind. "
        f"{claims}preemption: 0/1 nodes are available: 1 Preemption is not "
        "helpful for scheduling."
    )


def test_the_leader_holds_its_lease_in_kube_system(stage):
    stage.nodes("a")  # so there is a leader

    lease = stage.get(LEASE)
    events = stage.get("/api/v1/namespaces/kube-system/events")["items"]
    holder = lease["spec"]["holderIdentity"]
    (event,) = [each for each in events if each["message"] == f"{holder} became leader"]

    assert lease["spec"]["leaseDurationSeconds"] == 4
    assert (event["reason"], event["type"]) == ("LeaderElection", "Normal")
    assert event["source"] == {"component": "default-scheduler"}
    assert event["involvedObject"]["kind"] == "Lease"

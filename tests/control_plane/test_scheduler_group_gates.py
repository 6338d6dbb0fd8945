"""Pod groups with the gates that build on GenericWorkload, with podium and with kube-scheduler.

Both play the same stories on a real control plane, and must do and say the same.
"""

import pytest

from tests.support.control_plane.group_stage import GATE, PODS, SHAPE, expected_and_found
from tests.support.control_plane.stage import NODES, PRIORITIES

pytestmark = pytest.mark.cluster

GATES = (
    "--feature-gates=GenericWorkload=true,TopologyAwareWorkloadScheduling=true,"
    "PodGroupPreemptionPolicy=true,DRAWorkloadResourceClaims=true"
)
RESOURCES = "/apis/resource.k8s.io/v1"
ZONE = {"schedulingConstraints": {"topology": [{"key": "zone"}]}}


def zones(stage, **sizes):
    """Nodes with room for one pod each: ``a=2`` makes a1 and a2 in zone a."""
    for zone, size in sizes.items():
        for name in [f"{zone}{number}" for number in range(1, size + 1)]:
            stage.ready_nodes(name, cpu="1")
            stage.patch(f"{NODES}/{name}", {"metadata": {"labels": {"zone": zone}}})
            wanted = {"kubernetes.io/hostname": name, "zone": zone}
            stage.pod("probe", nodeSelector=wanted, requests={})
            stage.until_bound("probe")
            stage.delete(stage.core("pods/probe"))


def zones_of(stage, *names):
    return {stage.outcome(name)["node"][:1] for name in names}


def one_zone_fits(stage):
    zones(stage, a=2, b=3, c=1)
    stage.group(min_count=3, **ZONE)
    stage.members(*PODS)
    stage.until_bound(*PODS)
    stage.until_group(lambda each: each["status"] == "True")
    return zones_of(stage, *PODS), stage.condition()


def no_zone_fits(stage):
    """The zones are alike: which of them is the first does not show."""
    zones(stage, a=1, b=1)
    stage.group(min_count=3, **ZONE)
    stage.members(*PODS)
    stage.until_failed(*PODS)
    stage.until_group(lambda each: each["status"] == "False")
    return stage.tell(*PODS), stage.condition()


def no_zone_at_all(stage):
    stage.nodes("n1", "n2", cpu="1")
    stage.group(min_count=2, **ZONE)
    stage.members("p1", "p2")
    stage.until_failed("p1", "p2")
    stage.until_group(lambda each: each["status"] == "False")
    return stage.tell("p1", "p2"), stage.condition()


def no_constraint(stage):
    zones(stage, a=1, b=1)
    stage.group(min_count=3)
    stage.members(*PODS)
    stage.until_failed(*PODS)
    stage.until_group(lambda each: each["status"] == "False")
    return stage.tell(*PODS), stage.condition()


def follows_its_members(stage):
    zones(stage, a=1)
    stage.group(**ZONE)
    stage.members("p1")
    stage.until_bound("p1")
    zones(stage, b=3)
    stage.members("p2")
    stage.until_failed("p2")
    return stage.tell("p2")


def preempts_in_one_zone(stage):
    for name, value in (("low5", 10), ("high5", 1000)):
        stage.create(PRIORITIES, {"metadata": {"name": name}, "value": value})
    zones(stage, a=1, b=2)
    for name in ("v1", "v2", "v3"):
        stage.pod(name, **SHAPE, priorityClassName="low5")
        stage.until_bound(name)
    stage.group(min_count=2, priorityClassName="high5", **ZONE)
    stage.members("p1", "p2", priorityClassName="high5")
    stage.until_failed("p1", "p2")
    stage.until_group(lambda each: each["message"].endswith("victims"))
    return stage.condition()


def never_preempts(stage):
    stage.create(PRIORITIES, {"metadata": {"name": "low6"}, "value": 10})
    never = {"metadata": {"name": "high6"}, "value": 1000, "preemptionPolicy": "Never"}
    stage.create(PRIORITIES, never)
    stage.nodes("n1", cpu="1")
    stage.pod("v1", **SHAPE, priorityClassName="low6")
    stage.until_bound("v1")
    stage.group(min_count=1, priorityClassName="high6", preemptionPolicy="Never")
    stage.members("p1", priorityClassName="high6")
    stage.until_failed("p1")
    stage.until_group(lambda each: each["status"] == "False")
    return stage.tell("p1"), stage.condition()


def another_policy(stage):
    """The pod may preempt, the group may not."""
    never = {"metadata": {"name": "high7"}, "value": 1000, "preemptionPolicy": "Never"}
    stage.create(PRIORITIES, never)
    stage.create(PRIORITIES, {"metadata": {"name": "high8"}, "value": 1000})
    stage.nodes("n1", cpu="1")
    stage.group(min_count=1, priorityClassName="high7", preemptionPolicy="Never")
    stage.members("p1", priorityClassName="high8")
    stage.until_failed("p1")
    stage.until_group(lambda each: each["status"] == "False")
    return stage.tell("p1"), stage.condition()


def claim_of_the_group(stage):
    """Members share a claim that is reserved for their group. Some may fail once meanwhile."""
    stage.nodes("n1", cpu="4")
    devices(stage, "n1")
    entry = {"name": "gpu", "resourceClaimName": "shared"}
    stage.group(min_count=3, resourceClaims=[entry])
    stage.members(*PODS, resourceClaims=[entry])
    stage.until_bound(*PODS)
    claim = stage.get(claims(stage, "shared"))
    users = claim["status"]["reservedFor"]
    names = [(user.get("apiGroup", ""), user["resource"], user["name"]) for user in users]
    results = claim["status"]["allocation"]["devices"]["results"]
    return names, [result["device"] for result in results]


def claim_of_the_pods(stage):
    """The group has the claim under another name, so that it is reserved for each pod."""
    stage.nodes("n1", cpu="4")
    devices(stage, "n1")
    stage.group(min_count=3, resourceClaims=[{"name": "other", "resourceClaimName": "shared"}])
    stage.members(*PODS, resourceClaims=[{"name": "gpu", "resourceClaimName": "shared"}])
    stage.until_bound(*PODS)
    users = stage.get(claims(stage, "shared"))["status"]["reservedFor"]
    return sorted((user["resource"], user["name"]) for user in users)


def too_small_where_the_label_is(stage):
    """Nodes without the label have room, and are not used."""
    zones(stage, a=1)
    stage.nodes("n1", "n2", cpu="4")
    stage.group(min_count=2, **ZONE)
    stage.together("p1", "p2")
    stage.until_failed("p1", "p2")
    stage.until_rejected()
    before = stage.tell("p1", "p2"), stage.condition()
    zones(stage, b=2)
    stage.until_bound("p1", "p2")
    stage.until_scheduled()
    return before, zones_of(stage, "p1", "p2")


def a_node_gets_the_label(stage):
    zones(stage, a=1)
    stage.nodes("n1", cpu="2")
    stage.group(min_count=2, **ZONE)
    stage.together("p1", "p2")
    stage.until_failed("p1", "p2")
    stage.until_rejected()
    before = stage.condition()
    stage.patch(f"{NODES}/n1", {"metadata": {"labels": {"zone": "b"}}})
    stage.until_bound("p1", "p2")
    return before, {stage.outcome(name)["node"] for name in ("p1", "p2")}


def a_member_outside_of_all_zones(stage):
    stage.nodes("n1", cpu="4")
    zones(stage, a=2)
    stage.group(min_count=2, **ZONE)
    stage.members("p1", nodeName="n1")
    stage.members("p2")
    stage.until_failed("p2")
    stage.until_rejected()
    return stage.tell("p2"), stage.condition()


def the_zone_for_most_members(stage):
    zones(stage, a=1, b=2, c=3)
    stage.group(**ZONE)
    stage.together(*PODS)
    stage.until_bound(*PODS)
    return zones_of(stage, *PODS)


def the_fuller_zone(stage):
    zones(stage, a=3, b=3)
    stage.single(nodeSelector={"zone": "b"}, **SHAPE)
    stage.group(min_count=2, **ZONE)
    stage.together("p1", "p2")
    stage.until_bound("p1", "p2")
    return zones_of(stage, "p1", "p2")


def a_late_member_and_a_full_zone(stage):
    zones(stage, a=2, b=1)
    stage.group(min_count=2, **ZONE)
    stage.together("p1", "p2")
    stage.until_bound("p1", "p2")
    stage.until_scheduled()
    stage.members("p3")
    stage.until_failed("p3")
    return zones_of(stage, "p1", "p2"), stage.tell("p3"), stage.condition()[0][:3]


def each_node_is_a_placement(stage):
    stage.nodes("n1", cpu="1")
    stage.nodes("n2", cpu="3")
    stage.nodes("n3", cpu="2")
    host = {"topology": [{"key": "kubernetes.io/hostname"}]}
    stage.group(min_count=3, schedulingConstraints=host)
    stage.together(*PODS)
    stage.until_bound(*PODS)
    return {stage.outcome(name)["node"] for name in PODS}


def too_few_devices(stage):
    """Each member has a claim of its own, and there is one device. None of it stays allocated."""
    stage.nodes("n1", cpu="4")
    devices(stage, "n1")
    request = {"name": "r", "exactly": {"deviceClassName": stage.namespace}}
    second = {"metadata": {"name": "second"}, "spec": {"devices": {"requests": [request]}}}
    stage.create(claims(stage), second)
    stage.group(min_count=2)
    stage.members("p1", schedulingGates=GATE, resourceClaims=[claim_named("shared")])
    stage.members("p2", resourceClaims=[claim_named("second")])
    stage.ungate("p1")
    stage.until_failed("p1", "p2")
    stage.until_rejected()
    statuses = [stage.get(claims(stage, name)).get("status") for name in ("shared", "second")]
    return stage.tell("p1", "p2"), stage.condition(), statuses


def a_zone_with_the_device(stage):
    zones(stage, a=1, b=2)
    devices(stage, "b2")
    stage.group(min_count=2, **ZONE)
    stage.members("p1", schedulingGates=GATE, resourceClaims=[claim_named("shared")])
    stage.members("p2")
    stage.ungate("p1")
    stage.until_bound("p1", "p2")
    return [stage.outcome(name)["node"] for name in ("p1", "p2")]


def claim_named(name):
    return {"name": "gpu", "resourceClaimName": name}


def claims(stage, name=""):
    found = f"{RESOURCES}/namespaces/{stage.namespace}/resourceclaims"
    return f"{found}/{name}" if name else found


def devices(stage, node):
    """One device on a node, a class of them, and a claim for one. No other story has its pool."""
    name = stage.namespace
    driver = "gpu.example.com"
    selector = {"cel": {"expression": f'device.driver == "{driver}"'}}
    stage.create(f"{RESOURCES}/deviceclasses",
                 {"metadata": {"name": name}, "spec": {"selectors": [selector]}})  # fmt: skip
    pool = {"name": name, "generation": 1, "resourceSliceCount": 1}
    spec = {"driver": driver, "nodeName": node, "pool": pool, "devices": [{"name": "gpu-0"}]}
    stage.create(f"{RESOURCES}/resourceslices", {"metadata": {"name": name}, "spec": spec})
    request = {"name": "r", "exactly": {"deviceClassName": name}}
    body = {"metadata": {"name": "shared"}, "spec": {"devices": {"requests": [request]}}}
    stage.create(claims(stage), body)


STORIES = (
    one_zone_fits, no_zone_fits, no_zone_at_all, no_constraint, follows_its_members,
    preempts_in_one_zone, never_preempts, another_policy, claim_of_the_group, claim_of_the_pods,
    too_small_where_the_label_is, a_node_gets_the_label, a_member_outside_of_all_zones,
    the_zone_for_most_members, the_fuller_zone, a_late_member_and_a_full_zone,
    each_node_is_a_placement, too_few_devices, a_zone_with_the_device,
)  # fmt: skip


def test_podium_and_kube_scheduler_agree(binaries, podium, tmp_path):
    expected, found = expected_and_found(binaries, podium, tmp_path, GATES, STORIES)

    assert found == expected

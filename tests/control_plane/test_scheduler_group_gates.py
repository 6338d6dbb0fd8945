"""Pod groups with the gates that build on GenericWorkload, with podium and with kube-scheduler.

Both play the same stories on a real control plane, and must do and say the same.
"""

import pytest

from tests.support.control_plane.group_stage import PODS, SHAPE, expected_and_found
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
)  # fmt: skip


def test_podium_and_kube_scheduler_agree(binaries, podium, tmp_path):
    expected, found = expected_and_found(binaries, podium, tmp_path, GATES, STORIES)

    assert found == expected

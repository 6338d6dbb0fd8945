"""Preemption by groups and of groups with GenericWorkload, with podium and with kube-scheduler.

Both play the same stories on a real control plane, and must do and say the same.
"""

import pytest

from tests.support.control_plane.group_stage import PODS, SHAPE, expected_and_found

pytestmark = pytest.mark.cluster

GATES = "--feature-gates=GenericWorkload=true"
FIVE = ("p1", "p2", "p3", "p4", "p5")


def running(stage, *names, **spec):
    for name in names:
        stage.single(name, **SHAPE, **spec)


def until_victims_are_chosen(stage):
    stage.until_group(lambda each: each["message"].endswith("victims"))


def budget(stage):
    """No pod with this label may be disrupted; there is no controller that counts pods."""
    path = f"/apis/policy/v1/namespaces/{stage.namespace}/poddisruptionbudgets"
    selector = {"matchLabels": {"app": "kept"}}
    spec = {"minAvailable": 1, "selector": selector}
    stage.create(path, {"metadata": {"name": "keep"}, "spec": spec})
    counts = {"expectedPods": 1, "currentHealthy": 1, "desiredHealthy": 1}
    stage.patch(f"{path}/keep/status", {"status": {"disruptionsAllowed": 0, **counts}})
    return {"app": "kept"}


def in_vain(stage):
    stage.priorities(low30=10, high30=1000)
    stage.nodes("n1", cpu="1")
    running(stage, "v1", priorityClassName="low30")
    stage.group(min_count=2, priorityClassName="high30")
    stage.together("p1", "p2", priorityClassName="high30")
    stage.until_failed("p1", "p2")
    stage.until_rejected()
    return stage.tell("p1", "p2", "v1"), stage.condition()


def of_equal_priority(stage):
    stage.priorities(equal31=500)
    stage.nodes("n1", cpu="1")
    running(stage, "v1", priorityClassName="equal31")
    stage.group(min_count=1, priorityClassName="equal31")
    stage.members("p1", priorityClassName="equal31")
    stage.until_failed("p1")
    stage.until_rejected()
    return stage.tell("p1", "v1"), stage.condition()


def members_that_never_preempt(stage):
    stage.priorities(low32=10)
    never = {"metadata": {"name": "high32"}, "value": 1000, "preemptionPolicy": "Never"}
    stage.create("/apis/scheduling.k8s.io/v1/priorityclasses", never)
    stage.nodes("n1", cpu="1")
    running(stage, "v1", priorityClassName="low32")
    stage.group(min_count=2, priorityClassName="high32")
    stage.together("p1", "p2", priorityClassName="high32")
    stage.until_failed("p1", "p2")
    stage.until_rejected()
    return stage.tell("p1", "p2", "v1"), stage.condition()


def a_basic_group(stage):
    """It gets room for two of its three members."""
    stage.priorities(low33=10, high33=1000)
    stage.nodes("n1", "n2", cpu="1")
    running(stage, "v1", "v2", priorityClassName="low33")
    stage.group(priorityClassName="high33")
    stage.together(*PODS, priorityClassName="high33")
    stage.until_failed(*PODS)
    until_victims_are_chosen(stage)
    before = stage.tell(*PODS), stage.condition()
    evicted = stage.evicted("v1", "v2")
    stage.until_bound("p1", "p2")
    return before, evicted


def a_late_member(stage):
    """The gang runs; one more member evicts a pod, and the condition stays."""
    stage.priorities(low34=10, high34=1000)
    stage.nodes("n1", "n2", cpu="1")
    stage.group(min_count=1, priorityClassName="high34")
    stage.members("p1", priorityClassName="high34")
    stage.until_bound("p1")
    stage.until_scheduled()
    running(stage, "v1", priorityClassName="low34")
    stage.members("p2", priorityClassName="high34")
    stage.until_failed("p2")
    before = stage.tell("p2"), stage.condition()
    evicted = stage.evicted("v1")
    stage.until_bound("p2")
    return before, evicted


def another_profile(stage):
    """The victim is told the name of the scheduler."""
    stage.priorities(low35=10, high35=1000)
    stage.nodes("n1", cpu="1")
    running(stage, "v1", priorityClassName="low35")
    stage.group(min_count=1, priorityClassName="high35")
    stage.members("p1", priorityClassName="high35", schedulerName="packer")
    stage.until_failed("p1")
    evicted = stage.evicted("v1")
    stage.until_bound("p1")
    return evicted, sorted({told[0] for name in ("p1", "v1") for told in stage.told(name)})


def a_budget_that_can_be_kept(stage):
    """The pod that the budget protects stays, though the other one is more important."""
    stage.priorities(low36=10, middle36=20, high36=1000)
    stage.nodes("n1", cpu="2")
    running(stage, "v1", labels=budget(stage), priorityClassName="low36")
    running(stage, "v2", priorityClassName="middle36")
    stage.group(min_count=1, priorityClassName="high36")
    stage.members("p1", priorityClassName="high36")
    stage.until_failed("p1")
    evicted = stage.evicted("v2")
    stage.until_bound("p1")
    return evicted, stage.tell("v1")


def a_budget_that_is_violated(stage):
    stage.priorities(low37=10, high37=1000)
    stage.nodes("n1", "n2", cpu="1")
    running(stage, "v1", labels=budget(stage), priorityClassName="low37")
    stage.group(min_count=2, priorityClassName="high37")
    stage.together("p1", "p2", priorityClassName="high37")
    stage.until_failed("p1", "p2")
    evicted = stage.evicted("v1")
    stage.until_bound("p1", "p2")
    stage.until_scheduled()
    return evicted, stage.condition()


def nominated_nodes_are_kept(stage):
    """While the victims leave, a pod of lower priority does not get their nodes."""
    stage.priorities(low38=10, high38=1000)
    stage.nodes("n1", "n2", cpu="1")
    running(stage, "v1", "v2", priorityClassName="low38")
    stage.group(min_count=2, priorityClassName="high38")
    stage.together("p1", "p2", priorityClassName="high38")
    stage.until_failed("p1", "p2")
    until_victims_are_chosen(stage)
    for name in ("p1", "p2"):
        stage.until(stage.core("pods"), name, lambda pod: pod["status"].get("nominatedNodeName"))
    nominated = {stage.outcome(name)["nominated"] for name in ("p1", "p2")}
    stage.pod("low", **SHAPE, priorityClassName="low38")
    stage.until_failed("low")
    told = stage.tell("low")
    evicted = stage.evicted("v1", "v2")
    stage.until_bound("p1", "p2")
    return len(nominated), told, evicted, stage.outcome("low")["node"]


def a_gang_and_all_that_runs(stage):
    """A group that leaves whole, and single pods."""
    stage.priorities(low39=10, high39=1000)
    stage.nodes("n1", "n2", "n3", "n4", "n5", cpu="1")
    stage.group("victims", 3, mode="all", priorityClassName="low39")
    stage.members("v1", "v2", "v3", of="victims", priorityClassName="low39")
    stage.until_bound("v1", "v2", "v3")
    running(stage, "s1", "s2", priorityClassName="low39")
    stage.group(min_count=5, priorityClassName="high39")
    stage.together(*FIVE, priorityClassName="high39")
    stage.until_failed("p1")
    until_victims_are_chosen(stage)
    condition = stage.condition()
    evicted = stage.evicted("v1", "v2", "v3", "s1", "s2")
    stage.until_bound(*FIVE)
    stage.until_scheduled()
    return condition, evicted


def the_smaller_harm(stage):
    """A single pod leaves rather than a whole group."""
    stage.priorities(low40=10, high40=1000)
    stage.nodes("n1", "n2", "n3", cpu="1")
    stage.group("victims", 2, mode="all", priorityClassName="low40")
    stage.members("v1", "v2", of="victims", priorityClassName="low40")
    stage.until_bound("v1", "v2")
    running(stage, "v3", priorityClassName="low40")
    stage.pod("boss", **SHAPE, priorityClassName="high40")
    evicted = stage.evicted("v3")
    stage.until_bound("boss")
    return evicted, stage.condition("victims")


def a_later_node(stage):
    """Preemption is in vain until a node joins."""
    stage.priorities(low41=10, high41=1000)
    stage.nodes("n1", cpu="1")
    running(stage, "v1", priorityClassName="low41")
    stage.group(min_count=2, priorityClassName="high41")
    stage.together("p1", "p2", priorityClassName="high41")
    stage.until_failed("p1", "p2")
    stage.until_rejected()
    before = stage.condition()
    stage.ready_nodes("n2", cpu="1")
    evicted = stage.evicted("v1")
    stage.until_bound("p1", "p2")
    stage.until_scheduled()
    return before, evicted, stage.condition()


STORIES = (
    in_vain, of_equal_priority, members_that_never_preempt, a_basic_group, a_late_member,
    another_profile, a_budget_that_can_be_kept, a_budget_that_is_violated,
    nominated_nodes_are_kept, a_gang_and_all_that_runs, the_smaller_harm, a_later_node,
)  # fmt: skip


def test_podium_and_kube_scheduler_agree(binaries, podium, tmp_path):
    expected, found = expected_and_found(binaries, podium, tmp_path, GATES, STORIES)

    assert found == expected

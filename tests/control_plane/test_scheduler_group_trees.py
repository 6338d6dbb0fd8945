"""Trees of pod groups, with podium and with kube-scheduler.

Both play the same stories on a real control plane, and must do and say the same.
"""

import itertools

import pytest

from tests.support.control_plane.group_stage import GATE, SHAPE, expected_and_found
from tests.support.control_plane.stage import NODES, PRIORITIES

pytestmark = pytest.mark.cluster

GATES = (
    "--feature-gates=GenericWorkload=true,TopologyAwareWorkloadScheduling=true,"
    "CompositePodGroup=true"
)
ZONE = {"schedulingConstraints": {"topology": [{"key": "zone"}]}}
FIRST = "a1"


def tree(stage, leaves, min_groups=None, minimum=None, root=None, **spec):
    """A root with PodGroups: ``{"a": 2}`` makes two members a1 and a2 of group a.

    One member is gated until all are there, so that both schedulers begin with the whole tree.
    """
    stage.composite(min_groups=min_groups, **(root or {}), **spec)
    for name in leaves:
        stage.group(name, minimum, parent="root", **spec)
    members(stage, leaves, **spec)


def members(stage, leaves, **spec):
    names = [name for of, size in leaves.items() for name in named(of, size)]
    stage.members(FIRST, of=FIRST[:-1], schedulingGates=GATE, **spec)
    for name in names:
        if name != FIRST:
            stage.members(name, of=name[:-1], **spec)
    stage.patch(stage.core(f"pods/{FIRST}"), {"spec": {"schedulingGates": None}})


def named(of, size):
    return [f"{of}{number}" for number in range(1, size + 1)]


def until_preemption(stage, *groups):
    """Wait until the conditions say what preemption has found."""
    for name in groups:
        stage.until_group(lambda each: "preemption: " in each["message"], name)


def until_noted(stage, name, text):
    """Wait for an event about a pod that says this."""
    path = f"/apis/events.k8s.io/v1/namespaces/{stage.namespace}/events"
    stage.side.wait_for(
        path, lambda event: event["regarding"]["name"] == name and text in event["note"]
    )


def zones(stage, **sizes):
    """Nodes with room for one pod each: ``a=2`` makes a1 and a2 in zone a."""
    for zone, size in sizes.items():
        for name in named(zone, size):
            stage.ready_nodes(name, cpu="1")
            stage.patch(f"{NODES}/{name}", {"metadata": {"labels": {"zone": zone}}})
            wanted = {"kubernetes.io/hostname": name, "zone": zone}
            stage.pod("probe", nodeSelector=wanted, requests={})
            stage.until_bound("probe")
            stage.delete(stage.core("pods/probe"))


def gang_of_groups(stage):
    stage.nodes("n1", cpu="4")
    tree(stage, {"a": 2, "b": 2}, min_groups=2, minimum=2)
    stage.until_bound("a1", "a2", "b1", "b2")
    for name in "ab":
        stage.until_group(lambda each: each["status"] == "True", name)
    return stage.tell("a1", "a2", "b1", "b2"), stage.condition("a"), stage.condition("b")


def gang_of_groups_too_large(stage):
    stage.nodes("n1", cpu="3")
    tree(stage, {"a": 2, "b": 2, "c": 1}, min_groups=3, minimum=None)
    stage.until_failed("a1", "a2", "b1", "b2", "c1")
    until_preemption(stage, "a", "b", "c")
    return stage.tell("a1", "a2", "b1", "b2", "c1"), [stage.condition(name) for name in "abc"]


def gang_of_gangs_too_large(stage):
    stage.nodes("n1", cpu="3")
    tree(stage, {"a": 2, "b": 2}, min_groups=2, minimum=2)
    stage.until_failed("a1", "a2", "b1", "b2")
    until_preemption(stage, "a", "b")
    return stage.tell("a1", "a2", "b1", "b2"), stage.condition("a"), stage.condition("b")


def a_child_that_is_out_of_reach(stage):
    """The first child does not fit, so that the second is not tried."""
    stage.nodes("n1", cpu="1")
    tree(stage, {"a": 2, "b": 1}, min_groups=2, minimum=None)
    stage.group("z", 3, parent="root")
    stage.until_failed("a2", "b1")
    until_preemption(stage, "b")
    return stage.condition("b"), sorted(stage.outcome("b1")["conditions"])


def one_child_cannot_fit(stage):
    stage.nodes("n1", cpu="3")
    tree(stage, {"a": 2, "b": 2}, minimum=2)
    stage.until_bound("a1", "a2")
    stage.until_failed("b1", "b2")
    until_preemption(stage, "b")
    until_noted(stage, "b1", "preemption: ")  # the members that are left are tried again
    return stage.tell("b1", "b2"), stage.condition("a"), stage.condition("b")


def nested(stage):
    stage.nodes("n1", cpu="4")
    stage.composite(min_groups=2)
    stage.composite("inner", min_groups=2, parent="root")
    for name, parent in (("a", "inner"), ("b", "inner"), ("c", "root")):
        stage.group(name, 1, parent=parent)
    members(stage, {"a": 1, "b": 1, "c": 2})
    stage.until_bound("a1", "b1", "c1", "c2")
    for name in "abc":
        stage.until_group(lambda each: each["status"] == "True", name)
    return stage.tell("a1", "b1", "c1", "c2"), [stage.condition(name) for name in "abc"]


def nested_too_large(stage):
    stage.nodes("n1", cpu="2")
    stage.composite(min_groups=2)
    stage.composite("inner", min_groups=2, parent="root")
    for name, parent in (("a", "inner"), ("b", "inner"), ("c", "root")):
        stage.group(name, 1, parent=parent)
    members(stage, {"a": 1, "b": 1, "c": 2})
    stage.until_failed("a1", "b1", "c1", "c2")
    until_preemption(stage, "a", "b", "c")
    return stage.tell("a1", "b1", "c1", "c2"), [stage.condition(name) for name in "abc"]


def one_zone_for_all(stage):
    zones(stage, a=2, b=3, c=1)
    tree(stage, {"a": 2, "b": 1}, min_groups=2, minimum=1, root=ZONE)
    stage.until_bound("a1", "a2", "b1")
    return {stage.outcome(name)["node"][:1] for name in ("a1", "a2", "b1")}


def no_zone_for_all(stage):
    zones(stage, a=1, b=1)
    tree(stage, {"a": 1, "b": 1}, min_groups=2, minimum=1, root=ZONE)
    stage.until_failed("a1", "b1")
    until_preemption(stage, "a", "b")
    return stage.tell("a1", "b1"), stage.condition("a"), stage.condition("b")


def another_priority(stage):
    stage.create(PRIORITIES, {"metadata": {"name": "high11"}, "value": 1000})
    stage.nodes("n1", cpu="4")
    tree(stage, {"a": 1, "b": 1}, root={"priorityClassName": "high11"})
    stage.until_failed("a1", "b1")
    for name in "ab":
        stage.until_group(lambda each: each["status"] == "False", name)
    return stage.tell("a1", "b1"), stage.condition("a"), stage.condition("b")


def preempting(stage):
    for name, value in (("low12", 10), ("high12", 1000)):
        stage.create(PRIORITIES, {"metadata": {"name": name}, "value": value})
    stage.nodes("n1", "n2", cpu="1")
    for name in ("v1", "v2"):
        stage.pod(name, **SHAPE, priorityClassName="low12")
        stage.until_bound(name)
    tree(stage, {"a": 1, "b": 1}, min_groups=2, minimum=1, priorityClassName="high12")
    stage.until_failed("a1", "b1")
    evicted = stage.evicted("v1", "v2")
    stage.until_bound("a1", "b1")
    for name in "ab":
        stage.until_group(lambda each: each["status"] == "True", name)
    return stage.tell("a1", "b1"), stage.condition("a"), stage.condition("b"), evicted


def evicted_whole(stage):
    """A pod needs the node of one group, and the other group of the tree leaves as well."""
    for name, value in (("low13", 10), ("high13", 1000)):
        stage.create(PRIORITIES, {"metadata": {"name": name}, "value": value})
    stage.nodes("n1", "n2", cpu="1")
    tree(stage, {"a": 1, "b": 1}, min_groups=2, root={"mode": "all"}, priorityClassName="low13")
    stage.until_bound("a1", "b1")
    stage.pod("p1", **SHAPE, priorityClassName="high13")
    evicted = stage.evicted("a1", "b1")
    stage.until_bound("p1")
    return {name: targets for name, (targets, _) in evicted.items()}


def evicted_by_a_tree(stage):
    """Of two pods of equal trees only those that are in the way are evicted."""
    for name, value in (("low14", 10), ("high14", 1000)):
        stage.create(PRIORITIES, {"metadata": {"name": name}, "value": value})
    stage.nodes("n1", cpu="1")
    stage.pod("v1", **SHAPE, priorityClassName="low14")
    stage.until_bound("v1")
    tree(stage, {"a": 1, "b": 1}, min_groups=1, minimum=1, priorityClassName="high14")
    stage.until_failed("a1", "b1")
    found = stage.evicted("v1")
    stage.until_bound("a1")
    return found, stage.outcome("b1")["node"]


def waiting_for_the_root(stage):
    stage.nodes("n1", cpu="4")
    stage.group("a", parent="inner")
    stage.members("a1", of="a")
    stage.composite("inner", parent="root")
    before = stage.outcome("a1")["node"]
    stage.composite()
    stage.until_bound("a1")
    return before, stage.tell("a1")


def lowered(stage):
    """The tree waits for pods until a group of it needs fewer."""
    stage.nodes("n1", cpu="4")
    stage.composite(min_groups=2)
    stage.group("a", 1, parent="root")
    stage.group("b", 3, parent="root")
    stage.members("a1", of="a")
    stage.members("b1", "b2", of="b")
    before = [stage.outcome(name)["node"] for name in ("a1", "b1", "b2")]
    policy = {"spec": {"schedulingPolicy": {"gang": {"minCount": 2}}}}
    stage.patch(f"{stage.groups}/b", policy)
    stage.until_bound("a1", "b1", "b2")
    return before, stage.tell("a1", "b1", "b2")


def enough_of_the_groups(stage):
    """One of three groups has no pods."""
    stage.nodes("n1", cpu="4")
    stage.composite(min_groups=2)
    for name in "abc":
        stage.group(name, 1, parent="root")
    stage.members("a1", of="a")
    stage.single()
    before = stage.tell("a1")
    stage.members("b1", of="b")
    stage.until_bound("a1", "b1")
    return before, stage.condition("c")


def pods_before_their_groups(stage):
    stage.nodes("n1", cpu="4")
    stage.members("a1", of="a")
    stage.members("b1", of="b")
    stage.single()
    before = stage.tell("a1", "b1")
    for name in "ab":
        stage.group(name, 1, parent="root")
    stage.single("single2")
    stage.composite(min_groups=2)
    stage.until_bound("a1", "b1")
    stage.until_scheduled("a", "b")
    return before, stage.tell("a1", "b1"), stage.condition("a")


def a_leaf_created_again(stage):
    stage.nodes("n1", cpu="4")
    stage.composite(min_groups=2)
    for name in "ab":
        stage.group(name, 1, parent="root")
    stage.members("b1", of="b")
    stage.single()
    stage.remove_group("b")
    stage.members("a1", of="a")
    stage.single("single2")
    between = stage.tell("a1", "b1")
    stage.group("b", 1, parent="root")
    stage.until_bound("a1", "b1")
    return between


def in_line(stage, count, **of_root):
    """A PodGroup below so many composite groups, each in the one before."""
    stage.composite(**of_root)
    parents = ("root", *(f"c{number}" for number in range(1, count)))
    for parent, name in itertools.pairwise(parents):
        stage.composite(name, parent=parent)
    stage.group("a", 1, parent=parents[-1])
    stage.members("a1", of="a")


def five_levels(stage):
    stage.nodes("n1", cpu="4")
    in_line(stage, 4)
    stage.until_bound("a1")
    stage.until_scheduled("a")
    return stage.tell("a1"), stage.condition("a")


def six_levels(stage):
    stage.nodes("n1", cpu="4")
    in_line(stage, 5)
    stage.single()
    return stage.tell("a1"), stage.condition("a")


def five_levels_in_a_zone(stage):
    zones(stage, a=2)
    in_line(stage, 4, **ZONE)
    stage.until_failed("a1")
    stage.until_rejected("a")
    return stage.tell("a1"), stage.condition("a")


def a_late_leaf_without_room(stage):
    stage.nodes("n1", cpu="2")
    tree(stage, {"a": 1, "b": 1}, min_groups=2, minimum=1)
    stage.until_bound("a1", "b1")
    stage.until_scheduled("a", "b")
    stage.group("c", 1, parent="root")
    stage.members("c1", of="c")
    stage.until_failed("c1")
    stage.until_rejected("c")
    return stage.tell("c1"), [stage.condition(name)[0][:3] for name in "abc"]


def one_leaf_in_one_zone(stage):
    zones(stage, a=1, b=2)
    stage.composite(min_groups=2)
    stage.group("a", 2, parent="root", **ZONE)
    stage.group("b", 1, parent="root")
    members(stage, {"a": 2, "b": 1})
    stage.until_bound("a1", "a2", "b1")
    return [stage.outcome(name)["node"][:1] for name in ("a1", "a2", "b1")]


def preempting_in_vain(stage):
    stage.priorities(low15=10, high15=1000)
    stage.nodes("n1", cpu="1")
    stage.single("v1", **SHAPE, priorityClassName="low15")
    tree(stage, {"a": 1, "b": 1}, min_groups=2, minimum=1, priorityClassName="high15")
    stage.until_failed("a1", "b1")
    until_preemption(stage, "a", "b")
    return stage.tell("a1", "b1", "v1"), stage.condition("a"), stage.condition("b")


def a_leaf_that_leaves_whole(stage):
    """The other leaf of the tree stays."""
    stage.priorities(low16=10, high16=1000)
    stage.nodes("n1", "n2", "n3", cpu="1")
    stage.composite(priorityClassName="low16")
    stage.group("a", 2, parent="root", mode="all", priorityClassName="low16")
    stage.group("b", 1, parent="root", priorityClassName="low16")
    members(stage, {"a": 2, "b": 1}, priorityClassName="low16")
    stage.until_bound("a1", "a2", "b1")
    there = {"kubernetes.io/hostname": stage.outcome("a1")["node"]}
    stage.pod("boss", **SHAPE, priorityClassName="high16", nodeSelector=there)
    evicted = stage.evicted("a1", "a2")
    stage.until_bound("boss")
    return evicted, stage.tell("b1")


def no_nodes(stage):
    tree(stage, {"a": 1, "b": 1}, min_groups=2, minimum=1)
    stage.until_failed("a1", "b1")
    until_preemption(stage, "a", "b")
    return stage.tell("a1", "b1"), stage.condition("a"), stage.condition("b")


STORIES = (
    gang_of_groups, gang_of_groups_too_large, gang_of_gangs_too_large,
    a_child_that_is_out_of_reach, one_child_cannot_fit, nested, nested_too_large,
    one_zone_for_all, no_zone_for_all, another_priority, preempting, evicted_whole,
    evicted_by_a_tree, waiting_for_the_root, lowered, enough_of_the_groups,
    pods_before_their_groups, a_leaf_created_again, five_levels, six_levels, five_levels_in_a_zone,
    a_late_leaf_without_room, one_leaf_in_one_zone, preempting_in_vain, a_leaf_that_leaves_whole,
    no_nodes,
)  # fmt: skip


def test_podium_and_kube_scheduler_agree(binaries, podium, tmp_path):
    expected, found = expected_and_found(binaries, podium, tmp_path, GATES, STORIES)

    assert found == expected

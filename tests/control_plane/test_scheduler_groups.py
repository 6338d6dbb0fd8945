"""Pod groups with GenericWorkload, with podium and with kube-scheduler.

Both play the same stories on a real control plane, and must do and say the same.
"""

import pytest

from tests.support.control_plane.group_stage import PODS, SHAPE, expected_and_found
from tests.support.control_plane.stage import PRIORITIES

pytestmark = pytest.mark.cluster

GATE = "--feature-gates=GenericWorkload=true"


def fits(stage):
    stage.nodes("n1", "n2", "n3", cpu="1")
    stage.group(min_count=3)
    stage.members("p1", "p2")
    stage.members("p3")
    stage.until_bound(*PODS)
    stage.until_group(lambda each: each["status"] == "True")
    return stage.tell(*PODS), stage.condition()


def too_large(stage):
    stage.nodes("n1", cpu="1")
    stage.group(min_count=3)
    stage.members(*PODS)
    stage.until_failed(*PODS)
    stage.until_group(lambda each: each["status"] == "False")
    return stage.tell(*PODS), stage.condition()


def preempting(stage):
    for name, value in (("low", 10), ("high", 1000)):
        stage.create(PRIORITIES, {"metadata": {"name": name}, "value": value})
    stage.nodes("n1", "n2", "n3", cpu="1")
    for name in ("v1", "v2"):
        stage.pod(name, **SHAPE, priorityClassName="low")
        stage.until_bound(name)
    stage.group(min_count=3, priorityClassName="high")
    stage.members(*PODS, priorityClassName="high")
    stage.until_failed(*PODS)
    evicted = stage.evicted("v1", "v2")
    stage.until_bound(*PODS)
    stage.until_group(lambda each: each["status"] == "True")
    return stage.tell(*PODS), stage.condition(), evicted


def basic(stage):
    stage.nodes("n1", cpu="1")
    stage.group()
    stage.members(*PODS)
    stage.until_failed("p2", "p3")
    stage.until_bound("p1")
    return stage.outcome("p1")["node"], stage.tell("p2", "p3")


def lowered(stage):
    stage.nodes("n1", cpu="1")
    stage.group(min_count=3)
    stage.members("p1")
    stage.patch(f"{stage.groups}/gang", {"spec": {"schedulingPolicy": {"gang": {"minCount": 1}}}})
    stage.until_bound("p1")
    stage.until_group(lambda each: each["status"] == "True")
    return stage.tell("p1"), stage.condition()


def other_priority(stage):
    stage.create(PRIORITIES, {"metadata": {"name": "high2"}, "value": 1000})
    stage.nodes("n1", cpu="4")
    stage.group(min_count=1)
    stage.members("p1", priorityClassName="high2")
    stage.until_failed("p1")
    stage.until_group(lambda each: each["status"] == "False")
    return stage.tell("p1"), stage.condition()


def no_nodes(stage):
    stage.group(min_count=2)
    stage.members("p1", "p2")
    stage.until_failed("p1", "p2")
    stage.until_group(lambda each: each["status"] == "False")
    return stage.tell("p1", "p2"), stage.condition()


def gated(stage):
    stage.nodes("n1", cpu="4")
    stage.group(min_count=2)
    stage.members("p3", schedulingGates=[{"name": "example.com/wait"}])
    stage.members("p1", "p2")
    stage.pod("single", **SHAPE)
    stage.until_bound("single")
    before = stage.tell("p1", "p2")
    stage.patch(stage.core("pods/p3"), {"spec": {"schedulingGates": None}})
    stage.until_bound(*PODS)
    return before, stage.tell(*PODS)


def whole(stage):
    """A group that is evicted whole loses all its pods to a gang that needs one node."""
    for name, value in (("low3", 10), ("high3", 1000)):
        stage.create(PRIORITIES, {"metadata": {"name": name}, "value": value})
    stage.nodes("n1", "n2", cpu="1")
    stage.group("victims", min_count=2, mode="all", priorityClassName="low3")
    stage.members("v1", "v2", of="victims", priorityClassName="low3")
    stage.until_bound("v1", "v2")
    stage.group(min_count=1, priorityClassName="high3")
    stage.members("p1", priorityClassName="high3")
    evicted = stage.evicted("v1", "v2")
    stage.until_bound("p1")
    return stage.tell("p1"), evicted


def single_preemptor(stage):
    """A single pod needs one node, and evicts a group that has pods on both."""
    for name, value in (("low4", 10), ("high4", 1000)):
        stage.create(PRIORITIES, {"metadata": {"name": name}, "value": value})
    stage.nodes("n1", "n2", cpu="1")
    stage.group("victims", min_count=2, mode="all", priorityClassName="low4")
    stage.members("v1", "v2", of="victims", priorityClassName="low4")
    stage.until_bound("v1", "v2")
    stage.pod("boss", **SHAPE, priorityClassName="high4")
    evicted = stage.evicted("v1", "v2")
    stage.until_bound("boss")
    return evicted


STORIES = (
    fits, too_large, preempting, basic, lowered, other_priority, no_nodes, gated, whole,
    single_preemptor,
)  # fmt: skip


def test_podium_and_kube_scheduler_agree(binaries, podium, tmp_path):
    expected, found = expected_and_found(binaries, podium, tmp_path, GATE, STORIES)

    assert found == expected

"""Groups and members that come, change and go with GenericWorkload, with podium and kube-scheduler.

Both play the same stories on a real control plane, and must do and say the same.
"""

import pytest

from tests.support.control_plane.group_stage import GATE, PODS, SHAPE, expected_and_found
from tests.support.control_plane.stage import NODES

pytestmark = pytest.mark.cluster

GATES = "--feature-gates=GenericWorkload=true"


def members_before_their_group(stage):
    stage.nodes("n1", "n2", "n3", cpu="1")
    stage.members(*PODS)
    stage.single()
    before = stage.tell(*PODS)
    stage.group(min_count=3)
    stage.until_bound(*PODS)
    stage.until_scheduled()
    return before, stage.tell(*PODS), stage.condition()


def created_again_smaller(stage):
    stage.nodes("n1", cpu="4")
    stage.group(min_count=4)
    stage.members(*PODS)
    stage.single()
    before = stage.tell(*PODS), stage.condition()
    stage.remove_group()
    stage.single("single2")
    between = stage.tell(*PODS)
    stage.group(min_count=3)
    stage.until_bound(*PODS)
    stage.until_scheduled()
    return before, between, stage.tell(*PODS), stage.condition()


def created_again_after_a_failure(stage):
    stage.nodes("n1", cpu="2")
    stage.group(min_count=3)
    stage.together(*PODS)
    stage.until_failed(*PODS)
    stage.until_rejected()
    before = stage.tell(*PODS), stage.condition()
    stage.remove_group()
    stage.nodes("n2", "n3", cpu="1")
    between = [stage.outcome(name)["node"] for name in PODS]
    stage.group(min_count=3)
    stage.until_bound(*PODS)
    stage.until_scheduled()
    return before, between, stage.condition()


def created_again_while_members_run(stage):
    """Those that run count for the new group, too."""
    stage.nodes("n1", cpu="3")
    stage.group(min_count=2)
    stage.members("p1", "p2")
    stage.until_bound("p1", "p2")
    stage.until_scheduled()
    stage.remove_group()
    stage.members("p3")
    stage.single()
    between = stage.tell("p3")
    stage.group(min_count=3)
    stage.until_bound("p3")
    stage.until_scheduled()
    return between, stage.tell("p3"), stage.condition()


def shrunk_after_a_failure(stage):
    stage.nodes("n1", cpu="1")
    stage.group(min_count=3)
    stage.together(*PODS)
    stage.until_failed(*PODS)
    stage.until_rejected()
    stage.require(1)
    stage.until_scheduled()
    return sum(bool(stage.outcome(name)["node"]) for name in PODS), stage.condition()[0][:3]


def raised_while_members_run(stage):
    stage.nodes("n1", cpu="4")
    stage.group(min_count=2)
    stage.members("p1", "p2")
    stage.until_bound("p1", "p2")
    stage.until_scheduled()
    stage.require(4)
    stage.members("p3")
    stage.single()
    before = stage.tell("p3"), stage.condition()
    stage.members("p4")
    stage.until_bound("p3", "p4")
    return before, stage.tell("p3", "p4"), stage.condition()


def more_than_there_are_nodes(stage):
    names = ("p1", "p2", "p3", "p4", "p5")
    stage.nodes("n1", "n2", cpu="1")
    stage.group(min_count=5)
    stage.together(*names)
    stage.until_failed(*names)
    stage.until_rejected()
    return stage.tell(*names), stage.condition()


def another_profile(stage):
    stage.nodes("n1", cpu="4")
    stage.group(min_count=2)
    stage.members("p1", schedulerName="packer")
    stage.members("p2")
    stage.until_failed("p1", "p2")
    stage.until_rejected()
    return stage.tell("p1", "p2"), stage.condition()


def another_scheduler(stage):
    """A pod of another scheduler does not count until it has a node, and then it is an error."""
    stage.nodes("n1", cpu="4")
    stage.group(min_count=2)
    stage.members("p1")
    stage.members("p2", schedulerName="nobody")
    stage.single()
    before = stage.tell("p1", "p2"), stage.condition()
    stage.bind("p2", "n1")
    stage.until_failed("p1")
    stage.until_rejected()
    return before, stage.tell("p1"), stage.condition()


def one_of_another_priority(stage):
    stage.priorities(high20=1000)
    stage.nodes("n1", cpu="4")
    stage.group(min_count=2)
    stage.members("p1")
    stage.members("p2", priorityClassName="high20")
    stage.until_failed("p1", "p2")
    stage.until_rejected()
    return stage.tell("p1", "p2"), stage.condition()


def a_late_member_without_room(stage):
    stage.nodes("n1", cpu="2")
    stage.group(min_count=2)
    stage.members("p1", "p2")
    stage.until_bound("p1", "p2")
    stage.until_scheduled()
    stage.members("p3")
    stage.until_failed("p3")
    return stage.tell(*PODS), stage.condition()[0][:3]


def deleted_while_it_waits(stage):
    stage.nodes("n1", cpu="2")
    stage.group(min_count=3)
    stage.together(*PODS)
    stage.until_failed(*PODS)
    stage.until_rejected()
    stage.delete(stage.core("pods/p2"))
    stage.nodes("n2", cpu="4")
    stage.single()
    between = [stage.outcome(name)["node"] for name in ("p1", "p3")]
    stage.members("p4")
    stage.until_bound("p1", "p3", "p4")
    stage.until_scheduled()
    return between, stage.condition()


def leaving_while_it_waits(stage):
    """A member that has a finalizer is deleted before the gang is complete."""
    stage.nodes("n1", cpu="4")
    stage.group(min_count=3)
    stage.members("p1", "p2")
    held = {"metadata": {"finalizers": ["example.com/hold"]}}
    stage.patch(stage.core("pods/p2"), held)
    stage.delete(stage.core("pods/p2"))
    stage.members("p3")
    skipped = stage.until_told("p2", "FailedScheduling")
    stage.until_failed("p1", "p3")
    stage.until_rejected()
    told = skipped, stage.tell("p1", "p3"), stage.condition()
    stage.patch(stage.core("pods/p2"), {"metadata": {"finalizers": None}})
    stage.members("p4")
    stage.until_bound("p1", "p3", "p4")
    stage.until_scheduled()
    return told


def gated_one_by_one(stage):
    stage.nodes("n1", cpu="4")
    stage.group(min_count=3)
    stage.members(*PODS, schedulingGates=GATE)
    stage.single()
    before = stage.tell(*PODS)
    stage.ungate("p1", "p2")
    stage.single("single2")
    between = stage.tell(*PODS)
    stage.ungate("p3")
    stage.until_bound(*PODS)
    stage.until_scheduled()
    return before, between, stage.tell(*PODS)


def a_node_joins(stage):
    stage.nodes("n1", cpu="1")
    stage.group(min_count=3)
    stage.together(*PODS)
    stage.until_failed(*PODS)
    stage.until_rejected()
    stage.nodes("n2", "n3", cpu="1")
    stage.until_bound(*PODS)
    stage.until_scheduled()
    return stage.condition()


def a_taint_goes(stage):
    stage.nodes("n1", "n2", cpu="1")
    stage.patch(f"{NODES}/n2", {"spec": {"taints": [{"key": "gpu", "effect": "NoSchedule"}]}})
    stage.group(min_count=2)
    stage.together("p1", "p2")
    stage.until_failed("p1", "p2")
    stage.until_rejected()
    before = stage.tell("p1", "p2"), stage.condition()
    stage.patch(f"{NODES}/n2", {"spec": {"taints": None}})
    stage.until_bound("p1", "p2")
    stage.until_scheduled()
    return before, stage.condition()


def one_gang_after_the_other(stage):
    stage.nodes("n1", "n2", "n3", cpu="1")
    stage.group("a", 2)
    stage.group("b", 2)
    stage.members("a1", "a2", of="a")
    stage.until_bound("a1", "a2")
    stage.together("b1", "b2", of="b")
    stage.until_failed("b1", "b2")
    stage.until_rejected("b")
    before = stage.tell("b1", "b2"), stage.condition("b")
    stage.delete(stage.core("pods/a1"))
    stage.until_bound("b1", "b2")
    stage.until_scheduled("b")
    return before, stage.condition("a"), stage.condition("b")


def bound_by_somebody_else(stage):
    stage.nodes("n1", cpu="4")
    stage.group(min_count=2)
    stage.members("p1", nodeName="n1")
    stage.members("p2")
    stage.until_bound("p2")
    stage.until_scheduled()
    return stage.tell("p2"), stage.condition()


def a_member_has_ended(stage):
    stage.nodes("n1", cpu="2")
    stage.group(min_count=2)
    stage.members("p1", "p2")
    stage.until_bound("p1", "p2")
    stage.until_scheduled()
    stage.patch(stage.core("pods/p1/status"), {"status": {"phase": "Succeeded"}})
    stage.members("p3")
    stage.until_bound("p3")
    return stage.tell("p3"), stage.condition()


def apart_from_each_other(stage):
    """Members see those that were placed before them in the same attempt."""
    stage.nodes("n1", "n2", cpu="4")
    stage.group(min_count=3)
    term = {
        "labelSelector": {"matchLabels": {"app": "x"}},
        "topologyKey": "kubernetes.io/hostname",
    }
    apart = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    stage.together(*PODS, labels={"app": "x"}, affinity=apart)
    stage.until_failed(*PODS)
    stage.until_rejected()
    before = stage.tell(*PODS), stage.condition()
    stage.nodes("n3", cpu="4")
    stage.until_bound(*PODS)
    return before, len({stage.outcome(name)["node"] for name in PODS})


def one_claim_for_one_pod(stage):
    """Two members want a volume that only one pod may use."""
    stage.nodes("n1", cpu="4")
    name = f"only-{stage.namespace}"
    spec = {"accessModes": ["ReadWriteOncePod"], "storageClassName": ""}
    volume = {
        "capacity": {"storage": "1Gi"},
        "csi": {"driver": "d.example.com", "volumeHandle": "h"},
        "claimRef": {"namespace": stage.namespace, "name": "only"},
    }
    stage.create(
        "/api/v1/persistentvolumes", {"metadata": {"name": name}, "spec": {**spec, **volume}}
    )
    claim = {"volumeName": name, "resources": {"requests": {"storage": "1Gi"}}, **spec}
    done = {"pv.kubernetes.io/bind-completed": "yes"}
    stage.create(
        stage.core("persistentvolumeclaims"),
        {"metadata": {"name": "only", "annotations": done}, "spec": claim},
    )
    stage.group(min_count=2)
    volumes = [{"name": "data", "persistentVolumeClaim": {"claimName": "only"}}]
    stage.together("p1", "p2", volumes=volumes)
    stage.until_failed("p1", "p2")
    stage.until_rejected()
    return stage.tell("p1", "p2"), stage.condition()


def a_missing_claim(stage):
    stage.nodes("n1", cpu="4")
    stage.group(min_count=2)
    volumes = [{"name": "data", "persistentVolumeClaim": {"claimName": "gone"}}]
    stage.together("p1", "p2", volumes=volumes)
    stage.until_failed("p1", "p2")
    stage.until_rejected()
    return stage.tell("p1", "p2"), stage.condition()


def singles_take_what_a_gang_cannot_use(stage):
    stage.nodes("n1", cpu="2")
    stage.group(min_count=3)
    stage.together(*PODS)
    stage.until_failed(*PODS)
    stage.until_rejected()
    stage.single("s1", **SHAPE)
    stage.single("s2", **SHAPE)
    stage.pod("s3", **SHAPE)
    stage.until_failed("s3")
    return stage.tell("s3"), stage.condition()


STORIES = (
    members_before_their_group, created_again_smaller, created_again_after_a_failure,
    created_again_while_members_run, shrunk_after_a_failure, raised_while_members_run,
    more_than_there_are_nodes, another_profile, another_scheduler, one_of_another_priority,
    a_late_member_without_room, deleted_while_it_waits, leaving_while_it_waits, gated_one_by_one,
    a_node_joins, a_taint_goes, one_gang_after_the_other, bound_by_somebody_else,
    a_member_has_ended, apart_from_each_other, one_claim_for_one_pod, a_missing_claim,
    singles_take_what_a_gang_cannot_use,
)  # fmt: skip


def test_podium_and_kube_scheduler_agree(binaries, podium, tmp_path):
    expected, found = expected_and_found(binaries, podium, tmp_path, GATES, STORIES)

    assert found == expected

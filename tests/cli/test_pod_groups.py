"""The table of `podium get podgroups`: members placed and wanted, and the reason."""

import pytest

from podium.cli.pod_groups import LONGEST_REASON, table_of
from tests.support.commands import Shell

LABEL = "scheduling.x-k8s.io/pod-group"


def table(*names):
    columns = [{"name": name} for name in ("Name", "Policy", "Workload", "Status", "Age")]
    rows = [
        {"cells": [name, "Gang", "<none>", "Pending", "5s"], "object": {"metadata": key(name)}}
        for name in names
    ]
    return {"columnDefinitions": columns, "rows": rows}


def key(name):
    return {"name": name, "namespace": "default"}


def gang(name, count, message=None):
    conditions = [
        {"type": "PodGroupInitiallyScheduled", "status": "False", "message": message}
    ] * bool(message)
    return {
        "apiVersion": "scheduling.k8s.io/v1beta1",
        "metadata": key(name),
        "spec": {"schedulingPolicy": {"gang": {"minCount": count}} if count else {"basic": {}}},
        "status": {"conditions": conditions},
    }


def pod(name, group, node=None, why="", **more):
    phase, namespace = more.get("phase", "Pending"), more.get("namespace", "default")
    conditions = [{"type": "PodScheduled", "status": "False", "message": why}] * bool(why)
    return {
        "metadata": {"name": name, "namespace": namespace},
        "spec": {
            "schedulingGroup": {"podGroupName": group},
            "schedulerName": more.get("scheduler", "default-scheduler"),
            **({"nodeName": node} if node else {}),
        },
        "status": {"phase": phase, "conditions": conditions},
    }


@pytest.mark.parametrize(
    ("group", "pods", "expected"),
    [
        pytest.param(gang("g", 2), [], ["0/2", "0", "waits for 2 more pods"], id="none"),
        pytest.param(
            gang("g", 2), [pod("a", "g")], ["0/2", "1", "waits for 1 more pod"], id="one-missing"
        ),
        pytest.param(
            gang("g", 1, "old"),
            [pod("a", "g", "n1"), pod("b", "g", why="no room")],
            ["1/1", "2", "no room"],
            id="one-more-than-needed",
        ),
        pytest.param(
            gang("g", 2, "pod group is unschedulable"),
            [pod("a", "g"), pod("b", "g", why="no room")],
            ["0/2", "2", "pod group is unschedulable"],
            id="the-group-says-why",
        ),
        pytest.param(
            gang("g", 2),
            [pod("a", "g", why="no room"), pod("b", "g")],
            ["0/2", "2", "no room"],
            id="a-pod-says-why",
        ),
        pytest.param(
            gang("g", 2),
            [pod("a", "g", scheduler="other"), pod("b", "g")],
            ["0/2", "2", "default/a names the scheduler other: it must be default-scheduler"],
            id="two-schedulers",
        ),
        pytest.param(gang("g", None), [pod("a", "g", "n1")], ["1/1", "1", ""], id="without-a-gang"),
        pytest.param(
            gang("g", 2),
            [pod("a", "g", "n1", phase="Succeeded"), pod("b", "g", "n1")],
            ["2/2", "2", ""],
            id="one-has-ended",
        ),
        pytest.param(
            gang("g", 1),
            [pod("a", "other", "n1"), pod("b", "g", "n1", namespace="other")],
            ["0/1", "0", "waits for 1 more pod"],
            id="pods-of-others",
        ),
        pytest.param(
            {
                "apiVersion": "scheduling.x-k8s.io/v1alpha1",
                "metadata": key("g"),
                "spec": {"minMember": 3},
            },
            [
                {
                    "metadata": {**key("a"), "labels": {LABEL: "g"}},
                    "spec": {"nodeName": "n1"},
                }
            ],
            ["1/3", "1", "waits for 2 more pods"],
            id="coscheduling",
        ),
    ],
)
def test_one_group(group, pods, expected):
    [row] = table_of(table("g"), [group], pods, wide=False)["rows"]
    name, placed, members, status, age, reason = row["cells"]

    assert (name, status, age) == ("g", "Pending", "5s")
    assert [placed, members, reason] == expected


@pytest.mark.parametrize(("wide", "length"), [(False, LONGEST_REASON), (True, 300)])
def test_long_reasons_are_cut_unless_asked_for(wide, length):
    pods = [pod("a", "g", why="x" * 300)]
    [row] = table_of(table("g"), [gang("g", 1)], pods, wide)["rows"]

    assert len(row["cells"][-1]) == length


CONFIGURATION = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- plugins:
    multiPoint: {enabled: [{name: Coscheduling}]}
    queueSort: {enabled: [{name: Coscheduling}], disabled: [{name: "*"}]}
"""
GANG = """\
apiVersion: scheduling.x-k8s.io/v1alpha1
kind: PodGroup
metadata: {name: pair}
spec: {minMember: 2}
---
apiVersion: v1
kind: Pod
metadata: {name: first, labels: {scheduling.x-k8s.io/pod-group: pair}}
spec: {containers: [{name: c, image: a}]}
"""


@pytest.mark.slow
def test_up_installs_the_kind_of_a_plugin_that_is_enabled(tmp_path):
    shell = Shell(tmp_path)
    (tmp_path / "scheduler.yaml").write_text(CONFIGURATION)
    config = str(tmp_path / "scheduler.yaml")
    shell.process("up", "--detach", "--nodes", "1", "--config", config)
    try:
        shell.out("apply", "-f", "-", stdin=GANG)
        shown = shell.out("get", "podgroups")
    finally:
        shell.run("down")

    header, row = shown.splitlines()
    assert header.split() == ["NAME", "PLACED", "MEMBERS", "STATUS", "AGE", "REASON"]
    assert row.split()[:3] == ["pair", "0/2", "1"]
    assert row.endswith("waits for 1 more pod")

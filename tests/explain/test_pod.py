"""Explanations of pods: the sentence, the evidence and what would help, told by example."""

import jsonschema
import pytest

from podium import explain
from podium.explain import explain_pod
from podium.explain.fixes.pods import MOST_TRIED
from podium.testing import device_class, node, pod, resource_slice
from tests.support.offline_cores import core_with


def explained(core, subject, **options):
    found = explain_pod(core, subject, **options)
    core.cluster.check_invariants()
    core.services.devices.check_invariants()
    jsonschema.Draft202012Validator(explain.schema()).validate(found.to_dict())
    return found


SMALL = node("small", cpu="2")
TAINTED = node("tainted", cpu="8", taints="gpu=a100:NoSchedule")
BUSY = pod("busy", node="small", cpu="1500m", host_ports=(80,))


def test_the_sentence_names_the_shortfall_of_the_nearest_node():
    found = explained(core_with(SMALL, BUSY), pod("web", cpu="1"))

    assert found.state == "pending"
    assert found.sentence == (
        "default/web fits on none of 1 node: on small, 500m cpu too little: 500m of 2 is free."
    )
    assert [each.code for each in found.causes] == ["InsufficientResource"]


def test_the_funnel_counts_what_each_filter_leaves():
    found = explained(core_with(SMALL, TAINTED, BUSY), pod("web", cpu="1"))

    assert [(step.plugin, step.before, step.after) for step in found.funnel] == [
        ("TaintToleration", 2, 1),
        ("NodeResourcesFit", 1, 0),
    ]


def test_near_misses_name_who_has_the_room():
    found = explained(core_with(SMALL, BUSY), pod("web", cpu="1"))

    (miss,) = found.near_misses
    (shortfall,) = miss.shortfalls
    assert shortfall.details["missing"] == "500m"
    assert [(each.pod, each.amount) for each in shortfall.holders] == [("default/busy", "1500m")]


def test_a_pod_in_the_way_of_one_with_devices_of_a_class():
    """Among many pods; the node itself offers none of the extended resource."""
    large = node("large", cpu="4", pods="110")
    devices = [
        device_class("gpu", extended_resource_name="example.com/gpu"),
        resource_slice("s", node="large", devices=2),
    ]
    small_pods = [pod(f"small-{n}", node="large", cpu="10m") for n in range(MOST_TRIED)]
    others = [pod("batch", node="large", cpu="3"), *small_pods]
    subject = pod("web", cpu="2", requests={"example.com/gpu": "1"})

    found = explained(core_with(large, *devices, *others), subject)

    assert [fix.victims for fix in found.fixes if fix.kind == "pod-gone"] == [("default/batch",)]


@pytest.mark.parametrize(
    ("objects", "subject", "kind", "goes_to"),
    [
        pytest.param([TAINTED], pod("web", cpu="1"), "toleration", "tainted", id="taint"),
        pytest.param([SMALL, BUSY], pod("web", cpu="1"), "request", "small", id="smaller-request"),
        pytest.param([SMALL, BUSY], pod("web", cpu="1"), "pod-gone", "small", id="pod-gone"),
        pytest.param([SMALL, BUSY], pod("web", cpu="1"), "priority", "small", id="priority"),
        pytest.param([SMALL, BUSY], pod("web", cpu="1"), "new-node", "small-new-1", id="new-node"),
        pytest.param([SMALL], pod("web", cpu="3"), "larger-node", "small-new-1", id="larger-node"),
        pytest.param([SMALL, BUSY], pod("web", host_ports=(80,)), "host-port", "small", id="port"),
        pytest.param(
            [SMALL], pod("web", node_selector="disk=ssd"), "node-affinity", "small", id="selector"
        ),
        pytest.param(
            [SMALL], pod("web", node_selector="disk=ssd"), "node-label", "small", id="node-label"
        ),
        pytest.param([node("n", unschedulable=True)], pod("web"), "uncordon", "n", id="uncordon"),
        pytest.param(
            [SMALL], pod("w", scheduling_gates=[{"name": "a"}]), "gate", "small", id="gate"
        ),
        pytest.param(
            [SMALL], pod("w", scheduler_name="default"), "scheduler-name", "small", id="scheduler"
        ),
        pytest.param([TAINTED], pod("web", cpu="9"), "combination", "tainted", id="several-causes"),
    ],
)
def test_fixes(objects, subject, kind, goes_to):
    found = explained(core_with(*objects), subject)

    assert {fix.kind: fix.node for fix in found.fixes}.get(kind) == goes_to, found.lines()


def test_a_placed_pod_is_compared_with_the_runners_up():
    core = core_with(SMALL, TAINTED, node("other", cpu="4"), BUSY)

    found = explained(core, pod("web", node="other", cpu="100m"), nodes=["small", "tainted"])

    assert found.state == "placed"
    assert found.scores is not None
    assert found.scores.nodes[0].node == "other"
    assert [(each.node, each.fits) for each in found.verdicts] == [
        ("small", True),
        ("tainted", False),
    ]


def test_a_cluster_without_nodes():
    found = explained(core_with(), pod("web", cpu="1"))

    assert found.sentence == "default/web is pending: the cluster has no nodes."
    assert [each.code for each in found.causes] == ["NoNodes"]


def test_the_priority_that_would_help_reads_well():
    core = core_with(SMALL, pod("low", node="small", cpu="2", priority=5))

    found = explained(core, pod("web", cpu="2"))

    lines = [line.strip() for line in found.lines()]
    assert (
        "raise its priority to 6, which evicts default/low on small: then it goes to small" in lines
    )


@pytest.mark.parametrize(
    ("victims", "text"),
    [
        pytest.param(
            [("a", "2")],
            "it evicts default/a on small, which has a lower priority than 9",
            id="one",
        ),
        pytest.param(
            [("a", "1"), ("b", "1")],
            "it evicts default/a and default/b on small, which have a lower priority than 9",
            id="two",
        ),
    ],
)
def test_victims_are_counted(victims, text):
    placed = [pod(name, node="small", cpu=cpu) for name, cpu in victims]

    found = explained(core_with(SMALL, *placed), pod("web", cpu="2", priority=9))

    assert found.preemption.text == text


def test_why_preemption_does_not_help():
    core = core_with(SMALL, pod("low", node="small", cpu="1"))

    found = explained(core, pod("web", cpu="3", priority=9))

    assert found.preemption.text in (
        "no node would take it even without all pods of a priority below 9",
        "evicting pods of a priority below 9 makes room on no node",
    )

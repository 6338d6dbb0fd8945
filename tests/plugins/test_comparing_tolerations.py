"""Tolerations with the operators Gt and Lt, where the feature is on and where it is off."""

import pytest

from podium import framework as fwk
from podium.api.objects import Toleration
from podium.plugins.node_unschedulable import NodeUnschedulable
from podium.plugins.pod_topology_spread import ComparingPodTopologySpread, PodTopologySpread
from podium.plugins.taint_toleration import (
    REJECTED,
    ComparingTaintToleration,
    TaintToleration,
)
from podium.testing.builders import node, pod
from podium.testing.handle import FakeHandle

OFF = TaintToleration(fwk.NoArgs(), None)
ON = ComparingTaintToleration(fwk.NoArgs(), None)


def tolerating(operator, value, **rest):
    return pod("incoming", tolerations=(Toleration("sla", operator, value, "", None),), **rest)


@pytest.mark.parametrize(
    ("operator", "value", "taint", "is_tolerated"),
    [
        pytest.param("Gt", "900", "950", True, id="taint-is-greater"),
        pytest.param("Gt", "950", "950", False, id="equal-is-not-greater"),
        pytest.param("Gt", "1000", "950", False, id="taint-is-less"),
        pytest.param("Lt", "1000", "950", True, id="less"),
        pytest.param("Lt", "950", "950", False, id="equal-is-not-less"),
        pytest.param("Gt", "-2", "-1", True, id="negative"),
        pytest.param("Gt", "9", "10", True, id="numbers-not-texts"),
        pytest.param("Gt", "9", "010", False, id="leading-zero"),
        pytest.param("Gt", "9", "+10", False, id="plus-sign"),
        pytest.param("Gt", "9", "-0", False, id="minus-zero"),
        pytest.param("Gt", "0.9", "10", False, id="fraction"),
        pytest.param("Gt", "9", "", False, id="no-value"),
        pytest.param("Gt", "9", "9223372036854775807", True, id="largest"),
        pytest.param("Gt", "9", "9223372036854775808", False, id="beyond-64-bits"),
        pytest.param("Lt", "10", "high", False, id="not-a-number"),
    ],
)
def test_filter(operator, value, taint, is_tolerated):
    subject = tolerating(operator, value)
    nodes = fwk.Rows.of(node(taints=f"sla={taint}:NoSchedule"))
    expected = fwk.SUCCESS if is_tolerated else REJECTED

    assert list(ON.filter_all(fwk.CycleState(), subject, nodes)) == [expected]
    assert ON.filter(fwk.CycleState(), subject, nodes.at(0)) == expected
    assert list(OFF.filter_all(fwk.CycleState(), subject, nodes)) == [REJECTED]


@pytest.mark.parametrize(("plugin", "expected"), [(ON, [100, 0]), (OFF, [0, 0])])
def test_score(plugin, expected):
    subject = tolerating("Gt", "900")
    taints = ("sla=950:PreferNoSchedule", "sla=800:PreferNoSchedule")
    nodes = fwk.Rows.of(*(node(f"n{i}", taints=text) for i, text in enumerate(taints)))
    state = fwk.CycleState()

    plugin.pre_score(state, subject, nodes)
    scores = plugin.score_all(state, subject, nodes)

    assert plugin.normalize_score(state, subject, scores, nodes).tolist() == expected
    assert scores.tolist() == [plugin.score(state, subject, each) for each in nodes]


@pytest.mark.parametrize(("plugin", "wakes"), [(ON, True), (OFF, False)])
def test_node_hint(plugin, wakes):
    before, after = node(taints="sla=800:NoSchedule"), node(taints="sla=950:NoSchedule")

    assert plugin.node_became_tolerable(tolerating("Gt", "900"), before, after) is wakes


@pytest.mark.parametrize(
    ("kind", "counted"),
    [
        pytest.param(ComparingPodTopologySpread, True, id="on"),
        pytest.param(PodTopologySpread, False, id="off"),
    ],
)
def test_spreading_counts_nodes_that_the_pod_tolerates(kind, counted):
    """The tainted node is the emptiest domain, if it counts."""
    constraint = {
        "topologyKey": "zone",
        "maxSkew": 1,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": "web"}},
        "nodeTaintsPolicy": "Honor",
    }
    handle = FakeHandle(
        node("a", labels="zone=a"),
        node("b", labels="zone=b", taints="sla=950:NoSchedule"),
        pod("one", labels="app=web", node="a"),
    )
    subject = tolerating("Gt", "900", labels="app=web", topology_spread_constraints=[constraint])
    plugin, state = kind(kind.Args(), handle), fwk.CycleState()

    assert plugin.pre_filter(state, subject, handle.rows) is None
    statuses = plugin.filter_all(state, subject, handle.rows)

    assert [status.ok for status in statuses] == [not counted, True]


def test_no_comparison_tolerates_a_cordoned_node():
    """The taint of cordoned nodes has no value, so the gate does not matter to the plugin."""
    cordoned = Toleration("node.kubernetes.io/unschedulable", "Gt", "0", "", None)
    plugin = NodeUnschedulable(fwk.NoArgs(), None)
    nodes = fwk.Rows.of(node(unschedulable=True))

    [status] = plugin.filter_all(fwk.CycleState(), pod(tolerations=(cordoned,)), nodes)

    assert not status.ok

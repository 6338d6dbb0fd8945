"""A difference in any recorded field is found and said; what agrees passes."""

import gzip
import json
from pathlib import Path

import pytest

from podium.cli.conformance import builder
from podium.conformance import CoreBuilder, replay
from podium.conformance.reader import parse_line
from podium.framework.registry import Registry
from podium.plugins import IN_TREE
from tests.support.recordings import (
    HINT,
    HOPELESS,
    PLACED,
    PREEMPTS,
    SEQUENCE,
    TAINTED,
    TOO_SMALL,
    UPDATE,
    changed,
    config,
    node,
    pod,
    replayed,
    tainted,
    verdict,
)

AGREEING = [PLACED, PREEMPTS, HOPELESS, SEQUENCE, HINT, UPDATE]


@pytest.mark.parametrize("case", AGREEING, ids=lambda case: case["name"])
def test_agreement_passes(case):
    outcome = replayed(case)

    assert outcome.differences == []
    assert outcome.passed


@pytest.mark.parametrize(
    ("case", "path", "value", "field", "where"),
    [
        (PLACED, "expect.preFilter.code", "Unschedulable", "preFilter", ""),
        (PLACED, "expect.preFilter.nodeNames", ["a"], "preFilter.nodeNames", ""),
        (PLACED, "expect.filter.a.code", "Unschedulable", "filter", "a"),
        (PLACED, "expect.filter.c.plugin", "NodeResourcesFit", "filter", "c"),
        (PLACED, "expect.filter.c.reasons", ["node(s) had taints"], "filter", "c"),
        (PLACED, "expect.filter.c", None, "filter", ""),
        (PLACED, "expect.filter.d", {"code": "Success"}, "filter", ""),
        (PLACED, "expect.feasible", ["a"], "feasible", ""),
        (PLACED, "expect.scores.NodeResourcesFit.b", 51, "scores.NodeResourcesFit", "b"),
        (PLACED, "expect.scores.NodeResourcesFit", None, "scores.NodeResourcesFit", ""),
        (PLACED, "expect.scores.PodTopologySpread", {"a": 0}, "scores.PodTopologySpread", ""),
        (PLACED, "expect.total.a", 176, "total", "a"),
        (PLACED, "expect.best", ["b"], "best", ""),
        (PLACED, "expect.error", "no scores", "error", ""),
        (PLACED, "expect.preEnqueue", verdict("Pending", "DefaultPreemption"), "preEnqueue", ""),
        (HOPELESS, "expect.fitErrorBase", "0/2 nodes are available.", "fitErrorBase", ""),
        (HOPELESS, "expect.fitError", "0/2 nodes are available.", "fitError", ""),
        (HOPELESS, "expect.preemption.message", "no help", "preemption.message", ""),
        (HOPELESS, "expect.preemption", None, "preemption", ""),
        (PREEMPTS, "expect.preemption.code", "Unschedulable", "preemption.code", ""),
        (PREEMPTS, "expect.preemption.candidates.a", None, "preemption.candidates", "a"),
        (
            PREEMPTS,
            "expect.preemption.candidates.a.victims",
            ["default/second"],
            "preemption.candidates",
            "a",
        ),
        (
            PREEMPTS,
            "expect.preemption.candidates.b.pdbViolations",
            1,
            "preemption.candidates",
            "b",
        ),
        (PREEMPTS, "expect.preemption.victims", ["default/x"], "preemption.victims", ""),
        (PREEMPTS, "expect.preemption.nominatedNode", "a", "preemption.chosen", ""),
        (PREEMPTS, "expect.preemption.tiedNodes", ["a", "b"], "preemption.chosen", ""),
        (SEQUENCE, "steps.0.expect.feasible", ["a"], "step 0 feasible", ""),
        (SEQUENCE, "steps.1.expect.total.b", 0, "step 1 total", "b"),
        (SEQUENCE, "steps.1.expect.best", ["a"], "step 1 best", ""),
        (SEQUENCE, "steps.2.expect.best", ["a"], "step 2 best", ""),
        (SEQUENCE, "steps.3.expect.fitError", "0/2 nodes", "step 3 fitError", ""),
        (SEQUENCE, "steps.5.expect.error", "no nodes", "step 5 error", ""),
        (HINT, "expect", "Queue", "expect", ""),
        (HINT, "event.action", "Delete", "expect", ""),
        (UPDATE, "expect", ["UpdateNodeLabel"], "expect", ""),
        (UPDATE, "resource", "AssignedPod", "resource", ""),
    ],
)
def test_difference_is_found(case, path, value, field, where):
    outcome = replayed(changed(case, path, value))

    assert (field, where) in [(found.field, found.node) for found in outcome.differences]
    assert outcome.failed
    assert {found.case for found in outcome.differences} == {case["name"]}


def test_difference_says_both_sides():
    [found] = replayed(changed(PLACED, "expect.total.a", 176)).differences

    assert (found.expected, found.got) == (176, 175)


def test_reasons_are_compared_as_multisets():
    turned = [*reversed(HOPELESS["expect"]["filter"]["a"]["reasons"])]

    assert replayed(changed(HOPELESS, "expect.filter.a.reasons", turned)).passed
    assert replayed(changed(HOPELESS, "expect.filter.a.reasons", turned[:1] * 2)).failed


def test_one_of_several_right_outcomes_is_enough():
    right, wrong = PLACED["expect"], changed(PLACED, "expect.total.a", 176)["expect"]
    worse = changed(PLACED, "expect.total.a", 176)
    worse = changed(worse, "expect.best", ["b"])["expect"]
    case = {key: value for key, value in PLACED.items() if key != "expect"}

    assert replayed({**case, "expectAnyOf": [wrong, right]}).passed
    [closest] = replayed({**case, "expectAnyOf": [worse, wrong]}).differences
    assert (closest.field, closest.expected) == ("total", 176)


@pytest.mark.parametrize("recorded", ["a", "b"])
def test_a_message_names_the_node_that_was_taken_of_equal_ones(recorded):
    """A recording names the first of the equal nodes, podium the one that it takes."""
    other = "b" if recorded == "a" else "a"
    placement = PREEMPTS["expect"]["preemption"]["message"].replace("node b", f"node {recorded}")
    tied = changed(PREEMPTS, "cluster.pods.0.spec.priority", 1)
    tied = changed(tied, "expect.preemption.nominatedNode", None)
    tied = changed(tied, "expect.preemption.victims", None)
    tied = changed(tied, "expect.preemption.tiedNodes", [recorded, other])
    tied = changed(tied, "expect.preemption.message", placement)
    base = PREEMPTS["expect"]["fitErrorBase"]
    tied = changed(tied, "expect.fitError", f"{base} {placement}")

    assert replayed(tied).differences == []
    wrong = placement.replace("1 victims", "2 victims")
    assert replayed(changed(tied, "expect.preemption.message", wrong)).failed


def test_cases_with_objects_that_are_not_read_are_left_out():
    outcome = replayed(changed(PLACED, "cluster.podgroups", [{"metadata": {"name": "gang"}}]))

    assert not outcome.failed
    assert {(gap.field, gap.reason) for gap in outcome.left_out} == {
        ("expect", "podgroups are not read yet")
    }


CLAIMING = Path(__file__).parents[1] / "data/golden/1.37/dra-extended-resource.jsonl.gz"
FREEING = Path(__file__).parents[1] / "data/golden/1.37/dra-shared-claims.jsonl.gz"


def recorded(path, field):
    """The first recorded case that has a field in what is expected."""
    lines = gzip.decompress(path.read_bytes()).splitlines()
    return next(case for case in map(json.loads, lines) if field in case["expect"])


def as_released(case):
    return replay(parse_line(json.dumps(case).encode(), "a.jsonl:1"), builder())


@pytest.mark.parametrize(
    ("path", "field", "wrong"),
    [
        pytest.param(CLAIMING, "allocations", {}, id="allocations"),
        pytest.param(CLAIMING, "extendedResources", {}, id="extended-resources"),
        pytest.param(CLAIMING, "deletedClaims", [], id="deleted-claims"),
        pytest.param(FREEING, "deallocated", ["default/other"], id="deallocated"),
    ],
)
def test_what_becomes_of_claims_is_compared(path, field, wrong):
    case = recorded(path, field)

    assert as_released(case).passed
    outcome = as_released(changed(case, f"expect.{field}", wrong))
    assert [difference.field for difference in outcome.differences] == [field]


def test_words_of_an_error_may_differ():
    lonely = {**PLACED, "cluster": {}, "expect": {"feasible": [], "error": "where are the nodes?"}}

    assert replayed(lonely).passed
    assert replayed(changed(lonely, "expect.error", None)).failed


def test_nominated_node_is_judged_in_full_and_taken_at_once():
    nominated = changed(PLACED, "pod.status", {"nominatedNodeName": "b"})
    del nominated["expect"]["scores"], nominated["expect"]["total"]

    assert replayed(changed(nominated, "expect.best", ["b"])).passed
    assert [d.field for d in replayed(nominated).differences] == ["best"]
    assert replayed(changed(nominated, "expect.filter.a", TAINTED)).failed


def test_pods_of_other_schedulers_are_not_nominated():
    waiting = pod("first", 4, priority=5, schedulerName="other")
    case = changed(PLACED, "cluster.pods", [{**waiting, "status": {"nominatedNodeName": "a"}}])
    assert replayed(case).passed


def test_nominated_pods_leave_room():
    waiting = {**pod("first", 4, priority=5), "status": {"nominatedNodeName": "a"}}
    crowded = changed(PLACED, "cluster.pods", [waiting])

    assert replayed(crowded).failed


def test_fault_of_the_core_is_a_difference():
    def broken(configuration):
        raise RuntimeError("no core today")

    case = parse_line(json.dumps(PLACED).encode(), "a.jsonl:1")
    outcome = replay(case, CoreBuilder(Registry(IN_TREE), broken))

    assert [(found.field, found.got) for found in outcome.differences] == [
        ("replay", "RuntimeError: no core today")
    ]


def test_objects_that_nobody_would_store_explain_a_difference():
    """Where there is none, they are taken as kube-scheduler took them."""
    odd = changed(PLACED, "pod.spec.topologySpreadConstraints", [{"maxSkew": 0}])

    assert replayed(odd).passed
    *others, told = replayed(changed(odd, "expect.best", ["b"])).differences
    assert others
    assert told.field == "objects"
    assert told.got.startswith("Pod default/web: spec.topologySpreadConstraints[0].maxSkew: ")


@pytest.mark.parametrize("without", ["TaintToleration", "NodeResourcesFit"])
def test_absent_plugins_leave_out_what_depends_on_them(without):
    outcome = replayed(PLACED, without=(without,))

    assert outcome.differences == []
    assert not outcome.passed
    assert {gap.reason for gap in outcome.left_out} == {f"{without} is not implemented"}
    assert {"scores", "total", "best"} <= {gap.field for gap in outcome.left_out}


@pytest.mark.parametrize(
    ("path", "value"),
    [
        pytest.param("expect.filter.a", TAINTED, id="a-feasible-node-less"),
        pytest.param("expect.filter.b", TOO_SMALL, id="a-refusal-of-a-plugin-that-is-there"),
        pytest.param("expect.scores.NodeResourcesFit.b", 51, id="scores-of-another-plugin"),
    ],
)
def test_differences_beside_absent_plugins_are_found(path, value):
    assert replayed(changed(PLACED, path, value), without=("TaintToleration",)).failed


def test_refusal_of_an_absent_plugin_stands():
    """The recorded refusal is taken over: its reason is part of the message that is compared."""
    case = {
        **HOPELESS,
        "cluster": {
            "nodes": [node("a", 4), tainted("c", 4)],
            "pods": HOPELESS["cluster"]["pods"][:1],
        },
        "config": config("PrioritySort", "TaintToleration", "NodeResourcesFit"),
        "expect": {
            "preFilter": {"code": "Success"},
            "filter": {"a": TOO_SMALL, "c": TAINTED},
            "feasible": [],
            "fitError": "0/2 nodes are available: 1 Insufficient cpu, 1 Insufficient memory, "
            "1 node(s) had untolerated taint(s).",
        },
    }

    assert replayed(case).passed
    partly = replayed(case, without=("TaintToleration",))
    assert partly.differences == []
    assert {gap.field for gap in partly.left_out} == {"filter", "fitError", "preemption"}
    worded = changed(case, "expect.filter.c.reasons", ["node(s) are reserved"])
    assert [d.field for d in replayed(worded, without=("TaintToleration",)).differences] == [
        "fitErrorBase"
    ]


def test_sequence_leaves_out_what_an_absent_plugin_may_have_refused():
    unscored = config("PrioritySort", "NodeUnschedulable", "NodeResourcesFit")
    closed = changed(
        {**SEQUENCE, "config": unscored}, "cluster.nodes.0.spec", {"unschedulable": True}
    )
    closed["steps"] = [
        {
            "op": "schedule",
            "pod": pod("web-0", 1),
            "expect": {"feasible": ["b"], "best": ["b"], "chosen": "b"},
        }
    ]
    outcome = replayed(closed, without=("NodeUnschedulable",))

    assert outcome.differences == []
    assert {gap.field for gap in outcome.left_out} == {"feasible"}
    small = changed(closed, "cluster.nodes.1.status.allocatable", {"cpu": "0", "pods": "9"})
    assert replayed(small, without=("NodeUnschedulable",)).failed


def test_sequence_follows_nodes_that_change_in_any_order():
    """Between two equal pods both nodes change, the later one first."""
    attempt = {"feasible": ["a", "b"], "best": ["b"], "chosen": "b"}
    case = {
        **SEQUENCE,
        "cluster": {"nodes": [node("a", 4), node("b", 8)]},
        "steps": [
            {
                "op": "schedule",
                "pod": pod("web-0", 1),
                "expect": {**attempt, "total": {"a": 175, "b": 187}},
            },
            {"op": "addPod", "pod": pod("cache", 1, nodeName="a")},
            {
                "op": "schedule",
                "pod": pod("web-1", 1),
                "expect": {**attempt, "total": {"a": 150, "b": 175}},
            },
        ],
    }

    assert replayed(case).differences == []


@pytest.mark.parametrize(
    ("path", "value", "reason"),
    [
        ("event.resource", "example.com/Price", "changes of example.com/Price are not read yet"),
        ("cluster", {"podgroups": []}, "podgroups are not read yet"),
    ],
)
def test_hints_about_kinds_that_are_not_read_are_left_out(path, value, reason):
    outcome = replayed(changed(HINT, path, value))

    assert [gap.reason for gap in outcome.left_out] == [reason]


@pytest.mark.parametrize(
    ("tags", "differs"),
    [
        pytest.param(["not-registered"], [], id="so-it-is-recorded"),
        pytest.param([], ["expect"], id="a-hint-was-expected"),
    ],
)
def test_an_event_that_a_plugin_does_not_register_leaves_the_pod_where_it_is(tags, differs):
    gone = pod("other", 1, nodeName="a")
    case = {**HINT, "event": {"resource": "AssignedPod", "action": "Delete"}, "old": gone}
    outcome = replayed({**changed(case, "new", None), "tags": tags})

    assert [each.field for each in outcome.differences] == differs

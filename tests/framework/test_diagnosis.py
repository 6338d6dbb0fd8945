import numpy as np
import pytest

from podium import framework as fwk
from podium.framework.diagnosis import UNKNOWN, Diagnosis
from podium.testing.builders import node

NODES = fwk.Rows.of(*(node(name) for name in "abcd"))
U = fwk.Status.unschedulable
UU = fwk.Status.unresolvable


def statuses(*given, absent=UNKNOWN):
    """The first nodes with these statuses; the others are absent."""
    nodes = fwk.Rows(NODES.cluster, NODES.index[: len(given)])
    return fwk.NodeStatuses(nodes, fwk.Column.of(given), absent)


@pytest.mark.parametrize(
    ("total", "reasons", "pre_filter", "text"),
    [
        pytest.param(3, {"x": 1, "y": 2}, "", "0/3 nodes are available: 1 x, 2 y.", id="counts"),
        pytest.param(12, {"x": 2, "y": 10}, "", "0/12 nodes are available: 10 y, 2 x.",
                     id="sorted-as-text"),
        pytest.param(4, {"b": 2, "a": 2, "B": 2}, "", "0/4 nodes are available: 2 B, 2 a, 2 b.",
                     id="equal-counts-by-reason"),
        pytest.param(3, {}, "", "0/3 nodes are available:", id="no-reason"),
        pytest.param(3, {"x": 3}, "no claim", "0/3 nodes are available: no claim.",
                     id="pre-filter-speaks-alone"),
        pytest.param(1, {"ä": 1}, "", "0/1 nodes are available: 1 ä.", id="any-letters"),
    ],
)  # fmt: skip
def test_fit_message(total, reasons, pre_filter, text):
    assert fwk.fit_message(total, reasons, pre_filter) == text


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        pytest.param(statuses(U("x"), U("x"), U("y"), U("z")), {"x": 2, "y": 1, "z": 1}, id="each"),
        pytest.param(statuses(U("x", "y"), U("y"), U("y"), U("y")), {"x": 1, "y": 4},
                     id="a-node-counts-for-each-of-its-reasons"),
        pytest.param(statuses(U("x", "x"), U(), U(), U()), {"x": 2}, id="even-for-the-same-twice"),
        pytest.param(statuses(U("x"), absent=UU("gone")), {"x": 1, "gone": 3}, id="absent-nodes"),
        pytest.param(statuses(U("x")), {"x": 1}, id="absent-nodes-without-words"),
        pytest.param(statuses(absent=U("x", "y")), {"x": 4, "y": 4}, id="only-absent"),
        pytest.param(statuses(*[U("x")] * 4, absent=UU("gone")), {"x": 4}, id="none-absent"),
        pytest.param(statuses(U("x").by("P"), U("x").by("Q"), U(), U()), {"x": 2},
                     id="the-same-words-of-two-plugins"),
        pytest.param(statuses(fwk.Status.error(ValueError("bad")), U(), U(), U()), {"bad": 1},
                     id="fault"),
    ],
)  # fmt: skip
def test_reasons(given, expected):
    assert given.reasons(4) == expected


def test_values_that_no_node_has_give_no_reason():
    column = fwk.Column([U("x"), U("nobody")], np.zeros(4, np.intp))
    given = fwk.NodeStatuses(NODES, column)

    assert given.reasons(4) == {"x": 4}
    assert given.distinct() == [U("x")]


def test_one_nodes_status():
    given = statuses(U("x"), U("y"), absent=UU("gone"))

    assert [given.of(node) for node in NODES] == [U("x"), U("y"), UU("gone"), UU("gone")]
    assert list(given) == [("a", U("x")), ("b", U("y"))]


@pytest.mark.parametrize(
    ("given", "code", "expected"),
    [
        pytest.param(statuses(U("x"), UU("y"), U("z")), fwk.Code.UNSCHEDULABLE, "ac",
                     id="judged-nodes"),
        pytest.param(statuses(U("x"), UU("y"), U("z")), fwk.Code.UNSCHEDULABLE_AND_UNRESOLVABLE,
                     "bd", id="absent-nodes-have-it-too"),
        pytest.param(statuses(absent=U("x")), fwk.Code.UNSCHEDULABLE, "abcd", id="only-absent"),
        pytest.param(statuses(UU("y"), absent=U("x")), fwk.Code.UNSCHEDULABLE, "bcd",
                     id="all-but-one"),
        pytest.param(statuses(*[U("x")] * 4), fwk.Code.ERROR, "", id="nobody"),
    ],
)  # fmt: skip
def test_rows_with(given, code, expected):
    assert [NODES.names[row] for row in given.rows_with(code)] == list(expected)


def test_no_node_was_judged():
    given = fwk.NodeStatuses.none(NODES, U("x"))

    assert list(given) == []
    assert given.distinct() == []
    assert given.reasons(4) == {"x": 4}


@pytest.mark.parametrize(
    ("status", "unschedulable", "pending"),
    [
        pytest.param(U("x").by("P"), {"P"}, set(), id="unschedulable"),
        pytest.param(UU("x").by("P"), {"P"}, set(), id="unresolvable"),
        pytest.param(fwk.Status.pending("x").by("P"), {"P"}, {"P"}, id="pending-is-both"),
        pytest.param(U("x"), set(), set(), id="unsigned"),
        pytest.param(fwk.Status.error("x").by("P"), set(), set(), id="error"),
        pytest.param(fwk.SUCCESS.by("P"), set(), set(), id="success"),
    ],
)
def test_blame(status, unschedulable, pending):
    diagnosis = Diagnosis(4, statuses())
    diagnosis.blame(status)

    assert diagnosis.unschedulable_plugins == unschedulable
    assert diagnosis.pending_plugins == pending


@pytest.mark.parametrize(
    ("pre", "post", "text"),
    [
        pytest.param("", "", "0/4 nodes are available: 4 x.", id="nodes-speak"),
        pytest.param("", "preemption: none", "0/4 nodes are available: 4 x. preemption: none",
                     id="post-filter-gets-no-period"),
        pytest.param("no claim", "", "0/4 nodes are available: no claim.", id="pre-filter"),
        pytest.param("no claim", "not found", "0/4 nodes are available: no claim. not found",
                     id="both"),
    ],
)  # fmt: skip
def test_message(pre, post, text):
    diagnosis = Diagnosis(4, statuses(*[U("x")] * 4))
    diagnosis.pre_filter_message, diagnosis.post_filter_message = pre, post

    assert diagnosis.message == text
    assert diagnosis.base_message == text.removesuffix(f" {post}" if post else "")


def test_a_message_without_reasons_keeps_its_colon():
    assert Diagnosis(4, statuses(U(), U())).message == "0/4 nodes are available:"

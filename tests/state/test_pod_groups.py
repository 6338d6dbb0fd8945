"""How many pods match a selector on each node."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium.api.objects import LabelSelector, LabelSelectorRequirement
from podium.api.selectors import EVERYTHING, NOTHING, from_map, label_selector
from podium.state.cluster import ClusterState
from podium.state.pod_groups import Clause, PodQuery
from podium.testing.builders import node, pairs, pod
from tests.support.search import examples

APP = frozenset(["default"])


def query(selector="", namespaces=APP, terminating=True):
    return PodQuery((Clause(namespaces, from_map(pairs(selector))),), terminating)


def expression(key, operator, *values):
    requirement = LabelSelectorRequirement(key, operator, values)
    return label_selector(LabelSelector(match_expressions=(requirement,)))


@pytest.fixture
def state():
    cluster = ClusterState()
    for name in "abc":
        cluster.set_node(node(name))
    return cluster


def counts(state, wanted):
    found = state.rows().count_pods(wanted).tolist()
    assert [one.count_pods(wanted) for one in state.rows()] == found
    state.check_invariants()
    return found


def test_pods_are_counted_by_labels_and_namespace(state):
    state.add_pod(pod("x", node="a", labels="app=web"))
    state.add_pod(pod("y", node="a", labels="app=web tier=front"))
    state.add_pod(pod("z", node="b", labels="app=db"))
    state.add_pod(pod("w", node="c", labels="app=web", namespace="other"))

    assert counts(state, query("app=web")) == [2, 0, 0]
    assert counts(state, query("app=web tier=front")) == [1, 0, 0]
    assert counts(state, query("")) == [2, 1, 0]
    assert counts(state, query("app=web", None)) == [2, 0, 1]
    assert counts(state, query("app=web", frozenset(["other", "default"]))) == [2, 0, 1]
    assert counts(state, query("app=web", frozenset())) == [0, 0, 0]


def test_all_clauses_must_match(state):
    state.add_pod(pod("x", node="a", labels="app=web tier=front"))
    state.add_pod(pod("y", node="b", labels="app=web"))
    clauses = tuple(Clause(APP, from_map(pairs(text))) for text in ("app=web", "tier=front"))

    assert counts(state, PodQuery(clauses)) == [1, 0, 0]
    assert counts(state, PodQuery(())) == [1, 1, 0]


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        pytest.param(EVERYTHING, [2, 1, 0], id="everything"),
        pytest.param(NOTHING, [0, 0, 0], id="nothing"),
        pytest.param(expression("app", "NotIn", "web"), [1, 1, 0], id="not-in"),
        pytest.param(expression("app", "DoesNotExist"), [1, 0, 0], id="does-not-exist"),
        pytest.param(expression("app", "Exists"), [1, 1, 0], id="exists"),
    ],
)
def test_selectors(state, selector, expected):
    state.add_pod(pod("x", node="a", labels="app=web"))
    state.add_pod(pod("y", node="a"))
    state.add_pod(pod("z", node="b", labels="app=db"))

    assert counts(state, PodQuery((Clause(None, selector),))) == expected


def test_terminating_pods_are_told_apart(state):
    ending = "2026-01-01T00:00:00Z"
    state.add_pod(pod("x", node="a", labels="app=web"))
    state.add_pod(pod("y", node="a", labels="app=web", deletion_timestamp=ending))

    assert counts(state, query("app=web")) == [2, 0, 0]
    assert counts(state, query("app=web", terminating=False)) == [1, 0, 0]

    state.update_pod(pod("x", node="a", labels="app=web", deletion_timestamp=ending))
    assert counts(state, query("app=web", terminating=False)) == [0, 0, 0]


def test_counts_follow_the_pods(state):
    web = query("app=web")
    assert counts(state, web) == [0, 0, 0]

    state.add_pod(pod("x", node="b", labels="app=web"))
    assert counts(state, web) == [0, 1, 0]

    state.update_pod(pod("x", node="b", labels="app=db"))
    assert counts(state, web) == [0, 0, 0]

    state.update_pod(pod("x", node="b", labels="app=web"))
    state.remove_pod(pod("x"))
    assert counts(state, web) == [0, 0, 0]


def test_new_keys_split_the_groups_and_leave_counts_alone(state):
    for number in range(5):
        labels = f"app=web id={number} tier={number % 2}"
        state.add_pod(pod(f"x{number}", node="a", labels=labels))
    assert counts(state, query("")) == [5, 0, 0]
    assert len(state.groups._groups) == 1

    assert counts(state, query("app=web")) == [5, 0, 0]
    assert len(state.groups._groups) == 1  # labels that no selector names tell no pods apart

    assert counts(state, query("tier=1")) == [2, 0, 0]
    assert counts(state, query("id=3")) == [1, 0, 0]
    assert counts(state, query("")) == [5, 0, 0]
    for number in range(5):
        state.remove_pod(pod(f"x{number}"))
    assert counts(state, query("tier=1")) == [0, 0, 0]
    assert len(state.groups._groups) == 0


def test_keys_that_no_pod_has_leave_groups_alone(state):
    for number in range(8):
        state.add_pod(pod(f"x{number}", node="a", labels=f"app=web number={number}"))
    state.add_pod(pod("y", node="b", labels="app=web tier=front"))
    counts(state, query("app=web"))
    [group] = state.groups._groups.values()

    assert counts(state, query("zone=x")) == [0, 0, 0]
    assert list(state.groups._groups.values()) == [group]
    assert counts(state, query("tier=front")) == [0, 1, 0]
    assert [found.rows.total for found in state.groups._groups.values()] == [8, 1]
    assert group in state.groups._groups.values()  # the eight stayed where they were
    state.update_pod(pod("y", node="b", labels="app=db zone=y"))
    assert counts(state, query("id=1")) == [0, 0, 0]
    state.update_pod(pod("y", node="b", labels="app=db zone=y hash=1"))
    assert counts(state, query("hash=1")) == [0, 1, 0]
    assert len(state.groups._groups) == 2  # the one that it left was empty, and is gone


def test_the_order_of_labels_tells_no_pods_apart(state):
    for key in ("a", "b", "c"):
        counts(state, query(f"{key}=1"))
    for number, labels in enumerate((("a", "b"), ("b", "a"), ("a", "b", "c", "d"))):
        state.add_pod(pod(f"x{number}", node="a", labels=dict.fromkeys(labels, "1")))

    assert counts(state, query("a=1 b=1")) == [3, 0, 0]
    assert len(state.groups._groups) == 2


def test_equal_pods_are_one_label_set(state):
    """What a new selector costs depends on the number of label sets, not of pods."""
    for number in range(100):
        state.add_pod(pod(f"x{number}", node="ab"[number % 2], labels=f"app={number % 4}"))
    assert len(state.groups._label_sets) == 4
    assert counts(state, query("app=1")) == [0, 25, 0]

    for number in range(0, 100, 4):
        state.remove_pod(pod(f"x{number}"))
    assert len(state.groups._label_sets) == 3
    state.check_invariants()


def test_labels_in_another_order_later(state):
    state.add_pod(pod("x", node="a", labels={"a": "1", "b": "2"}))
    state.update_pod(pod("x", node="a", labels={"b": "2", "a": "1"}))
    state.check_invariants()
    state.remove_pod(pod("x"))

    assert len(state.groups._label_sets) == 0


def test_keys_that_are_in_use_no_more_are_forgotten(state, monkeypatch):
    monkeypatch.setattr("podium.state.pod_groups.VIEW_BYTES", 0)  # the last query alone is kept
    for number in range(3):
        state.add_pod(pod(f"x{number}", node="a", labels=f"id={number} app=web"))
    assert counts(state, query("id=1")) == [1, 0, 0]
    assert len(state.groups._groups) == 3

    for number in range(100):
        assert counts(state, query(f"key{number}=x app=web")) == [0, 0, 0]
    assert len(state.groups._keys) <= 16
    assert len(state.groups._groups) == 1
    assert counts(state, query("app=web")) == [3, 0, 0]


def test_counts_grow_with_the_table(state):
    web = query("app=web")
    state.add_pod(pod("x", node="c", labels="app=web"))
    assert counts(state, web) == [0, 0, 1]
    for number in range(200):
        state.set_node(node(f"n{number}"))
    state.add_pod(pod("y", node="n150", labels="app=web"))

    found = counts(state, web)
    assert (found[2], found[153], sum(found)) == (1, 1, 2)


@pytest.mark.slow
def test_more_queries_than_are_kept(state):
    """Counts that were dropped to make room are right again when they are asked for."""
    for number in range(200):
        state.set_node(node(f"n{number}"))
    state.add_pod(pod("x", node="a", labels="app=web"))
    web = query("app=web")
    first = counts(state, web)
    # Each query keeps 8 bytes a row; 64 MiB hold some 30,000 of them for this table.
    many = [PodQuery((Clause(frozenset([f"ns{n}"]), from_map({"app": "web"})),))
            for n in range(40_000)]  # fmt: skip
    for wanted in many:
        state.counts(wanted)
    assert len(state.groups._views) < 40_000
    state.add_pod(pod("y", node="b", labels="app=web"))

    assert first[:2] == [1, 0]
    assert state.rows().count_pods(web).tolist()[:2] == [1, 1]


labels = st.dictionaries(st.sampled_from(("app", "tier", "id")), st.sampled_from("xy"), max_size=3)
spaces = st.sampled_from(("default", "other"))


@given(
    st.lists(st.tuples(st.sampled_from("abc"), labels, spaces, st.booleans()), max_size=12),
    st.lists(st.tuples(labels, st.sets(spaces), st.booleans()), min_size=1, max_size=6),
    st.data(),
)
@examples(150)
def test_against_counting_one_by_one(pods, queries, data):
    state = ClusterState()
    for name in "abc":
        state.set_node(node(name))
    there = {}
    wanted = [
        PodQuery((Clause(frozenset(among) or None, from_map(wants)),), terminating)
        for wants, among, terminating in queries
    ]
    for number, (name, has, space, ends) in enumerate(pods):
        ending = "2026-01-01T00:00:00Z" if ends else ""
        there[number] = pod(f"p{number}", node=name, labels=has, namespace=space,
                            deletion_timestamp=ending)  # fmt: skip
        state.add_pod(there[number])
        if number % 3 == 2:
            gone = data.draw(st.sampled_from(sorted(there)))
            state.remove_pod(there.pop(gone))
        asked = data.draw(st.sampled_from(wanted))
        expected = np.zeros(3, np.int64)
        for found in there.values():
            matches = asked.matches(found.namespace, found.labels, found.is_terminating)
            expected["abc".index(found.node_name)] += matches

        assert state.rows().count_pods(asked).tolist() == expected.tolist()
    state.check_invariants()

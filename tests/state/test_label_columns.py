import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium import framework as fwk
from podium.api.requirements import Requirement
from podium.state.label_columns import LabelColumns
from podium.state.rows import table_of
from podium.testing.builders import node
from tests.support.views import state_of


def rows(**labels):
    """A node per keyword, with these labels."""
    return fwk.Rows.of(*(node(name, labels=text) for name, text in labels.items()))


def read(nodes, key):
    """The label's value on each node of the view."""
    view = nodes.labels[key]
    assert view.present.tolist() == [number >= 0 for number in view.numbers.tolist()]
    return [view.values[n] if n >= 0 else None for n in view.numbers.tolist()]


def test_a_label_over_all_nodes():
    nodes = rows(a="zone=x", b="zone=y disk=ssd", c="disk=", d="zone=x")

    assert read(nodes, "zone") == ["x", "y", None, "x"]
    assert read(nodes, "disk") == [None, "ssd", "", None]
    assert read(nodes, "never") == [None] * 4


@given(st.lists(st.none() | st.sampled_from("xyz"), max_size=20))
def test_a_column_filled_at_once_is_as_one_that_was_set_by_and_by(values):
    nodes = [node(f"n{n}", labels={} if v is None else {"k": v}) for n, v in enumerate(values)]
    early, late = LabelColumns(), LabelColumns()
    for columns in (early, late):
        columns.grow(32)
    one = early.column("k", [])
    for row, each in enumerate(nodes):
        early.set(row, each.labels)
    other = late.column("k", nodes)

    assert one.numbers.tolist() == other.numbers.tolist()
    assert (one.values, one.number_of, one.holders) == (
        other.values,
        other.number_of,
        other.holders,
    )
    assert (one.labelled, one.is_unique) == (other.labelled, other.is_unique)


def test_values_have_numbers():
    view = rows(a="zone=x", b="zone=y", c="zone=x").labels["zone"]

    assert view.numbers[0] == view.numbers[2] == view.number_of["x"]
    assert view.number_of["y"] == view.numbers[1]


def test_a_view_of_some_nodes():
    nodes = rows(a="zone=x", b="zone=y", c="zone=z")

    assert read(fwk.Rows(nodes.cluster, np.array([0, 2])), "zone") == ["x", "z"]


def test_a_column_follows_the_nodes():
    nodes = rows(a="zone=x", b="zone=y")
    cluster = state_of(nodes)
    assert read(nodes, "zone") == ["x", "y"]

    cluster.set_node(node("a", labels="zone=z"))
    cluster.set_node(node("c", labels="zone=y"))
    assert read(cluster.rows(), "zone") == ["z", "y", "y"]

    cluster.set_node(node("a"))
    cluster.remove_node("b")
    assert read(cluster.rows(), "zone") == [None, "y"]


def test_a_column_grows_with_the_table():
    nodes = rows(a="zone=x")
    nodes.labels["zone"]
    for number in range(200):
        state_of(nodes).set_node(node(f"n{number}", labels=f"zone=z{number % 3}"))

    expected = ["x", *(f"z{number % 3}" for number in range(200))]
    assert read(nodes.cluster.nodes(), "zone") == expected


def test_columns_that_are_not_used_make_room():
    nodes = rows(a="zone=x k7=v")
    for number in range(1000):
        nodes.labels[f"k{number}"]
        nodes.labels["zone"]
    state_of(nodes).set_node(node("a", labels="zone=y k7=w"))

    assert read(nodes.cluster.nodes(), "zone") == ["y"]
    assert read(nodes.cluster.nodes(), "k7") == ["w"]
    assert len(table_of(nodes).labels._columns) < 1000


REQUIREMENTS = [
    pytest.param(Requirement("k", "In", ("x", "z")), id="in"),
    pytest.param(Requirement("k", "In", ("never",)), id="in-unknown-value"),
    pytest.param(Requirement("k", "NotIn", ("x",)), id="not-in"),
    pytest.param(Requirement("k", "NotIn", ("never",)), id="not-in-unknown-value"),
    pytest.param(Requirement("k", "Exists"), id="exists"),
    pytest.param(Requirement("k", "DoesNotExist"), id="does-not-exist"),
    pytest.param(Requirement("k", "Gt", ("5",)), id="gt"),
    pytest.param(Requirement("k", "Lt", ("5",)), id="lt"),
    pytest.param(Requirement("never", "DoesNotExist"), id="unknown-key"),
    pytest.param(Requirement("never", "Exists"), id="unknown-key-exists"),
]


@pytest.mark.parametrize("requirement", REQUIREMENTS)
@pytest.mark.parametrize("all_have_it", [True, False])
def test_requirements_over_a_column(requirement, all_have_it):
    values = ["x", "y", "7", "-3", "", "x"]
    labels = [{"k": value} for value in values] + [{}] * (not all_have_it)
    nodes = fwk.Rows.of(*(node(f"n{place}", labels=pairs) for place, pairs in enumerate(labels)))

    expected = [requirement.matches(pairs) for pairs in labels]

    assert nodes.satisfying(requirement).tolist() == expected

"""Node selectors over all nodes at once say what they say of each node."""

from hypothesis import given
from hypothesis import strategies as st

from podium import framework as fwk
from podium.api.selectors import RequiredNodeAffinity
from podium.state.node_table import NodeTable
from podium.state.rows import table_of
from podium.testing.builders import node, pod
from tests.support.search import examples
from tests.support.views import state_of

KEYS = ("zone", "disk", "size")
VALUES = ("a", "b", "3", "10", "-1", "x y")
NAMES = ("n0", "n1", "n2", "n3", "gone")
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"

label_maps = st.dictionaries(st.sampled_from(KEYS), st.sampled_from(VALUES[:5]), max_size=3)


@st.composite
def expressions(draw):
    operator = draw(st.sampled_from(("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt", "Like")))
    return {
        "key": draw(st.sampled_from((*KEYS, "never", "not a key"))),
        "operator": operator,
        "values": draw(st.lists(st.sampled_from(VALUES), max_size=2)),
    }


@st.composite
def field_expressions(draw):
    return {
        "key": draw(st.sampled_from(("metadata.name", "metadata.namespace"))),
        "operator": draw(st.sampled_from(("In", "NotIn", "Exists"))),
        "values": draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=2)),
    }


@st.composite
def node_terms(draw):
    return {
        "matchExpressions": draw(st.lists(expressions(), max_size=2)),
        "matchFields": draw(st.lists(field_expressions(), max_size=1)),
    }


@st.composite
def subjects(draw):
    """A pod with any node selector and any required node affinity."""
    required = {"nodeSelectorTerms": draw(st.lists(node_terms(), max_size=2))}
    affinity = draw(st.sampled_from((None, {"nodeAffinity": {REQUIRED: required}})))
    return pod(node_selector=draw(label_maps), affinity=affinity)


def one_by_one(nodes, affinity):
    return [affinity.matches(found.labels, found.name) for found in nodes]


@given(st.lists(label_maps, min_size=1, max_size=4), subjects())
@examples(300)
def test_all_at_once_is_one_by_one(labels, subject):
    nodes = fwk.Rows.of(*(node(f"n{place}", labels=pairs) for place, pairs in enumerate(labels)))
    affinity = RequiredNodeAffinity.of(subject)

    assert nodes.matching(affinity).tolist() == one_by_one(nodes, affinity)


@given(st.lists(label_maps, min_size=3, max_size=4), subjects())
@examples(100)
def test_also_with_holes_and_ghosts_in_the_table(labels, subject):
    nodes = fwk.Rows.of(*(node(f"n{place}", labels=pairs) for place, pairs in enumerate(labels)))
    state_of(nodes).remove_node("n1")
    state_of(nodes).add_pod(pod("early", node="gone"))
    affinity = RequiredNodeAffinity.of(subject)
    left = nodes.cluster.nodes()

    assert left.matching(affinity).tolist() == one_by_one(left, affinity)
    some = fwk.Rows(left.cluster, left.index[:1])
    assert some.matching(affinity).tolist() == one_by_one(some, affinity)


def test_no_nodes():
    nodes = fwk.Rows.of()

    assert isinstance(table_of(nodes), NodeTable)
    assert nodes.matching(RequiredNodeAffinity.of(pod(node_selector="a=1"))).tolist() == []

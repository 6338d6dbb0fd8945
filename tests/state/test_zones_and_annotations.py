import pytest

from podium.state.cluster import ClusterState
from podium.testing.builders import node

ZONE = "topology.kubernetes.io/zone"
REGION = "topology.kubernetes.io/region"
OLD_ZONE = "failure-domain.beta.kubernetes.io/zone"
OLD_REGION = "failure-domain.beta.kubernetes.io/region"


def cluster(*nodes):
    state = ClusterState()
    for each in nodes:
        state.set_node(each)
    return state


def zones(*labels):
    nodes = [node(f"n{number}", labels=given) for number, given in enumerate(labels)]
    return list(cluster(*nodes).rows().zones)


def annotations(state, key):
    view = state.rows().annotations[key]
    return [view.values[n] if n >= 0 else None for n in view.numbers.tolist()]


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        pytest.param({ZONE: "a"}, {ZONE: "a"}, True, id="one-zone"),
        pytest.param({ZONE: "a"}, {ZONE: "b"}, False, id="two-zones"),
        pytest.param({ZONE: "a", REGION: "r"}, {ZONE: "a", REGION: "s"}, False, id="two-regions"),
        pytest.param({ZONE: "a"}, {OLD_ZONE: "a"}, True, id="the-old-label"),
        pytest.param({ZONE: "a"}, {OLD_ZONE: "b", ZONE: "a"}, False, id="the-old-label-wins"),
        pytest.param({REGION: "r"}, {OLD_REGION: "r"}, True, id="region-alone"),
        pytest.param({ZONE: "r"}, {REGION: "r"}, False, id="a-region-is-no-zone"),
    ],
)
def test_nodes_are_in_a_zone_of_a_region(one, other, same):
    first, second = zones(one, other)

    assert first
    assert (first == second) == same


def test_nodes_without_a_zone():
    assert zones({}, {ZONE: "", REGION: ""}) == ["", ""]


def test_zones_follow_the_nodes():
    state = cluster(node("a", labels={ZONE: "x"}), node("b", labels={ZONE: "y"}))
    state.set_node(node("a", labels={ZONE: "y"}))
    first, second = state.rows().zones
    assert first == second

    state.remove_node("a")
    state.set_node(node("c"))
    assert "" in list(state.rows().zones)
    state.check_invariants()


def test_annotations_follow_the_nodes():
    state = cluster(node("a", annotations={"owner": "blue"}), node("b"))
    assert annotations(state, "owner") == ["blue", None]

    state.set_node(node("a"))
    state.set_node(node("b", annotations={"owner": "red"}))
    state.set_node(node("c", annotations={"owner": "blue"}))
    assert annotations(state, "owner") == [None, "red", "blue"]
    state.remove_node("b")
    assert annotations(state, "owner") == [None, "blue"]


def test_an_annotation_is_no_label():
    state = cluster(node("a", annotations={"owner": "blue"}, labels={"team": "red"}))

    assert annotations(state, "team") == [None]
    assert state.rows().labels["owner"].numbers.tolist() == [-1]

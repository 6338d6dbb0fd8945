"""Upstream's order of nodes: one per zone in turn."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium.state.node_order import NodeOrder, zone_of
from podium.testing.builders import node

ZONE, REGION = "topology.kubernetes.io/zone", "topology.kubernetes.io/region"
OLD_ZONE = "failure-domain.beta.kubernetes.io/zone"
OLD_REGION = "failure-domain.beta.kubernetes.io/region"


def in_zone(name, zone):
    return node(name, labels={ZONE: zone} if zone else {})


def order_of(*pairs):
    order = NodeOrder()
    for name, zone in pairs:
        order.add(in_zone(name, zone))
    return order


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        pytest.param({}, "", id="nowhere"),
        pytest.param({ZONE: "z"}, ":\0:z", id="zone"),
        pytest.param({REGION: "r"}, "r:\0:", id="region"),
        pytest.param({REGION: "r", ZONE: "z"}, "r:\0:z", id="both"),
        pytest.param({OLD_REGION: "r", OLD_ZONE: "z"}, "r:\0:z", id="old-labels"),
        pytest.param({OLD_ZONE: "old", ZONE: "new"}, ":\0:old", id="old-label-first"),
        pytest.param({OLD_ZONE: "", ZONE: "new"}, "", id="old-label-even-if-empty"),
        pytest.param({OLD_REGION: "r", ZONE: "z"}, "r:\0:z", id="one-old-one-new"),
        pytest.param({ZONE: "", REGION: ""}, "", id="empty-labels"),
    ],
)
def test_zone_of(labels, expected):
    assert zone_of(node("n", labels=labels)) == expected


@pytest.mark.parametrize(
    ("pairs", "expected"),
    [
        pytest.param([], "", id="no-nodes"),
        pytest.param([("a", ""), ("b", "")], "ab", id="no-zones"),
        pytest.param([("a", "x"), ("b", "x"), ("c", "y")], "acb", id="in-turn"),
        pytest.param([("a", "x"), ("b", "y"), ("c", "y"), ("d", "y")], "abcd",
                     id="exhausted-zones-are-passed"),
        pytest.param([("a", "y"), ("b", "x"), ("c", "y"), ("d", "x")], "abcd",
                     id="zones-as-first-seen"),
        pytest.param([("a", "x"), ("b", ""), ("c", "x")], "abc", id="no-zone-is-a-zone"),
    ],
)  # fmt: skip
def test_order(pairs, expected):
    assert order_of(*pairs).names() == list(expected)


def test_a_zone_goes_with_its_last_node_and_comes_back_last():
    order = order_of(("a", "x"), ("b", "y"), ("c", "y"))
    order.remove("a")
    order.add(in_zone("d", "x"))

    assert order.names() == ["b", "d", "c"]


def test_a_node_that_comes_back_is_last_in_its_zone():
    order = order_of(("a", "x"), ("b", "x"))
    order.remove("a")
    order.add(in_zone("a", "x"))

    assert order.names() == ["b", "a"]


def test_a_moved_node_waits_for_the_next_arrival():
    order = order_of(("a", "x"), ("b", "x"), ("c", "y"))
    assert order.names() == ["a", "c", "b"]

    order.update(in_zone("a", "y"))
    assert order.names() == ["a", "c", "b"]

    order.add(in_zone("d", "z"))
    assert order.names() == ["b", "c", "d", "a"]


def test_an_update_without_a_move_changes_nothing():
    order = order_of(("a", "x"), ("b", "x"))
    order.update(node("a", labels={ZONE: "x", "other": "1"}))
    order.add(in_zone("c", "x"))

    assert order.names() == ["a", "b", "c"]


class Model:
    """Zones as lists, the list of names made anew after every arrival or departure."""

    def __init__(self):
        self.zones, self.names = [], []

    def leave(self, name):
        for zone in self.zones:
            if name in zone[1]:
                zone[1].remove(name)
        self.zones = [zone for zone in self.zones if zone[1]]

    def enter(self, name, key):
        for zone in self.zones:
            if zone[0] == key:
                zone[1].append(name)
                return
        self.zones.append((key, [name]))

    def zone(self, name):
        return next((key for key, names in self.zones if name in names), None)

    def relist(self):
        turns = range(max((len(names) for _, names in self.zones), default=0))
        self.names = [n[turn] for turn in turns for _, n in self.zones if turn < len(n)]


@given(st.lists(st.tuples(st.sampled_from("abcde"), st.sampled_from(["x", "y", "", None]))))
def test_against_a_model(steps):
    order, model = NodeOrder(), Model()
    for name, zone in steps:
        known = model.zone(name)
        if zone is None and known is not None:
            order.remove(name)
            model.leave(name)
            model.relist()
        elif zone is not None and known is None:
            order.add(in_zone(name, zone))
            model.enter(name, zone)
            model.relist()
        elif zone is not None:
            order.update(in_zone(name, zone))
            if zone != known:
                model.leave(name)
                model.enter(name, zone)

        assert order.names() == model.names

"""Maps of pods that plugins see: dicts to read, and nothing to change."""

import copy
import operator
import pickle

import msgspec
import pytest

from podium.api.codec import decode
from podium.api.objects import Node, Pod
from podium.api.read_only import make_read_only
from podium.state.cluster import ClusterState
from podium.testing.builders import node, pod

LABELS = {"app": "web"}


def closed(**fields):
    made = pod(**fields)
    make_read_only(made)
    return made


CHANGES = {
    "set": lambda m: operator.setitem(m, "app", "db"),
    "delete": lambda m: operator.delitem(m, "app"),
    "or": lambda m: operator.ior(m, {"a": "b"}),
    "update": lambda m: m.update(a="b"),
    "setdefault": lambda m: m.setdefault("a", "b"),
    "pop": lambda m: m.pop("app"),
    "popitem": lambda m: m.popitem(),
    "clear": lambda m: m.clear(),
}


def test_every_method_that_changes_a_dict_is_here():
    """Of what dict has, all but these only read."""
    reading = {"copy", "fromkeys", "get", "items", "keys", "values"}
    public = {name for name in dir(dict) if not name.startswith("_")}

    assert public - reading == CHANGES.keys() - {"set", "delete", "or"}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
@pytest.mark.parametrize("labels", [LABELS, {}], ids=["some", "none"])
def test_changes_are_refused(change, labels):
    subject = closed(labels=labels)

    with pytest.raises(TypeError, match="it tried to change a map of the pod, but objects are"):
        change(subject.labels)

    assert subject.labels == labels


MAPS = {
    "labels": lambda p: p.metadata.labels,
    "annotations": lambda p: p.metadata.annotations,
    "node selector": lambda p: p.spec.node_selector,
    "overhead": lambda p: p.spec.overhead,
    "requests": lambda p: p.spec.containers[0].resources.requests,
    "limits": lambda p: p.spec.containers[0].resources.limits,
    "requests of init containers": lambda p: p.spec.init_containers[0].resources.requests,
}


@pytest.mark.parametrize("map_of", MAPS.values(), ids=MAPS)
def test_all_these_maps_are_closed(map_of):
    subject = closed(cpu="1", init_containers=({"name": "first"},))

    with pytest.raises(TypeError):
        map_of(subject)["x"] = "y"


@pytest.mark.parametrize(
    "copied",
    [
        pytest.param(lambda m: m.copy(), id="copy"),
        pytest.param(dict, id="dict"),
        pytest.param(lambda m: m | {}, id="or"),
        pytest.param(copy.copy, id="copy-module"),
        pytest.param(copy.deepcopy, id="deepcopy"),
        pytest.param(lambda m: pickle.loads(pickle.dumps(m)), id="pickle"),
    ],
)
def test_copies_are_plain(copied):
    mine = copied(closed(labels=LABELS).labels)
    mine["mine"] = "yes"

    assert type(mine) is dict
    assert mine == LABELS | {"mine": "yes"}


def test_a_closed_pod_equals_an_open_one_also_after_its_way_through_json():
    one, other = closed(labels=LABELS, cpu="1"), pod(labels=LABELS, cpu="1")

    assert one == other
    assert decode(Pod, msgspec.json.encode(one)) == other


def test_closing_again_changes_nothing():
    subject = closed(labels=LABELS)
    labels = subject.labels
    make_read_only(subject)

    assert subject.labels is labels


def test_maps_of_nodes_are_closed_only_while_plugins_from_outside_see_them():
    state = ClusterState()
    before, after = node("before", labels=LABELS), node("after", labels=LABELS)
    state.set_node(before)
    assert type(before.labels) is dict

    state.protect_nodes(True)
    state.set_node(after)

    for each in (before, after):
        assert each.labels == LABELS
        for plain in (
            each.labels,
            each.metadata.annotations,
            each.status.capacity,
            each.status.allocatable,
        ):
            with pytest.raises(TypeError, match="it tried to change a map of the node"):
                plain["x"] = "y"
    assert decode(Node, msgspec.json.encode(after)) == after

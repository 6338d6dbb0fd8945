"""Which filters a dry run may replace by a comparison of resources."""

import numpy as np
import pytest

from podium import framework as fwk
from podium.framework.dependencies import NOTHING
from podium.plugins.node_resources_fit import NodeResourcesFit
from podium.testing.builders import node, pod
from podium.testing.handle import FakeHandle


class Enough(fwk.ResourceFilterPlugin):
    """Wants 2 cpus to be free."""

    name = "Enough"

    def needs(self, state, pod):
        yield "cpu", 2000

    def filter(self, state, pod, node):
        return None if node.free("cpu") >= 2000 else fwk.Status.unschedulable("Insufficient cpu")


class OtherFilter(Enough):
    """Has another rule and the old needs."""

    def filter(self, state, pod, node):
        return None


class OtherRule(OtherFilter):
    """Has another rule with its own needs."""

    def needs(self, state, pod):
        return ()


class Faulty(Enough):
    def needs(self, state, pod):
        raise RuntimeError("broken")


class Named(fwk.FilterPlugin):
    """Depends on nothing but the node's name."""

    name = "Named"

    def depends_on(self, pod):
        return NOTHING

    def filter(self, state, pod, node):
        return None if node.name == "a" else fwk.Status.unschedulable("another name")


class Undeclared(fwk.FilterPlugin):
    """Does not say what it depends on."""

    name = "Undeclared"

    def filter(self, state, pod, node):
        return None


class Misdeclared(Undeclared):
    def depends_on(self, pod):
        raise RuntimeError("broken")


def room(*plugins, incoming=None, objects=()):
    handle = FakeHandle(node("a", cpu="4"), node("b", cpu="4"), *objects)
    handle.use(*(plugin(None, handle) for plugin in plugins))
    return handle.room_for(fwk.CycleState(), incoming or pod("new", priority=5))


@pytest.mark.parametrize(
    ("plugins", "decides"),
    [
        pytest.param([], True, id="no-filter"),
        pytest.param([Enough], True, id="needs"),
        pytest.param([Enough, Named], True, id="needs-and-no-pods"),
        pytest.param([OtherFilter], False, id="a-subclass-changed-the-filter-only"),
        pytest.param([OtherRule], True, id="a-subclass-changed-both"),
        pytest.param([Enough, Undeclared], False, id="undeclared-dependencies"),
        pytest.param([Misdeclared], False, id="dependencies-that-fail"),
        pytest.param([Faulty], False, id="needs-that-fail"),
    ],
)
def test_resources_decide_if_every_filter_says_so(plugins, decides):
    assert room(*plugins).decides == decides


def test_a_filter_that_follows_pods_is_not_replaced():
    class Follower(Named, fwk.PreFilterExtensions):
        State = dict

        def pre_filter(self, state, pod, nodes):
            return None

        def add_pod(self, state, pod, other, node):
            return None

        def remove_pod(self, state, pod, other, node):
            return None

    assert not room(Enough, Follower).decides


def test_filters_that_depend_on_no_pods_are_asked_once():
    assert room(Enough, Named).accepts(np.array([0, 1])).tolist() == [True, False]


def test_pods_of_lower_priority_are_not_in_the_way():
    objects = [
        pod("low", node="a", cpu="4", priority=4),
        pod("equal", node="b", cpu="3", priority=5),
    ]
    found = room(Enough, objects=objects)

    assert found.free.tolist() == [[4000, 1000]]
    assert found.is_enough(np.array([0, 1])).tolist() == [True, False]


def test_needs_of_the_default_filter():
    handle = FakeHandle(node("a", cpu="4", pods=3))
    fit = NodeResourcesFit(NodeResourcesFit.Args(), handle)
    handle.use(fit)
    incoming, state = pod("new", cpu="1", requests={"example.com/gpu": 2}), fwk.CycleState()
    fit.pre_filter(state, incoming, handle.rows)

    assert [*fit.needs(state, incoming)] == [("pods", 1), ("cpu", 1000), ("example.com/gpu", 2)]


def test_nominated_pods_count_on_lines_of_their_own():
    handle = FakeHandle(node("a", cpu="4"), node("b", cpu="4"))
    handle.use(Enough(None, handle))
    for name, priority in (("ahead", 5), ("behind", 4)):
        waiting = fwk.PodInfo(pod(name, cpu="3", priority=priority))
        handle.nominator.add(waiting, fwk.Nominate("b"))
    incoming = pod("new", priority=5)
    handle.nominator.add(fwk.PodInfo(incoming), fwk.Nominate("a"))
    found = handle.room_for(fwk.CycleState(), incoming)

    assert found.free.tolist() == [[4000, 4000], [4000, 1000]]
    assert found.is_enough(np.array([0, 1])).tolist() == [True, False]

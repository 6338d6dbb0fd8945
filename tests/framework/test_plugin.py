import numpy as np
import pytest

from podium import framework as fwk
from podium.errors import PluginError
from podium.framework.dependencies import EVERYTHING, NOTHING
from podium.framework.points import Point, points_of
from podium.framework.registry import Registry
from podium.state.rows import PodsOnRows
from podium.testing.builders import node, pod
from tests.support.toys import Filter, Normalizing, Score

NO = fwk.Status.unschedulable("no")


class Plain(fwk.Plugin):
    """A plugin that says nothing about itself."""


class Follower(fwk.PreFilterExtensions):
    """Notes each change; ``stop`` is the pod that makes it fail."""

    def __init__(self, stop=""):
        self.stop, self.seen = stop, []

    def pre_filter(self, state, pod, nodes):
        return None

    def add_pod(self, state, pod, other, node):
        self.seen.append(("add", other.key, node.name))
        return NO if other.key == self.stop else None

    def remove_pod(self, state, pod, other, node):
        self.seen.append(("remove", other.key, node.name))
        return NO if other.key == self.stop else None


class ManyFollower(fwk.PreFilterExtensionsForMany):
    """Notes each change of many pods at once, and refuses it."""

    def __init__(self):
        self.seen = []

    def pre_filter(self, state, pod, nodes):
        return None

    def add_pods(self, state, pod, others):
        self.seen += [("add", other.key, node.name) for other, node in others]
        return NO

    def remove_pods(self, state, pod, others):
        self.seen += [("remove", other.key, node.name) for other, node in others]
        return NO


def test_a_plugin_depends_on_everything_unless_it_says_otherwise():
    assert Plain(None, None).depends_on(pod()) == EVERYTHING
    assert fwk.Dependencies() == NOTHING
    assert fwk.Dependencies(node=1, cluster=2, feasible=True) == fwk.Dependencies(1, 2, True)


def test_a_plugin_cannot_be_signed_unless_it_says_how():
    assert Plain(None, None).sign is None


@pytest.mark.parametrize(
    ("first", "second", "equal"),
    [
        pytest.param({"tolerates": "a:"}, {"tolerates": "a:", "cpu": 1}, True, id="other-fields"),
        pytest.param({"tolerates": "a:"}, {"tolerates": "b:"}, False, id="a-tuple"),
        pytest.param({"node_selector": "a=1 b=2"}, {"node_selector": "b=2 a=1"}, True,
                     id="a-map-in-another-order"),
        pytest.param({"node_selector": "a=1"}, {"node_selector": "a=2"}, False, id="a-map"),
        pytest.param({"priority": 1}, {"priority": 2}, False, id="a-property"),
    ],
)  # fmt: skip
def test_pod_fields(first, second, equal):
    sign = fwk.pod_fields("spec.tolerations", "spec.node_selector", "priority")

    signed = sign(None, pod("a", **first)), sign(None, pod("b", **second))

    assert (signed[0] == signed[1]) == equal
    assert (hash(signed[0]) == hash(signed[1])) == equal


def test_points_of_a_class_are_its_bases():
    class Both(fwk.FilterPlugin, fwk.PreScorePlugin):
        """Two points."""

    assert points_of(Both) == {Point.FILTER, Point.PRE_SCORE}
    assert points_of(Follower) == {Point.PRE_FILTER}
    assert points_of(Plain) == set()


def test_filter_all_is_filter_for_each_node():
    nodes = fwk.Rows.of(node("a"), node("b"), node("c"))
    plugin = Filter("F", lambda pod, node: NO if node.name == "b" else None)

    statuses = plugin.filter_all(fwk.CycleState(), pod(), nodes)

    assert list(statuses) == [fwk.SUCCESS, NO, fwk.SUCCESS]
    assert len(statuses.values) == 2
    assert plugin.asked == ["a", "b", "c"]


def test_score_all_is_score_for_each_node():
    nodes = fwk.Rows.of(node("a"), node("b"))
    plugin = Score("S", lambda pod, node: ord(node.name))

    scores = plugin.score_all(fwk.CycleState(), pod(), nodes)

    assert scores.dtype == np.int64
    assert scores.tolist() == [97, 98]


def test_scores_are_left_alone_unless_normalized():
    nodes = fwk.Rows.of(node("a"), node("b"))
    raw = np.array([10, 20])

    plain = Score("S").normalize_score(fwk.CycleState(), pod(), raw, nodes)
    scaled = Normalizing("N").normalize_score(fwk.CycleState(), pod(), raw, nodes)

    assert plain is raw
    assert scaled.tolist() == [50, 100]


def others_on_rows():
    nodes = fwk.Rows.of(node("a"), node("b"))
    infos = [fwk.PodInfo(pod(name)) for name in ("x", "y", "z")]
    return PodsOnRows(nodes, infos, np.array([0, 1, 1], np.intp))


@pytest.mark.parametrize("what", ["add", "remove"])
def test_many_pods_are_followed_one_by_one(what):
    plugin = Follower()
    follow = plugin.add_pods if what == "add" else plugin.remove_pods

    assert follow(fwk.CycleState(), pod(), others_on_rows()) is None
    assert plugin.seen == [
        (what, "default/x", "a"),
        (what, "default/y", "b"),
        (what, "default/z", "b"),
    ]


@pytest.mark.parametrize("what", ["add", "remove"])
def test_following_ends_at_the_first_failure(what):
    plugin = Follower(stop="default/y")
    follow = plugin.add_pods if what == "add" else plugin.remove_pods

    assert follow(fwk.CycleState(), pod(), others_on_rows()) == NO
    assert [key for _, key, _ in plugin.seen] == ["default/x", "default/y"]


@pytest.mark.parametrize("what", ["add", "remove"])
def test_one_pod_is_followed_as_many_of_one(what):
    plugin = ManyFollower()
    follow = plugin.add_pod if what == "add" else plugin.remove_pod
    other, on = list(others_on_rows())[1]

    assert follow(fwk.CycleState(), pod(), other, on) == NO
    assert plugin.seen == [(what, "default/y", "b")]


def test_an_incomplete_plugin_cannot_be_registered():
    class Incomplete(fwk.FilterPlugin):
        """Lacks ``filter``."""

        name = "Incomplete"

    with pytest.raises(PluginError, match=r"lacks the method filter\(.+\) -> .+ or filter_all"):
        Registry([Incomplete])


def test_one_form_gives_the_other():
    class Vectorised(fwk.FilterPlugin, fwk.ScorePlugin):
        name = "Vectorised"

        def filter_all(self, state, pod, nodes):
            return fwk.Column.where(nodes.free("cpu") < 3000, NO, fwk.SUCCESS)

        def score_all(self, state, pod, nodes):
            return nodes.free("cpu") // 100

    plugin, nodes = Vectorised(None, None), fwk.Rows.of(node("a", cpu="1"), node("b", cpu="4"))

    assert [plugin.filter(fwk.CycleState(), pod(), each) for each in nodes] == [NO, fwk.SUCCESS]
    assert [plugin.score(fwk.CycleState(), pod(), each) for each in nodes] == [10, 40]

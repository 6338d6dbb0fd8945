"""Equal pods are judged once: what is asked again after which change."""

import pytest

from podium import framework as fwk
from podium.api.objects import Namespace, ObjectMeta
from podium.cycle.outcome import Placed, Rejected
from podium.framework.dependencies import EVERYTHING
from podium.testing.builders import node, pod
from tests.support.cycle import Scheduler
from tests.support.toys import Filter, Normalizing, PreFilter, PreScore, Score, Unsigned

NO = fwk.Status.unschedulable("no")
BROKEN = RuntimeError("broken")
LABELS = fwk.Aspect.LABELS
ON_NODE = fwk.Dependencies(node=LABELS)
ON_CLUSTER = fwk.Dependencies(cluster=LABELS)
NAMES = "abcdef"


class Pods:
    """New pods of one class."""

    def __init__(self):
        self.count = 0

    def __call__(self, **rest):
        self.count += 1
        return pod(f"p{self.count}", **rest)


@pytest.fixture
def fresh():
    return Pods()


def relabel(scheduler, name, labels="v=2"):
    scheduler.cluster.set_node(node(name, labels=labels))


def asked(scheduler, plugin, subject):
    """What the plugin is asked in one attempt for this pod."""
    plugin.asked.clear()
    scheduler.node_of(subject)
    return list(plugin.asked)


@pytest.mark.parametrize("kind", [Filter, Score], ids=["filter", "score"])
class TestRows:
    """Filter and Score answer for one node at a time, and are kept by row."""

    def test_an_unchanged_cluster_asks_nobody(self, kind, fresh):
        plugin = kind("P", 0 if kind is Score else None, depends_on=ON_NODE)
        scheduler = Scheduler(plugin, nodes=NAMES)

        assert asked(scheduler, plugin, fresh()) == list(NAMES)
        assert asked(scheduler, plugin, fresh()) == []

    def test_a_change_on_a_node_asks_about_that_node(self, kind, fresh):
        plugin = kind("P", 0 if kind is Score else None, depends_on=ON_NODE)
        scheduler = Scheduler(plugin, nodes=NAMES)
        scheduler.node_of(fresh())
        relabel(scheduler, "c")
        relabel(scheduler, "e")

        assert asked(scheduler, plugin, fresh()) == ["c", "e"]
        assert asked(scheduler, plugin, fresh()) == []

    def test_a_change_in_another_aspect_asks_nobody(self, kind, fresh):
        plugin = kind("P", 0 if kind is Score else None, depends_on=ON_NODE)
        scheduler = Scheduler(plugin, nodes=NAMES)
        scheduler.node_of(fresh())
        scheduler.cluster.set_node(node("c", cpu="1", taints="a:NoSchedule"))
        scheduler.cluster.add_pod(pod("other", node="d"))

        assert asked(scheduler, plugin, fresh()) == []

    def test_a_change_anywhere_asks_about_all_nodes(self, kind, fresh):
        plugin = kind("P", 0 if kind is Score else None, depends_on=ON_CLUSTER)
        scheduler = Scheduler(plugin, nodes=NAMES)
        scheduler.node_of(fresh())
        relabel(scheduler, "c")

        assert sorted(set(asked(scheduler, plugin, fresh()))) == list(NAMES)
        assert asked(scheduler, plugin, fresh()) == []

    def test_objects_beside_nodes_can_matter(self, kind, fresh):
        depends_on = fwk.Dependencies(cluster=fwk.Aspect.NAMESPACES)
        plugin = kind("P", 0 if kind is Score else None, depends_on=depends_on)
        scheduler = Scheduler(plugin, nodes=NAMES)
        scheduler.node_of(fresh())
        scheduler.cluster.set_object(Namespace(metadata=ObjectMeta(name="team")))

        assert asked(scheduler, plugin, fresh()) == list(NAMES)

    def test_a_new_node_asks_about_all(self, kind, fresh):
        plugin = kind("P", 0 if kind is Score else None, depends_on=ON_NODE)
        scheduler = Scheduler(plugin, nodes=NAMES)
        scheduler.node_of(fresh())
        scheduler.cluster.set_node(node("g"))

        assert sorted(asked(scheduler, plugin, fresh())) == [*NAMES, "g"]

    def test_a_ghost_row_does_not_disturb(self, kind, fresh):
        plugin = kind("P", 0 if kind is Score else None, depends_on=ON_NODE)
        scheduler = Scheduler(plugin, nodes=NAMES)
        scheduler.node_of(fresh())
        scheduler.cluster.add_pod(pod("early", node="late"))

        assert isinstance(scheduler.attempt(fresh()), Placed)
        assert scheduler.attempt(fresh()).record.feasible == 6

    def test_a_node_that_changes_after_every_pod_is_asked_about(self, kind, fresh):
        """Each placed pod changes its node: that one is judged again, the others are not."""
        depends_on = fwk.Dependencies(node=fwk.Aspect.PODS)
        plugin = kind("P", 0 if kind is Score else None, depends_on=depends_on)
        scheduler = Scheduler(plugin, nodes=NAMES)
        place = scheduler.attempt(fresh()).node_name
        plugin.asked.clear()

        scheduler.attempt(fresh())

        assert plugin.asked == [place]

    def test_unequal_pods_share_nothing(self, kind, fresh):
        plugin = kind("P", 0 if kind is Score else None, depends_on=ON_NODE)
        plugin.sign = fwk.pod_fields("spec.node_selector").__get__(plugin)
        scheduler = Scheduler(plugin, nodes=NAMES)
        scheduler.node_of(fresh())

        assert asked(scheduler, plugin, fresh(node_selector="a=1")) == list(NAMES)
        assert asked(scheduler, plugin, fresh()) == []
        assert asked(scheduler, plugin, fresh(node_selector="a=1")) == []

    def test_who_depends_on_everything_is_asked_after_every_change(self, kind, fresh):
        plugin = kind("P", 0 if kind is Score else None, depends_on=EVERYTHING)
        scheduler = Scheduler(plugin, nodes=NAMES)
        scheduler.attempt(fresh())

        assert sorted(set(asked(scheduler, plugin, fresh()))) == list(NAMES)


class UnsignedPreFilter(Unsigned, PreFilter):
    """Cannot say what it looks at."""


class UnsignedFilter(Unsigned, Filter):
    """Cannot say what it looks at."""


class UnsignedPreScore(Unsigned, PreScore):
    """Cannot say what it looks at."""


class UnsignedScore(Unsigned, Score):
    """Cannot say what it looks at."""


UNSIGNED = [UnsignedPreFilter, UnsignedFilter, UnsignedPreScore, UnsignedScore]


@pytest.mark.parametrize("is_first", [True, False], ids=["first", "last"])
@pytest.mark.parametrize("kind", UNSIGNED, ids=["pre-filter", "filter", "pre-score", "score"])
def test_an_unsigned_plugin_is_asked_for_every_pod_and_it_alone(kind, is_first, fresh):
    signed = [Filter("F", depends_on=ON_NODE), Score("S", 0, depends_on=ON_NODE)]
    unsigned = kind("U", 0 if kind is UnsignedScore else None)
    scheduler = Scheduler(*[unsigned] * is_first, *signed, *[unsigned] * (not is_first))
    first = asked(scheduler, unsigned, fresh())
    for plugin in signed:
        plugin.asked.clear()

    for _ in range(3):
        assert asked(scheduler, unsigned, fresh()) == first != []
    assert [plugin.asked for plugin in signed] == [[], []]


def test_an_unsigned_filter_is_not_asked_about_nodes_that_an_earlier_one_refuses(fresh):
    early = Filter("A", lambda pod, node: NO if node.name == "a" else None, depends_on=ON_NODE)
    late = Filter("C", lambda pod, node: NO if node.name == "c" else None, depends_on=ON_NODE)
    unsigned = UnsignedFilter("B", lambda pod, node: NO if pod.labels else None)
    scheduler = Scheduler(early, unsigned, late)

    for labels in ("", "is=odd", ""):
        assert asked(scheduler, unsigned, fresh(labels=labels)) == ["b", "c"]


def test_a_refused_node_is_blamed_on_the_first_filter_in_order(fresh):
    late = Filter("C", lambda pod, node: NO if node.name == "c" else None, depends_on=ON_NODE)
    unsigned = UnsignedFilter("B", lambda pod, node: NO if pod.labels else None)
    scheduler = Scheduler(unsigned, late)
    rejected = [scheduler.attempt(fresh(labels=labels)).record.rejected for labels in ("", "a=b")]

    assert rejected == [{("C", "no"): 1}, {("B", "no"): 3}]


def test_the_same_feasible_nodes_leave_normalized_scores_alone(fresh):
    """The unsigned filter refuses the same node for every pod: nothing is normalized again."""
    unsigned = UnsignedFilter("U", lambda pod, node: NO if node.name == "a" else None)
    normalized = []
    score = Normalizing("S", 1, depends_on=ON_NODE)
    score.normalized = lambda scores: normalized.append(len(scores)) or scores
    scheduler = Scheduler(unsigned, score)
    for _ in range(3):
        scheduler.node_of(fresh())

    assert normalized == [2]


def test_a_plugin_with_a_signature_may_fail_where_its_turn_does_not_come(fresh):
    """Asked in order it never sees node a; kept answers are about all nodes."""
    unsigned = UnsignedFilter("U", lambda pod, node: NO if node.name == "a" else None)

    def fussy(pod, node):
        if node.name == "a":
            raise BROKEN
        return

    scheduler = Scheduler(unsigned, Filter("F", fussy, depends_on=ON_NODE))
    outcomes = [scheduler.attempt(fresh()) for _ in range(2)]

    assert [outcome.record.rejected for outcome in outcomes] == [{("U", "no"): 1}] * 2
    assert all(isinstance(outcome, Placed) for outcome in outcomes)


def test_a_pod_that_is_not_signed_is_judged_from_scratch(fresh):
    plugin = Filter("F", depends_on=ON_NODE)

    def sign(pod):
        if pod.spec.node_selector:
            raise fwk.NotSignable
        return ()

    plugin.sign = sign
    scheduler = Scheduler(plugin)
    scheduler.node_of(fresh())

    assert asked(scheduler, plugin, fresh(node_selector="a=1")) == list("abc")
    assert asked(scheduler, plugin, fresh()) == []


def test_a_signature_that_cannot_be_hashed_is_reported_and_left_out(fresh, caplog):
    plugin, other = Filter("F", depends_on=ON_NODE), Filter("G", depends_on=ON_NODE)
    plugin.sign = lambda pod: [pod.name]
    scheduler = Scheduler(plugin, other)

    assert isinstance(scheduler.attempt(fresh()), Placed)
    assert asked(scheduler, other, fresh()) == []
    assert "plugin='F' point='Sign'" in caplog.records[0].getMessage()
    (key, _, event), _ = scheduler.events.recorded
    assert key == "default/p1"
    assert (event.type, event.reason) == ("Warning", "SignatureFailed")
    expected = (
        """plugin "F": sign(pod) returned ['p1'], which cannot be hashed; return a hashable"""
    )
    assert event.note.startswith(expected)


def test_reuse_can_be_switched_off(fresh):
    plugin = Filter("F", depends_on=ON_NODE)
    scheduler = Scheduler(plugin, reuse=False)
    scheduler.node_of(fresh())

    assert asked(scheduler, plugin, fresh()) == list("abc")


@pytest.mark.parametrize("kind", [PreFilter, PreScore], ids=["pre-filter", "pre-score"])
@pytest.mark.parametrize(
    ("depends_on", "again"),
    [
        pytest.param(ON_CLUSTER, True, id="cluster"),
        pytest.param(ON_NODE, False, id="node"),
        pytest.param(fwk.Dependencies(), False, id="nothing"),
    ],
)
def test_preparations_are_repeated_for_changes_of_the_cluster(kind, depends_on, again, fresh):
    plugin = kind("P", depends_on=depends_on)
    scheduler = Scheduler(plugin, Score("S", 0))
    scheduler.node_of(fresh())
    assert asked(scheduler, plugin, fresh()) == []
    relabel(scheduler, "b")

    assert bool(asked(scheduler, plugin, fresh())) == again


@pytest.mark.parametrize("feasible", [True, False])
def test_pre_score_may_depend_on_which_nodes_are_feasible(feasible, fresh):
    by_label = Filter("F", lambda pod, node: NO if node.labels else None, depends_on=ON_NODE)
    plugin = PreScore("P", depends_on=fwk.Dependencies(feasible=feasible))
    scheduler = Scheduler(by_label, plugin, Score("S", 0), nodes=NAMES)
    scheduler.node_of(fresh())
    assert plugin.asked == [list(NAMES)]
    relabel(scheduler, "b")

    assert asked(scheduler, plugin, fresh()) == ([list("acdef")] if feasible else [])


def test_scores_are_normalized_over_the_nodes_that_are_left(fresh):
    by_label = Filter("F", lambda pod, node: NO if node.labels else None, depends_on=ON_NODE)
    scores = Normalizing("S", lambda pod, node: {"a": 1, "b": 2, "c": 4}[node.name])
    scheduler = Scheduler(by_label, scores)

    assert scheduler.attempt(fresh()).record.best[0].scores == {"S": 100}
    relabel(scheduler, "c")
    record = scheduler.attempt(fresh()).record

    assert (record.node, record.best[0].total) == ("b", 100)
    assert scores.asked == list("abc")  # only the normalizing was repeated


def test_a_refusal_may_be_lifted_and_later_filters_asked(fresh):
    first = Filter("F", lambda pod, node: NO if node.labels else None, depends_on=ON_NODE)
    second = Filter("G", depends_on=ON_NODE)
    scheduler = Scheduler(first, second, nodes=[node("a"), node("b", labels="v=1")])
    assert asked(scheduler, second, fresh()) == ["a"]
    relabel(scheduler, "b", "")

    assert asked(scheduler, second, fresh()) == ["b"]
    assert scheduler.attempt(fresh()).record.feasible == 2


def test_a_later_filter_is_not_asked_about_a_node_that_stays_refused(fresh):
    first = Filter("F", lambda pod, node: NO if node.name == "b" else None)
    second = Filter("G", depends_on=ON_NODE)
    scheduler = Scheduler(first, second)
    scheduler.node_of(fresh())
    relabel(scheduler, "b")

    assert asked(scheduler, second, fresh()) == []


def test_many_changed_rows_are_judged_together(fresh):
    names = [f"n{number:02}" for number in range(60)]
    plugin = Filter("F", lambda pod, node: NO if node.labels else None, depends_on=ON_NODE)
    scheduler = Scheduler(plugin, nodes=names)
    scheduler.node_of(fresh())
    for name in names[:40]:
        relabel(scheduler, name)

    assert asked(scheduler, plugin, fresh()) == names[:40]
    assert scheduler.attempt(fresh()).record.rejected == {("F", "no"): 40}


class Switch(PreFilter, Filter):
    """Takes part when the cluster has a namespace "on", and then refuses node a."""

    def pre_filter(self, state, pod, nodes):
        on = nodes.cluster.objects(Namespace).get("on") is not None
        return None if on else fwk.skip()

    def filter(self, state, pod, node):
        return NO if node.name == "a" else None


def switch(scheduler, on):
    if on:
        scheduler.cluster.set_object(Namespace(metadata=ObjectMeta(name="on")))
    else:
        scheduler.cluster.remove_object(Namespace, "on")


def test_a_plugin_may_start_and_stop_taking_part(fresh):
    plugin = Switch("P", depends_on=fwk.Dependencies(cluster=fwk.Aspect.NAMESPACES))
    scheduler = Scheduler(plugin, Filter("F", depends_on=ON_NODE))
    seen = []
    for on in (False, True, False, True):
        switch(scheduler, on)
        record = scheduler.attempt(fresh()).record
        seen.append((record.feasible, record.rejected))

    assert seen == [(3, {}), (2, {("P", "no"): 1})] * 2


class Choosy(PreScore, Score):
    """Scores node a when the cluster has a namespace "on"; otherwise it skips."""

    def pre_score(self, state, pod, nodes):
        return None if nodes.cluster.objects(Namespace).get("on") else fwk.skip()

    def score(self, state, pod, node):
        return 100 if node.name == "a" else 0


@pytest.mark.parametrize("weight", [1, 2, 10000])
def test_a_score_may_start_and_stop_taking_part(weight, fresh):
    plugin = Choosy("P", depends_on=fwk.Dependencies(cluster=fwk.Aspect.NAMESPACES))
    other = Score("S", lambda pod, node: 50 if node.name == "b" else 0)
    scheduler = Scheduler(plugin, other, weights={"P": weight})
    chosen = []
    for on in (False, True, False, True):
        switch(scheduler, on)
        chosen.append(scheduler.node_of(fresh()))

    assert chosen == ["b", "a", "b", "a"]


@pytest.mark.parametrize("kind", [PreFilter, Filter, PreScore, Score])
def test_a_fault_drops_what_was_kept(kind, fresh):
    plugin = kind("P", 0 if kind is Score else None, depends_on=ON_CLUSTER)
    other = Filter("F", depends_on=ON_NODE)
    scheduler = Scheduler(other, plugin, Score("S", 0))
    scheduler.node_of(fresh())
    plugin.answer = BROKEN
    relabel(scheduler, "b")
    assert isinstance(scheduler.attempt(fresh()), Rejected)
    assert len(scheduler.services.pod_classes) == 0

    plugin.answer = 0 if kind is Score else None
    assert asked(scheduler, other, fresh()) == list("abc")
    assert asked(scheduler, other, fresh()) == []

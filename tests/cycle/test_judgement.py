"""What is kept of an equal pod's attempt when PreFilter changes its mind."""

import pytest

from podium import framework as fwk
from podium.api.objects import Namespace, ObjectMeta
from podium.cycle.outcome import Rejected
from podium.testing.builders import node, pod
from tests.support.cycle import Scheduler
from tests.support.toys import Filter, PreFilter, PreScore, Score, reply

NO = fwk.Status.unschedulable("no")
NAMESPACES = fwk.Dependencies(cluster=fwk.Aspect.NAMESPACES)
ON_NODE = fwk.Dependencies(node=fwk.Aspect.LABELS)


class Mood(PreFilter):
    """Answers by the labels of the namespace "mood", which a test sets."""

    def pre_filter(self, state, pod, nodes):
        mood = nodes.cluster.objects(Namespace).get("mood")
        return reply(self.answer[mood.labels["is"]]) if mood else None


def feel(scheduler, mood):
    meta = ObjectMeta(name="mood", labels={"is": mood})
    scheduler.cluster.set_object(Namespace(metadata=meta))


def moody(**answers):
    return Mood("Mood", answers, depends_on=NAMESPACES)


def unlabelled():
    return Filter("F", lambda pod, node: NO if node.labels else None, depends_on=ON_NODE)


def attempts(scheduler):
    count = 0
    while True:
        count += 1
        yield scheduler.attempt(pod(f"p{count}"))


REFUSALS = [
    pytest.param(fwk.Status.unschedulable("later"), id="unschedulable"),
    pytest.param(fwk.Status.unresolvable("never"), id="unresolvable"),
    pytest.param(fwk.PreFilterResult(frozenset()), id="no-nodes"),
]


@pytest.mark.parametrize("refusal", REFUSALS)
@pytest.mark.parametrize("after", [None, PreFilter("After")], ids=["last", "not-last"])
def test_a_pod_that_was_refused_first_is_judged_when_it_no_longer_is(refusal, after):
    scheduler = Scheduler(moody(bad=refusal, good=None), *[after] * (after is not None))
    feel(scheduler, "bad")
    tries = attempts(scheduler)
    assert isinstance(next(tries), Rejected)

    feel(scheduler, "good")

    assert next(tries).record.feasible == 3


@pytest.mark.parametrize("refusal", REFUSALS)
def test_what_changed_while_the_pod_was_refused_is_not_missed(refusal):
    scheduler = Scheduler(moody(bad=refusal, good=None), unlabelled())
    tries = attempts(scheduler)
    assert next(tries).record.feasible == 3

    feel(scheduler, "bad")
    scheduler.cluster.set_node(node("b", labels="v=1"))
    assert isinstance(next(tries), Rejected)
    feel(scheduler, "good")

    record = next(tries).record
    assert record.feasible == 2
    assert record.rejected == {("F", "no"): 1}


def test_a_refused_pod_has_no_refusing_nodes():
    scheduler = Scheduler(moody(bad=NO, good=None), unlabelled())
    scheduler.cluster.set_node(node("b", labels="v=1"))
    tries = attempts(scheduler)
    assert next(tries).record.rejected == {("F", "no"): 1}

    feel(scheduler, "bad")
    record = next(tries).record

    assert (record.rejected, record.feasible) == ({}, 0)


def test_other_nodes_may_be_wanted():
    only = {name: fwk.PreFilterResult(frozenset(name)) for name in "ab"}
    scheduler = Scheduler(moody(**only, all=None), Filter("F", depends_on=ON_NODE))
    feasible = []
    for mood in ("a", "all", "b", "a", "all"):
        feel(scheduler, mood)
        found = scheduler.cycle(pod(mood)).find_feasible()
        feasible.append("".join(found.feasible.names))

    assert feasible == ["a", "abc", "b", "a", "abc"]


class Preparing(PreScore, Score):
    """Scores by what its PreScore found."""

    class Found:
        def __init__(self, names):
            self.names = names

    def pre_score(self, state, pod, nodes):
        if self.answer is not None:
            return self.answer
        state.put(self.Found(nodes.names))
        return None

    def score(self, state, pod, node):
        return len(state.get(self.Found).names)


def test_preparations_for_scores_do_not_outlive_their_state():
    only = {name: fwk.PreFilterResult(frozenset(name)) for name in ("ab", "bc")}
    scheduler = Scheduler(moody(**only, all=None), Preparing("S"))
    totals = []
    for mood in ("ab", "all", "bc"):
        feel(scheduler, mood)
        record = scheduler.attempt(pod(mood)).record
        totals.append(record.best[0].total)

    # Which nodes are feasible is none of its business, but starting over must not lose its state.
    assert all(total in (2, 3) for total in totals)


def test_a_skip_of_pre_score_does_not_outlive_its_state():
    only = {name: fwk.PreFilterResult(frozenset(name)) for name in ("ab", "bc")}
    scheduler = Scheduler(moody(**only), Preparing("S", fwk.skip()), Score("T", 0))
    for mood in ("ab", "bc", "ab"):
        feel(scheduler, mood)
        record = scheduler.attempt(pod(f"{mood}-{len(scheduler.cluster.pods)}")).record

        assert record.best[0].scores == {"T": 0}


def test_nodes_that_an_unsigned_pre_filter_wants_for_one_pod_are_another_set_of_nodes():
    """Versions of feasible nodes must differ when the sets do, whoever narrowed them."""

    class Only(PreFilter):
        sign = None

        def pre_filter(self, state, pod, nodes):
            return fwk.PreFilterResult(frozenset(pod.name)) if pod.name != "any" else None

    scheduler = Scheduler(Only("P"), Score("S", 5, depends_on=fwk.Dependencies()), nodes="abcdefgh")
    for name in ("any", "ab", "any", "cd", "gh"):
        cycle = scheduler.cycle(pod(name))
        row = cycle.choose(cycle.find_feasible())

        assert scheduler.cluster.table.names[row] in ("abcdefgh" if name == "any" else name)
        assert cycle.record.tied == (8 if name == "any" else 2)


def test_a_plugin_that_cannot_say_what_it_depends_on_is_asked_after_every_change(caplog):
    class Silent(Filter):
        def depends_on(self, pod):
            raise RuntimeError("broken")

    plugin = Silent("F")
    scheduler = Scheduler(plugin)
    tries = attempts(scheduler)

    assert next(tries).record.feasible == next(tries).record.feasible == 3
    assert len(plugin.asked) > 3
    assert caplog.records[0].getMessage().startswith("plugin failed plugin='F' point='DependsOn'")


def test_more_statuses_than_nodes_are_forgotten_in_time():
    """A plugin that words every refusal anew must not make a pod class grow without end."""
    words = Filter("F", lambda pod, node: fwk.Status.unschedulable(str(node.labels.get("v"))))
    words._depends_on = ON_NODE
    scheduler = Scheduler(words, nodes="a")
    for number in range(3000):
        scheduler.cluster.set_node(node("a", labels=f"v={number}"))
        outcome = scheduler.cycle(pod()).run()

    assert outcome.message == "0/1 nodes are available: 1 2999."
    (pod_class,) = scheduler.services.pod_classes._classes.values()
    assert len(pod_class.judgement.kept.statuses) < 2000

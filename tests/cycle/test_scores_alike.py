"""A plugin that scores all nodes of a pod alike is asked once, if what it says is true."""

import pytest

from podium import framework as fwk
from podium.testing.builders import node, pod
from tests.support.cycle import Scheduler
from tests.support.toys import Filter, Normalizing, Score

ALIKE = fwk.Dependencies(scores_alike=True)


def scheduler_with(score):
    """A scheduler with this plugin, and a filter that refuses nodes with labels."""
    refusal = fwk.Status.unschedulable("no")
    on_labels = fwk.Dependencies(node=fwk.Aspect.LABELS)
    by_label = Filter("F", lambda pod, node: refusal if node.labels else None, depends_on=on_labels)
    return Scheduler(by_label, score)


def relabel(scheduler, name, labels):
    scheduler.cluster.set_node(node(name, labels=labels))


@pytest.mark.parametrize(("kind", "expected"), [(Score, 7), (Normalizing, 100)])
def test_it_is_asked_once_whichever_nodes_are_feasible(kind, expected):
    score = kind("S", 7, depends_on=ALIKE)
    scheduler = scheduler_with(score)
    relabel(scheduler, "c", "v=2")
    scheduler.node_of(pod("first"))
    relabel(scheduler, "c", "")
    relabel(scheduler, "a", "v=2")

    record = scheduler.attempt(pod("second")).record

    assert score.asked == ["a", "b"]
    assert [best.scores for best in record.best] == [{"S": expected}] * 2


def test_it_is_asked_again_if_the_scores_differ():
    score = Normalizing("S", lambda pod, node: "abc".index(node.name), depends_on=ALIKE)
    scheduler = scheduler_with(score)
    first = scheduler.node_of(pod("first"))
    relabel(scheduler, "c", "v=2")
    second = scheduler.attempt(pod("second")).record

    assert (first, second.node) == ("c", "b")
    assert second.best[0].scores == {"S": 100}

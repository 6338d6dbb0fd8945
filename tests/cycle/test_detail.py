"""What a record knows about each node of its attempt."""

import pytest

from podium import framework as fwk
from podium.cycle.detail import NodeVerdict, ScoredNode
from podium.framework.extender import EXTENDER
from podium.testing.builders import node, pod
from tests.support.cycle import Scheduler
from tests.support.toy_extenders import Extended, ToyExtender
from tests.support.toys import Filter, Normalizing, PreFilter, Score

BUSY = fwk.Status.unschedulable("busy")


def by_name(**answers):
    return lambda pod, node: answers.get(node.name)


def scheduler(**options):
    """Node c is busy; b has the highest total, then d and e, then a."""
    scores = Score("S", lambda pod, node: {"a": 1, "b": 9, "d": 5, "e": 5}.get(node.name, 0))
    return Scheduler(
        Filter("F", by_name(c=BUSY)),
        scores,
        Score("T", 3),
        nodes="abcde",
        weights={"T": 2},
        **options,
    )


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        pytest.param(
            "b", NodeVerdict(fwk.SUCCESS, True, ScoredNode("b", 15, {"S": 9, "T": 3}), 1),
            id="chosen",
        ),
        pytest.param(
            "e", NodeVerdict(fwk.SUCCESS, True, ScoredNode("e", 11, {"S": 5, "T": 3}), 2),
            id="tied-nodes-share-a-rank",
        ),
        pytest.param(
            "a", NodeVerdict(fwk.SUCCESS, True, ScoredNode("a", 7, {"S": 1, "T": 3}), 4), id="last"
        ),
        pytest.param("c", NodeVerdict(BUSY.by("F")), id="refused"),
        pytest.param("z", None, id="unknown"),
    ],
)  # fmt: skip
def test_what_was_said_about_a_node(name, expected):
    record = scheduler().attempt(pod("web")).record

    assert record.detail.of_node(name) == expected


def test_later_changes_do_not_reach_a_detail():
    cluster = scheduler()
    first = cluster.attempt(pod("web")).record
    before = [first.detail.of_node(name) for name in "abcde"]
    cluster.cluster.remove_node("a")
    cluster.cluster.remove_node("b")
    cluster.cluster.set_node(node("new"))
    for number in range(5):
        cluster.attempt(pod(f"other-{number}"))

    assert [first.detail.of_node(name) for name in "abcde"] == before
    assert first.detail.of_node("new") is None
    assert [scored.name for scored in first.best] == ["b", "d", "e"]


def test_a_lone_node_is_not_compared():
    record = Scheduler(Score("S", 5), nodes="a").attempt(pod()).record

    assert record.detail.of_node("a") == NodeVerdict(fwk.SUCCESS, True)
    assert record.best == ()


def test_pre_filter_can_leave_out_nodes():
    only = fwk.PreFilterResult(frozenset("a"))
    record = Scheduler(PreFilter("P", only), nodes="ab").attempt(pod()).record

    verdict = record.detail.of_node("b")
    assert not verdict.is_feasible
    assert not verdict.status.ok
    assert verdict.status.message == "node(s) didn't satisfy plugin(s) [P]"


def test_a_rejection_by_pre_filter_is_every_nodes_verdict():
    no_claim = fwk.Status.unresolvable("no claim")
    record = Scheduler(PreFilter("P", no_claim), nodes="ab").attempt(pod()).record

    assert record.detail.of_node("b") == NodeVerdict(no_claim.by("P"))


def test_nodes_that_sampling_left_out_were_not_examined():
    names = [f"n{number:03}" for number in range(200)]
    record = Scheduler(Score("S", 1), nodes=names, percentage=50).attempt(pod()).record

    verdicts = [record.detail.of_node(name) for name in names]
    assert sum(verdict.is_feasible for verdict in verdicts) == record.feasible == 100
    assert {v.status.message for v in verdicts if not v.is_feasible} == {""}


def test_a_nominated_node_is_taken_alone():
    record = scheduler().attempt(pod("web").nominated_to("a")).record

    assert record.node == "a"
    assert record.detail.of_node("b") == NodeVerdict(fwk.SUCCESS)  # it fits, but was not compared
    assert record.detail.of_node("c") == NodeVerdict(BUSY.by("F"))


def test_many_statuses_are_numbered_by_more_than_a_byte():
    names = [f"n{number}" for number in range(300)]
    refuse = Filter("F", lambda pod, node: fwk.Status.unschedulable(f"no {node.name}"))
    record = Scheduler(refuse, nodes=names).attempt(pod()).record

    assert [record.detail.of_node(name).status.message for name in names] == [
        f"no {name}" for name in names
    ]


def test_raw_scores_are_those_before_normalizing():
    halves = Normalizing("N", lambda pod, node: {"a": 40, "b": 20}[node.name])
    record = Scheduler(halves, Score("S", 3), nodes="ab").attempt(pod()).record

    assert record.best[0] == ScoredNode("a", 103, {"N": 100, "S": 3}, {"N": 40})


def test_memory_is_counted():
    names = [f"n{number}" for number in range(100)]
    record = Scheduler(Score("S", lambda p, n: int(n.name[1:])), nodes=names).attempt(pod()).record

    assert record.detail.nbytes == 100  # a byte for each node


def test_scores_of_extenders_are_part_of_the_total():
    prefers_a = ToyExtender(prioritize={"a": 10})
    record = Extended(prefers_a, Score("S", 1), nodes="ab").attempt(pod("web")).record

    scored = record.detail.of_node("a").scored
    assert scored.total == scored.scores["S"] + scored.scores[EXTENDER]
    assert scored.scores[EXTENDER] > 0

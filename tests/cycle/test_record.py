"""What an attempt leaves behind."""

import json

import pytest

from podium import framework as fwk
from podium.cycle.record import Record, Records, ScoredNode
from podium.testing.builders import pod
from tests.support.cycle import Scheduler
from tests.support.toys import Filter, PreFilter, Reserve, Score

NO = fwk.Status.unschedulable("no", "never")


def test_a_placed_pod():
    scores = Score("S", lambda pod, node: {"a": 5, "b": 5, "c": 1}.get(node.name, 0))
    refuse = Filter("F", lambda pod, node: NO if node.name == "d" else None)
    scheduler = Scheduler(refuse, scores, Score("T", 3), nodes="abcd", weights={"T": 2})

    record = scheduler.attempt(pod("web"), attempt=4).record

    assert (record.pod, record.uid, record.attempt) == ("default/web", "uid-web", 4)
    assert (record.profile, record.nodes, record.feasible) == ("default-scheduler", 4, 3)
    assert record.node in "ab"
    assert record.rejected == {("F", "no"): 1, ("F", "never"): 1}
    assert record.tied == 2
    assert record.message == ""
    assert record.seconds["cycle"] > 0


def test_the_best_nodes_have_their_scores():
    scores = Score("S", lambda pod, node: {"a": 5, "b": 5}.get(node.name, 0))
    record = Scheduler(scores, Score("T", 3), weights={"T": 2}).attempt(pod("web")).record

    first, second, third = record.best
    assert first.name == record.node  # the chosen one, then those tied with it, then the next
    assert {first.name, second.name} == {"a", "b"}
    assert first == ScoredNode(first.name, 11, {"S": 5, "T": 3})
    assert (third.name, third.total) == ("c", 6)


def test_few_of_many_tied_nodes_are_recorded():
    names = [f"n{number}" for number in range(20)]
    record = Scheduler(Score("S", 0), nodes=names).attempt(pod()).record

    assert record.tied == 20
    assert len(record.best) == 3
    assert len({scored.name for scored in record.best}) == 3


def test_a_lone_node_has_no_scores():
    record = Scheduler(Score("S", 0), nodes="a").attempt(pod()).record

    assert (record.node, record.best, record.tied) == ("a", (), 0)


@pytest.mark.parametrize(
    ("plugin", "message"),
    [
        pytest.param(Filter("P", NO), "0/3 nodes are available: 3 never, 3 no.", id="filter"),
        pytest.param(PreFilter("P", fwk.Status.unresolvable("no claim")),
                     "0/3 nodes are available: no claim.", id="pre-filter"),
        pytest.param(Reserve("P", fwk.Status.unschedulable("taken")),
                     "0/1 nodes are available: 1 taken.", id="reserve"),
        pytest.param(Filter("P", fwk.Status.error("broken")), 'running "P" filter plugin: broken',
                     id="error"),
    ],
)  # fmt: skip
def test_a_rejected_pod(plugin, message):
    record = Scheduler(plugin).attempt(pod()).record

    assert (record.node, record.message) == ("", message)


def test_a_class_seen_before_is_marked():
    scheduler = Scheduler(Filter("F"))

    assert [scheduler.attempt(pod(name)).record.reused for name in "xyz"] == [False, True, True]


def test_attempts_are_remembered():
    scheduler = Scheduler(Filter("F"))
    for name in "xyz":
        scheduler.attempt(pod(name))
    records = scheduler.services.records

    assert [record.pod for record in records] == ["default/x", "default/y", "default/z"]
    assert records.latest("uid-y").pod == "default/y"
    assert records.latest("uid-other") is None


def test_faults_are_remembered_too():
    scheduler = Scheduler(Filter("F", RuntimeError("broken")))
    scheduler.attempt(pod("web"))

    assert "broken" in scheduler.services.records.latest("uid-web").message


def test_the_latest_attempt_is_found():
    records = Records()
    for attempt in (1, 2):
        records.add(Record("default/web", "uid-web", attempt, "default-scheduler"))

    assert records.latest("uid-web").attempt == 2


def test_old_records_are_forgotten():
    records = Records(most=2)
    for name in "xyz":
        records.add(Record(name, name, 1, "default-scheduler"))

    assert [record.pod for record in records] == ["y", "z"]
    assert len(records) == 2
    assert records.latest("x") is None


def test_refusals_because_of_nominated_pods_are_recorded():
    full = fwk.Status.unschedulable("full")
    scheduler = Scheduler(Filter("F", lambda pod, node: full if node.pods else None))
    for name in "abc":
        waiting = fwk.PodInfo(pod(f"first-{name}", priority=9))
        scheduler.services.nominator.add(waiting, fwk.Nominate(name))

    record = scheduler.attempt(pod("web")).record

    assert (record.feasible, record.rejected) == (0, {("F", "full"): 3})


def test_reuse_is_recorded_without_feasible_nodes_too():
    scheduler = Scheduler(Filter("F", NO))

    assert [scheduler.attempt(pod(name)).record.reused for name in ("x", "y")] == [False, True]


def test_a_record_as_plain_data():
    scored = ScoredNode("a", 7, {"Fit": 7})
    record = Record("default/web", "u1", 1, "default-scheduler", nodes=2, best=(scored,))
    record.rejected[("Fit", "Insufficient cpu")] = 1

    plain = record.to_dict()

    assert json.loads(json.dumps(plain)) == plain
    assert plain["best"] == [{"name": "a", "total": 7, "scores": {"Fit": 7}}]
    assert plain["rejected"] == [{"plugin": "Fit", "reason": "Insufficient cpu", "nodes": 1}]

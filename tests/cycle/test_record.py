"""What an attempt leaves behind."""

import json

import pytest

from podium import framework as fwk
from podium.cycle.detail import ScoredNode
from podium.cycle.record import DetailBudget, Record, Records
from podium.testing.builders import pod
from tests.support.cycle import Scheduler
from tests.support.toys import Filter, PostFilter, PreFilter, Reserve, Score

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
        records.add(Record("default/web", "uid-web", attempt, "default-scheduler"), 0.0)

    assert records.latest("uid-web").attempt == 2
    assert [record.attempt for record in records.of_pod("default/web")] == [1, 2]
    assert records.of_pod("default/other") == []


def test_old_records_are_forgotten():
    records = Records(most=2)
    for name in "xyz":
        records.add(Record(name, name, 1, "default-scheduler"), 0.0)

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
    small = fwk.Status.unschedulable("Insufficient cpu")
    fits = Filter("Fit", lambda pod, node: None if node.name in "ab" else small)
    record = Scheduler(fits, Score("Size", 7)).attempt(pod("web")).record

    plain = record.to_dict()

    assert json.loads(json.dumps(plain)) == plain
    assert plain["best"] == [
        {"name": name, "total": 7, "scores": {"Size": 7}, "raw": {}}
        for name in sorted("ab", key=lambda name: name != record.node)
    ]
    assert plain["rejected"] == [{"plugin": "Fit", "reason": "Insufficient cpu", "nodes": 1}]
    assert plain["detailed"] is True


def test_the_time_of_an_attempt_is_recorded():
    scheduler = Scheduler(Filter("F"))
    scheduler.clock.advance(30)

    assert scheduler.attempt(pod()).record.at == scheduler.clock.now()


def test_preemption_is_recorded():
    nominate = fwk.Nominate("b", ("default/old",))
    evict = PostFilter("P", lambda pod, seen: (nominate, fwk.SUCCESS))
    record = Scheduler(Filter("F", NO), evict).attempt(pod("web")).record

    assert (record.nominated, record.victims) == ("b", ("default/old",))


class Sized:
    """A detail of so many bytes."""

    def __init__(self, nbytes):
        self.nbytes = nbytes


def detailed(records):
    return "".join(record.pod for record in records if record.detail is not None)


def add(records, names, now=0.0, nbytes=1):
    for name in names:
        records.add(Record(name, name, 1, "default-scheduler"), now, lambda: Sized(nbytes))


def test_details_are_dropped_before_records():
    records = Records(most_bytes=25)
    add(records, "xyz", nbytes=10)

    assert ("".join(record.pod for record in records), detailed(records)) == ("xyz", "yz")


def test_a_detail_beyond_the_limit_is_not_kept():
    records = Records(most_bytes=25)
    add(records, "x", nbytes=10)
    add(records, "y", nbytes=26)

    assert detailed(records) == ""


def test_details_leave_with_their_records():
    records = Records(most=2)
    add(records, "xyz")

    assert detailed(records) == "yz"


def test_a_detail_leaves_with_its_record_although_no_other_detail_comes():
    records = Records(most=2)
    add(records, "x")
    (first,) = records
    for name in "yz":
        records.add(Record(name, name, 1, "default-scheduler"), 0.0)

    assert first not in records
    assert first.detail is None


def test_details_are_kept_while_there_is_time_for_them():
    budget = DetailBudget(share=0.01, advance=0.003)
    budget.spend(100.0, 100.002)

    assert budget.affordable_from <= 100.002  # 1 ms of the advance is left
    budget.spend(100.002, 100.004)
    assert 100.004 < budget.affordable_from == pytest.approx(100.1)  # 4 ms are 1 % of 400


def test_calm_times_save_no_more_than_the_advance():
    budget = DetailBudget(share=0.01, advance=0.003)
    budget.spend(1000.0, 1000.004)

    assert budget.affordable_from == pytest.approx(1000.1)


def test_without_time_only_the_summary_is_kept():
    budget = DetailBudget(share=0.01, advance=0.001)
    budget.spend(0.0, 1.0)
    records = Records(budget=budget)
    add(records, "x", now=50.0)
    add(records, "y", now=100.0)

    assert detailed(records) == "y"

"""Pods with a nominated node of their own, and pods that must leave room for others."""

import pytest

from podium import framework as fwk
from podium.cycle.outcome import Rejected
from podium.framework.status import Nominate
from podium.testing.builders import pod
from tests.support.cycle import Scheduler
from tests.support.toys import Filter, PreFilter, PreScore, Score, reply

NO = fwk.Status.unschedulable("no")
FULL = fwk.Status.unschedulable("full")


def best_is(name):
    return Score("S", lambda pod, node: 100 if node.name == name else 0)


def nominated(node_name, name="web", **rest):
    return pod(name, status={"nominated_node_name": node_name}, **rest)


def seats(number):
    """Room for so many pods on each node."""
    depends_on = fwk.Dependencies(node=fwk.Aspect.PODS)
    full = Filter("Seats", lambda pod, node: FULL if len(node.pods) >= number else None)
    full._depends_on = depends_on
    return full


def test_a_nominated_node_that_fits_is_taken_unscored():
    scores = best_is("c")
    scheduler = Scheduler(scores)

    assert scheduler.attempt(nominated("b")).node_name == "b"
    assert scores.asked == []


def test_a_nominated_node_that_does_not_fit_is_one_of_many():
    scheduler = Scheduler(Filter("F", lambda pod, node: NO if node.name == "b" else None),
                          best_is("c"))  # fmt: skip

    assert scheduler.attempt(nominated("b")).node_name == "c"


def test_a_nominated_node_that_is_gone_is_ignored():
    assert Scheduler(best_is("c")).attempt(nominated("gone")).node_name == "c"


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        pytest.param(None, "b", id="filters-agree"),
        pytest.param(NO, "a", id="filters-refuse"),
        pytest.param(RuntimeError("broken"), "a", id="filters-fail"),
    ],
)
def test_the_nodes_that_pre_filter_wants_do_not_bind_a_nomination(answer, expected):
    only = PreFilter("P", fwk.PreFilterResult(frozenset("a")))
    judge = Filter("F", lambda pod, node: reply(answer) if node.name == "b" else None)

    assert Scheduler(only, judge).attempt(nominated("b")).node_name == expected


@pytest.mark.parametrize(
    ("subject", "told"),
    [
        pytest.param(pod(), "1 no, 2 node(s) didn't satisfy plugin(s) [P].", id="not-nominated"),
        pytest.param(
            nominated("a"), "1 no, 2 node(s) didn't satisfy plugin(s) [F P].", id="wanted"
        ),
        pytest.param(
            nominated("b"), "1 node(s) didn't satisfy plugin(s) [F P], 2 no.", id="unwanted"
        ),
        pytest.param(nominated("gone"), "1 no, 2 node(s) didn't satisfy plugin(s) [P].", id="gone"),
    ],
)
def test_a_nominated_node_that_was_tried_in_vain_is_told(subject, told):
    only = PreFilter("P", fwk.PreFilterResult(frozenset("a")))

    outcome = Scheduler(only, Filter("F", NO)).attempt(subject)

    assert outcome.message == f"0/3 nodes are available: {told}"
    assert outcome.diagnosis.unschedulable_plugins == {"F", "P"}


def test_a_nomination_in_memory_alone_is_no_shortcut():
    scheduler = Scheduler(best_is("c"))
    web = pod("web")
    scheduler.services.nominator.add(fwk.PodInfo(web), Nominate("b"))

    assert scheduler.attempt(web).node_name == "c"


def test_room_is_left_for_a_nominated_pod():
    scheduler = Scheduler(seats(1), best_is("a"))
    scheduler.services.nominator.add(fwk.PodInfo(pod("other", priority=5)), Nominate("a"))

    assert scheduler.node_of(pod("low", priority=4)) != "a"
    assert scheduler.node_of(pod("high", priority=6)) == "a"


def test_all_room_may_be_promised():
    scheduler = Scheduler(seats(1), nodes="a")
    scheduler.services.nominator.add(fwk.PodInfo(pod("other", priority=5)), Nominate("a"))

    outcome = scheduler.attempt(pod("low"))

    assert isinstance(outcome, Rejected)
    assert outcome.message == "0/1 nodes are available: 1 full."
    assert outcome.diagnosis.unschedulable_plugins == {"Seats"}


def test_the_promised_pod_takes_its_own_room():
    scheduler = Scheduler(seats(1), nodes="a")
    web = nominated("a", priority=5)
    scheduler.services.nominator.add(fwk.PodInfo(web))

    assert scheduler.attempt(web).node_name == "a"
    assert len(scheduler.services.nominator) == 0


def test_a_nominated_node_must_fit_beside_its_other_nominated_pods():
    scheduler = Scheduler(seats(1), best_is("c"))
    scheduler.services.nominator.add(fwk.PodInfo(pod("other", priority=5)), Nominate("b"))

    assert scheduler.attempt(nominated("b")).node_name == "c"


def test_equal_pods_do_not_inherit_what_was_left_for_others():
    scheduler = Scheduler(seats(1), best_is("a"))
    nominator = scheduler.services.nominator
    assert scheduler.node_of(pod("first")) == "a"

    nominator.add(fwk.PodInfo(pod("other", priority=5)), Nominate("a"))
    assert scheduler.node_of(pod("second")) != "a"

    nominator.remove("uid-other")
    assert scheduler.node_of(pod("third")) == "a"


@pytest.mark.parametrize("reuse", [True, False], ids=["reuse", "scratch"])
def test_scores_follow_the_nodes_that_are_left(reuse):
    """Whatever set of nodes is scored in between, each attempt sees the scores of its own."""
    widest = PreScore("P")
    widest._depends_on = fwk.Dependencies(feasible=True)
    raw = {"a": 1, "b": 5, "c": 9}
    scheduler = Scheduler(
        seats(1), widest, Score("S", lambda pod, node: raw[node.name]), reuse=reuse
    )
    nominator = scheduler.services.nominator
    other = fwk.PodInfo(pod("other", priority=5))

    chosen = [scheduler.node_of(pod("p0"))]
    for number, name in enumerate("cbc"):
        nominator.add(other, Nominate(name))
        chosen.append(scheduler.node_of(pod(f"p{number + 1}")))
    nominator.remove("uid-other")
    chosen.append(scheduler.node_of(pod("p9")))

    assert chosen == ["c", "b", "c", "b", "c"]

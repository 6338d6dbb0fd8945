"""A cycle with extenders: who is asked when, what becomes of the answers, and what is recorded."""

import numpy as np
import pytest

from podium import framework as fwk
from podium.clock import give_way
from podium.cycle.extenders import Extenders
from podium.cycle.outcome import Placed, Rejected
from podium.errors import ExtenderError
from podium.testing.builders import pod
from tests.support import toys
from tests.support.cycle import Scheduler
from tests.support.toy_extenders import Extended, ToyExtender

WEB = pod("web")
DOWN = ExtenderError("it is down")
MOST = (2**63 - 1) // 10


def by_name(scores):
    return lambda pod, node: scores[node.name]


def statuses_of(outcome):
    return {name: (s.code, s.reasons) for name, s in outcome.diagnosis.statuses}


# --- filter --------------------------------------------------------------------------------------


def test_an_extender_is_asked_about_the_nodes_that_plugins_leave():
    refuse_a = toys.Filter(
        "F", lambda pod, node: fwk.Status.unschedulable("no") if node.name == "a" else None
    )
    extender = ToyExtender(filter=["c"])

    outcome = Extended(refuse_a, extender).attempt(WEB)

    assert extender.asked == [("X", "filter", ["b", "c"])]
    assert (outcome.node_name, outcome.record.feasible) == ("c", 1)
    assert outcome.record.rejected == {("F", "no"): 1}


def test_each_extender_is_asked_about_what_the_one_before_left_and_ignorable_ones_last():
    log = []
    parts = (
        ToyExtender("first", filter=["b"], ignorable=True, log=log),
        ToyExtender("second", filter=["a", "b"], log=log),
        ToyExtender("third", filter=["b", "a"], log=log),
    )

    outcome = Extended(*parts).attempt(WEB)

    assert log == [
        ("second", "filter", ["a", "b", "c"]),
        ("third", "filter", ["a", "b"]),
        ("first", "filter", ["a", "b"]),
    ]
    assert outcome.node_name == "b"


def test_nobody_is_asked_about_no_nodes():
    first, second = ToyExtender("1", filter=[]), ToyExtender("2", filter=[])
    assert isinstance(Extended(first, second).attempt(WEB), Rejected)
    assert (len(first.asked), len(second.asked)) == (1, 0)

    nowhere = toys.Filter("F", fwk.Status.unschedulable("no"))
    assert isinstance(Extended(nowhere, second).attempt(WEB), Rejected)
    assert second.asked == []


def test_an_extender_without_interest_is_passed_over():
    extender = ToyExtender(filter=[], prioritize={}, interested=lambda pod: pod.name == "db")
    scheduler = Extended(extender)

    assert isinstance(scheduler.attempt(WEB), Placed)
    assert isinstance(scheduler.attempt(pod("db")), Rejected)
    assert [asked[1] for asked in extender.asked] == ["filter"]


def test_failed_nodes_are_in_the_diagnosis():
    answer = fwk.Filtered([], {"a": "no licence", "b": "full"}, {"b": "wrong rack"})

    outcome = Extended(ToyExtender(filter=answer)).attempt(WEB)

    assert statuses_of(outcome) == {
        "a": (fwk.Code.UNSCHEDULABLE, ("no licence",)),
        "b": (fwk.Code.UNSCHEDULABLE_AND_UNRESOLVABLE, ("wrong rack",)),
    }
    assert outcome.message == "0/3 nodes are available: 1 no licence, 1 wrong rack."
    assert outcome.diagnosis.unschedulable_plugins == {"Extender"}
    assert outcome.record.rejected == {("Extender", "no licence"): 1, ("Extender", "wrong rack"): 1}


def test_nodes_that_go_without_a_word_are_as_if_nobody_had_judged_them():
    outcome = Extended(ToyExtender(filter=[])).attempt(WEB)

    assert outcome.message == "0/3 nodes are available:"
    assert list(outcome.diagnosis.statuses) == []
    assert outcome.diagnosis.unschedulable_plugins == {"Extender"}


def test_an_extender_that_takes_nothing_away_is_not_blamed():
    nowhere = toys.Filter("F", fwk.Status.unschedulable("no"))

    outcome = Extended(nowhere, ToyExtender(filter=["a"])).attempt(WEB)

    assert outcome.diagnosis.unschedulable_plugins == {"F"}


def test_what_is_said_of_nodes_that_were_not_asked_about_is_not_heard():
    full = fwk.Status.unschedulable("full")
    refuse_b = toys.Filter("F", lambda pod, node: full if node.name == "b" else None)
    answer = fwk.Filtered([], {"a": "no", "b": "no", "z": "no", "": "no"}, {"b": "never"})

    outcome = Extended(ToyExtender(filter=answer), refuse_b, nodes="ab").attempt(WEB)

    assert outcome.message == "0/2 nodes are available: 1 full, 1 no."


UNKNOWN_NODE = 'extender "X" claims a filtered node "z" which is not found in the input node list'


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        pytest.param(DOWN, "it is down", id="raises"),
        pytest.param(["a", "z"], UNKNOWN_NODE, id="unknown-node"),
        pytest.param(RuntimeError("a bug"), "a bug", id="breaks"),
        pytest.param(ValueError(), "ValueError", id="breaks-in-silence"),
        pytest.param(
            lambda names: None, "'NoneType' object has no attribute 'names'", id="nothing"
        ),
    ],
)
@pytest.mark.parametrize("ignorable", [False, True])
def test_a_failing_filter(answer, message, ignorable):
    outcome = Extended(ToyExtender(filter=answer, ignorable=ignorable)).attempt(WEB)

    if ignorable:
        assert outcome.record.feasible == 3
    else:
        assert (outcome.status.code, outcome.message) == (fwk.Code.ERROR, message)
        assert (outcome.diagnosis, outcome.nominate) == (None, fwk.Nominate(""))


def test_after_an_ignorable_extender_that_fails_the_next_is_asked():
    failing = ToyExtender("1", filter=DOWN, ignorable=True)
    working = ToyExtender("2", filter=["b"], ignorable=True)

    assert Extended(failing, working).attempt(WEB).node_name == "b"


# --- the nominated node --------------------------------------------------------------------------


NOMINATED = pod("web", status={"nominated_node_name": "b"})


def test_a_nominated_node_is_tried_alone():
    extender = ToyExtender(filter=lambda names: names)

    outcome = Extended(extender).attempt(NOMINATED)

    assert (outcome.node_name, extender.asked) == ("b", [("X", "filter", ["b"])])


@pytest.mark.parametrize("answer", [[], DOWN], ids=["refused", "failed"])
def test_all_nodes_are_tried_when_an_extender_refuses_the_nominated_one(answer):
    def judge(names):
        return toys.reply(answer) if names == ["b"] else ["a"]

    extender = ToyExtender(filter=judge)
    outcome = Extended(extender).attempt(NOMINATED)

    assert [asked[2] for asked in extender.asked] == [["b"], ["a", "b", "c"]]
    assert outcome.node_name == "a"


# --- scores --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("plugin", "extenders", "node", "total"),
    [
        pytest.param({"a": 50, "b": 40, "c": 0}, [{}], "a", 50, id="no-scores"),
        pytest.param({"a": 50, "b": 45, "c": 0}, [{"b": 1}], "b", 55, id="times-ten"),
        pytest.param({"a": 0, "b": 0, "c": 100}, [{"a": 6}, {"a": 5}], "a", 110, id="added-up"),
        pytest.param({"a": 60, "b": 0, "c": 0}, [{"a": -1, "b": 6}], "b", 60, id="below-zero"),
        pytest.param({"a": 0, "b": 0, "c": 0}, [{"b": 1000}], "b", 10_000, id="above-ten"),
        pytest.param({"a": 9, "b": 0, "c": 0}, [{"z": 10}], "a", 9, id="unknown-node"),
        pytest.param({"a": 9, "b": 0, "c": 0}, [DOWN, {"c": 1}], "c", 10, id="one-fails"),
        pytest.param({"a": 9, "b": 0, "c": 0}, [{"b": "10"}], "a", 9, id="no-number"),
        pytest.param({"a": 9, "b": 0, "c": 0}, [{"b": 2**62}], "a", 9, id="wraps-around"),
        pytest.param({"a": 9, "b": 0, "c": 0}, [{"b": MOST}] * 2, "a", 9, id="sum-wraps-around"),
    ],
)
def test_scores_are_added(plugin, extenders, node, total):
    parts = [ToyExtender(str(i), prioritize=answer) for i, answer in enumerate(extenders)]

    outcome = Extended(toys.Score("S", by_name(plugin)), *parts).attempt(WEB)

    best = outcome.record.best[0]
    assert (outcome.node_name, best.name, best.total) == (node, node, total)
    assert best.scores == {"S": plugin[node], "Extender": total - plugin[node]}


def test_the_weight_counts():
    light, heavy = (
        ToyExtender("l", prioritize={"a": 5}),
        ToyExtender("h", prioritize={"b": 2}, weight=3),
    )

    outcome = Extended(toys.Score("S", 0), light, heavy).attempt(WEB)

    assert [(node.name, node.total) for node in outcome.record.best] == [
        ("b", 60),
        ("a", 50),
        ("c", 0),
    ]


def test_the_only_node_is_not_scored():
    extender = ToyExtender(prioritize={})

    assert isinstance(Extended(extender, nodes="a").attempt(WEB), Placed)
    assert extender.asked == []


def test_scores_decide_without_score_plugins():
    assert Extended(ToyExtender(prioritize={"b": 1})).attempt(WEB).node_name == "b"


def test_among_equals_a_node_that_was_named_wins():
    scheduler = Extended(ToyExtender(prioritize={"b": 0, "c": 0}))
    chosen = set()
    for number in range(40):
        chosen.add(scheduler.node_of(pod(f"web-{number}")))

    assert chosen == {"b", "c"}


async def scoring(name, log):
    """Remembers when it starts and ends; whoever may run beside it starts in between."""
    log.append(("start", name))
    await give_way()
    log.append(("end", name))
    return {"b": 1}


@pytest.mark.parametrize(
    ("parallelism", "most"),
    [pytest.param(16, 6, id="all-at-once"), pytest.param(2, 2, id="two-at-a-time")],
)
def test_extenders_score_at_once_within_parallelism(parallelism, most):
    log = []
    parts = [ToyExtender(n, prioritize=lambda _, n=n: scoring(n, log)) for n in "uvwxyz"]
    scheduler = Extended(*parts, parallelism=parallelism)

    assert scheduler.attempt(WEB).node_name == "b"

    running = np.cumsum([1 if what == "start" else -1 for what, _ in log])
    assert (running.max(), len(log)) == (most, 12)


# --- a sample of the nodes -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("extender", "asked"),
    [
        pytest.param(ToyExtender(filter=lambda names: names), 100, id="filter"),
        pytest.param(ToyExtender(prioritize={}), 100, id="prioritize"),
        pytest.param(ToyExtender(bind=None), 1, id="neither"),
    ],
)
def test_the_first_node_will_do_only_where_nobody_judges_or_scores(extender, asked):
    nodes = [f"n{number}" for number in range(200)]

    outcome = Extended(extender, nodes=nodes, percentage=5).attempt(WEB)

    assert outcome.record.feasible == asked


# --- all of it -----------------------------------------------------------------------------------


def test_a_cycle_without_its_extenders_is_refused():
    with pytest.raises(RuntimeError, match="await run_extended"):
        Extended(ToyExtender(filter=[])).cycle(WEB).run()


def test_a_binder_that_cannot_bind_is_refused_at_the_start():
    class Binder(fwk.Extender):
        name = "binder"
        is_binder = True

    with pytest.raises(ExtenderError, match=r"extender binder says that it binds.*and has no bind"):
        Extenders([Binder()])


def test_no_nodes_at_all():
    extender = ToyExtender(filter=[])

    outcome = Extended(extender, nodes=()).attempt(WEB)

    assert outcome.message == "no nodes available to schedule pods"
    assert extender.asked == []


def test_without_a_word_from_extenders_the_outcome_is_the_same():
    """The two drivers of a cycle agree, on equal pods one after another."""
    score = {"a": 1, "b": 9, "c": 9}

    def plugins():
        refuse_c = toys.Filter(
            "F",
            lambda pod, node: (
                fwk.Status.unschedulable("no") if node.name == "c" and pod.name > "web-4" else None
            ),
        )
        return refuse_c, toys.Score("S", by_name(score))

    plain, extended = Scheduler(*plugins()), Extended(ToyExtender(), *plugins())
    for number in range(8):
        each = pod(f"web-{number}")
        ours, theirs = extended.attempt(each).record, plain.attempt(each).record
        for record in (ours, theirs):
            record.seconds, best = {}, record.best
            record.detail = [(node.name, node.total, node.scores["S"]) for node in best]
        assert ours == theirs

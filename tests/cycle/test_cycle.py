"""One attempt from PreFilter to Permit, with toy plugins."""

import pytest

from podium import framework as fwk
from podium.cycle.outcome import Placed, Rejected
from podium.framework.status import Nominate
from podium.testing.builders import node, pod
from tests.support.cycle import Scheduler
from tests.support.toys import (
    Filter,
    Normalizing,
    Permit,
    PostFilter,
    PreFilter,
    PreScore,
    Reserve,
    Score,
    reply,
)

BROKEN = RuntimeError("broken")
NO = fwk.Status.unschedulable("no")
CLEAR = Nominate("")


def unless(*names, status=NO):
    return lambda pod, node: None if node.name in names else status


def note(log, what, answer=None):
    def noted(*given):
        log.append(what)
        return reply(answer, *given)

    return noted


def test_stages_come_in_order():
    log = []

    class NotedScores(Normalizing):
        def normalize_score(self, state, pod, scores, nodes):
            log.append("normalize")
            return scores

    scheduler = Scheduler(
        Permit("Permit", note(log, "permit")),
        Reserve("Reserve", note(log, "reserve")),
        NotedScores("Score", note(log, "score", 1)),
        PreScore("PreScore", note(log, "prescore")),
        PostFilter("PostFilter", note(log, "postfilter", (None, fwk.SUCCESS))),
        Filter("Filter", note(log, "filter")),
        PreFilter("PreFilter", note(log, "prefilter")),
        nodes="ab",
    )

    outcome = scheduler.attempt(pod())

    assert isinstance(outcome, Placed)
    stages = "prefilter filter filter prescore score score normalize reserve permit"
    assert log == stages.split()


def test_the_best_node_is_chosen_and_the_pod_assumed_there():
    scores = Score("S", lambda pod, node: {"a": 1, "b": 9, "c": 2}[node.name])
    scheduler = Scheduler(scores)

    outcome = scheduler.attempt(pod("web", cpu="1"))

    assert (outcome.node_name, outcome.status) == ("b", fwk.SUCCESS)
    assert scheduler.cluster.is_assumed("uid-web")
    assert scheduler.cluster.node("b").requested("cpu") == 1000
    assert outcome.record.node == "b"


def test_weights_count():
    first = Score("S", lambda pod, node: {"a": 10, "b": 0}[node.name])
    second = Score("T", lambda pod, node: {"a": 0, "b": 4}[node.name])

    assert Scheduler(first, second, nodes="ab").node_of(pod()) == "a"
    assert Scheduler(first, second, nodes="ab", weights={"T": 3}).node_of(pod()) == "b"


def test_a_lone_feasible_node_is_not_scored():
    before, scores = PreScore("P", BROKEN), Score("S", BROKEN)
    scheduler = Scheduler(Filter("F", unless("b")), before, scores)

    assert scheduler.attempt(pod()).node_name == "b"
    assert before.asked == scores.asked == []


def test_only_feasible_nodes_are_scored():
    scores = Score("S", 0)
    Scheduler(Filter("F", unless("a", "c")), scores).attempt(pod())

    assert scores.asked == ["a", "c"]


def test_a_skipped_pre_score_leaves_its_score_out():
    class Both(PreScore, Score):
        def score(self, state, pod, node):
            raise AssertionError("skipped")

    other = Score("S", lambda pod, node: {"a": 1, "b": 2, "c": 3}[node.name])

    assert Scheduler(Both("B", fwk.skip()), other).node_of(pod()) == "c"


def test_without_score_plugins_any_node_will_do():
    scheduler = Scheduler(Filter("F", unless("a", "b")), PreScore("P", BROKEN))

    assert {scheduler.node_of(pod(f"p{n}")) for n in range(20)} == {"a", "b"}


def test_a_cluster_without_nodes():
    post = PostFilter("Post", (None, fwk.SUCCESS))
    outcome = Scheduler(PreFilter("P", BROKEN), post, nodes="").attempt(pod())

    assert isinstance(outcome, Rejected)
    assert outcome.status == fwk.Status.unresolvable("no nodes available to schedule pods")
    assert outcome.message == "no nodes available to schedule pods"
    assert (outcome.diagnosis, outcome.nominate, post.asked) == (None, CLEAR, [])


@pytest.mark.parametrize(
    ("plugins", "message", "blamed"),
    [
        pytest.param([Filter("F", NO)], "3 no.", "F", id="filter"),
        pytest.param([Filter("F", unless("a")), Filter("G", fwk.Status.unresolvable("full"))],
                     "1 full, 2 no.", "FG", id="two-filters"),
        pytest.param([PreFilter("P", fwk.Status.unresolvable("no claim"))], "no claim.", "P",
                     id="pre-filter"),
        pytest.param([PreFilter("P", NO), Filter("F", NO)], "no.", "P",
                     id="pre-filter-keeps-filters-away"),
        pytest.param([PreFilter("P", fwk.PreFilterResult(frozenset("ab"))), Filter("F", NO)],
                     "1 node(s) didn't satisfy plugin(s) [P], 2 no.", "FP", id="nodes-left-out"),
        pytest.param([PreFilter("P", fwk.PreFilterResult(frozenset(["gone"])))],
                     "3 node(s) didn't satisfy plugin(s) [P].", "P", id="nodes-that-are-gone"),
        pytest.param([PreFilter("P", fwk.PreFilterResult(frozenset()))],
                     "node(s) didn't satisfy plugin P.", "P", id="no-nodes-wanted"),
        pytest.param([Filter("F", fwk.Status.unschedulable())], "", "F", id="no-words"),
    ],
)  # fmt: skip
def test_no_node_fits(plugins, message, blamed):
    outcome = Scheduler(*plugins).attempt(pod())

    assert isinstance(outcome, Rejected)
    assert outcome.message == f"0/3 nodes are available: {message}".rstrip()
    assert outcome.status == fwk.Status.unschedulable(outcome.message)
    assert outcome.diagnosis.unschedulable_plugins == set(blamed)


@pytest.mark.parametrize(
    "plugin",
    [
        pytest.param(PreFilter("P", BROKEN), id="pre-filter"),
        pytest.param(Filter("P", BROKEN), id="filter"),
        pytest.param(PreScore("P", BROKEN), id="pre-score"),
        pytest.param(Score("P", BROKEN), id="score"),
        pytest.param(Score("P", 101), id="range"),
    ],
)
def test_a_fault_is_an_error_and_not_a_rejection(plugin):
    post = PostFilter("Post", (None, fwk.SUCCESS))
    outcome = Scheduler(plugin, Score("S", 0), post).attempt(pod())

    assert isinstance(outcome, Rejected)
    assert outcome.status.code is fwk.Code.ERROR
    assert '"P"' in outcome.message
    assert (outcome.diagnosis, outcome.nominate, post.asked) == (None, CLEAR, [])


@pytest.mark.parametrize(
    ("answer", "nominate", "suffix"),
    [
        pytest.param((Nominate("a"), fwk.SUCCESS), Nominate("a"), "", id="room-was-made"),
        pytest.param((CLEAR, fwk.Status.unschedulable("none found")), CLEAR, " none found",
                     id="no-room"),
        pytest.param((None, fwk.Status.unschedulable("not eligible")), None, " not eligible",
                     id="nomination-left-alone"),
        pytest.param((Nominate("a"), fwk.Status.error("no disk")), None, " no disk", id="error"),
        pytest.param(BROKEN, None, ' running PostFilter plugin "Post": broken', id="exception"),
    ],
)  # fmt: skip
def test_post_filter(answer, nominate, suffix):
    outcome = Scheduler(Filter("F", NO), PostFilter("Post", answer)).attempt(pod())

    assert outcome.message == f"0/3 nodes are available: 3 no.{suffix}"
    assert outcome.status.code is fwk.Code.UNSCHEDULABLE
    assert outcome.nominate == nominate


def test_without_post_filters_the_nomination_is_cleared():
    assert Scheduler(Filter("F", NO)).attempt(pod()).nominate == CLEAR


def test_post_filter_gets_every_nodes_status():
    seen = {}

    def answer(pod, statuses):
        seen.update(statuses)
        return None, NO

    Scheduler(Filter("F", NO), PostFilter("Post", answer), nodes="ab").attempt(pod())

    assert seen == {"a": NO.by("F"), "b": NO.by("F")}


def test_what_post_filter_puts_stays_in_its_cycle():
    class Once(PostFilter):
        def post_filter(self, state, pod, statuses):
            assert state.find(list) is None
            state.put([1])
            return None, NO

    scheduler = Scheduler(Filter("F", NO), Once("Post"))

    assert scheduler.attempt(pod("a")).message == scheduler.attempt(pod("b")).message


def test_unequal_pods_have_states_of_their_own():
    class Putting(PreFilter):
        def pre_filter(self, state, pod, nodes):
            assert state.find(str) is None
            state.put(pod.name)

        def sign(self, pod):
            return pod.name

    scheduler = Scheduler(Putting("P"))

    assert isinstance(scheduler.attempt(pod("x")), Placed)
    assert isinstance(scheduler.attempt(pod("y")), Placed)


def test_the_tables_holes_do_not_show():
    scheduler = Scheduler(Score("S", 0), nodes=[node("a"), node("b")])
    scheduler.cluster.remove_node("a")
    scheduler.cluster.add_pod(pod("early", node="ghost"))

    assert scheduler.attempt(pod()).node_name == "b"
    assert scheduler.attempt(pod("other")).record.nodes == 1


def test_maps_of_the_pod_are_closed_for_plugins_from_outside():
    """Also for a driver of cycles that asks no PreEnqueue before."""
    outcome = Scheduler(Filter("F", lambda pod, node: pod.labels.update(x="y"))).attempt(pod())

    assert outcome.status.message.startswith(
        'running "F" filter plugin: it tried to change a map of the pod, but objects are read-only'
    )

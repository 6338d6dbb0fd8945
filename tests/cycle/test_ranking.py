"""Ties are broken by the pod, the attempt and the nodes' names, and by nothing else."""

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from podium import framework as fwk
from podium.cycle.ranking import Ranking
from podium.cycle.scoreboard import Scoreboard
from podium.cycle.tied import Tied
from podium.cycle.verdicts import FeasibleVersion
from podium.framework.profile import subset
from podium.state.rows import table_of
from podium.testing.builders import node, pod
from tests.support.cycle import Scheduler
from tests.support.search import examples
from tests.support.toys import Filter, Score, profile
from tests.support.views import state_of

NAMES = [f"node-{number}" for number in range(10)]


def all_of(nodes):
    return np.ones(len(nodes), np.bool_)


def chosen(names, key):
    nodes = fwk.Rows.of(*map(node, names))
    return table_of(nodes).names[Tied.of(nodes, all_of(nodes)).choose(key)]


@given(st.permutations(NAMES), st.text())
@examples(50)
def test_the_order_of_rows_does_not_matter(names, key):
    assert chosen(names, key) == chosen(NAMES, key)


def test_removed_nodes_do_not_matter():
    nodes = fwk.Rows.of(*map(node, ["gone", *NAMES[5:], "also-gone", *NAMES[:5]]))
    for name in ("gone", "also-gone"):
        state_of(nodes).remove_node(name)
    rows = nodes.cluster.nodes()

    for key in map(str, range(20)):
        name = table_of(rows).names[Tied.of(rows, all_of(rows)).choose(key)]
        assert name == chosen(NAMES, key)


def test_one_node_needs_no_choice():
    assert chosen(["only"], "any") == "only"


def test_pods_spread_over_equal_nodes():
    counts = Counter(chosen(NAMES, f"0/uid-{number}/1") for number in range(2000))

    assert set(counts) == set(NAMES)
    assert max(counts.values()) < 2 * min(counts.values())  # 200 each, give or take


def test_attempts_of_one_pod_spread_too():
    scheduler = Scheduler(Score("S", 0), nodes=NAMES)
    web = pod("web")

    first = [scheduler.node_of(web, attempt) for attempt in range(20)]
    again = [scheduler.node_of(web, attempt) for attempt in range(20)]

    assert first == again
    assert len(set(first)) > 5


def test_another_seed_chooses_otherwise():
    def choices(seed):
        scheduler = Scheduler(Score("S", 0), nodes=NAMES, seed=seed)
        return [scheduler.node_of(pod(f"p{number}")) for number in range(10)]

    assert choices(1) == choices(1) != choices(2)


def test_only_the_best_are_tied():
    scheduler = Scheduler(Score("S", lambda pod, node: int(node.name in ("a", "c"))), nodes="abc")

    assert {scheduler.node_of(pod(f"p{number}")) for number in range(20)} == {"a", "c"}


def test_best_of_a_ranking():
    nodes = fwk.Rows.of(*map(node, "cab"))
    ranking = Ranking(nodes, totals=np.array([7, 3, 7]))

    assert ranking.best().rows.tolist() == [0, 2]
    assert ranking.best_names() == ["b", "c"]
    assert ranking.names == ["c", "a", "b"]
    assert ranking.by_plugin == {}


def test_scores_of_a_ranking_are_of_its_nodes():
    refuse = Filter("F", lambda pod, node: fwk.Status.unschedulable() if node.name == "a" else None)
    scheduler = Scheduler(refuse, Score("S", lambda pod, node: ord(node.name) - 97),
                          Score("T", 2), weights={"T": 10})  # fmt: skip
    cycle = scheduler.cycle(pod())

    ranking = cycle.score(cycle.find_feasible().feasible)

    assert ranking.totals.tolist() == [21, 22]
    assert {name: scores.tolist() for name, scores in ranking.by_plugin.items()} == {
        "S": [1, 2],
        "T": [2, 2],
    }


@given(st.lists(st.integers(0, 9), unique=True, min_size=1).map(sorted), st.integers(0, 9))
def test_the_tied_but_one(rows, row):
    nodes = fwk.Rows.of(*map(node, NAMES))
    rest = [each for each in rows if each != row]

    left = Tied.of(nodes, np.isin(nodes.index, rows))
    left.discard(row)

    assert sorted(left.rows.tolist()) == rest
    if rest:
        assert left.choose("key") == Tied.of(nodes, np.isin(nodes.index, rest)).choose("key")


def test_a_pod_on_a_node_that_is_not_there_takes_part_in_no_tie():
    scheduler = Scheduler(
        Score("S", 1, depends_on=fwk.Dependencies(node=fwk.Aspect.LABELS)), nodes="ab"
    )
    for number in range(3):
        cycle = scheduler.cycle(pod())
        cycle.choose(cycle.find_feasible())
        assert cycle.record.tied == 2
        scheduler.cluster.add_pod(pod(f"ghost{number}", node="unknown"))


def test_scores_that_compare_nodes_are_asked_for_again_when_other_nodes_are_feasible():
    class Rank(Score):
        def score_all(self, state, pod, nodes):
            return np.arange(len(nodes))

    plugin = Rank("Rank", depends_on=fwk.Dependencies(feasible=True))
    of, nodes, state = profile(plugin), fwk.Rows.of(*map(node, NAMES[:3])), fwk.CycleState()
    board = Scoreboard(of, state_of(nodes), of.readings.of(pod()))

    board.refresh(state, pod(), subset(nodes, np.array([0, 2])), FeasibleVersion(1, 1))
    assert board.total.tolist() == [0, 0, 1]
    board.refresh(state, pod(), nodes, FeasibleVersion(2, 2))
    assert board.total.tolist() == [0, 1, 2]
    board.refresh(state, pod(), subset(nodes, np.array([1, 2])), FeasibleVersion(3, 2))
    assert board.total[1:].tolist() == [0, 1]

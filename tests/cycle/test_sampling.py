"""How many nodes are looked at when a percentage is configured, and where the next walk starts."""

import numpy as np
import pytest

from podium import framework as fwk
from podium.cycle.outcome import Rejected
from podium.cycle.sampling import nodes_to_find, take_first
from podium.testing.builders import pod
from tests.support.cycle import Scheduler
from tests.support.toys import Filter, PreFilter, Score

NO = fwk.Status.unschedulable("no")
NAMES = [f"n{number:03}" for number in range(200)]


@pytest.mark.parametrize(
    ("candidates", "percentage", "expected"),
    [
        pytest.param(5000, None, 5000, id="not-configured-all"),
        pytest.param(99, 0, 99, id="few-nodes-all"),
        pytest.param(99, 1, 99, id="few-nodes-whatever-is-asked"),
        pytest.param(100, 1, 100, id="at-least-100"),
        pytest.param(1000, 0, 420, id="adaptive-42-percent"),
        pytest.param(5000, 0, 500, id="adaptive-10-percent"),
        pytest.param(6000, 0, 300, id="adaptive-not-below-5-percent"),
        pytest.param(100_000, 0, 5000, id="adaptive-far-below"),
        pytest.param(1000, 50, 500, id="as-configured"),
        pytest.param(1000, 5, 100, id="as-configured-at-least-100"),
        pytest.param(333, 40, 133, id="cut-not-rounded"),
        pytest.param(1000, 100, 1000, id="all"),
        pytest.param(0, 50, 0, id="no-candidates"),
    ],
)
def test_nodes_to_find(candidates, percentage, expected):
    assert nodes_to_find(candidates, percentage) == expected


@pytest.mark.parametrize(
    ("feasible", "start", "enough", "kept", "seen"),
    [
        pytest.param("11111111", 0, 3, [0, 1, 2], [0, 1, 2], id="surplus-is-neither-kept-nor-seen"),
        pytest.param("10101010", 0, 2, [0, 2], [0, 1, 2, 3], id="refusals-are-seen"),
        pytest.param("10101010", 0, 4, [0, 2, 4, 6], list(range(8)), id="just-enough-sees-all"),
        pytest.param("11111111", 6, 3, [0, 6, 7], [6, 7, 0], id="around-the-end"),
        pytest.param("00000000", 5, 3, [], [5, 6, 7, 0, 1, 2, 3, 4], id="nobody"),
        pytest.param("00000001", 0, 1, [7], list(range(8)), id="the-last"),
    ],
)
def test_take_first(feasible, start, enough, kept, seen):
    in_order = np.arange(8)
    fits = np.array([flag == "1" for flag in feasible])

    found = take_first(in_order, fits, start, enough)

    assert [rows.tolist() for rows in found] == [kept, seen]


def test_take_first_walks_in_the_order_given():
    kept, seen = take_first(np.array([3, 1, 0, 2]), np.ones(4, np.bool_), 1, 2)

    assert (kept.tolist(), seen.tolist()) == ([0, 1], [1, 0])


def sampling(*plugins, percentage=60, nodes=NAMES):
    return Scheduler(*plugins, Score("S", 0), nodes=nodes, percentage=percentage)


def find(scheduler, **rest):
    found = scheduler.cycle(pod(**rest)).find_feasible()
    return found.feasible.names


def test_a_sample_is_taken_and_the_next_starts_after_it():
    scheduler = sampling()

    assert find(scheduler) == NAMES[:120]
    assert scheduler.services.node_walk.start == 120
    assert find(scheduler) == sorted(NAMES[120:] + NAMES[:40])
    assert scheduler.services.node_walk.start == 40


def test_refused_nodes_count_in_the_rotation():
    even = Filter("F", lambda pod, node: NO if int(node.name[1:]) % 2 else None)
    scheduler = sampling(even, percentage=1)

    assert find(scheduler) == NAMES[::2]
    assert scheduler.services.node_walk.start == 0  # 100 of 100 even ones: the walk saw every node


def test_the_rotation_moves_when_nothing_fits():
    names = frozenset(NAMES[:150])
    scheduler = sampling(PreFilter("P", fwk.PreFilterResult(names)), Filter("F", NO))

    assert find(scheduler) == []
    assert scheduler.services.node_walk.start == 150


def test_few_candidates_are_all_looked_at_and_counted():
    names = frozenset(NAMES[10:20])
    scheduler = sampling(PreFilter("P", fwk.PreFilterResult(names)))

    assert find(scheduler) == NAMES[10:20]
    assert scheduler.services.node_walk.start == 10


def test_a_refused_pod_does_not_move_the_rotation():
    scheduler = sampling(PreFilter("P", NO))

    assert isinstance(scheduler.attempt(pod()), Rejected)
    assert scheduler.services.node_walk.start == 0


def test_only_the_sample_is_explained():
    scheduler = sampling(Filter("F", lambda pod, node: NO if node.name == NAMES[0] else None))
    found = scheduler.cycle(pod()).find_feasible()

    assert found.feasible.names == NAMES[1:121]
    assert found.status_of(NAMES[0]) == NO.by("F")
    assert found.status_of(NAMES[121]).reasons == ()


def test_only_the_sample_is_scored():
    scores = Score("S", 0)
    Scheduler(scores, nodes=NAMES, percentage=60).attempt(pod())

    assert scores.asked == NAMES[:120]


def test_the_walk_follows_upstreams_order_of_nodes():
    from podium.testing.builders import node

    zone = "topology.kubernetes.io/zone"
    nodes = [node(name, labels=f"{zone}={'ab'[place >= 150]}") for place, name in enumerate(NAMES)]
    scheduler = sampling(percentage=50, nodes=nodes)

    # One node per zone in turn: 50 of each, and then the rest of the longer zone.
    assert find(scheduler) == sorted(NAMES[:50] + NAMES[150:])


def test_without_scores_the_first_that_fits_will_do():
    scheduler = Scheduler(Filter("F", lambda pod, node: NO if node.name == "a" else None),
                          nodes="abc", percentage=0)  # fmt: skip

    assert find(scheduler) == ["b"]
    assert scheduler.services.node_walk.start == 2
    assert find(scheduler) == ["c"]


def test_a_nominated_node_that_fits_moves_nothing():
    scheduler = sampling()

    assert find(scheduler, status={"nominated_node_name": NAMES[7]}) == [NAMES[7]]
    assert scheduler.services.node_walk.start == 0


@pytest.mark.parametrize(
    ("nominated", "start"),
    [
        pytest.param(NAMES[150], 121, id="unseen-by-the-walk-counts-once-more"),
        pytest.param(NAMES[7], 121, id="seen-by-the-walk-counts-once"),
        pytest.param("gone", 120, id="no-node-counts-nothing"),
    ],
)
def test_a_nominated_node_that_does_not_fit_counts(nominated, start):
    scheduler = sampling(Filter("F", lambda pod, node: NO if node.name == nominated else None))

    assert len(find(scheduler, status={"nominated_node_name": nominated})) == 120
    assert scheduler.services.node_walk.start == start


def test_without_a_percentage_nothing_is_left_out():
    scheduler = sampling(percentage=None)

    assert find(scheduler) == NAMES
    assert scheduler.services.node_walk.start == 0

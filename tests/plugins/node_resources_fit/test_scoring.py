import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from podium import framework as fwk
from podium.framework.resource_scoring import ResourceSpec, ShapePoint
from podium.plugins.node_resources_fit import NodeResourcesFit
from podium.plugins.node_resources_fit.args import RatioParams, ScoringStrategy
from podium.testing.builders import node, pod
from podium.testing.handle import FakeHandle
from tests.support.search import examples

GPU = "example.com/gpu"
RATIO = "RequestedToCapacityRatio"
VALLEY = ((0, 10), (70, 0), (100, 5))


def strategy(kind, weights=None, shape=None):
    """``strategy("MostAllocated", {"cpu": 2})``; without weights cpu and memory count alike."""
    points = [ShapePoint(utilization=at, score=score) for at, score in shape or ()]
    specs = [ResourceSpec(name=name, weight=weight) for name, weight in (weights or {}).items()]
    return ScoringStrategy(
        type=kind,
        resources=tuple(specs),
        requested_to_capacity_ratio=RatioParams(shape=tuple(points)) if shape else None,
    )


def scored(subject, nodes, chosen, pre_score=True):
    """The scores of both forms, which must agree."""
    fit = NodeResourcesFit(NodeResourcesFit.Args(scoring_strategy=chosen), FakeHandle())
    state = fwk.CycleState()
    if pre_score:
        assert fit.pre_score(state, subject, nodes) is None
    scores = fit.score_all(state, subject, nodes)
    assert scores.dtype == np.int64
    assert scores.tolist() == [fit.score(state, subject, each) for each in nodes]
    assert fit.normalize_score(state, subject, scores, nodes) is scores
    return scores.tolist()


def one_node(cpu=None, memory=None, **more):
    return fwk.Rows.of(node(cpu=cpu, memory=memory, **more))


@pytest.mark.parametrize(
    ("chosen", "requests", "expected"),
    [
        pytest.param(
            strategy("LeastAllocated"),
            {"cpu": "450m", "memory": "1Gi"},
            92,
            id="least-cpu-and-memory",
        ),
        pytest.param(
            strategy("LeastAllocated", {"cpu": 3, "memory": 1}),
            {"cpu": "450m", "memory": "1Gi"},
            93,
            id="least-by-weight",
        ),
        pytest.param(
            strategy("LeastAllocated"), {"cpu": "11", "memory": "1Gi"}, 45, id="least-beyond-full"
        ),
        pytest.param(
            strategy("MostAllocated", {"cpu": 2, "memory": 1, GPU: 5}),
            {"cpu": "1", "memory": "1Gi", GPU: 1},
            19,
            id="most-with-an-extended-resource",
        ),
        pytest.param(
            strategy("MostAllocated", {"cpu": 2, "memory": 1, GPU: 5}),
            {"cpu": "1", "memory": "1Gi"},
            10,
            id="unrequested-extended-resource-is-left-out",
        ),
        pytest.param(
            strategy("MostAllocated"), {"cpu": "11", "memory": "1Gi"}, 55, id="most-beyond-full"
        ),
        pytest.param(
            strategy(RATIO, {"cpu": 1, "memory": 3}, VALLEY),
            {"cpu": "3300m", "memory": "0"},
            88,
            id="ratio-rounds-to-the-nearest",
        ),
        pytest.param(
            strategy(RATIO, {"cpu": 1, "memory": 3}, VALLEY),
            {"cpu": "0", "memory": "4608Mi"},
            52,
            id="ratio-falling-line",
        ),
        pytest.param(
            strategy(RATIO, {"cpu": 1, "memory": 3}, VALLEY),
            {"cpu": "7", "memory": "2Gi"},
            72,
            id="ratio-leaves-out-what-scores-0",
        ),
        pytest.param(
            strategy(RATIO, {"cpu": 1}, ((0, 0), (100, 10))),
            {"cpu": "20"},
            100,
            id="ratio-beyond-full",
        ),
        pytest.param(
            strategy(RATIO, {"cpu": 1}, ((50, 0), (100, 10))),
            {"cpu": "1"},
            0,
            id="ratio-nothing-left",
        ),
        pytest.param(
            strategy(RATIO, {"cpu": 1, "memory": 1}, ((0, 0), (100, 10))),
            {"cpu": "1", "memory": "2Gi"},
            15,
            id="ratio-mean",
        ),
        pytest.param(
            strategy(RATIO, {"cpu": 1, "memory": 1}, ((0, 0), (100, 10))),
            {"cpu": "1", "memory": "1332Mi"},
            12,
            id="ratio-half-goes-up",
        ),
        pytest.param(
            strategy("LeastAllocated", {GPU: 1}), {"cpu": "1"}, 0, id="nothing-takes-part"
        ),
        pytest.param(
            strategy("LeastAllocated", {"pods": 1, "storage": 9, "cpu": 1}),
            {"cpu": "1"},
            90,
            id="pods-and-unknown-names-do-not-count",
        ),
        pytest.param(
            strategy("LeastAllocated", {"ephemeral-storage": 1, "cpu": 1}),
            {"cpu": "1"},
            90,
            id="node-without-the-resource",
        ),
    ],
)
def test_strategies(chosen, requests, expected):
    nodes = one_node("10", "10Gi", allocatable={GPU: 4})

    assert scored(pod(requests=requests), nodes, chosen) == [expected]


def test_pods_that_request_nothing_count_all_the_same():
    empty, taken = node("empty", cpu="1", memory="1000Mi"), node("taken", cpu="1", memory="1000Mi")
    nodes = fwk.Rows.of(empty, taken, pods=[pod("other", node="taken")])

    # The pod, and the one beside it, stand for 100m of cpu and 200Mi of memory each.
    assert scored(pod(), nodes, strategy("LeastAllocated")) == [(90 + 80) // 2, (80 + 60) // 2]


def test_other_resources_count_as_requested():
    offered = {GPU: 4, "ephemeral-storage": "10Gi"}
    nodes = fwk.Rows.of(
        node("a", allocatable=offered),
        pods=[pod("other", node="a", requests={GPU: 1, "ephemeral-storage": "1Gi"})],
    )
    chosen = strategy("MostAllocated", {GPU: 1, "ephemeral-storage": 1})

    assert scored(pod(requests={GPU: 1}), nodes, chosen) == [(50 + 10) // 2]


def test_requests_of_the_pod_itself_do_not_count():
    subject = pod(resources={"requests": {"cpu": "2", "memory": "2Gi"}})

    assert scored(subject, one_node("1", "1000Mi"), strategy("LeastAllocated")) == [85]


def test_score_does_without_pre_score():
    nodes, subject = one_node("10", "10Gi"), pod(cpu="450m", memory="1Gi")

    assert scored(subject, nodes, strategy("LeastAllocated"), pre_score=False) == [92]


def test_default_strategy():
    fit = NodeResourcesFit(NodeResourcesFit.Args(), FakeHandle())

    assert fit.score(fwk.CycleState(), pod(cpu="1", memory="0"), one_node("4", "4Gi").at(0)) == 87


HUGE = st.integers(0, 2**63 - 1)
SMALL = st.integers(0, 40)
AMOUNTS = st.fixed_dictionaries(
    {}, optional={"cpu": SMALL, "memory": HUGE | SMALL, "ephemeral-storage": HUGE, GPU: SMALL}
)
WEIGHTS = st.dictionaries(
    st.sampled_from(["cpu", "memory", "ephemeral-storage", GPU, "pods"]), st.integers(1, 100)
)
SHAPES = st.dictionaries(st.integers(0, 100), st.integers(0, 10), min_size=1, max_size=4).map(
    lambda points: tuple(sorted(points.items()))
)
STRATEGIES = (
    st.builds(strategy, st.sampled_from(["LeastAllocated", "MostAllocated"]), WEIGHTS)
    | st.builds(strategy, st.just(RATIO), WEIGHTS, SHAPES)
)  # fmt: skip


@example(
    # The sum of requests wraps around.
    chosen=strategy("LeastAllocated", {}),
    offered=[{"memory": 1}],
    taken={"memory": 2**63 - 1},
    requests={"memory": 1},
)
@examples(80)
@given(
    chosen=STRATEGIES,
    offered=st.lists(AMOUNTS, min_size=1, max_size=4),
    taken=AMOUNTS,
    requests=AMOUNTS,
)
def test_both_forms_agree(chosen, offered, taken, requests):
    """Absurd amounts too: what overflows wraps around in both forms, and nothing warns."""
    nodes = fwk.Rows.of(
        *(
            node(f"n{i}", cpu=None, memory=None, allocatable=amounts)
            for i, amounts in enumerate(offered)
        ),
        pods=[pod("other", node="n0", requests=taken)],
    )

    scored(pod(requests=requests), nodes, chosen)


LARGE = st.integers(2**46 - 2**10, 2**46 - 1) | st.integers(1, 2**46 - 1)
PAIRS = st.tuples(LARGE, LARGE)


@examples(200)
@given(
    chosen=st.sampled_from(["LeastAllocated", "MostAllocated"]).map(strategy)
    | st.builds(strategy, st.just(RATIO), st.none(), SHAPES),
    has=PAIRS,
    taken=PAIRS,
    asked=PAIRS,
)
def test_floats_are_as_exact_as_integers(chosen, has, taken, asked):
    """Up to the largest amounts for which floats are used: scores of one node are of integers."""
    in_milli = [{"cpu": f"{cpu}m", "memory": memory} for cpu, memory in (has, taken, asked)]
    nodes = fwk.Rows.of(
        node("n", cpu=None, memory=None, allocatable=in_milli[0]),
        pods=[pod("other", node="n", requests=in_milli[1])],
    )

    scored(pod(requests=in_milli[2]), nodes, chosen)

import msgspec
import pytest

from podium import framework as fwk
from podium.legacy.plugins.resource_strategies import (
    NodeResourcesLeastAllocated,
    NodeResourcesMostAllocated,
    RequestedToCapacityRatio,
)
from podium.plugins.node_resources_fit import NodeResourcesFit
from podium.testing.builders import node, pod
from podium.testing.handle import FakeHandle

LEAST, MOST, RATIO = (
    NodeResourcesLeastAllocated,
    NodeResourcesMostAllocated,
    RequestedToCapacityRatio,
)
VALLEY = [
    {"utilization": 0, "score": 10},
    {"utilization": 70, "score": 0},
    {"utilization": 100, "score": 5},
]
GPU = "example.com/gpu"


def built(plugin, **args):
    decoded = msgspec.convert(args, plugin.Args)
    assert list(decoded.validate()) == []
    return plugin(decoded, FakeHandle())


def scores(plugin, subject, nodes):
    """What both forms say."""
    together = plugin.score_all(fwk.CycleState(), subject, nodes).tolist()
    assert together == [plugin.score(fwk.CycleState(), subject, each) for each in nodes]
    return together


@pytest.mark.parametrize(
    ("plugin", "asks", "expected"),
    [
        pytest.param(built(LEAST), {"cpu": "450m", "memory": "1Gi"}, 92, id="least"),
        pytest.param(built(MOST), {"cpu": "450m", "memory": "1Gi"}, 7, id="most"),
        pytest.param(
            built(
                RATIO, shape=VALLEY, resources=[{"name": "cpu"}, {"name": "memory", "weight": 3}]
            ),
            {"cpu": "3300m", "memory": "0"},
            88,
            id="ratio",
        ),
        pytest.param(
            built(MOST, resources=[{"name": GPU, "weight": 5}]),
            {"cpu": 1},
            0,
            id="nothing-that-counts",
        ),
        pytest.param(built(LEAST, resources=[]), {"cpu": 5, "memory": "0"}, 75, id="empty-list"),
        pytest.param(built(LEAST), {}, 98, id="defaults-of-containers"),
    ],
)
def test_score(plugin, asks, expected):
    nodes = fwk.Rows.of(node(cpu=10, memory="10Gi", allocatable={GPU: 4}))

    assert scores(plugin, pod(**asks), nodes) == [expected]


@pytest.mark.parametrize(
    ("plugin", "strategy"),
    [
        pytest.param(built(LEAST), {"type": "LeastAllocated"}, id="least"),
        pytest.param(built(MOST), {"type": "MostAllocated"}, id="most"),
        pytest.param(
            built(RATIO, shape=VALLEY),
            {
                "type": "RequestedToCapacityRatio",
                "requestedToCapacityRatio": {"shape": VALLEY},
            },
            id="ratio",
        ),
    ],
)
def test_it_scores_as_the_strategy_of_node_resources_fit(plugin, strategy):
    nodes = fwk.Rows.of(
        *(node(f"n{number}", cpu=number, memory=f"{9 - number}Gi") for number in range(9)),
        pods=[pod(f"p{number}", node=f"n{number}", cpu="700m") for number in range(0, 9, 2)],
    )
    fit = built(NodeResourcesFit, scoringStrategy=strategy)

    for subject in (pod(), pod(cpu="1500m", memory="3Gi")):
        assert scores(plugin, subject, nodes) == scores(fit, subject, nodes)


def test_pods_one_after_another_are_not_mixed_up():
    plugin, nodes = built(LEAST), fwk.Rows.of(node(cpu=10, memory="10Gi"))

    first = scores(plugin, pod("a", cpu=9, memory="9Gi"), nodes)
    assert (first, scores(plugin, pod("b", cpu=1, memory="1Gi"), nodes)) == ([10], [90])


@pytest.mark.parametrize(
    ("plugin", "args", "expected"),
    [
        pytest.param(LEAST, {"resources": [{"name": "cpu", "weight": 0}]}, [], id="0-is-1"),
        pytest.param(
            MOST,
            {"resources": [{"name": "cpu", "weight": 101}]},
            [
                (
                    "resources[0].weight",
                    "Invalid value: 101: resource weight of cpu not in valid range (0, 100]",
                )
            ],
            id="too-heavy",
        ),
        pytest.param(
            RATIO, {"shape": VALLEY, "resources": [{"name": "cpu", "weight": 500}]}, [], id="heavy"
        ),
        pytest.param(
            RATIO,
            {"resources": [{"name": "cpu"}, {"name": "memory", "weight": -1}]},
            [
                ("shape", "Required value: at least one point must be specified"),
                (
                    "resources[1].weight",
                    "Invalid value: -1: resource weight of memory not in valid range [1, inf)",
                ),
            ],
            id="no-shape",
        ),
    ],
)
def test_args(plugin, args, expected):
    problems = msgspec.convert(args, plugin.Args).validate()

    assert [(problem.path, problem.message) for problem in problems] == expected

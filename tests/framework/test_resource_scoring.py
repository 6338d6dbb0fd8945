import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium import framework as fwk
from podium.framework.resource_scoring import (
    CPU_AND_MEMORY,
    Demand,
    ResourceSpec,
    ShapePoint,
    broken_line,
    demands,
    shape_problems,
    used,
    wrapped,
)
from podium.testing.builders import node, pod

GPU = "example.com/gpu"


@pytest.mark.parametrize(
    ("at", "expected"),
    [
        pytest.param(0, 20, id="before-the-first"),
        pytest.param(10, 20, id="on-the-first"),
        pytest.param(15, 25, id="rising"),
        pytest.param(20, 30, id="on-a-corner"),
        pytest.param(24, 19, id="falling-is-cut-toward-zero"),
        pytest.param(31, 0, id="after-the-last"),
    ],
)
def test_broken_line(at, expected):
    # At 24 it falls by 11.43 from 30; cut to 11, the result is one above the floor of 18.57.
    assert broken_line([(10, 20), (20, 30), (27, 10), (30, 0)], at) == expected


@pytest.mark.parametrize(
    ("requests", "expected"),
    [
        pytest.param(
            {"cpu": 500, GPU: 2},
            [Demand("cpu", 500, 1), Demand("memory", 0, 3), Demand(GPU, 2, 5)],
            id="memory-takes-part-unasked",
        ),
        pytest.param(
            {"cpu": 500, "pods": 3, "storage": 1},
            [Demand("cpu", 500, 1), Demand("memory", 0, 3)],
            id="nobody-counts-pods-or-unknown-names",
        ),
    ],
)
def test_demands(requests, expected):
    specs = [
        ResourceSpec(name="cpu", weight=0),
        ResourceSpec(name="memory", weight=3),
        ResourceSpec(name="pods"),
        ResourceSpec(name="storage"),
        ResourceSpec(name=GPU, weight=5),
    ]

    assert list(demands(specs, requests)) == expected


def test_default_resources():
    assert demands(CPU_AND_MEMORY, {}) == (Demand("cpu", 0, 1), Demand("memory", 0, 1))


@pytest.mark.parametrize(
    ("resource", "non_zero", "expected"),
    [
        pytest.param("cpu", True, 100, id="cpu-by-default"),
        pytest.param("cpu", False, 0, id="cpu-as-requested"),
        pytest.param("memory", True, 200 * 2**20, id="memory-by-default"),
        pytest.param("ephemeral-storage", True, 0, id="no-default-for-others"),
        pytest.param(GPU, True, 2, id="extended"),
    ],
)
def test_used(resource, non_zero, expected):
    nodes = fwk.Rows.of(node("a"), node("b"), pods=[pod(node="b", requests={GPU: 2})])

    assert used(nodes, resource, non_zero=non_zero).tolist() == [0, expected]
    assert used(nodes.at(1), resource, non_zero=non_zero) == expected


@given(st.integers(-(2**63), 2**63 - 1), st.integers(-100, 100))
def test_integers_wrap_as_arrays_do(amount, factor):
    assert wrapped(amount * factor) == (np.array([amount]) * factor)[0]


@pytest.mark.parametrize(
    ("points", "expected"),
    [
        pytest.param([(0, 0), (100, 10)], [], id="good"),
        pytest.param(
            [], [("shape", "Required value: at least one point must be specified")], id="empty"
        ),
        pytest.param(
            [(10, 1), (10, 2), (5, 3)],
            [
                (
                    "shape[1].utilization",
                    "Invalid value: 10: values must be sorted in increasing order",
                )
            ],
            id="only-the-first-out-of-order",
        ),
        pytest.param(
            [(-1, 0), (101, 11)],
            [
                ("shape[0].utilization", "Invalid value: -1: not in valid range [0, 100]"),
                ("shape[1].utilization", "Invalid value: 101: not in valid range [0, 100]"),
                ("shape[1].score", "Invalid value: 11: not in valid range [0, 10]"),
            ],
            id="out-of-range",
        ),
    ],
)
def test_shape_problems(points, expected):
    shape = [ShapePoint(utilization=at, score=score) for at, score in points]

    assert [(each.path, each.message) for each in shape_problems(shape, "shape")] == expected

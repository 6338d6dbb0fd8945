"""Constraints: devices whose attributes must match or differ."""

import pytest

from podium.release import V1_36, V1_37
from podium.testing.builders_devices import device
from tests.support.devices import (
    DISTINCT,
    MATCH,
    Devices,
    claim,
    exactly,
    first_available,
    gpus,
    on_numa,
    rules,
)


@pytest.mark.parametrize(
    ("values", "constraint", "requests", "expected"),
    [
        pytest.param((0, 1, 0), MATCH, [exactly(count=2)], "r=gpu-0 r=gpu-2", id="match"),
        pytest.param((0, 1, 2), MATCH, [exactly(count=2)], None, id="match-nothing"),
        pytest.param((None, 1, 1), MATCH, [exactly(count=2)], "r=gpu-1 r=gpu-2", id="no-value"),
        pytest.param((1, "1", True, True), MATCH, [exactly(count=2)], "r=gpu-2 r=gpu-3", id="type"),
        pytest.param(
            ({"version": "1.0.0"}, "1.0.0", {"version": "1.0.0"}),
            MATCH,
            [exactly(count=2)],
            "r=gpu-0 r=gpu-2",
            id="versions",
        ),
        pytest.param(
            ({"ints": [1]}, {"ints": [1]}), MATCH, [exactly(count=2)], None, id="lists-never-match"
        ),
        pytest.param(
            (0, 1, 0),
            {**MATCH, "requests": ["b"]},
            [exactly("a"), exactly("b")],
            "a=gpu-0 b=gpu-1",
            id="of-one-request",
        ),
        pytest.param(
            (0, 1, 0),
            {**MATCH, "requests": ["a", "x/one"]},
            [exactly("a"), first_available("x", three=3, one=1)],
            "a=gpu-0 x/one=gpu-2",
            id="of-an-alternative",
        ),
        pytest.param(
            (0, 1, 1),
            {**MATCH, "requests": ["a", "x"]},
            [exactly("a"), first_available("x", two=2)],
            None,
            id="of-a-request-with-alternatives",
        ),
        pytest.param((0, 0, 1), DISTINCT, [exactly(count=2)], "r=gpu-0 r=gpu-2", id="distinct"),
        pytest.param((0, 0), DISTINCT, [exactly(count=2)], None, id="nothing-distinct"),
    ],
)
def test_constraints(values, constraint, requests, expected):
    devices = Devices(on_numa(*values))
    asked = claim(*requests, constraints=[constraint])

    assert devices.names(asked) == (None if expected is None else [expected])


@pytest.mark.parametrize(
    ("release", "expected"),
    [
        # 1.36 remembers only the last device of a request.
        pytest.param(V1_36, ["r=gpu-0 r=gpu-1 r=gpu-2"], id="1.36"),
        pytest.param(V1_37, None, id="1.37"),
    ],
)
def test_distinct_values_of_one_request(release, expected):
    devices = Devices(on_numa(0, 1, 0), rules=rules(release))

    assert devices.names(claim(exactly(count=3), constraints=[DISTINCT])) == expected


def test_a_qualified_attribute_of_another_domain():
    shared = gpus(
        device("a", attributes={"example.org/rack": 1}),
        device("b", attributes={"rack": 2}),
        device("c", attributes={"example.org/rack": 1}),
    )
    asked = claim(exactly(count=2), constraints=[{"matchAttribute": "example.org/rack"}])

    assert Devices(shared).names(asked) == ["r=a r=c"]

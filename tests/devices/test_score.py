"""How much the chosen alternatives are preferred."""

import pytest

from podium.devices import allocated_score
from podium.testing.builders_devices import resource_slice
from tests.support.devices import Devices, claim, exactly, first_available


@pytest.mark.parametrize(
    ("count", "requests", "expected"),
    [
        pytest.param(8, [exactly()], 0, id="no-alternatives"),
        pytest.param(8, [first_available("x", a=1, b=1)], 8, id="the-first"),
        pytest.param(1, [first_available("x", a=3, b=2, c=1)], 6, id="the-third"),
        pytest.param(
            8,
            [first_available("x", a=1), exactly("y"), first_available("z", a=9, b=1)],
            15,
            id="sum",
        ),
        pytest.param(8, [first_available("x", a=2)], 8, id="several-devices-count-once"),
    ],
)
def test_score(count, requests, expected):
    devices = Devices(resource_slice("s", node="n1", devices=count))
    asked = claim(*requests)

    outcomes = devices.allocator.allocate_each([asked], devices.rows)

    assert outcomes.scores.tolist() == [expected]
    assert allocated_score(asked, devices.allocate(asked)[0]) == expected

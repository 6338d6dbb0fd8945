"""Devices that consume counters of their pool."""

import pytest

from podium.release import RELEASES, V1_36, V1_37
from podium.testing.builders_devices import device, resource_slice
from tests.support.devices import Devices, claim, exactly, rules


def partitions(*amounts, total="4", **fields):
    """A pool whose devices take these amounts of one counter."""
    devices = [
        device(
            f"part-{n}",
            consumes_counters=[{"counterSet": "card", "counters": {"memory": {"value": amount}}}],
            **fields,
        )
        for n, amount in enumerate(amounts)
    ]
    pool = {"name": "n1", "generation": 1, "resourceSliceCount": 2}
    sets = [{"name": "card", "counters": {"memory": {"value": total}}}]
    return (
        resource_slice("parts", node="n1", devices=devices, pool=pool),
        resource_slice("sets", node="n1", devices=0, pool=pool, shared_counters=sets),
    )


@pytest.mark.parametrize("release", RELEASES, ids=str)
def test_counters_limit_what_is_chosen(release):
    devices = Devices(*partitions("3", "2", "1", "1"), rules=rules(release))

    assert devices.names(claim(exactly(count=2))) == ["r=part-0 r=part-2"]
    assert devices.names(claim(exactly(count=3))) == ["r=part-1 r=part-2 r=part-3"]
    assert devices.names(claim(exactly(count=4))) is None


def test_devices_of_others_consume_counters():
    devices = Devices(*partitions("3", "2", "1"))
    devices.take("part-0")

    assert devices.names(claim()) == ["r=part-2"]


def test_a_pool_of_which_too_much_is_taken_gives_nothing():
    devices = Devices(*partitions("3", "2", "0"))
    devices.take("part-0", "part-1")

    assert devices.names(claim()) is None


def test_admin_access_consumes_counters():
    devices = Devices(*partitions("3"))
    devices.take("part-0")

    assert devices.names(claim(exactly(adminAccess=True))) is None


def test_devices_with_counters_need_the_feature():
    parts, _ = partitions("1")
    alone = resource_slice("parts", node="n1", devices=parts.spec.devices)

    assert Devices(alone, rules=rules(partitionable_devices=False)).names(claim()) is None


@pytest.mark.parametrize(
    ("release", "expected"),
    [
        # 1.36 charges the counters again if the share that is held consumes no capacity.
        pytest.param(V1_36, None, id="1.36"),
        pytest.param(V1_37, ["r=part-0"], id="1.37"),
    ],
)
def test_shares_of_a_device_consume_its_counters_once(release, expected):
    devices = Devices(*partitions("3", allow_multiple_allocations=True), rules=rules(release))

    assert devices.names(claim(exactly("a"), exactly("b"))) == ["a=part-0 b=part-0"]
    devices.take("part-0", shareID="s")
    assert devices.names(claim()) == expected

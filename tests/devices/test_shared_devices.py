"""Devices of which several claims have shares."""

import pytest

from podium.release import V1_36, V1_37
from tests.support.devices import Devices, claim, exactly, memory, rules, shareable


def test_several_claims_share_a_device():
    devices = Devices(shareable("10Gi", "10Gi"))
    claims = [claim(exactly(**memory("6Gi")), name=name) for name in ("a", "b")]

    assert devices.names(*claims) == ["r=gpu-0", "r=gpu-1"]
    assert devices.names(claim(exactly("a", **memory("6Gi")), exactly("b", **memory("4Gi")))) == [
        "a=gpu-0 b=gpu-0"
    ]
    assert devices.names(claim(exactly(count=2, **memory("1Gi")))) == ["r=gpu-0 r=gpu-1"]


def test_shares_of_others_leave_the_rest():
    devices = Devices(shareable("10Gi"))
    devices.take("gpu-0", shareID="s", consumedCapacity={"memory": "6Gi"})

    assert devices.names(claim(exactly(**memory("5Gi")))) is None
    assert devices.names(claim(exactly(**memory("4Gi")))) == ["r=gpu-0"]
    assert devices.names(claim()) is None  # without a policy a request takes everything


def test_a_device_that_somebody_has_alone_is_not_shared():
    devices = Devices(shareable("10Gi"))
    devices.take("gpu-0")

    assert devices.names(claim(exactly(**memory("1Gi")))) is None


@pytest.mark.parametrize(
    ("release", "expected"),
    [
        pytest.param(V1_36, ["r=gpu-1"], id="1.36-leaves-out-full-devices"),
        pytest.param(V1_37, None, id="1.37-wants-every-device"),
    ],
)
def test_all_devices_with_room(release, expected):
    devices = Devices(shareable("10Gi", "10Gi"), rules=rules(release))
    devices.take("gpu-0", shareID="s", consumedCapacity={"memory": "9Gi"})

    assert devices.names(claim(exactly(count=None, **memory("2Gi")))) == expected


def test_all_devices_that_could_ever_serve():
    devices = Devices(shareable("1Gi", "10Gi"))

    assert devices.names(claim(exactly(count=None, **memory("2Gi")))) == ["r=gpu-1"]


def test_without_the_feature_devices_are_not_shared():
    devices = Devices(shareable("10Gi"), rules=rules(consumable_capacity=False))
    held = devices.take("gpu-0", shareID="s")

    assert devices.names(claim()) is None
    devices.taken.remove(held)
    assert devices.names(claim(exactly("a"), exactly("b"))) is None

"""Taint rules: taints for devices, as if their slices had them."""

import msgspec
import pytest

from podium.api.devices import DeviceTaintRule
from podium.devices import TaintedSlices
from podium.testing.builders_devices import device, resource_slice
from tests.support.devices import Devices, claim


def rule(name="rule", key="broken", **selector):
    spec = {"taint": {"key": key, "effect": "NoSchedule"}}
    if selector:
        spec["deviceSelector"] = selector
    return msgspec.convert({"metadata": {"name": name}, "spec": spec}, DeviceTaintRule)


def tainted_devices(*slices):
    devices = Devices()
    tainted = TaintedSlices(devices.inventory)
    for given in slices:
        tainted.set_slice(given)
    return devices, tainted


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        pytest.param({}, None, id="every-device"),
        pytest.param({"driver": "gpu.example.com"}, None, id="driver"),
        pytest.param({"driver": "other.example.com"}, ["r=gpu-0"], id="other-driver"),
        pytest.param({"pool": "n1"}, None, id="pool"),
        pytest.param({"pool": "n2"}, ["r=gpu-0"], id="other-pool"),
        pytest.param({"device": "gpu-0"}, ["r=gpu-1"], id="device"),
        pytest.param({"pool": "n2", "device": "gpu-0"}, ["r=gpu-0"], id="all-must-match"),
    ],
)
def test_which_devices_are_tainted(selector, expected):
    devices, tainted = tainted_devices(resource_slice("s", node="n1", devices=2))

    tainted.set_rule(rule(**selector))
    assert devices.names(claim()) == expected

    tainted.remove_rule("rule")
    assert devices.names(claim()) == ["r=gpu-0"]


def test_slices_that_come_later_are_tainted():
    devices, tainted = tainted_devices()
    tainted.set_rule(rule(device="gpu-0"))

    tainted.set_slice(resource_slice("s", node="n1", devices=2))
    assert devices.names(claim()) == ["r=gpu-1"]

    tainted.remove_slice("s")
    assert devices.names(claim()) is None


def test_what_changed_is_reported():
    given = resource_slice("s", node="n1", devices=[device("a", taints="old:NoSchedule"), "b"])
    _devices, tainted = tainted_devices(given)

    (first,) = tainted.set_rule(rule(device="a"))
    assert first[0] == given
    assert [taint.key for taint in first[1].spec.devices[0].taints] == ["old", "broken"]

    assert tainted.set_rule(rule(device="a")) == []  # the same again
    ((old, new),) = tainted.set_rule(rule(device="b"))
    assert old == first[1]
    assert [len(each.taints) for each in new.spec.devices] == [1, 1]
    assert tainted.set_rule(rule("other", device="none")) == []
    assert tainted.remove_rule("unknown") == []

"""How many devices of a class a node has: the score of extended resources."""

import numpy as np
import pytest

from podium.devices import DeviceTotals
from podium.testing.builders import node
from podium.testing.builders_devices import device, device_class, resource_slice
from tests.support.devices import Devices

NODES = [node("n1", labels={"zone": "a"}), node("n2", labels={"zone": "b"})]
IN_A = {
    "nodeSelectorTerms": [
        {"matchExpressions": [{"key": "zone", "operator": "In", "values": ["a"]}]}
    ]
}


def totals(devices, selectors=("true",)):
    counted = DeviceTotals(devices.inventory, devices.taken, devices.rules)
    chosen = device_class(selectors=selectors)
    found = [counted.on_node(chosen, each) for each in NODES]
    assert columns(counted.on_rows(chosen, devices.rows)) == found
    return found


def columns(arrays):
    return list(zip(*(array.tolist() for array in arrays), strict=True))


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        pytest.param({"node": "n1"}, [(2, 1), (0, 0)], id="of-one-node"),
        pytest.param({"all_nodes": True}, [(2, 1), (2, 1)], id="for-all-nodes"),
        pytest.param({"node_selector": IN_A}, [(2, 1), (0, 0)], id="for-selected-nodes"),
        pytest.param(
            {"all_nodes": False}, [(2, 1), (2, 1)], id="selects-no-nodes-counts-everywhere"
        ),
        pytest.param(
            {
                "per_device_node_selection": True,
                "devices": [device("gpu-0", node_name="n1"), device("gpu-1", all_nodes=True)],
            },
            [(2, 1), (1, 0)],
            id="by-device",
        ),
    ],
)
def test_devices_are_counted_where_they_can_be_used(fields, expected):
    pool = {"name": "n1", "generation": 7, "resourceSliceCount": 9}  # not looked at
    devices = Devices(resource_slice("s", **{"devices": 2, "pool": pool, **fields}), nodes=NODES)
    devices.take("gpu-0", shareID="s")

    assert totals(devices) == expected


def test_only_devices_of_the_class_count():
    one = device("gpu-0", attributes={"big": True})
    two = device("gpu-1", attributes={"big": False})
    devices = Devices(resource_slice("s", node="n1", devices=[one, two]), nodes=NODES)

    assert totals(devices, ['device.attributes["gpu.example.com"].big']) == [(1, 0), (0, 0)]


def test_a_selector_that_fails_counts_nothing():
    devices = Devices(resource_slice("s", node="n1", devices=2), nodes=NODES)

    missing = 'device.attributes["gpu.example.com"].missing'
    assert totals(devices, [missing]) == [(0, 0), (0, 0)]


def test_selectors_do_not_see_that_a_device_can_be_shared():
    shared = device("gpu-0", allow_multiple_allocations=True)
    devices = Devices(resource_slice("s", node="n1", devices=[shared]), nodes=NODES)

    assert totals(devices, ["device.allowMultipleAllocations"]) == [(0, 0), (0, 0)]
    assert totals(devices, ["!device.allowMultipleAllocations"]) == [(1, 0), (0, 0)]


def test_kept_counts_follow_every_change():
    devices = Devices(nodes=NODES)
    counted = DeviceTotals(devices.inventory, devices.taken, devices.rules)
    chosen = device_class()

    def counts():
        return columns(counted.on_rows(chosen, devices.rows))

    assert counts() == [(0, 0), (0, 0)]
    devices.inventory.set_slice(resource_slice("s", node="n1", devices=3))
    assert counts() == [(3, 0), (0, 0)]
    held = devices.take("gpu-1")
    assert counts() == [(3, 1), (0, 0)]
    devices.inventory.set_slice(resource_slice("all", devices=2))
    devices.take("gpu-0", "gpu-1", pool="all")
    assert counts() == [(5, 3), (2, 2)]
    devices.taken.remove(held)
    assert counts() == [(5, 2), (2, 2)]
    devices.inventory.set_node(0, None)
    devices.inventory.set_node(5, node("n1"))
    assert columns(counted.on_rows(chosen, np.array([1, 5]))) == [(2, 2), (5, 2)]
    devices.inventory.remove_slice("s")
    assert columns(counted.on_rows(chosen, np.array([1, 5]))) == [(2, 2), (2, 2)]
    chosen = device_class(selectors=["false"])
    assert counts() == [(0, 0), (0, 0)]

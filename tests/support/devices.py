"""A small cluster with devices, and short ways to write what claims ask for and get."""

import msgspec
import numpy as np

from podium.api.resource_claims import AllocationResult
from podium.devices import Allocator, DeviceInventory, DeviceRules, TakenDevices
from podium.release import LATEST, V1_37
from podium.testing.builders import node
from podium.testing.builders_devices import (
    DRIVER,
    device,
    device_class,
    resource_claim,
    resource_slice,
)

MATCH = {"matchAttribute": "gpu.example.com/numa"}
DISTINCT = {"distinctAttribute": "gpu.example.com/numa"}


def rules(release=LATEST, **features):
    """Return the rules of a release with its default gates, except for these features."""
    is_new = release >= V1_37
    defaults = {"fractional_capacity_range": is_new, "device_taint_rules": is_new}
    return DeviceRules(release, **{**defaults, **features})


class Devices:
    """Slices, nodes and classes, with what is taken of them."""

    def __init__(self, *slices, nodes=(), classes=(), rules=None, timer=None):
        self.rules = rules or DeviceRules()
        self.inventory = DeviceInventory(self.rules)
        self.taken = TakenDevices(self.rules)
        self.classes = {each.name: each for each in classes or (device_class(),)}
        timing = {} if timer is None else {"timer": timer}
        self.allocator = Allocator(self.inventory, self.taken, self.classes, self.rules, **timing)
        self.nodes = list(nodes) or [node("n1")]
        for given in slices:
            self.inventory.set_slice(given)
        for row, each in enumerate(self.nodes):
            self.inventory.set_node(row, each)

    @property
    def rows(self):
        return np.arange(len(self.nodes))

    def allocate(self, *claims, on=0, timeout=0.0):
        return self.allocator.allocate(claims, self.nodes[on], timeout)

    def names(self, *claims, on=0):
        """Return the names of the devices that the claims get, by request; None if none."""
        found = self.allocate(*claims, on=on)
        return None if found is None else [names(allocation) for allocation in found]

    def take(self, *devices, driver=DRIVER, pool="n1", **fields):
        """Let somebody hold these devices; return what is held."""
        held = allocation(*devices, driver=driver, pool=pool, **fields)
        self.taken.add(held)
        return held


def allocation(*devices, driver=DRIVER, pool="n1", **fields):
    results = [
        {"request": "r", "driver": driver, "pool": pool, "device": device, **fields}
        for device in devices
    ]
    return msgspec.convert({"devices": {"results": results}}, AllocationResult)


def names(allocation):
    return " ".join(f"{result.request}={result.device}" for result in allocation.devices.results)


def exactly(name="r", *, cls="gpu", count=1, selectors=(), **fields):
    """A request as in a manifest; ``count=None`` asks for all devices."""
    return {"name": name, "exactly": _request(cls, count, selectors, fields)}


def first_available(name, **subs):
    """A request with alternatives, which are those that ``exactly`` returns or counts."""
    listed = []
    for sub, given in subs.items():
        spec = given if isinstance(given, dict) else {"count": given}
        listed.append({"name": sub, **_request(**{"cls": "gpu", "count": 1, **spec})})
    return {"name": name, "firstAvailable": listed}


def _request(cls, count, selectors=(), fields=None, **more):
    mode = (
        {"allocationMode": "All"}
        if count is None
        else {
            "allocationMode": "ExactCount",
            "count": count,
        }
    )
    return {
        "deviceClassName": cls,
        **mode,
        "selectors": [{"cel": {"expression": text}} for text in selectors],
        **(fields or {}),
        **more,
    }


def claim(*requests, name="c", **fields):
    return resource_claim(name, requests=requests or (exactly(),), **fields)


def gpus(*devices, node="n1", **fields):
    """Return a slice with these devices of one node."""
    return resource_slice(f"{node}-gpus", node=node, devices=devices, **fields)


def numbered(count, **fields):
    """Return a slice of devices with the attribute ``index``."""
    return gpus(*(device(f"gpu-{n}", attributes={"index": n}) for n in range(count)), **fields)


def on_numa(*values):
    """Return a slice of devices with these values of the attribute ``numa``."""
    return gpus(
        *(
            device(f"gpu-{n}", attributes={} if value is None else {"numa": value})
            for n, value in enumerate(values)
        )
    )


def shareable(*amounts, **policy):
    """Return a slice of devices with so much memory each, of which claims can have shares."""
    fields = {"requestPolicy": policy} if policy else {}
    return gpus(
        *(
            device(
                f"gpu-{n}",
                allow_multiple_allocations=True,
                capacity={"memory": {"value": amount, **fields}},
            )
            for n, amount in enumerate(amounts)
        )
    )


def memory(amount):
    """Return the part of a request that asks for so much memory of a device."""
    return {"capacity": {"requests": {"memory": amount}}}

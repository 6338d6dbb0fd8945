"""Taint rules: taints that an administrator gives to devices, as if their slices had them."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from podium.api.devices import Device, DeviceTaintRule, DeviceTaintSelector, ResourceSlice
from podium.devices.inventory import DeviceInventory

# A slice before and after a rule changed.
Change = tuple[ResourceSlice, ResourceSlice]


class TaintedSlices:
    """Hands slices on to the inventory, with the taints of all rules added to their devices.

    Invariant: the inventory has ``tainted(slice, rules)`` for each slice that was set.
    """

    def __init__(self, inventory: DeviceInventory) -> None:
        self._inventory = inventory
        self._slices: dict[str, ResourceSlice] = {}
        self._tainted: dict[str, ResourceSlice] = {}
        self._rules: dict[str, DeviceTaintRule] = {}

    def set_slice(self, given: ResourceSlice) -> None:
        self._slices[given.name] = given
        self._tainted[given.name] = new = tainted(given, self._in_order())
        self._inventory.set_slice(new)

    def remove_slice(self, name: str) -> None:
        if self._slices.pop(name, None) is not None:
            del self._tainted[name]
            self._inventory.remove_slice(name)

    def set_rule(self, rule: DeviceTaintRule) -> list[Change]:
        """Add or replace a rule; return the slices whose taints changed."""
        old = self._rules.get(rule.name)
        self._rules[rule.name] = rule
        if old is not None and old.spec == rule.spec:
            return []
        return self._follow([rule] if old is None else [old, rule])

    def remove_rule(self, name: str) -> list[Change]:
        """Remove a rule; return the slices whose taints changed."""
        old = self._rules.pop(name, None)
        return [] if old is None else self._follow([old])

    def _follow(self, changed: list[DeviceTaintRule]) -> list[Change]:
        rules = self._in_order()
        found = []
        for name, given in self._slices.items():
            if any(_selects_slice(rule, given) for rule in changed):
                old, new = self._tainted[name], tainted(given, rules)
                if old.spec != new.spec:
                    self._tainted[name] = new
                    self._inventory.set_slice(new)
                    found.append((old, new))
        return found

    def _in_order(self) -> list[DeviceTaintRule]:
        return [self._rules[name] for name in sorted(self._rules)]


def tainted(given: ResourceSlice, rules: Iterable[DeviceTaintRule]) -> ResourceSlice:
    """Return a slice with the taints of rules; the same object if no rule selects a device."""
    chosen = [rule for rule in rules if _selects_slice(rule, given)]
    if not chosen:
        return given
    devices = tuple(_tainted_device(device, chosen) for device in given.spec.devices)
    if all(new is old for new, old in zip(devices, given.spec.devices, strict=True)):
        return given
    spec = msgspec.structs.replace(given.spec, devices=devices)
    return msgspec.structs.replace(given, spec=spec)


def _tainted_device(device: Device, rules: Iterable[DeviceTaintRule]) -> Device:
    taints = tuple(
        rule.spec.taint for rule in rules if _selector(rule).device in (None, device.name)
    )
    return msgspec.structs.replace(device, taints=device.taints + taints) if taints else device


def _selects_slice(rule: DeviceTaintRule, given: ResourceSlice) -> bool:
    selector, spec = _selector(rule), given.spec
    return selector.driver in (None, spec.driver) and selector.pool in (None, spec.pool.name)


def _selector(rule: DeviceTaintRule) -> DeviceTaintSelector:
    """Return a rule's selector; without one it selects every device, as upstream."""
    return rule.spec.device_selector or DeviceTaintSelector()

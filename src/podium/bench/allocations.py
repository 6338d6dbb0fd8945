"""Allocates claims without pods, as scheduler_perf does to fill a cluster: one after the other."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import msgspec

from podium.api.objects import (
    AllocationResult,
    DeviceClass,
    DeviceTaintRule,
    Node,
    ResourceClaim,
    ResourceSlice,
)
from podium.devices import Allocator, DeviceInventory, DeviceRules, TaintedSlices, TakenDevices
from podium.errors import WorkloadFailed

_SEED: Final = 1


@dataclass(frozen=True, slots=True)
class DeviceObjects:
    """The objects of a cluster that decide which devices a claim can get."""

    nodes: Iterable[Node]
    slices: Iterable[ResourceSlice]
    classes: Iterable[DeviceClass]
    taint_rules: Iterable[DeviceTaintRule]
    claims: Sequence[ResourceClaim]


def allocations(
    namespace: str, devices: DeviceObjects, rules: DeviceRules
) -> Iterator[tuple[ResourceClaim, AllocationResult]]:
    """Yield claims that have no allocation yet with one, on nodes in random order.

    Without a namespace, they are those of all namespaces.
    """
    taken, allocator = _allocator(devices, rules)
    generator, nodes = random.Random(_SEED), list(devices.nodes)
    # DeviceObjects are only ever taken here, so a node without room for a claim stays so.
    left: dict[bytes, list[Node]] = {}
    for claim in devices.claims:
        is_wanted = namespace in ("", claim.namespace)
        if claim.status.allocation is not None or not is_wanted:
            continue
        spec = msgspec.json.encode(claim.spec)
        if spec not in left:
            left[spec] = nodes.copy()
        allocation = _allocation(claim, left[spec], allocator, generator)
        taken.add(allocation)
        yield claim, allocation


def _allocation(
    claim: ResourceClaim, nodes: list[Node], allocator: Allocator, generator: random.Random
) -> AllocationResult:
    while nodes:
        index = generator.randrange(len(nodes))
        nodes[index], nodes[-1] = nodes[-1], nodes[index]
        found = allocator.allocate([claim], nodes[-1])
        if found is not None:
            return found[0]
        nodes.pop()
    raise WorkloadFailed(f"allocResourceClaims: no node has devices for claim {claim.key}")


def _allocator(devices: DeviceObjects, rules: DeviceRules) -> tuple[TakenDevices, Allocator]:
    inventory, taken = DeviceInventory(rules), TakenDevices(rules)
    slices = TaintedSlices(inventory)
    for each in devices.slices:
        slices.set_slice(each)
    if rules.device_taint_rules:
        for rule in devices.taint_rules:
            slices.set_rule(rule)
    for claim in devices.claims:
        if claim.status.allocation is not None:
            taken.add(claim.status.allocation)
    classes = {each.name: each for each in devices.classes}
    return taken, Allocator(inventory, taken, classes, rules)

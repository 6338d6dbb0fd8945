"""The devices of a cluster: what there is, and what is taken. All profiles share it.

Plugins get it as ``handle.devices``. It follows the objects of the state, so that nothing is
gathered for a pod.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import Final

import numpy as np
from numpy.typing import NDArray

from podium.api.objects import (
    AllocationResult,
    DeviceClass,
    DeviceTaintRule,
    Pod,
    ResourceClaim,
    ResourceSlice,
)
from podium.devices.allocator import Allocator
from podium.devices.candidates import Candidate
from podium.devices.extended_resources import (
    EXTENDED_CLAIM_ANNOTATION,
    ExtendedResources,
    NoExtendedResources,
)
from podium.devices.inventory import DeviceInventory
from podium.devices.outcomes import Outcomes
from podium.devices.rules import DeviceRules
from podium.devices.taint_rules import TaintedSlices
from podium.devices.taken import TakenDevices
from podium.devices.totals import DeviceTotals
from podium.state.aspects import Aspect, Reader
from podium.state.cluster import ClusterState

# What a plugin must watch to use ``handle.devices``.
DEVICE_KINDS: Final = (DeviceClass, ResourceClaim, ResourceSlice)
# What the allocator reads of a node: its name and labels.
_READ_OF_NODES: Final = Aspect.LABELS


class ClusterDevices:
    """The devices of the cluster, their use, and the allocations in flight.

    An allocation is in flight from Reserve until its claim is written, or the attempt has failed.
    Members of a pod group can share one: ``_holders`` has the pods for which it is in flight.
    Invariant: ``taken`` has exactly the allocations in ``_counted``: for each claim the one that
    the API has shown, else the one in flight. A claim is known by its uid.
    """

    def __init__(self, cluster: ClusterState, rules: DeviceRules) -> None:
        self.rules = rules
        self.taken = TakenDevices(rules)
        self.classes: dict[str, DeviceClass] = {}
        self.extended_resources = (
            ExtendedResources() if rules.extended_resource else NoExtendedResources()
        )
        self._cluster = cluster
        self._inventory = DeviceInventory(rules)
        self._slices = TaintedSlices(self._inventory)
        self._totals = DeviceTotals(self._inventory, self.taken, rules)
        self.allocator = Allocator(self._inventory, self.taken, self.classes, rules)
        self._nodes = Reader(cluster)
        self._in_flight: dict[str, AllocationResult] = {}
        self._holders: dict[str, set[str]] = {}
        self._counted: dict[str, AllocationResult] = {}
        # Their keys, in order, by the uid of the pod. A pod should have one, and may have more.
        self._extended_claims: dict[str, dict[str, None]] = {}
        self._newly_tainted: list[tuple[ResourceSlice, ResourceSlice]] = []
        cluster.follow(ResourceSlice, self._slice_changed)
        if rules.device_taint_rules:
            cluster.follow(DeviceTaintRule, self._taint_rule_changed)
        cluster.follow(DeviceClass, self._class_changed)
        cluster.follow(ResourceClaim, self._claim_changed)

    # --- what is free ----------------------------------------------------------------------------

    def allocate_each(
        self, claims: Sequence[ResourceClaim], rows: NDArray[np.intp], timeout: float
    ) -> Outcomes:
        """Return for each of these rows whether the claims can be allocated on its node."""
        self._follow_nodes()
        return self.allocator.allocate_each(claims, rows, timeout)

    def allocation_on(self, claims: Sequence[ResourceClaim], row: int) -> list[AllocationResult]:
        """Return what each claim gets on the node of a row.

        Raises ``AllocationError`` where they cannot be allocated.
        """
        self._follow_nodes()
        return self.allocator.allocation_on(claims, row)

    def devices_on(self, row: int) -> list[Candidate]:
        """Return the devices that the node of a row can use, in the order of the search."""
        self._follow_nodes()
        found = self._inventory.devices_on(row).candidates
        return [each for each in found if each.is_for_node]

    def class_totals(
        self, device_class: DeviceClass, rows: NDArray[np.intp]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return how many devices of a class each row has, and how many of them are taken."""
        self._follow_nodes()
        return self._totals.on_rows(device_class, rows)

    def _follow_nodes(self) -> None:
        changes = self._nodes.catch_up()
        nodes = self._cluster.table.nodes
        if changes.fresh:
            for row in range(self._cluster.table.size):
                self._inventory.set_node(row, nodes[row])
        elif changes.aspects & _READ_OF_NODES:
            for row, aspects in changes.rows.items():
                if aspects & _READ_OF_NODES:
                    self._inventory.set_node(row, nodes[row])

    # --- allocations in flight -------------------------------------------------------------------

    def is_in_flight(self, claim: ResourceClaim) -> bool:
        """Return whether some pod has reserved devices for the claim and not written them yet."""
        return claim.uid in self._in_flight

    def pending(self, claim: ResourceClaim) -> AllocationResult | None:
        """Return the allocation in flight of a claim."""
        return self._in_flight.get(claim.uid)

    def holders(self, claim: ResourceClaim) -> Set[str]:
        """Return the uids of the pods that have reserved the allocation in flight of a claim."""
        return self._holders.get(claim.uid, frozenset())

    @property
    def in_flight(self) -> int:
        """Return how many allocations are in flight."""
        return len(self._in_flight)

    def reserve(self, claim: ResourceClaim, allocation: AllocationResult, holder: str = "") -> None:
        """Take the devices of an allocation that will be written for the pod with this uid."""
        self._holders.setdefault(claim.uid, set()).add(holder)
        if claim.uid in self._in_flight:
            return  # it is shared, or the pod names the claim twice; it is written once
        self._in_flight[claim.uid] = allocation
        if claim.uid not in self._counted:
            self._set_counted(claim.uid, allocation)

    def settle(self, uid: str, holder: str = "") -> None:
        """End the flight of a claim's allocation for a pod.

        With its last holder it ends altogether: the devices are free unless it was written.
        """
        holders = self._holders.get(uid)
        if holders is None:
            return
        holders.discard(holder)
        if holders:
            return
        del self._holders[uid]
        allocation = self._in_flight.pop(uid, None)
        # Identity, not equality: an equal allocation that the API has shown stays counted.
        if allocation is not None and self._counted.get(uid) is allocation:
            self._set_counted(uid, None)

    # --- claims for extended resources -----------------------------------------------------------

    def extended_claim_of(self, pod: Pod) -> ResourceClaim | None:
        """Return the claim that was made for the pod's extended resources, if there is one."""
        keys = self._extended_claims.get(pod.uid)
        return None if keys is None else self._cluster.objects(ResourceClaim).get(next(iter(keys)))

    # --- slices that taint rules change ----------------------------------------------------------

    def take_newly_tainted(self) -> list[tuple[ResourceSlice, ResourceSlice]]:
        """Return the slices that taint rules changed since the last call: before and after."""
        tainted, self._newly_tainted = self._newly_tainted, []
        return tainted

    # --- what changes ----------------------------------------------------------------------------

    def _claim_changed(self, old: ResourceClaim | None, new: ResourceClaim | None) -> None:
        if old is not None and (new is None or new.uid != old.uid):
            self._set_counted(old.uid, self._in_flight.get(old.uid))
        if new is not None:
            self._set_counted(new.uid, new.status.allocation or self._in_flight.get(new.uid))
        before = "" if old is None else _extended_owner(old)
        after = "" if new is None else _extended_owner(new)
        if old is not None and before and before != after:
            self._extended_claims[before].pop(old.key)
            if not self._extended_claims[before]:
                del self._extended_claims[before]
        if new is not None and after:
            self._extended_claims.setdefault(after, {})[new.key] = None

    def _set_counted(self, uid: str, allocation: AllocationResult | None) -> None:
        """Let this be the allocation of the claim that counts."""
        before = self._counted.pop(uid, None)
        if allocation is not None:
            self._counted[uid] = allocation
        if before is allocation or (before is not None and before == allocation):
            return
        if before is not None:
            self.taken.remove(before)
        if allocation is not None:
            self.taken.add(allocation)

    def _class_changed(self, old: DeviceClass | None, new: DeviceClass | None) -> None:
        if old is not None:
            self.classes.pop(old.name, None)
        if new is not None:
            self.classes[new.name] = new
        self.extended_resources.class_changed(old, new)

    def _slice_changed(self, old: ResourceSlice | None, new: ResourceSlice | None) -> None:
        if new is not None:
            self._slices.set_slice(new)
        elif old is not None:
            self._slices.remove_slice(old.name)

    def _taint_rule_changed(self, old: DeviceTaintRule | None, new: DeviceTaintRule | None) -> None:
        if new is not None:
            self._newly_tainted += self._slices.set_rule(new)
        elif old is not None:
            self._newly_tainted += self._slices.remove_rule(old.name)

    # --- checks ----------------------------------------------------------------------------------

    def check_invariants(self) -> None:
        """Raise ``AssertionError`` if devices are counted that no claim has, or the reverse."""
        claims = list(self._cluster.objects(ResourceClaim))
        shown = {each.uid: each.status.allocation for each in claims if each.status.allocation}
        assert self._holders.keys() == self._in_flight.keys(), "in flight for nobody, or not"
        assert self._counted == self._in_flight | shown, "allocations are not those of the claims"
        self.taken.check_invariants(self._counted.values())
        extended = {(owner, each.key) for each in claims if (owner := _extended_owner(each))}
        known = {(owner, key) for owner, keys in self._extended_claims.items() for key in keys}
        assert known == extended, f"claims for extended resources: {known ^ extended}"
        classes = {each.name: each for each in self._cluster.objects(DeviceClass)}
        assert self.classes == classes, "the device classes are not those of the cluster"


def _extended_owner(claim: ResourceClaim) -> str:
    """Return the uid of the pod for whose extended resources the claim was made, or nothing."""
    if claim.annotations.get(EXTENDED_CLAIM_ANNOTATION) != "true" or claim.controller is None:
        return ""
    return claim.controller.uid

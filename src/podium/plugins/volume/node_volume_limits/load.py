"""The CSI volumes of the incoming pod, and how many volumes a row would hold with it.

The load of a row includes what a dry run changes there.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from podium import framework as fwk
from podium.api.claims import named_claims
from podium.api.csi_migration import VolumeId
from podium.api.disks import storage_volumes
from podium.api.objects import Pod
from podium.framework.cluster_view import StorageView, VolumesOnNodes
from podium.plugins.volume.limits import usable_claim


class Demand(NamedTuple):
    """How many volumes of each driver the pod has, and which of them placed pods already use.

    Volumes that no placed pod uses are only counted, so that pods that differ only in them have
    equal signatures.
    """

    by_driver: tuple[tuple[str, int], ...]
    in_use: tuple[VolumeId, ...]


NOTHING = Demand((), ())


def demand_of(cluster: fwk.ClusterView, pod: Pod) -> Demand | fwk.Status:
    """Return the pod's demand, or a status if one of its claims is missing or invalid."""
    mine = volumes_of(cluster, pod)
    if isinstance(mine, fwk.Status):
        return mine
    if not mine:
        return NOTHING
    by_driver: dict[str, int] = {}
    for volume in mine:
        by_driver[volume.driver] = by_driver.get(volume.driver, 0) + 1
    in_use = [volume for volume in mine if cluster.storage.attached.is_used(volume)]
    return Demand(tuple(sorted(by_driver.items())), tuple(sorted(in_use)))


def volumes_of(cluster: fwk.ClusterView, pod: Pod) -> frozenset[VolumeId] | fwk.Status:
    """Return the distinct volumes of the incoming pod, or a status as ``demand_of`` does."""
    volumes = storage_volumes(pod)
    if not volumes:
        return frozenset()
    for named in named_claims(pod):
        claim = usable_claim(cluster, pod, named)
        if isinstance(claim, fwk.Status):
            return claim
    return frozenset(cluster.storage.volumes_of(pod, volumes))


_Shifts = Counter[tuple[str, int]]  # by driver and row


@dataclass(slots=True)
class Load:
    """PreFilter's state, with what a dry run changes on each row.

    ``refusal`` is the status of every node if the pod's claims are missing or invalid. The counters
    are differences to the live cluster: ``uses`` of a volume by pods on a row, volumes that are
    ``there`` on a row by driver, and ``new`` volumes that the pod would add to a row by driver.
    """

    demand: Demand
    refusal: fwk.Status | None = None
    uses: Counter[tuple[VolumeId, int]] = field(default_factory=Counter)
    there: _Shifts = field(default_factory=Counter)
    new: _Shifts = field(default_factory=Counter)

    def clone(self) -> Load:
        return Load(self.demand, self.refusal, self.uses.copy(), self.there.copy(), self.new.copy())

    def exceeds(self, storage: StorageView, row: int) -> bool:
        """Return whether the pod's volumes are too many for this row."""
        attached = storage.attached
        for driver, brought in self.demand.by_driver:
            there = attached.counts(driver).item(row) + self.there.get((driver, row), 0)
            shared = sum([attached.users(volume).at(row) > 0 for volume in self._in_use(driver)])
            new = brought - shared + self.new.get((driver, row), 0)
            if is_over(there, new, storage.limits(driver).item(row)):
                return True
        return False

    def exceeds_all(self, storage: StorageView, nodes: fwk.Rows) -> NDArray[np.bool_]:
        """Return a mask of the nodes for which the pod's volumes are too many."""
        attached = storage.attached
        is_exceeded = np.zeros(len(nodes), np.bool_)
        for driver, brought in self.demand.by_driver:
            there = _shifted(attached.counts(driver), self.there, driver)
            new = np.full(len(there), brought, np.int64)
            for volume in self._in_use(driver):
                new[attached.users(volume).rows()] -= 1
            new = _shifted(new, self.new, driver)
            limits = storage.limits(driver)
            is_exceeded |= is_over(nodes.take(there), nodes.take(new), nodes.take(limits))
        return is_exceeded

    def shift(self, attached: VolumesOnNodes, use: Use, amount: int) -> None:
        """Add (+1) or remove (-1) a use in the dry run of its row."""
        volume, row, is_shared = use
        before = attached.users(volume).at(row) + self.uses[volume, row]
        self.uses[volume, row] += amount
        if bool(before) == bool(before + amount):
            return
        if not attached.is_attached(
            volume, row
        ):  # an attached volume stays on the row, used or not
            self.there[volume.driver, row] += amount
        if is_shared:
            self.new[volume.driver, row] -= amount

    def _in_use(self, driver: str) -> list[VolumeId]:
        return [volume for volume in self.demand.in_use if volume.driver == driver]


Use = tuple[VolumeId, int, bool]
"""A volume of a pod, the pod's row, and whether the incoming pod has that volume too."""


def is_over(there: Any, new: Any, limit: Any) -> Any:
    """Return whether there are new volumes and they exceed the limit."""
    return (new > 0) & (there + new > limit)


def _shifted(counts: NDArray[np.int64], shifts: _Shifts, driver: str) -> NDArray[np.int64]:
    if not shifts:
        return counts
    shifted = counts.copy()
    for (name, row), shift in shifts.items():
        if name == driver:
            shifted[row] += shift
    return shifted

"""How many volumes of a driver a row would hold with the pod on it, also in dry runs."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from podium import framework as fwk
from podium.api.csi_migration import VolumeId
from podium.framework.cluster_view import StorageView, VolumesOnNodes
from podium.plugins.volume.node_volume_limits.demand import Demand

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

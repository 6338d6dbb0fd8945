"""Groups of nodes on which every search gives the same result, apart from names.

Two nodes are in one group if their devices have equal contents and the same of them is taken.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from podium.devices.inventory import DeviceInventory, NodeDevices
from podium.devices.taken import TakenDevices

_SPARE: Final = 50_000


class Groups:
    """Numbers the groups.

    Invariant: after ``refresh``, ``of[number]`` is the group of the devices with this number in the
    inventory. A group keeps its number until ``generation`` grows: then all have new numbers.
    """

    def __init__(self, inventory: DeviceInventory, taken: TakenDevices) -> None:
        self._inventory = inventory
        self._taken = taken
        self._changed_pools = taken.changes()
        self._numbers: dict[object, int] = {}
        self.of: NDArray[np.intp] = np.empty(0, np.intp)
        self.generation = 0

    def __len__(self) -> int:
        return len(self._numbers)

    def refresh(self) -> NDArray[np.intp]:
        """Follow the changes; return the number of the devices of each row."""
        numbers = self._inventory.numbers
        inventory = self._inventory
        changed, inventory.changed = inventory.changed, set()
        for pool in self._changed_pools:
            changed |= inventory.numbers_by_pool.get(pool, _NONE)
        self._changed_pools.clear()
        if changed:
            self._follow(changed)
        return numbers

    def representative(self, devices: NodeDevices) -> int:
        """Return the group of these devices."""
        states = tuple([self._taken.state(pool.key) for pool in devices.pools])
        return self._numbers.setdefault((devices.shape, states), len(self._numbers))

    def _follow(self, changed: set[int]) -> None:
        known = self._inventory.devices_by_number
        if len(known) > len(self.of):
            self.of = np.concatenate([self.of, np.zeros(len(known) - len(self.of), np.intp)])
        if len(self._numbers) > _SPARE + 4 * len(known):
            self._numbers.clear()
            self._taken.forget_states()
            self.generation += 1
            changed = set(range(len(known)))
        for number in changed:
            devices = known[number]
            if devices is not None:
                self.of[number] = self.representative(devices)


_NONE: Final[frozenset[int]] = frozenset()

"""Groups of nodes on which every search gives the same result, apart from names.

Two nodes are in one group if their devices have equal contents and the same of them is taken.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from podium.devices.inventory import DeviceInventory, NodeDevices
from podium.devices.taken import PoolKey, TakenDevices

# A group stays known when no node is in it any more: it may come back. At most about this many
# such groups are kept; then all groups are numbered anew.
_MAX_UNUSED_GROUPS: Final = 50_000
# From this many users of a pool on, they are moved together.
_MANY_USERS: Final = 64


class Groups:
    """Numbers the groups.

    Invariant: after ``refresh``, ``group_by_number[number]`` is the group of the devices with this
    number in the inventory. A group keeps its number until ``generation`` grows: then all have new
    numbers.
    """

    def __init__(self, inventory: DeviceInventory, taken: TakenDevices) -> None:
        self._inventory = inventory
        self._taken = taken
        self._changed_pools = taken.changes()
        self._numbers: dict[object, int] = {}
        self.group_by_number: NDArray[np.intp] = np.empty(0, np.intp)
        self.generation = 0

    def __len__(self) -> int:
        return len(self._numbers)

    def refresh(self) -> NDArray[np.intp]:
        """Follow the changes; return the number of the devices of each row."""
        numbers = self._inventory.numbers
        changed, self._inventory.changed = self._inventory.changed, set()
        wide: list[PoolKey] = []
        for pool in self._changed_pools:
            users = self._inventory.numbers_by_pool.get(pool, _NONE)
            if len(users) < _MANY_USERS:
                changed |= users
            else:
                wide.append(pool)
        self._changed_pools.clear()
        if changed or wide:
            self._regroup(changed, wide)
        return numbers

    def _regroup(self, changed: set[int], wide: list[PoolKey]) -> None:
        """Find the groups of changed devices, and of the users of these pools with many users."""
        known = self._inventory.devices_by_number
        if len(known) > len(self.group_by_number):
            self.group_by_number = np.concatenate(
                [self.group_by_number, np.zeros(len(known) - len(self.group_by_number), np.intp)]
            )
        if len(self._numbers) > _MAX_UNUSED_GROUPS + 4 * len(known):
            self._numbers.clear()
            self._taken.forget_states()
            self.generation += 1
            changed, wide = set(range(len(known))), []
        users = [self._inventory.numbers_by_pool[pool] for pool in wide]
        # ``_move_together`` is right only for devices of which a single pool has changed.
        if len(wide) == 1:
            changed |= self._move_together(wide[0], users[0] - changed)
        else:
            changed = changed.union(*users)
        for number in changed:
            devices = known[number]
            if devices is not None:
                self.group_by_number[number] = self._group(devices)

    def _move_together(self, pool: PoolKey, users: set[int]) -> set[int]:
        """Move devices of which only this pool changed, group by group.

        All of a group have the pool in the same place, so they come into one group again. Return
        the others: where another pool is like it, the pool may be in either place.
        """
        numbers = np.fromiter(users, np.intp, len(users))
        old, first, inverse = np.unique(
            self.group_by_number[numbers], return_index=True, return_inverse=True
        )
        new = np.empty(len(old), np.intp)
        others: set[int] = set()
        for index, number in enumerate(numbers[first].tolist()):
            devices = self._inventory.devices_by_number[number]
            assert devices is not None, f"number {number} is not in use"
            new[index] = self._group(devices)
            if not _has_one_place(pool, devices):
                others.update(numbers[inverse == index].tolist())
        self.group_by_number[numbers] = new[inverse]
        return others

    def _group(self, devices: NodeDevices) -> int:
        states = tuple([self._taken.state(pool.key) for pool in devices.pools])
        return self._numbers.setdefault((devices.pattern, states), len(self._numbers))


def _has_one_place(key: PoolKey, devices: NodeDevices) -> bool:
    content_keys = [pool.content_key for pool in devices.pools]
    (pool,) = (pool for pool in devices.pools if pool.key == key)
    return content_keys.count(pool.content_key) == 1


_NONE: Final[frozenset[int]] = frozenset()

"""The allocator: which devices claims get on each node.

What claims of one shape get is kept for each group of nodes, so that a pod costs a search only
where devices have changed since the last pod with claims of the same shape.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from podium.api.objects import Node
from podium.api.resource_claims import AllocationResult, ResourceClaim
from podium.devices.groups import Groups
from podium.devices.inventory import DeviceInventory, NodeDevices
from podium.devices.outcomes import (
    FAILED,
    FOUND,
    INVALID_POOLS,
    REFUSED,
    TIMED_OUT,
    KeptOutcomes,
    Outcomes,
)
from podium.devices.requests import Classes, Shape, shape_of
from podium.devices.results import ResultWriter
from podium.devices.rules import DeviceRules
from podium.devices.score import score_of
from podium.devices.search import Search, SearchContext, Solution
from podium.devices.selectors import Selectors
from podium.devices.taken import TakenDevices
from podium.errors import AllocationError, AllocationTimeout

_MAX_SHAPES: Final = 64


class Allocator:
    """Allocates claims. It reads ``inventory`` and ``taken``, and changes neither.

    ``timeout`` limits each search to so many seconds; 0 means no limit.
    """

    def __init__(
        self,
        inventory: DeviceInventory,
        taken: TakenDevices,
        classes: Classes,
        rules: DeviceRules,
        timer: Callable[[], float] = perf_counter,
    ) -> None:
        self._inventory = inventory
        self._taken = taken
        self._classes = classes
        self._rules = rules
        self._timer = timer
        self._context = SearchContext(taken, Selectors(rules), rules)
        self._writer = ResultWriter(rules)
        self._groups = Groups(inventory, taken)
        self._kept: dict[bytes, KeptOutcomes] = {}

    def allocate(
        self, claims: Sequence[ResourceClaim], node: Node, timeout: float = 0.0
    ) -> list[AllocationResult] | None:
        """Return what each claim gets on a node; None if they cannot all be allocated there.

        Raises ``AllocationError`` if something is wrong with the claims or the devices, and
        ``AllocationTimeout`` if the search takes too long.
        """
        shape, devices = self._kept_for(claims).shape, self._inventory.devices_of(node)
        solution = self._search(shape, claims, devices, timeout)
        if solution is None:
            return None
        return self._write(shape, solution, devices, node.name)

    def allocate_each(
        self, claims: Sequence[ResourceClaim], rows: NDArray[np.intp], timeout: float = 0.0
    ) -> Outcomes:
        """Return for each of these rows whether the claims can be allocated on its node.

        The inventory must know the nodes of these rows. ``allocation_on`` returns the devices.
        """
        kept = self._kept_for(claims)
        groups = self._current_groups(kept, rows)
        unknown = kept.endings[groups] == TIMED_OUT
        if unknown.any():
            distinct, first = np.unique(groups[unknown], return_index=True)
            asked = dict(zip(distinct.tolist(), rows[unknown][first].tolist(), strict=True))
            self._search_groups(kept, claims, asked, timeout)
        return kept.outcomes(groups)

    def allocation_on(self, claims: Sequence[ResourceClaim], row: int) -> list[AllocationResult]:
        """Return what each claim gets on the node of a row.

        Raises ``AllocationError`` where they cannot be allocated.
        """
        kept = self._kept_for(claims)
        group = int(self._current_groups(kept, np.array([row]))[0])
        devices, node = self._inventory.devices_on(row), self._inventory.node(row)
        assert node is not None, f"row {row} has no node"
        solution = kept.solutions.get(group)
        if solution is None:
            solution = self._search(kept.shape, claims, devices)
        if solution is None:
            raise AllocationError("cannot allocate all claims")
        return self._write(kept.shape, solution, devices, node.name)

    # --- inside ----------------------------------------------------------------------------------

    def _kept_for(self, claims: Sequence[ResourceClaim]) -> KeptOutcomes:
        """Return what is kept for claims of this shape. The least recently used one is dropped."""
        key = msgspec.json.encode([claim.spec for claim in claims])
        kept = self._kept.pop(key, None)
        if kept is None or not kept.shape.is_current(self._classes):
            if len(self._kept) >= _MAX_SHAPES:
                del self._kept[next(iter(self._kept))]
            shape = shape_of(claims, self._classes, self._rules)
            self._inventory.note_reads(shape.attributes_read(self._context.selectors))
            kept = KeptOutcomes(shape)
        self._kept[key] = kept
        return kept

    def _current_groups(self, kept: KeptOutcomes, rows: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return the group of each of these rows, and make room for all groups in what is kept."""
        numbers = self._groups.refresh()
        kept.fit_to(self._groups.generation, len(self._groups))
        groups: NDArray[np.intp] = self._groups.group_by_number[numbers[rows]]
        return groups

    def _search_groups(
        self,
        kept: KeptOutcomes,
        claims: Sequence[ResourceClaim],
        rows: dict[int, int],
        timeout: float,
    ) -> None:
        """Search on one row of each group. After a timeout the other groups stay unknown."""
        for group, row in rows.items():
            devices = self._inventory.devices_on(row)
            try:
                solution = self._search(kept.shape, claims, devices, timeout)
            except AllocationTimeout:
                return
            except AllocationError:
                kept.put(group, FAILED)
                continue
            if solution is not None:
                kept.put(group, FOUND, solution, score_of(kept.shape, solution))
            else:
                kept.put(group, INVALID_POOLS if devices.has_invalid_pool else REFUSED)

    def _search(
        self,
        shape: Shape,
        claims: Sequence[ResourceClaim],
        devices: NodeDevices,
        timeout: float = 0.0,
    ) -> Solution | None:
        keys = [claim.key for claim in claims]
        found = Search(shape, keys, devices, self._context, self._watch(timeout)).run()
        if found is not None:
            self._writer.check_node_selectors(found, claims, devices)
        return found

    def _watch(self, timeout: float) -> Callable[[], object]:
        """Return a function that raises when the time of a search that begins now is over."""
        if not timeout:
            return _no_limit
        timer = self._timer
        end = timer() + timeout

        def check() -> None:
            if timer() > end:
                raise AllocationTimeout

        return check

    def _write(
        self, shape: Shape, solution: Solution, devices: NodeDevices, node_name: str
    ) -> list[AllocationResult]:
        return [
            self._writer.allocation(claim, index, solution, devices, node_name)
            for index, claim in enumerate(shape.claims)
        ]


def _no_limit() -> None:
    """Let a search take as long as it needs."""

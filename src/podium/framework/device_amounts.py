"""Amounts of extended resources that devices provide, for the plugins that score resources.

A node that does not offer a resource itself may have devices of the class that provides it. In a
score such a node offers as many as it has matching devices, of which those that are taken count as
requested.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from podium.framework.cluster_devices import ClusterDevices
from podium.framework.resource_scoring import Demand
from podium.state.rows import NodeInfo, Rows


class WithDevices:
    """One node or many, as scores read them, with the resources that devices provide."""

    def __init__(self, nodes: NodeInfo | Rows, provided: dict[str, tuple[Any, Any]]) -> None:
        self._nodes = nodes
        self._provided = provided  # what there is and what is taken, by resource

    @classmethod
    def of(
        cls, devices: ClusterDevices, demands: Iterable[Demand], nodes: NodeInfo | Rows
    ) -> Self | None:
        """Return the nodes with what devices provide of these demands; ``None`` if nothing."""
        classes = devices.extended_resources.classes
        asked = [demand.name for demand in demands if demand.amount and demand.name in classes]
        if not asked:
            return None
        rows = np.array([nodes.row]) if isinstance(nodes, NodeInfo) else nodes.index
        provided: dict[str, tuple[Any, Any]] = {}
        for name in asked:
            total, taken = devices.counted(classes[name], rows)
            is_one = isinstance(nodes, NodeInfo)
            provided[name] = (total.item(0), taken.item(0)) if is_one else (total, taken)
        return cls(nodes, provided)

    def __len__(self) -> int:
        return 1 if isinstance(self._nodes, NodeInfo) else len(self._nodes)

    def allocatable(self, resource: str) -> Any:
        return self._either(resource, 0, self._nodes.allocatable(resource))

    def requested(self, resource: str) -> Any:
        return self._either(resource, 1, self._nodes.requested(resource))

    def non_zero_requested(self, resource: str) -> Any:
        return self._nodes.non_zero_requested(resource)

    def all_have(self, resource: str) -> bool:
        return self._nodes.all_have(resource)

    def _either(self, resource: str, part: int, own: Any) -> Any:
        """Return the node's own amount where it offers the resource or devices do not."""
        found = self._provided.get(resource)
        if found is None:
            return own
        is_provided = (self._nodes.allocatable(resource) == 0) & (found[0] > 0)
        if isinstance(own, int):
            return found[part] if is_provided else own
        amounts: NDArray[np.int64] = np.where(is_provided, found[part], own)
        return amounts

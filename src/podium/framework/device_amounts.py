"""Amounts of extended resources that devices provide, for the plugins that score resources.

A node that does not offer a resource itself may have devices of the class that provides it. In a
score such a node offers as many as it has matching devices, of which those that are taken count as
requested.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from podium.api.objects import Pod
from podium.framework.cluster_devices import ClusterDevices
from podium.framework.resource_scoring import Demand, ResourceSpec
from podium.state.rows import NodeInfo, Rows


class Provided(NamedTuple):
    """The amount of a resource that devices provide: numbers for one node, arrays for many."""

    total: Any
    taken: Any


class NodesWithDevices:
    """One node or many, as scores read them, with the resources that devices provide."""

    def __init__(self, nodes: NodeInfo | Rows, provided: Mapping[str, Provided]) -> None:
        self._nodes = nodes
        self._provided = provided  # by resource

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
        provided: dict[str, Provided] = {}
        for name in asked:
            total, taken = devices.class_totals(classes[name], rows)
            is_one = isinstance(nodes, NodeInfo)
            provided[name] = (
                Provided(total.item(0), taken.item(0)) if is_one else Provided(total, taken)
            )
        return cls(nodes, provided)

    def __len__(self) -> int:
        return 1 if isinstance(self._nodes, NodeInfo) else len(self._nodes)

    def allocatable(self, resource: str) -> Any:
        own, found = self._nodes.allocatable(resource), self._provided.get(resource)
        return own if found is None else self._amount(resource, found, found.total, own)

    def requested(self, resource: str) -> Any:
        own, found = self._nodes.requested(resource), self._provided.get(resource)
        return own if found is None else self._amount(resource, found, found.taken, own)

    def non_zero_requested(self, resource: str) -> Any:
        return self._nodes.non_zero_requested(resource)

    def all_have(self, resource: str) -> bool:
        return self._nodes.all_have(resource)

    def _amount(self, resource: str, found: Provided, by_devices: Any, own: Any) -> Any:
        """Return the node's own amount where it offers the resource or devices do not."""
        is_provided = (self._nodes.allocatable(resource) == 0) & (found.total > 0)
        if isinstance(own, int):
            return by_devices if is_provided else own
        amounts: NDArray[np.int64] = np.where(is_provided, by_devices, own)
        return amounts


def scores_devices(devices: ClusterDevices, pod: Pod, scored: Iterable[ResourceSpec]) -> bool:
    """Return whether the pod requests a scored resource that a device class provides."""
    provided = devices.extended_resources.requested_by(pod)
    return any(spec.name in provided for spec in scored)

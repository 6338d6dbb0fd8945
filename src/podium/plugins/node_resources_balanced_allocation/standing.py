"""How even the used parts of nodes are as they stand, kept for all nodes.

No pod plays a part in that: what a pod would make of it is compared with the same numbers for every
kind of pod, and only rows that changed are looked at again.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from podium import framework as fwk
from podium.framework.resource_scoring import Demand
from podium.plugins.node_resources_balanced_allocation.balance import balance_of, balances, shares

_FEW = 16  # changed rows up to this many are looked at one by one
_KEPT = 4  # sets of resources: pods that ask for devices are compared in those too


class StandingBalances:
    """By the resources that are compared, each row's balance."""

    def __init__(self) -> None:
        self._kept: dict[tuple[str, ...], _Kept] = {}

    def on(self, nodes: fwk.Rows, asked: Sequence[Demand]) -> NDArray[np.int64]:
        names = tuple([demand.name for demand in asked])
        kept = self._kept.get(names)
        if kept is None or kept.cluster is not nodes.cluster:
            while len(self._kept) >= _KEPT:
                del self._kept[next(iter(self._kept))]
            kept = self._kept[names] = _Kept(nodes.cluster)
        by_row: NDArray[np.int64] = nodes.take(kept.by_row(asked))
        return by_row


class _Kept:
    def __init__(self, cluster: fwk.ClusterView) -> None:
        self.cluster = cluster
        self._changes = cluster.changes()
        self._by_row: NDArray[np.int64] = np.zeros(0, np.int64)

    def by_row(self, asked: Sequence[Demand]) -> NDArray[np.int64]:
        changes = self._changes()
        rows = [row for row, a in changes.rows.items() if a & fwk.Aspect.RESOURCES]
        if changes.fresh or len(rows) > _FEW:
            nodes = self.cluster.nodes()
            self._by_row = np.zeros(self.cluster.size, np.int64)
            self._by_row[nodes.index] = balances(asked, nodes, balance_of)
            return self._by_row
        for row in rows:
            if row < len(self._by_row):  # beyond: no node stands there yet
                there = shares(asked, fwk.NodeInfo(self.cluster, row))
                self._by_row[row] = balance_of([share for share in there if share.capacity])
        return self._by_row

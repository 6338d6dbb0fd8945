"""The balance of all nodes without the pod, kept between cycles.

It does not depend on the incoming pod, so that only rows that have changed are computed again.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from podium import framework as fwk
from podium.framework.resource_scoring import Demand
from podium.plugins.node_resources_balanced_allocation.balance import balance_of, balances, shares

_FEW = 16  # up to this many changed rows are computed one by one
_KEPT = 4  # sets of resources; pods that request devices are compared by those too


class CurrentBalances:
    """Each row's balance, by the set of resources that are compared."""

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
    """The balance by row for one set of resources, brought up to date by ``by_row``."""

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
            if row < len(self._by_row):  # a row beyond the array has no node yet
                there = shares(asked, fwk.NodeInfo(self.cluster, row))
                self._by_row[row] = balance_of([share for share in there if share.capacity])
        return self._by_row

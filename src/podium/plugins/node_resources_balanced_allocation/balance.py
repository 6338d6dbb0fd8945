"""How evenly the resources of a node are used, with and without the pod, and the score for it.

The balance without the pod is kept between cycles, and computed again only for changed rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from podium import framework as fwk
from podium.framework.device_amounts import NodesWithDevices
from podium.framework.resource_scoring import Demand, FloatColumns, scratch, wrapped


class Share(NamedTuple):
    """A resource of one node (integers) or of many (arrays); the pod requests ``demand`` of it."""

    capacity: Any
    used: Any
    demand: int

    def at(self, mask: Any) -> Share:
        return Share(self.capacity[mask], self.used[mask], self.demand)


Nodes = fwk.NodeInfo | fwk.Rows | NodesWithDevices


def shares(asked: Iterable[Demand], nodes: Nodes) -> list[Share]:
    return [
        Share(nodes.allocatable(demand.name), nodes.requested(demand.name), demand.amount)
        for demand in asked
    ]


def by_resources_present(
    asked: Sequence[Demand], nodes: fwk.Rows | NodesWithDevices
) -> Iterable[tuple[Any, list[Share]]]:
    """Yield a mask of the nodes with the same resources, and their shares of these resources."""
    there = shares(asked, nodes)
    sets = fwk.packed([share.capacity == 0 for share in there])
    for number, bits in enumerate(sets.values):
        mask = sets.index == number
        yield mask, [share.at(mask) for bit, share in enumerate(there) if not bits >> bit & 1]


def balances(
    asked: Sequence[Demand],
    nodes: fwk.Rows | NodesWithDevices,
    rule: Callable[[Sequence[Share]], Any],
) -> NDArray[np.int64]:
    """Return each node's balance; ``rule`` is ``balance_of`` or ``balance_with``."""
    if asked and all(nodes.all_have(demand.name) for demand in asked):  # nearly always
        everywhere: NDArray[np.int64] = rule(shares(asked, nodes))
        return everywhere
    found = np.full(len(nodes), 100)
    for mask, there in by_resources_present(asked, nodes) if asked else ():
        found[mask] = rule(there)
    return found


def balances_of_two(
    floats: FloatColumns, nodes: fwk.Rows, asked: Sequence[Demand]
) -> NDArray[np.int16]:
    """Return what ``balance_with`` is for each node, in the same steps."""
    capacity, used = nodes.take(floats.allocatable), nodes.take(floats.requested)
    demand = np.array([[float(asked[0].amount)], [float(asked[1].amount)]])
    fractions = np.add(used, demand, out=scratch(used.shape))
    fractions /= capacity
    if np.maximum.reduce(fractions, axis=None, initial=0.0) > 1.0:
        np.minimum(fractions, 1.0, out=fractions)
    percent = fractions[0]
    percent -= fractions[1]
    np.absolute(percent, out=percent)
    percent *= 0.5  # the deviation
    np.subtract(1.0, percent, out=percent)
    percent *= 100.0
    balances: NDArray[np.int16] = percent.astype(np.int16)  # truncates
    return balances


def balance_of(there: Sequence[Share]) -> Any:
    """Return how even the used fractions are now, for one node or an array of nodes."""
    return balance([fraction(share.used, share.capacity) for share in there])


def balance_with(there: Sequence[Share]) -> Any:
    """Return how even the used fractions would be with the pod."""
    return balance([fraction(wrapped(s.used + s.demand), s.capacity) for s in there])


def points(after: Any, before: Any) -> Any:
    """Return the score, for one node or an array of nodes."""
    return (150 + after - before) >> 1  # 75, plus half of the difference


def fraction(amount: Any, capacity: Any) -> Any:
    """Return the used fraction of a resource; an over-committed resource counts as full."""
    if isinstance(amount, int):
        part = float(amount) / float(capacity)
        return part if part < 1.0 else 1.0  # min() takes twice as long
    parts = amount / capacity
    return parts if parts.max(initial=0.0) <= 1.0 else np.minimum(parts, 1.0)


def balance(fractions: Sequence[Any]) -> Any:
    """Return 100 if all fractions are equal, down to 50 if they differ as much as possible."""
    percent = (1 - deviation(fractions)) * 100
    return int(percent) if isinstance(percent, float) else percent.astype(np.int64)


def deviation(fractions: Sequence[Any]) -> Any:
    """Return the standard deviation. The order of the sums matters, as they are rounded."""
    count = len(fractions)
    if not count:
        return 0.0
    if count == 2:
        return abs(fractions[0] - fractions[1]) * 0.5
    mean = sum_in_order(fractions) / count
    squares = sum_in_order([(part - mean) * (part - mean) for part in fractions]) / count
    return math.sqrt(squares) if isinstance(squares, float) else np.sqrt(squares)


def sum_in_order(parts: Sequence[Any]) -> Any:
    """Add from left to right. The built-in ``sum`` of floats differs between Python versions."""
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total


_FEW = 16  # up to this many changed rows are computed one by one
_KEPT = 4  # sets of resources; pods that request devices are compared by those too


class CurrentBalances:
    """Each row's balance, by the set of resources that are compared."""

    def __init__(self) -> None:
        self._kept: dict[tuple[str, ...], _Kept] = {}

    def on(self, nodes: fwk.Rows, asked: Sequence[Demand]) -> NDArray[np.int16]:
        names = tuple([demand.name for demand in asked])
        kept = self._kept.get(names)
        if kept is None or kept.cluster is not nodes.cluster:
            while len(self._kept) >= _KEPT:
                del self._kept[next(iter(self._kept))]
            kept = self._kept[names] = _Kept(nodes.cluster)
        by_row: NDArray[np.int16] = nodes.take(kept.by_row(asked))
        return by_row


class _Kept:
    """The balance by row for one set of resources, brought up to date by ``by_row``."""

    def __init__(self, cluster: fwk.ClusterView) -> None:
        self.cluster = cluster
        self._changes = cluster.changes()
        self._by_row: NDArray[np.int16] = np.zeros(0, np.int16)

    def by_row(self, asked: Sequence[Demand]) -> NDArray[np.int16]:
        changes = self._changes()
        rows = [row for row, a in changes.rows.items() if a & fwk.Aspect.RESOURCES]
        if changes.fresh or len(rows) > _FEW:
            nodes = self.cluster.nodes()
            self._by_row = np.zeros(self.cluster.size, np.int16)
            self._by_row[nodes.index] = balances(asked, nodes, balance_of)
            return self._by_row
        for row in rows:
            if row < len(self._by_row):  # a row beyond the array has no node yet
                there = shares(asked, fwk.NodeInfo(self.cluster, row))
                self._by_row[row] = balance_of([share for share in there if share.capacity])
        return self._by_row

"""The rules: the used parts of a node's resources, how even they are, and what that scores."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from podium import framework as fwk
from podium.framework.resource_scoring import Amount, Demand, wrapped


class Share(NamedTuple):
    """A resource of one node in integers, or of many in arrays; the pod asks for ``demand``."""

    capacity: Any
    used: Any
    demand: int

    def at(self, mask: Any) -> Share:
        return Share(self.capacity[mask], self.used[mask], self.demand)


def shares(asked: Iterable[Demand], nodes: fwk.NodeInfo | fwk.Rows) -> list[Share]:
    return [
        Share(nodes.allocatable(demand.name), nodes.requested(demand.name), demand.amount)
        for demand in asked
    ]


def by_what_is_there(asked: Sequence[Demand], nodes: fwk.Rows) -> Iterable[tuple[Any, list[Share]]]:
    """Nodes that have the same resources, as places in the arrays, with their shares in those."""
    there = shares(asked, nodes)
    kinds = fwk.packed([share.capacity == 0 for share in there])
    for number, bits in enumerate(kinds.values):
        mask = kinds.index == number
        yield mask, [share.at(mask) for place, share in enumerate(there) if not bits >> place & 1]


def balances(
    asked: Sequence[Demand], nodes: fwk.Rows, rule: Callable[[Sequence[Share]], Any]
) -> NDArray[np.int64]:
    """Each node's balance, by one of the two rules."""
    if asked and all(nodes.all_have(demand.name) for demand in asked):  # nearly always
        everywhere: NDArray[np.int64] = rule(shares(asked, nodes))
        return everywhere
    found = np.full(len(nodes), 100)
    for mask, there in by_what_is_there(asked, nodes) if asked else ():
        found[mask] = rule(there)
    return found


def balance_of(there: Sequence[Share]) -> Any:
    """How even the parts are as they stand: of one node, or an array of many nodes'."""
    return balance([fraction(share.used, share.capacity) for share in there])


def balance_with(there: Sequence[Share]) -> Any:
    """How even they would be with the pod."""
    return balance([fraction(wrapped(s.used + s.demand), s.capacity) for s in there])


def points(after: Amount, before: Amount) -> Amount:
    """The score of a node, or an array of many nodes' scores."""
    return (150 + after - before) >> 1  # 50, and half of 50 to 100 or less


def fraction(amount: Amount, capacity: Amount) -> Any:
    """The used part of a resource; what is over-committed counts as full."""
    if isinstance(amount, int):
        part = float(amount) / float(capacity)
        return part if part < 1.0 else 1.0  # min() takes twice as long
    parts = amount / capacity
    return parts if parts.max(initial=0.0) <= 1.0 else np.minimum(parts, 1.0)


def balance(fractions: Sequence[Any]) -> Any:
    """100 when all parts are equal, 50 when they are as far apart as can be."""
    percent = (1 - deviation(fractions)) * 100
    return int(percent) if isinstance(percent, float) else percent.astype(np.int64)


def deviation(fractions: Sequence[Any]) -> Any:
    """How far the parts are from their mean. In this order: other sums round differently."""
    count = len(fractions)
    if not count:
        return 0.0
    if count == 2:
        return abs(fractions[0] - fractions[1]) * 0.5
    mean = in_turn(fractions) / count
    squares = in_turn([(part - mean) * (part - mean) for part in fractions]) / count
    return math.sqrt(squares) if isinstance(squares, float) else np.sqrt(squares)


def in_turn(parts: Sequence[Any]) -> Any:
    """The sum from left to right: what ``sum`` makes of floats differs between Pythons."""
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total

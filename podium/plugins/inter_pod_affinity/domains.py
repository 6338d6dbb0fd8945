"""Sums over topology domains: the nodes that share the value of a label.

All arrays have one place per row of the node table. A row without a node has no labels, so that
pods left on it are in no domain and never count.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from podium.state.affinity_index import StandingTerm
from podium.state.node_table import NodeTable

Counts = NDArray[np.int64]
Places = NDArray[np.intp]


def numbers(table: NodeTable, key: str) -> Places:
    """Each row's domain under this key, -1 where the label is missing."""
    return table.label_column(key).numbers[: table.size]


def in_domain(domains: Places, counts: Counts) -> Counts:
    """For each row the sum over all rows of its domain; 0 where the label is missing."""
    places = domains + 1
    sums = np.bincount(places, weights=counts)
    sums[0] = 0
    return sums.astype(np.int64).take(places)


def on_own(domains: Places, values: int) -> bool:
    """Whether no two rows share a domain, as with hostnames: then a row's count is its domain's."""
    return values == np.count_nonzero(domains >= 0)


def on_rows(size: int, rows: Places, weights: Counts | None = None) -> Counts:
    """How many of these rows, or of their weights, fall on each row."""
    return np.bincount(rows, weights, minlength=size).astype(np.int64)


class Tally:
    """Pods by topology key, each counted with a positive weight."""

    def __init__(self, table: NodeTable) -> None:
        self._table = table
        self._by_key: dict[str, Counts] = {}

    def add(self, key: str, counts: Counts, weight: int = 1) -> None:
        amounts = counts[: self._table.size] * weight
        before = self._by_key.get(key)
        self._by_key[key] = amounts if before is None else before + amounts

    def add_standing(self, standing: StandingTerm, weight: int = 1) -> None:
        standing.rows.add_to(self._on(standing.term.topology_key), weight)

    @property
    def is_empty(self) -> bool:
        """Whether nothing was counted, not even none of something."""
        return not self._by_key

    def total(self) -> Counts:
        """For each row, what its domains hold, all keys together."""
        total: Counts | None = None
        for key, counts in self._by_key.items():
            here = self._in_domains(key, counts)
            total = here if total is None else total + here
        return np.zeros(self._table.size, np.int64) if total is None else total

    def _in_domains(self, key: str, counts: Counts) -> Counts:
        domains = numbers(self._table, key)
        if not on_own(domains, len(self._table.label_column(key).values)):
            return in_domain(domains, counts)
        return counts if domains.min(initial=0) >= 0 else counts * (domains >= 0)

    def _on(self, key: str) -> Counts:
        counts = self._by_key.get(key)
        if counts is None:
            counts = self._by_key[key] = np.zeros(self._table.size, np.int64)
        return counts

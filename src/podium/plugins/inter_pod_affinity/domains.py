"""Counts of pods and terms by topology domain, that is by value of a node label.

A row without a node has no labels, so pods left on it are in no domain and never count.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from podium import framework as fwk

Counts = NDArray[np.int64]
Indexes = NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class DomainCounts:
    """A count for each row of the table, stored by row or by domain.

    Invariant: with ``domain_ids``, row ``r`` has the count ``values[domain_ids[r]]``; without
    (``None``) it has ``values[r]``.
    """

    values: Counts
    domain_ids: Indexes | None = None

    def by_row(self) -> Counts:
        return self.values if self.domain_ids is None else self.values.take(self.domain_ids)

    def on(self, nodes: fwk.Rows) -> Counts:
        if self.domain_ids is None:
            counts: Counts = nodes.take(self.values)
            return counts
        return self.values.take(nodes.take(self.domain_ids))

    def at(self, row: int) -> Counts:
        """Return the count of one row as an array of one element."""
        index = row if self.domain_ids is None else self.domain_ids.item(row)
        return self.values[index : index + 1]

    def plus(self, other: DomainCounts) -> DomainCounts:
        if self.domain_ids is other.domain_ids:
            return DomainCounts(self.values + other.values, self.domain_ids)
        return DomainCounts(self.by_row() + other.by_row())

    def minus(self, other: DomainCounts) -> DomainCounts:
        return self.plus(DomainCounts(-other.values, other.domain_ids))


def pod_counts(
    cluster: fwk.ClusterView, query: fwk.PodQuery, key: str, *, missing: int = 0
) -> DomainCounts:
    """Return how many pods match in each row's domain; ``missing`` for rows without the label."""
    label = cluster.label_column(key)
    if label.is_unique:
        by_row = cluster.pod_counts(query)
        return DomainCounts(_where_labelled(cluster, label, by_row, missing))
    sums = cluster.domain_counts(query, key)
    sums[-1] = missing
    return DomainCounts(sums, label.places(cluster.size))


def term_counts(cluster: fwk.ClusterView, standing: fwk.StandingTerm) -> DomainCounts:
    """Return how many pods in each row's domain have this term."""
    size = cluster.size
    label = cluster.label_column(standing.term.topology_key)
    if label.is_unique:
        counts = np.zeros(size, np.int64)
        standing.rows.add_to(counts)
        return DomainCounts(_where_labelled(cluster, label, counts, 0))
    sums = standing.domain_sums(label, size).copy()
    sums[-1] = 0
    return DomainCounts(sums, label.places(size))


def _where_labelled(
    cluster: fwk.ClusterView, label: fwk.LabelColumn, counts: Counts, missing: int
) -> Counts:
    """Return counts by row, for a label of which each row has its own value."""
    size = cluster.size
    if label.labelled == size:
        return counts
    return np.where(label.numbers[:size] < 0, missing, counts)


def on_rows(size: int, rows: Indexes, weights: Counts | None = None) -> Counts:
    """Return for each row how often it is in ``rows``, or the sum of its weights."""
    return np.bincount(rows, weights, minlength=size).astype(np.int64)


def has_label(cluster: fwk.ClusterView, key: str, rows: Indexes) -> NDArray[np.bool_]:
    present: NDArray[np.bool_] = cluster.label_column(key).numbers[rows] >= 0
    return present


class Tally:
    """A sum of weighted counts; ``None`` until something is added."""

    def __init__(self) -> None:
        self.total: DomainCounts | None = None

    def add(self, held: DomainCounts, weight: int = 1) -> None:
        if weight != 1:
            held = DomainCounts(held.values * weight, held.domain_ids)
        self.total = held if self.total is None else self.total.plus(held)

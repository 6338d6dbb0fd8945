"""Sums over topology domains: the nodes that share the value of a label.

A row without a node has no labels, so that pods left on it are in no domain and never count.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from podium import framework as fwk

Counts = NDArray[np.int64]
Places = NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Held:
    """A count for each row of the table: one number for all rows of a domain, or each its own.

    ``places`` are the rows' places in ``values``; ``None`` when they have one each.
    """

    values: Counts
    places: Places | None = None

    def by_row(self) -> Counts:
        return self.values if self.places is None else self.values.take(self.places)

    def on(self, nodes: fwk.Rows) -> Counts:
        if self.places is None:
            counts: Counts = nodes.take(self.values)
            return counts
        return self.values.take(nodes.take(self.places))

    def at(self, row: int) -> Counts:
        """The count of one row, as an array like the others."""
        place = row if self.places is None else self.places.item(row)
        return self.values[place : place + 1]

    def plus(self, other: Held) -> Held:
        if self.places is other.places:
            return Held(self.values + other.values, self.places)
        return Held(self.by_row() + other.by_row())

    def minus(self, other: Held) -> Held:
        return self.plus(Held(-other.values, other.places))


def in_domains(
    cluster: fwk.ClusterView, query: fwk.PodQuery, key: str, *, missing: int = 0
) -> Held:
    """How many pods match in each row's domain; ``missing`` where the label is."""
    label = cluster.label_column(key)
    if label.is_unique:
        counts = cluster.pod_counts(query)
        return Held(_where_labelled(cluster, label, counts, missing))
    sums = cluster.domain_counts(query, key)
    sums[-1] = missing
    return Held(sums, label.places(cluster.size))


def standing_in_domains(cluster: fwk.ClusterView, standing: fwk.StandingTerm) -> Held:
    """How often a term of placed pods stands in each row's domain."""
    size = cluster.size
    label = cluster.label_column(standing.term.topology_key)
    if label.is_unique:
        counts = np.zeros(size, np.int64)
        standing.rows.add_to(counts)
        return Held(_where_labelled(cluster, label, counts, 0))
    sums = standing.domain_sums(label, size).copy()
    sums[-1] = 0
    return Held(sums, label.places(size))


def _where_labelled(
    cluster: fwk.ClusterView, label: fwk.LabelColumn, counts: Counts, missing: int
) -> Counts:
    """With a domain to each row its count is the domain's."""
    size = cluster.size
    if label.labelled == size:
        return counts
    return np.where(label.numbers[:size] < 0, missing, counts)


def on_rows(size: int, rows: Places, weights: Counts | None = None) -> Counts:
    """How many of these rows, or of their weights, fall on each row."""
    return np.bincount(rows, weights, minlength=size).astype(np.int64)


def has_label(cluster: fwk.ClusterView, key: str, rows: Places) -> NDArray[np.bool_]:
    present: NDArray[np.bool_] = cluster.label_column(key).numbers[rows] >= 0
    return present


class Tally:
    """Counts around each row, added up."""

    def __init__(self) -> None:
        self.total: Held | None = None

    def add(self, held: Held, weight: int = 1) -> None:
        if weight != 1:
            held = Held(held.values * weight, held.places)
        self.total = held if self.total is None else self.total.plus(held)

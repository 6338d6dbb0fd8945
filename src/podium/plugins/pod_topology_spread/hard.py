"""Hard constraints: PreFilter's counts, what dry runs change of them, and Filter's rule."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from podium import framework as fwk
from podium.api.objects import Pod
from podium.plugins.pod_topology_spread.constraints import Constraint, Constraints
from podium.plugins.pod_topology_spread.counting import (
    CountedNodes,
    Mask,
    Numbers,
    columns,
    domains_with,
    keyless,
    pods_by_domain,
    spoken_of,
)

_REASON: Final = "node(s) didn't match pod topology spread constraints"

# Verdicts are places in this list, and as numbers the index of a column of statuses.
FITS, KEYLESS = 0, 2  # between them what ``exceeds`` says
VERDICTS: Final = [
    fwk.SUCCESS,
    fwk.Status.unschedulable(_REASON),
    fwk.Status.unresolvable(f"{_REASON} (missing required label)"),
]

_FEW: Final = 64
_MANY: Final = np.iinfo(np.int64).max


def exceeds(constraint: Constraint, count: Any, minimum: Any) -> Any:
    """The rule: whether one more pod in a domain of ``count`` is too far above the minimum."""
    return count + constraint.counts_itself - minimum > constraint.max_skew


class Domains:
    """One constraint's pods by domain. Domains without a node that counts have no say."""

    __slots__ = ("_least_elsewhere", "constraint", "counts", "is_short", "known", "label", "table")

    def __init__(
        self, constraint: Constraint, label: fwk.LabelColumn, counts: NDArray[np.int64], known: Mask
    ) -> None:
        self.constraint = constraint
        self.label = label
        self.counts = counts
        self.known = known
        self.is_short = int(np.count_nonzero(known)) < constraint.min_domains
        self._least_elsewhere: NDArray[np.int64] | None = None
        minimum = 0 if self.is_short else np.min(counts, where=known, initial=_MANY)
        self.table: Numbers = exceeds(constraint, counts, minimum).astype(np.intp)
        self.table[-1] = KEYLESS

    def verdicts(self, numbers: Numbers) -> Numbers:
        """Of nodes in these domains, in the cluster as it stands."""
        return self.table[numbers]

    def verdicts_in_worlds(self, numbers: Numbers, deltas: NDArray[np.int64]) -> Numbers:
        """The same, with this many pods more in each node's domain, each in its own world."""
        counts = self.counts[numbers] + deltas
        minimum = 0 if self.is_short else self._minimum(numbers, counts)
        return np.where(numbers < 0, KEYLESS, exceeds(self.constraint, counts, minimum))

    def _minimum(self, numbers: Numbers, counts: NDArray[np.int64]) -> NDArray[np.int64]:
        elsewhere = self._elsewhere()[numbers]
        return np.where(self.known[numbers], np.minimum(counts, elsewhere), elsewhere)

    def _elsewhere(self) -> NDArray[np.int64]:
        """The smallest count among all domains but this one."""
        if self._least_elsewhere is None:
            rest = np.where(self.known, self.counts, _MANY)
            lowest = int(rest.argmin())
            found = np.full_like(rest, rest[lowest])
            rest[lowest] = _MANY
            found[lowest] = rest.min()
            self._least_elsewhere = found
        return self._least_elsewhere


class HardCounts:
    """All hard constraints of a pod, and by row what a dry run has changed in its domain."""

    __slots__ = ("_cluster", "_counted", "_deltas", "_index", "domains")

    def __init__(
        self,
        cluster: fwk.ClusterView,
        index: Numbers,
        domains: Sequence[Domains],
        counted: Sequence[Mask | None],
    ) -> None:
        """``index`` are the rows that the masks of ``counted`` speak of."""
        self.domains = domains
        # Kept for the next equal pod, so that it holds no view of this cycle's nodes.
        self._cluster = cluster
        self._index = index
        self._counted = counted
        self._deltas: NDArray[np.int64] | None = None

    def clone(self) -> HardCounts:
        copy = HardCounts(self._cluster, self._index, self.domains, self._counted)
        copy._deltas = None if self._deltas is None else self._deltas.copy()
        return copy

    def shift(self, pods: Sequence[fwk.PodInfo], rows: Numbers, amount: int) -> None:
        """Each pod comes to its row (+1) or leaves it (-1), in that row's world."""
        if self._deltas is None:
            self._deltas = np.zeros((len(self.domains), self._cluster.size), np.int64)
        constraints = [domains.constraint for domains in self.domains]
        matched = spoken_of(constraints, self._cluster, pods)
        for place, matches in enumerate(matched):
            moved = rows[matches & self._counts_on(place, rows)]
            np.add.at(self._deltas[place], moved, amount)

    def verdict(self, node: fwk.NodeInfo) -> int:
        if self._deltas is not None:
            return int(self.verdicts(node.alone())[0])
        for domains in self.domains:
            found = domains.table[domains.label.numbers[node.row]]
            if found:
                return int(found)
        return FITS

    def statuses(self, nodes: fwk.Rows) -> fwk.Statuses:
        """A lone constraint with few domains judges each of those once."""
        alone = self.domains[0]
        if self._deltas is not None or len(self.domains) > 1 or len(alone.table) > _FEW:
            return fwk.Column(VERDICTS, self.verdicts(nodes))
        places = alone.label.places(nodes.cluster.size)
        return fwk.Column([VERDICTS[v] for v in alone.table.tolist()], nodes.take(places))

    def verdicts(self, nodes: fwk.Rows) -> Numbers:
        """The first constraint that a node fails decides."""
        found = self._verdicts(0, nodes)
        for place in range(1, len(self.domains)):
            found = np.where(found == FITS, self._verdicts(place, nodes), found)
        return found

    def _verdicts(self, place: int, nodes: fwk.Rows) -> Numbers:
        domains = self.domains[place]
        numbers = nodes.take(domains.label.numbers)
        if self._deltas is None:
            return domains.verdicts(numbers)
        return domains.verdicts_in_worlds(numbers, nodes.take(self._deltas[place]))

    def _counts_on(self, place: int, rows: Numbers) -> Mask:
        mask = self._counted[place]
        if mask is None:
            return np.ones(len(rows), np.bool_)
        by_row = np.zeros(self._cluster.size, np.bool_)
        by_row[self._index] = mask
        return by_row[rows]


def hard_counts(nodes: fwk.Rows, pod: Pod, constraints: Constraints) -> HardCounts:
    """Count over all nodes. One without all keys counts for no constraint."""
    labels = columns(nodes, constraints)
    where = CountedNodes(nodes, pod, keyless(nodes, labels))
    counted = [where.of(constraint) for constraint in constraints]
    domains = [
        Domains(
            constraint,
            label,
            pods_by_domain(nodes, constraint, label, mask),
            domains_with(nodes, label, mask),
        )
        for constraint, label, mask in zip(constraints, labels, counted, strict=True)
    ]
    return HardCounts(nodes.cluster, nodes.index, domains, counted)

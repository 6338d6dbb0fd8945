"""Hard constraints: PreFilter's counts, the changes of dry runs, and Filter's rule."""

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
    matched_pods,
    pods_by_domain,
)

_REASON: Final = "node(s) didn't match pod topology spread constraints"

# Verdicts are indexes into VERDICTS. 0 and 1 are also the results of ``exceeds`` as integers.
FITS, KEYLESS = 0, 2
VERDICTS: Final = [
    fwk.SUCCESS,
    fwk.Status.unschedulable(_REASON),
    fwk.Status.unresolvable(f"{_REASON} (missing required label)"),
]

_MAX_DOMAINS: Final = 64
_INFINITE: Final = np.iinfo(np.int64).max


def exceeds(constraint: Constraint, count: Any, minimum: Any) -> Any:
    """Return whether one more pod in a domain with ``count`` pods exceeds the allowed skew."""
    return count + constraint.counts_itself - minimum > constraint.max_skew


class Domains:
    """One constraint's pods by domain.

    ``known`` are the domains that have a node on which pods count; only these matter for the
    minimum. ``table`` is the verdict of each domain in the live cluster, without a dry run.
    """

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
        minimum = 0 if self.is_short else np.min(counts, where=known, initial=_INFINITE)
        self.table: Numbers = exceeds(constraint, counts, minimum).astype(np.intp)
        self.table[-1] = KEYLESS

    def verdicts(self, numbers: Numbers) -> Numbers:
        """Return the verdicts of nodes in these domains, without a dry run."""
        return self.table[numbers]

    def verdicts_in_dry_run(self, numbers: Numbers, deltas: NDArray[np.int64]) -> Numbers:
        """Return the verdicts if each node's domain had this many pods more.

        Nodes do not affect each other: the pods are added only for the node that is judged.
        """
        counts = self.counts[numbers] + deltas
        minimum = 0 if self.is_short else self._minimum(numbers, counts)
        return np.where(numbers < 0, KEYLESS, exceeds(self.constraint, counts, minimum))

    def _minimum(self, numbers: Numbers, counts: NDArray[np.int64]) -> NDArray[np.int64]:
        elsewhere = self._elsewhere()[numbers]
        return np.where(self.known[numbers], np.minimum(counts, elsewhere), elsewhere)

    def _elsewhere(self) -> NDArray[np.int64]:
        """Return for each domain the smallest count among all other domains."""
        if self._least_elsewhere is None:
            rest = np.where(self.known, self.counts, _INFINITE)
            lowest = int(rest.argmin())
            found = np.full_like(rest, rest[lowest])
            rest[lowest] = _INFINITE
            found[lowest] = rest.min()
            self._least_elsewhere = found
        return self._least_elsewhere


class HardCounts:
    """PreFilter's state: all hard constraints of a pod, and what a dry run has changed.

    ``_deltas[i, row]`` is how many pods more constraint ``i`` counts in the domain of that row,
    when that row is judged; ``None`` without a dry run.
    """

    __slots__ = ("_cluster", "_counted", "_deltas", "_index", "domains")

    def __init__(
        self,
        cluster: fwk.ClusterView,
        index: Numbers,
        domains: Sequence[Domains],
        counted: Sequence[Mask | None],
    ) -> None:
        """``index`` has the rows of the masks in ``counted``."""
        self.domains = domains
        # This state is reused for later pods, so it must not hold a view of this cycle's nodes.
        self._cluster = cluster
        self._index = index
        self._counted = counted
        self._deltas: NDArray[np.int64] | None = None

    def clone(self) -> HardCounts:
        copy = HardCounts(self._cluster, self._index, self.domains, self._counted)
        copy._deltas = None if self._deltas is None else self._deltas.copy()
        return copy

    def shift(self, pods: Sequence[fwk.PodInfo], rows: Numbers, amount: int) -> None:
        """Add (+1) or remove (-1) each pod on its row, only for that row."""
        if self._deltas is None:
            self._deltas = np.zeros((len(self.domains), self._cluster.size), np.int64)
        constraints = [domains.constraint for domains in self.domains]
        matched = matched_pods(constraints, self._cluster, pods)
        for number, matches in enumerate(matched):
            moved = rows[matches & self._counts_on(number, rows)]
            np.add.at(self._deltas[number], moved, amount)

    def verdict(self, node: fwk.NodeInfo) -> int:
        if self._deltas is not None:
            return int(self.verdicts(node.alone())[0])
        for domains in self.domains:
            found = domains.table[domains.label.numbers[node.row]]
            if found:
                return int(found)
        return FITS

    def statuses(self, nodes: fwk.Rows) -> fwk.Statuses:
        """Return the status of each node. A single constraint with few domains judges by domain."""
        alone = self.domains[0]
        if self._deltas is not None or len(self.domains) > 1 or len(alone.table) > _MAX_DOMAINS:
            return fwk.Column(VERDICTS, self.verdicts(nodes))
        domain_ids = alone.label.places(nodes.cluster.size)
        return fwk.Column([VERDICTS[v] for v in alone.table.tolist()], nodes.take(domain_ids))

    def verdicts(self, nodes: fwk.Rows) -> Numbers:
        """Return the verdict of each node, from the first constraint that it fails."""
        found = self._verdicts(0, nodes)
        for number in range(1, len(self.domains)):
            found = np.where(found == FITS, self._verdicts(number, nodes), found)
        return found

    def _verdicts(self, number: int, nodes: fwk.Rows) -> Numbers:
        domains = self.domains[number]
        numbers = nodes.take(domains.label.numbers)
        if self._deltas is None:
            return domains.verdicts(numbers)
        return domains.verdicts_in_dry_run(numbers, nodes.take(self._deltas[number]))

    def _counts_on(self, number: int, rows: Numbers) -> Mask:
        mask = self._counted[number]
        if mask is None:
            return np.ones(len(rows), np.bool_)
        by_row = np.zeros(self._cluster.size, np.bool_)
        by_row[self._index] = mask
        return by_row[rows]


def hard_counts(nodes: fwk.Rows, pod: Pod, constraints: Constraints) -> HardCounts:
    """Count pods over all nodes. On a node without all keys no pod counts."""
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

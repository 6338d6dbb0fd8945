"""Soft constraints: PreScore's counts and weights, the raw score, and its normalisation."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from podium import framework as fwk
from podium.api.objects import Pod
from podium.framework.scores import round_half_away
from podium.plugins.pod_topology_spread.constraints import Constraint, Constraints
from podium.plugins.pod_topology_spread.counting import (
    CountedNodes,
    Mask,
    Numbers,
    columns,
    domains_with,
    keyless,
    pods_by_domain,
)

Floats = NDArray[np.float64]

_EMPTY = ""


def worth(constraint: Constraint, weight: float, count: Any) -> Any:
    """Return what a count adds to a node's raw score; lower raw scores are better."""
    return count * weight + (constraint.max_skew - 1)


@dataclass(frozen=True, slots=True)
class SoftTerm:
    """One soft constraint with its weight.

    ``worths`` is what each domain adds to the raw score; ``None`` if each domain is one node.
    """

    constraint: Constraint
    label: fwk.LabelColumn
    weight: float
    worths: Floats | None

    def on(self, node: fwk.NodeInfo) -> float:
        """Return what the constraint adds to the node's raw score; 0 without the label."""
        number = self.label.numbers[node.row]
        if number < 0:
            return 0.0
        if self.worths is not None:
            return float(self.worths[number])
        query = self.constraint.query
        count = 0 if query is None else node.count_pods(query)
        return float(worth(self.constraint, self.weight, count))

    def on_all(self, nodes: fwk.Rows) -> Floats:
        numbers: Numbers = nodes.take(self.label.numbers)
        if self.worths is not None:
            return self.worths[numbers]
        query = self.constraint.query
        counts = np.zeros(len(nodes)) if query is None else nodes.count_pods(query)
        worths: Floats = worth(self.constraint, self.weight, counts)
        if len(numbers) and numbers.min() < 0:
            worths = np.where(numbers < 0, 0.0, worths)
        return worths


@dataclass(frozen=True, slots=True)
class SoftCounts:
    """PreScore's state. With ``needs_every_key``, nodes that lack a topology key are ignored."""

    terms: Sequence[SoftTerm]
    needs_every_key: bool

    def raw(self, node: fwk.NodeInfo) -> int:
        if self.needs_every_key and any(t.label.numbers[node.row] < 0 for t in self.terms):
            return 0
        total = 0.0
        for term in self.terms:
            total += term.on(node)
        return int(round_half_away(total))

    def raw_all(self, nodes: fwk.Rows) -> fwk.Scores:
        # In the order of the constraints, since the order changes float sums.
        total = self.terms[0].on_all(nodes)
        for term in self.terms[1:]:
            total = total + term.on_all(nodes)
        scores: fwk.Scores = round_half_away(total).astype(np.int64)
        ignored = self.ignored(nodes)
        if ignored is not None:
            scores[ignored] = 0
        return scores

    def ignored(self, nodes: fwk.Rows) -> Mask | None:
        """Return a mask of the nodes that are not ranked; ``None`` if all are ranked."""
        if not self.needs_every_key:
            return None
        return keyless(nodes, [term.label for term in self.terms])


def normalized(scores: fwk.Scores, ignored: Mask | None) -> fwk.Scores:
    """Reverse and scale raw scores, so that the node with the fewest pods scores highest."""
    ranked = scores if ignored is None else scores[~ignored]
    highest = int(ranked.max(initial=0))
    if highest == 0:
        out = np.full_like(scores, 100)
    else:
        # Nothing here is negative, so // rounds as Go's division does.
        out = 100 * (highest + int(ranked.min()) - scores) // highest
    if ignored is not None:
        out[ignored] = 0
    return out


def soft_counts(
    nodes: fwk.Rows, pod: Pod, constraints: Constraints, needs_every_key: bool
) -> SoftCounts:
    """Compute weights from the domains of the feasible ``nodes``, and counts over all nodes."""
    labels = columns(nodes, constraints)
    ignored = keyless(nodes, labels) if needs_every_key else None
    everywhere = nodes.cluster.nodes()
    without = keyless(everywhere, labels) if needs_every_key else None
    where = CountedNodes(everywhere, pod, without)
    terms = []
    for constraint, label in zip(constraints, labels, strict=True):
        weight = math.log(_domain_count(nodes, constraint, label, ignored) + 2)
        worths = None
        if not constraint.is_per_node:
            counts = _counts(everywhere, constraint, label, where.of(constraint))
            worths = worth(constraint, weight, counts)
            worths[-1] = 0.0
        terms.append(SoftTerm(constraint, label, weight, worths))
    return SoftCounts(terms, needs_every_key)


def _domain_count(
    nodes: fwk.Rows, constraint: Constraint, label: fwk.LabelColumn, ignored: Mask | None
) -> int:
    """Return how many domains the ranked nodes have. A missing label counts as an empty value."""
    if constraint.is_per_node:
        return len(nodes) if ignored is None else len(nodes) - int(np.count_nonzero(ignored))
    held = domains_with(nodes, label, None if ignored is None else ~ignored)
    empty = label.number_of.get(_EMPTY)
    if empty is not None:
        held[empty] |= held[-1]
        held[-1] = False
    return int(np.count_nonzero(held))


def _counts(
    nodes: fwk.Rows, constraint: Constraint, label: fwk.LabelColumn, counted: Mask | None
) -> NDArray[np.int64]:
    """Return pods by domain. A missing label counts as an empty value."""
    counts = pods_by_domain(nodes, constraint, label, counted)
    empty = label.number_of.get(_EMPTY)
    if empty is not None:
        counts[empty] += counts[-1]
    return counts

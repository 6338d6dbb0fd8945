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

_BLANK = ""


def worth(constraint: Constraint, weight: float, count: Any) -> Any:
    """What this many pods in a node's domain add to its raw score, where less is better."""
    return count * weight + (constraint.max_skew - 1)


@dataclass(frozen=True, slots=True)
class SoftTerm:
    """One soft constraint with its weight, and its worth by domain unless a node is a domain."""

    constraint: Constraint
    label: fwk.LabelColumn
    weight: float
    worths: Floats | None

    def on(self, node: fwk.NodeInfo) -> float:
        """What it adds to this node's raw score; nothing where its label is missing."""
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
    """All soft constraints of a pod. With ``needs_every_key`` a node without one is ignored."""

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
        # In the order of the constraints: float sums depend on it.
        total = self.terms[0].on_all(nodes)
        for term in self.terms[1:]:
            total = total + term.on_all(nodes)
        scores: fwk.Scores = round_half_away(total).astype(np.int64)
        ignored = self.ignored(nodes)
        if ignored is not None:
            scores[ignored] = 0
        return scores

    def ignored(self, nodes: fwk.Rows) -> Mask | None:
        """The nodes that are not ranked; ``None`` when all are."""
        if not self.needs_every_key:
            return None
        return keyless(nodes, [term.label for term in self.terms])


def normalized(scores: fwk.Scores, ignored: Mask | None) -> fwk.Scores:
    """Turn round and scale, so that the node with the fewest pods comes out on top."""
    ranked = scores if ignored is None else scores[~ignored]
    highest = int(ranked.max(initial=0))
    if highest == 0:
        out = np.full_like(scores, 100)
    else:
        # Nothing here is negative, so flooring is what Go's division does.
        out = 100 * (highest + int(ranked.min()) - scores) // highest
    if ignored is not None:
        out[ignored] = 0
    return out


def soft_counts(
    nodes: fwk.Rows, pod: Pod, constraints: Constraints, needs_every_key: bool
) -> SoftCounts:
    """Weigh by the domains of the feasible ``nodes``; count pods over all nodes."""
    labels = columns(nodes, constraints)
    ignored = keyless(nodes, labels) if needs_every_key else None
    everywhere = nodes.cluster.nodes()
    without = keyless(everywhere, labels) if needs_every_key else None
    where = CountedNodes(everywhere, pod, without)
    terms = []
    for constraint, label in zip(constraints, labels, strict=True):
        weight = math.log(_size(nodes, constraint, label, ignored) + 2)
        worths = None
        if not constraint.is_per_node:
            counts = _counts(everywhere, constraint, label, where.of(constraint))
            worths = worth(constraint, weight, counts)
            worths[-1] = 0.0
        terms.append(SoftTerm(constraint, label, weight, worths))
    return SoftCounts(terms, needs_every_key)


def _size(
    nodes: fwk.Rows, constraint: Constraint, label: fwk.LabelColumn, ignored: Mask | None
) -> int:
    """How many domains the ranked nodes have; those without the label share the blank value's."""
    if constraint.is_per_node:
        return len(nodes) if ignored is None else len(nodes) - int(np.count_nonzero(ignored))
    held = domains_with(nodes, label, None if ignored is None else ~ignored)
    blank = label.number_of.get(_BLANK)
    if blank is not None:
        held[blank] |= held[-1]
        held[-1] = False
    return int(np.count_nonzero(held))


def _counts(
    nodes: fwk.Rows, constraint: Constraint, label: fwk.LabelColumn, counted: Mask | None
) -> NDArray[np.int64]:
    """Pods by domain; those on nodes without the label are of the blank value's domain."""
    counts = pods_by_domain(nodes, constraint, label, counted)
    blank = label.number_of.get(_BLANK)
    if blank is not None:
        counts[blank] += counts[-1]
    return counts

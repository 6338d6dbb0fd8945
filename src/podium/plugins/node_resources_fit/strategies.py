"""The three ways to score a node by how full it would be with the pod on it.

Each resource is scored from 0 to 100; the node's score is their weighted mean. The same expressions
work on integers (one node) and on arrays (many nodes).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from podium import framework as fwk
from podium.api import resources
from podium.api.objects import Pod
from podium.framework.resource_scoring import (
    TOP_SHAPE_SCORE,
    Amount,
    Amounts,
    Demand,
    ResourceSpec,
    broken_line,
    demands,
    exact_floats,
    scratch,
    used,
    wrapped,
)
from podium.framework.scores import idiv, zeros

RATIO = "RequestedToCapacityRatio"


def scored_demands(specs: Iterable[ResourceSpec], pod: Pod) -> tuple[Demand, ...]:
    """Return what a pod requests, with defaults for containers without cpu or memory requests."""
    if not resources.has_pod_level_requests(pod):
        exact, (cpu, memory) = resources.spec_requests(pod)
        return demands(specs, {**exact, resources.CPU: cpu, resources.MEMORY: memory})
    # As in kube-scheduler, pod-level requests do not count here, although they count on the node.
    requests = resources.pod_requests(pod, resources.WRITTEN, pod_level=False, non_missing=True)
    return demands(specs, resources.amounts(requests))


class Strategy(ABC):
    """A way to score resources. ``points`` is the shape, for a strategy that has one."""

    def __init__(self, points: Sequence[tuple[int, int]] = ()) -> None:
        self.points = points

    def score(self, demands: Sequence[Demand], nodes: Amounts[Amount]) -> Any:
        """Return the score of one node, or an array for many; 0 if no resource counts."""
        total: Any = 0
        weights: Any = 0
        for demand in demands:
            capacity = nodes.allocatable(demand.name)
            requested = wrapped(used(nodes, demand.name, non_zero=True) + demand.amount)
            weight: Any = demand.weight
            is_there = capacity if isinstance(capacity, int) else nodes.all_have(demand.name)
            if not is_there:
                weight = (capacity != 0) * weight
                capacity = capacity + (capacity == 0)
            part = self.part(requested, capacity)
            total = _plus(total, part, weight)
            weights = weights + self.counts(part) * weight
        return self.mean(total, weights + (weights == 0))

    def score_all(self, demands: Sequence[Demand], nodes: fwk.Rows) -> fwk.Scores:
        """Return the scores of many nodes."""
        scores: fwk.Scores = self.score(demands, nodes) if demands else zeros(len(nodes))
        return scores

    @abstractmethod
    def part(self, requested: Amount, capacity: Amount) -> Amount:
        """Return the score of one resource."""

    def counts(self, part: Any) -> Any:
        """Return whether the weight of a resource with this score counts in the mean."""
        return 1

    def mean(self, total: Any, weights: Any) -> Any:
        return idiv(total, weights)


def _plus(total: Any, part: Any, weight: Any) -> Any:
    """Return ``total + part * weight`` without multiplying arrays by 1 or adding 0 to them."""
    more = part if isinstance(weight, int) and weight == 1 else part * weight
    return more if isinstance(total, int) and total == 0 else total + more


class LeastAllocated(Strategy):
    """Score higher the more of a resource stays free."""

    def score_all(self, demands: Sequence[Demand], nodes: fwk.Rows) -> fwk.Scores:
        floats = exact_floats(nodes, demands)
        if floats is None:
            return super().score_all(demands, nodes)
        capacity, spare = nodes.take(floats.allocatable), nodes.take(floats.spare)
        (_, cpu, cpu_weight), (_, memory, memory_weight) = demands
        asked = np.array([[100.0 * cpu], [100.0 * memory]])
        quotients = np.subtract(spare, asked, out=scratch(spare.shape))
        quotients /= capacity
        if np.minimum.reduce(quotients, axis=None, initial=0.0) < 0.0:
            np.maximum(quotients, 0.0, out=quotients)
        parts = quotients.astype(np.int16)  # truncates
        total = parts[0] * cpu_weight + parts[1] * memory_weight
        mean: fwk.Scores = (total // (cpu_weight + memory_weight)).astype(np.int64)
        return mean

    def part(self, requested: Amount, capacity: Amount) -> Amount:
        return idiv(wrapped(_free(requested, capacity) * 100), capacity)


def _free(requested: Amount, capacity: Amount) -> Amount:
    """Return what stays free; 0 where more is requested than there is."""
    free = capacity - requested
    if isinstance(free, int):
        return free if free > 0 else 0
    # Compare the amounts, not the difference: a request beyond 64 bits has wrapped around to a
    # negative number, as in kube-scheduler. It counts as less than the capacity, although the
    # difference then wraps around too and is negative.
    if free.min(initial=0) < 0:
        free[requested >= capacity] = 0
    return free


class MostAllocated(Strategy):
    """Score higher the fuller a resource is; over-committed counts as full."""

    def part(self, requested: Amount, capacity: Amount) -> Amount:
        beyond = (requested - capacity) * (requested > capacity)
        return idiv(wrapped((requested - beyond) * 100), capacity)


class RequestedToCapacityRatio(Strategy):
    """Score by the shape, from a resource's utilization; resources that score 0 do not count."""

    def __init__(self, points: Sequence[tuple[int, int]]) -> None:
        super().__init__([(at, score * (100 // TOP_SHAPE_SCORE)) for at, score in points])
        self._by_percent = np.array([broken_line(self.points, at) for at in range(101)], np.int64)
        self._of_percent = self._by_percent.tolist()

    def part(self, requested: Amount, capacity: Amount) -> Amount:
        fits = requested <= capacity
        percent = idiv(wrapped(requested * 100), capacity) * fits + 100 * (1 - fits)
        if isinstance(percent, int):
            return int(self._of_percent[min(max(0, percent), 100)])
        return self._by_percent.take(percent, mode="clip")

    def counts(self, part: Any) -> Any:
        return part > 0

    def mean(self, total: Any, weights: Any) -> Any:
        """Return the weighted mean rounded to the nearest integer, halves up."""
        return idiv(2 * total + weights, 2 * weights)


STRATEGIES: dict[str, type[Strategy]] = {
    "LeastAllocated": LeastAllocated,
    "MostAllocated": MostAllocated,
    RATIO: RequestedToCapacityRatio,
}

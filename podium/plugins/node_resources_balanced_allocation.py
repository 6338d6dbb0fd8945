"""NodeResourcesBalancedAllocation: prefer nodes that the pod leaves more evenly used.

PreScore   skips a pod that requests none of the listed resources.
Score      compares how far apart the used parts of a node's resources are with the pod and without
           it: 75 when that stays as it is, up to 100 when they come closer, down to 50 when not.

Arguments  resources (cpu, memory): whose parts are compared. Their weights play no part, and must
           be 1.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from podium import framework as fwk
from podium.api import resources
from podium.api.objects import Pod
from podium.framework.resource_scoring import (
    CPU_AND_MEMORY,
    Amount,
    Demand,
    ResourceSpec,
    demands,
    wrapped,
)

READS = fwk.reads(node=fwk.Aspect.RESOURCES)


@dataclass(frozen=True, slots=True)
class Demands:
    """PreScore's state: what the pod asks for of the listed resources."""

    of: tuple[Demand, ...]


class Share(NamedTuple):
    """A resource of one node in integers, or of many in arrays; the pod asks for ``demand``."""

    capacity: Any
    used: Any
    demand: int

    def at(self, mask: Any) -> Share:
        return Share(self.capacity[mask], self.used[mask], self.demand)


class NodeResourcesBalancedAllocation(fwk.PreScorePlugin, fwk.ScorePlugin):
    name = "NodeResourcesBalancedAllocation"

    class Args(fwk.Args, frozen=True, rename="camel"):
        resources: tuple[ResourceSpec, ...] = CPU_AND_MEMORY

        def validate(self) -> Iterable[fwk.Problem]:
            names = [spec.name for spec in self.resources]
            for place, spec in enumerate(self.resources):
                where = f"resources[{place}]"
                if spec.name in names[:place]:
                    yield fwk.Problem(f"{where}.name", f'Duplicate value: "{spec.name}"')
                if spec.weight not in (0, 1):
                    yield fwk.Problem(f"{where}.weight", f"Invalid value: {spec.weight}: must be 1")

    def __init__(self, args: Args, handle: fwk.Handle) -> None:
        self.resources = args.resources or CPU_AND_MEMORY

    def sign(self, pod: Pod) -> Hashable:
        return resources.written_requests(pod)

    def reads(self, pod: Pod) -> fwk.Reads:
        return READS

    def pre_score(self, state: fwk.CycleState, pod: Pod, nodes: fwk.Rows) -> fwk.Status | None:
        asked = self.demands_of(pod)
        if asked is None:
            return fwk.skip()
        state.put(asked)
        return None

    def score(self, state: fwk.CycleState, pod: Pod, node: fwk.NodeInfo) -> int:
        asked = state.find(Demands) or self.demands_of(pod)
        if asked is None:
            return 0  # a profile without this PreScore
        there = [share for share in shares(asked.of, node) if share.capacity]
        return int(points(there))

    def score_all(self, state: fwk.CycleState, pod: Pod, nodes: fwk.Rows) -> fwk.Scores:
        scores = np.zeros(len(nodes), np.int64)
        asked = state.find(Demands) or self.demands_of(pod)
        if asked is not None:
            for mask, there in by_what_is_there(asked.of, nodes):
                scores[mask] = points(there)
        return scores

    def demands_of(self, pod: Pod) -> Demands | None:
        requests = resources.pod_requests(pod, use_status=False)
        if not any(requests.get(spec.name) for spec in self.resources):
            return None
        return Demands(demands(self.resources, resources.amounts(requests)))


def shares(asked: Iterable[Demand], nodes: fwk.NodeInfo | fwk.Rows) -> list[Share]:
    return [
        Share(nodes.allocatable(demand.name), nodes.requested(demand.name), demand.amount)
        for demand in asked
    ]


def by_what_is_there(asked: Sequence[Demand], nodes: fwk.Rows) -> Iterable[tuple[Any, list[Share]]]:
    """Nodes that have the same resources, as places in the arrays, with their shares in those."""
    there = shares(asked, nodes)
    if all(nodes.all_have(demand.name) for demand in asked):
        yield slice(None), there  # nearly always
        return
    kinds = fwk.packed([share.capacity == 0 for share in there])
    for number, bits in enumerate(kinds.values):
        mask = kinds.index == number
        yield mask, [share.at(mask) for place, share in enumerate(there) if not bits >> place & 1]


def points(there: Sequence[Share]) -> Any:
    """The score of a node with these resources, or an array of many nodes' scores."""
    before = balance([fraction(share.used, share.capacity) for share in there])
    after = balance([fraction(wrapped(s.used + s.demand), s.capacity) for s in there])
    return 50 + (50 + after - before) // 2  # never negative before halving


def fraction(amount: Amount, capacity: Amount) -> Any:
    """The used part of a resource; what is over-committed counts as full."""
    if isinstance(amount, int):
        part = float(amount) / float(capacity)
        return part if part < 1.0 else 1.0  # min() takes twice as long
    return np.minimum(amount / capacity, 1.0)


def balance(fractions: Sequence[Any]) -> Any:
    """100 when all parts are equal, 50 when they are as far apart as can be."""
    percent = (1 - deviation(fractions)) * 100
    return int(percent) if isinstance(percent, float) else percent.astype(np.int64)


def deviation(fractions: Sequence[Any]) -> Any:
    """How far the parts are from their mean. In this order: other sums round differently."""
    count = len(fractions)
    if count < 2:
        return 0.0
    if count == 2:
        return abs((fractions[0] - fractions[1]) / 2)
    mean = in_turn(fractions) / count
    squares = in_turn([(part - mean) * (part - mean) for part in fractions]) / count
    return math.sqrt(squares) if isinstance(squares, float) else np.sqrt(squares)


def in_turn(parts: Sequence[Any]) -> Any:
    """The sum from left to right: what ``sum`` makes of floats differs between Pythons."""
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total

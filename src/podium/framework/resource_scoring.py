"""Scoring by resources: what NodeResourcesFit, NodeResourcesBalancedAllocation and shapes share.

Amounts are Python integers for one node and arrays for many; the functions here take either.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from podium.api.resources import CPU, EPHEMERAL_STORAGE, MEMORY, is_scalar
from podium.framework.args import Args, Problem, invalid, outside
from podium.framework.scores import idiv
from podium.state.resource_columns import EXACT_BELOW, int64
from podium.state.resource_columns import FloatColumns as FloatColumns
from podium.state.rows import Rows, table_of

Amount = TypeVar("Amount", int, NDArray[np.int64])
Amount_co = TypeVar("Amount_co", int, NDArray[np.int64], covariant=True)

TOP_SHAPE_SCORE = 10


class Amounts(Protocol[Amount_co]):
    """What NodeInfo tells of one node, and Rows of many."""

    def allocatable(self, resource: str) -> Amount_co: ...
    def all_have(self, resource: str) -> bool: ...
    def requested(self, resource: str) -> Amount_co: ...
    def non_zero_requested(self, resource: str) -> Amount_co: ...


class ResourceSpec(Args, frozen=True, rename="camel"):
    """A resource that counts in a score; a weight of 0 stands for 1."""

    name: str = ""
    weight: int = 1


CPU_AND_MEMORY = (ResourceSpec(name=CPU), ResourceSpec(name=MEMORY))


class Demand(NamedTuple):
    """What a pod asks of a resource that counts in its score."""

    name: str
    amount: int
    weight: int


def demands(specs: Iterable[ResourceSpec], requests: Mapping[str, int]) -> tuple[Demand, ...]:
    """The resources that take part for a pod with these requests.

    cpu, memory and ephemeral storage always do, others only when the pod asks for them.
    """
    return tuple(
        [
            Demand(spec.name, requests.get(spec.name, 0), spec.weight or 1)
            for spec in specs
            if spec.name in _ALWAYS or (requests.get(spec.name) and is_scalar(spec.name))
        ]
    )


_ALWAYS = (CPU, MEMORY, EPHEMERAL_STORAGE)


def used(nodes: Amounts[Amount], resource: str, *, non_zero: bool) -> Amount:
    """Return what the pods on a node take; ``non_zero`` counts cpu and memory that nobody named."""
    if non_zero and resource in (CPU, MEMORY):
        return nodes.non_zero_requested(resource)
    return nodes.requested(resource)


def exact_floats(nodes: Rows, demands: Sequence[Demand]) -> FloatColumns | None:
    """Return cpu and memory by row as floats, if these are the demands and floats are exact.

    Scores divide, and floats do so much faster. ``None`` is also for a dry run, and while a node
    lacks one of the two resources: then its score is computed otherwise.
    """
    if len(demands) != 2 or demands[0].name != CPU or demands[1].name != MEMORY:
        return None
    may_be_exact = (
        demands[0].amount < EXACT_BELOW
        and demands[1].amount < EXACT_BELOW
        and nodes.overlay is None
        and nodes.all_have(CPU)
        and nodes.all_have(MEMORY)
    )
    return table_of(nodes).resources.floats() if may_be_exact else None


@lru_cache(maxsize=2)
def scratch(shape: tuple[int, int]) -> NDArray[np.float64]:
    """Return an array to compute in: the same memory again stays in the processor's cache.

    Its contents are valid until the caller returns.
    """
    return np.empty(shape)


_LEAST, _MOST = -(2**63), 2**63 - 1


def wrapped(amount: Amount) -> Amount:
    """The amount as int64 has it: arrays wrap around by themselves, Python's integers do not."""
    if type(amount) is not int or _LEAST <= amount <= _MOST:
        return amount
    return int64(amount)


class ShapePoint(Args, frozen=True, rename="camel"):
    """A point of a scoring function: at this utilization, in percent, this score."""

    utilization: int = 0
    score: int = 0


def shape_problems(points: Sequence[ShapePoint], path: str) -> Iterator[Problem]:
    """Yield what is wrong with a scoring function, in upstream's words."""
    if not points:
        yield Problem(path, "Required value: at least one point must be specified")
    for place in range(1, len(points)):
        if points[place - 1].utilization >= points[place].utilization:
            message = "values must be sorted in increasing order"
            yield invalid(f"{path}[{place}].utilization", points[place].utilization, message)
            break
    for place, point in enumerate(points):
        yield from outside(f"{path}[{place}].utilization", point.utilization, 0, 100)
        yield from outside(f"{path}[{place}].score", point.score, 0, TOP_SHAPE_SCORE)


def broken_line(points: Sequence[tuple[int, int]], at: int) -> int:
    """The value of a line through these points, flat before the first and after the last."""
    if at <= points[0][0]:
        return points[0][1]
    for (left, low), (right, high) in pairwise(points):
        if at <= right:
            return low + idiv((high - low) * (at - left), right - left)
    return points[-1][1]

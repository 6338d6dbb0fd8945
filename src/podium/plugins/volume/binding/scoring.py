"""The score of a node by how full the storage for the pod's claims would be."""

from __future__ import annotations

from collections.abc import Sequence

from podium.api import quantity
from podium.api.claims import class_name
from podium.framework.resource_scoring import TOP_SHAPE_SCORE, ShapePoint, broken_line
from podium.framework.scores import idiv, round_half_away
from podium.plugins.volume.binding.decision import Decision
from podium.plugins.volume.binding.matching import capacity, requested

_FULL = 100
_TOP = 100

Line = Sequence[tuple[int, int]]


def line_of(shape: Sequence[ShapePoint]) -> Line:
    """Return the points of the scoring function, from percent used to a score up to 100."""
    return [(point.utilization, point.score * (_TOP // TOP_SHAPE_SCORE)) for point in shape]


def score(decision: Decision, line: Line) -> int:
    """Return the mean score over the claims' storage classes; 0 if no capacity is known."""
    usages = _bindings(decision) if decision.bindings else _provisions(decision)
    if not usages:
        return 0
    total = sum(broken_line(line, _percent(used, size)) for used, size in usages.values())
    return int(round_half_away(total / len(usages)))


def _bindings(decision: Decision) -> dict[str, tuple[int, int]]:
    """Return requested and available bytes by class, for existing volumes."""
    usages: dict[str, tuple[int, int]] = {}
    for binding in decision.bindings:
        name = binding.volume.spec.storage_class_name
        used, size = usages.get(name, (0, 0))
        offered = quantity.value(capacity(binding.volume))
        usages[name] = (used + quantity.value(requested(binding.claim)), size + offered)
    return usages


def _provisions(decision: Decision) -> dict[str, tuple[int, int]]:
    """Return requested and available bytes by class, for new volumes.

    Several claims of a class share one pool, whose capacity counts once.
    """
    usages: dict[str, tuple[int, int]] = {}
    for provision in decision.provisions:
        if provision.pool is None:
            continue
        name = class_name(provision.claim)
        used = usages.get(name, (0, 0))[0] + quantity.value(requested(provision.claim))
        usages[name] = (used, quantity.value(quantity.parse(provision.pool.capacity or 0)))
    return usages


def _percent(used: int, size: int) -> int:
    return _FULL if size == 0 or used > size else idiv(used * _FULL, size)

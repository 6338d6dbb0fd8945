"""Weaker topology spread constraints: a higher ``maxSkew``, or ``ScheduleAnyway``."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from itertools import combinations, islice, product
from typing import Final

from msgspec.structs import replace

from podium.api.objects import Pod, TopologySpreadConstraint
from podium.explain.amounts import listed
from podium.explain.case import Case
from podium.explain.fixes.relaxations import SPREAD, Kind, Relaxation
from podium.explain.shortfalls.topology import Broken, broken_constraints
from podium.plugins.pod_topology_spread.hard import HardCounts

_MOST_WAYS: Final = 64  # how many combinations of skews are tried for one node
_MOST_HARD: Final = 4  # with more constraints, not every subset is tried
_SOFT: Final = "ScheduleAnyway"


def _domains_key(case: Case, row: int) -> Hashable:
    counts = case.kept(HardCounts)
    domains = () if counts is None else counts.domains
    return tuple(int(each.label.numbers[row]) for each in domains)


def _raised(broken: Sequence[Broken], wanted: Sequence[int]) -> Relaxation:
    """Return the pod with these ``maxSkew`` for the constraints that are broken."""
    pairs = [(each, skew) for each, skew in zip(broken, wanted, strict=True) if skew]
    skews = {each.index: skew for each, skew in pairs}
    names = [f"{each.constraint.topology_key} to {skew}" for each, skew in pairs]
    text = f"raise the maxSkew of {listed(names, most=9)}"
    size = sum(skew - each.constraint.max_skew for each, skew in pairs)

    def rewrite(pod: Pod) -> Pod:
        constraints = tuple(
            replace(each, max_skew=skews[index]) if index in skews else each
            for index, each in enumerate(pod.spec.topology_spread_constraints)
        )
        return replace(pod, spec=replace(pod.spec, topology_spread_constraints=constraints))

    return Relaxation((size,), text, rewrite, {"maxSkews": list(skews.values())})


def _allow_skew(case: Case, row: int) -> list[Relaxation]:
    """Return what makes a node fit, and less than that if preemption may do the rest."""
    broken = broken_constraints(case, row)
    if not broken or any(each.is_keyless or each.index is None for each in broken):
        return []
    ranges = [(0, *range(each.constraint.max_skew + 1, each.skew + 1)) for each in broken]
    ways = islice(product(*ranges), _MOST_WAYS) if case.may_preempt(case.pod) else ()
    return [_raised(broken, way) for way in (*ways, [each.skew for each in broken]) if any(way)]


def _soften(case: Case, row: int) -> list[Relaxation]:
    """Return what makes a node fit, and all other ways to soften constraints.

    Nodes without the label of one constraint do not count for the others, so that softening it may
    break those.
    """
    broken = broken_constraints(case, row)
    constraints = case.pod.spec.topology_spread_constraints
    mine = tuple(each.index for each in broken if each.index is not None)
    if not mine or len(mine) < len(broken):
        return []
    hard = [n for n, each in enumerate(constraints) if each.when_unsatisfiable != _SOFT]
    sizes = range(1, len(hard) + 1 if len(hard) <= _MOST_HARD else 1)
    ways = [way for size in sizes for way in combinations(hard, size)]
    return [_softened(constraints, way) for way in (*ways, mine)]


def _softened(given: Sequence[TopologySpreadConstraint], indexes: Sequence[int]) -> Relaxation:
    names = [given[index].topology_key for index in indexes]
    text = f"spread over {listed(names, most=9)} only if possible (ScheduleAnyway)"

    def rewrite(pod: Pod) -> Pod:
        given = pod.spec.topology_spread_constraints
        soft = {each.topology_key for each in given if each.when_unsatisfiable == _SOFT}
        constraints = (
            replace(each, when_unsatisfiable=_SOFT, min_domains=None) if index in indexes else each
            for index, each in enumerate(given)
            # A pod may have one soft constraint of a key, and keeps the one that it has.
            if index not in indexes or each.topology_key not in soft
        )
        spec = replace(pod.spec, topology_spread_constraints=tuple(constraints))
        return replace(pod, spec=spec)

    return Relaxation((len(names),), text, rewrite, {"topologyKeys": names})


SPREAD_SKEW: Final = Kind("spread-skew", frozenset({SPREAD}), _domains_key, _allow_skew)
SPREAD_SOFT: Final = Kind("spread-soft", frozenset({SPREAD}), _domains_key, _soften)

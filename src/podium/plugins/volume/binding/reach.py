"""Reach: the nodes that can use a volume, a class or a pool of storage, by the nodes' labels.

Node affinity of volumes, allowed topologies of classes and the topology of storage pools are three
notations for the same thing.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from operator import itemgetter
from typing import Final, Generic, TypeVar

from podium.api.meta import HashedValue
from podium.api.objects import (
    LabelSelector,
    NodeSelector,
    PersistentVolume,
    TopologySelectorTerm,
)
from podium.api.requirements import IN, Requirement, requirement_problems
from podium.api.selectors import label_selector, node_selector
from podium.errors import InvalidSelector

Labels = Mapping[str, str]
T = TypeVar("T")


class Reach(HashedValue, frozen=True, gc=False):
    """A node is covered if it meets all requirements of at least one alternative."""

    alternatives: tuple[tuple[Requirement, ...], ...] = ((),)

    def covers(self, labels: Labels) -> bool:
        for alternative in self.alternatives:
            for requirement in alternative:
                if not requirement.matches_value(labels.get(requirement.key)):
                    break
            else:
                return True
        return False

    @property
    def requirements(self) -> Iterator[Requirement]:
        return (requirement for part in self.alternatives for requirement in part)


EVERYWHERE: Final = Reach()
NOWHERE: Final = Reach(())


def of_volume(volume: PersistentVolume) -> Reach:
    affinity = volume.spec.node_affinity
    required = affinity.required if affinity is not None else None
    return EVERYWHERE if required is None else of_terms(required)


@lru_cache(maxsize=16384)
def of_terms(required: NodeSelector) -> Reach:
    """Return the reach of a node selector.

    As in kube-scheduler, an invalid term covers no node, and fields are ignored.
    """
    terms = node_selector(required).terms
    return Reach(tuple(term.labels for term in terms if not term.errors))


@lru_cache(maxsize=4096)
def of_topologies(terms: tuple[TopologySelectorTerm, ...]) -> Reach:
    """Return the reach of allowed topologies.

    Without terms every node is allowed. An empty or invalid term allows no node.
    """
    if not terms:
        return EVERYWHERE
    parts = [
        tuple(Requirement(each.key, IN, each.values) for each in term.match_label_expressions)
        for term in terms
    ]
    return Reach(tuple(part for part in parts if part and not any(map(_is_broken, part))))


def of_labels(selector: LabelSelector | None) -> Reach:
    try:
        compiled = label_selector(selector)
    except InvalidSelector:
        return NOWHERE
    return NOWHERE if compiled.matches_nothing else Reach((compiled.requirements,))


def _is_broken(requirement: Requirement) -> bool:
    return bool(requirement_problems(requirement))


_Ranked = tuple[int, Reach, T]


class Nearby(Generic[T]):
    """Volumes or pools in order of preference, looked up by the labels of a node.

    There may be thousands of local volumes, each usable on a single node. Those that require a
    value of a label are indexed by it (``_by_label``) instead of being tried one by one; all others
    are in ``_anywhere``.
    """

    def __init__(self, things: Iterable[tuple[Reach, T]]) -> None:
        self._anywhere: list[_Ranked[T]] = []
        self._by_label: dict[str, dict[str, list[_Ranked[T]]]] = {}
        self.reaches: list[Reach] = []
        for rank, (reach, thing) in enumerate(things):
            self.reaches.append(reach)
            self._put(reach, (rank, reach, thing))

    def at(self, labels: Labels) -> Iterator[T]:
        """Yield what can be used on a node with these labels, best first."""
        found = [self._anywhere] if self._anywhere else []
        for key, by_value in self._by_label.items():
            there = by_value.get(labels.get(key, ""))
            if there:
                found.append(there)
        ranked = found[0] if len(found) == 1 else heapq.merge(*found, key=itemgetter(0))
        return (thing for _, reach, thing in ranked if reach.covers(labels))

    def _put(self, reach: Reach, ranked: _Ranked[T]) -> None:
        required = [_required_values(part) for part in reach.alternatives]
        if None in required:
            self._anywhere.append(ranked)
            return
        pairs = {(each.key, value): None for each in required if each for value in each.values}
        for key, value in pairs:
            self._by_label.setdefault(key, {}).setdefault(value, []).append(ranked)


def _required_values(part: tuple[Requirement, ...]) -> Requirement | None:
    """Return a requirement that only nodes with certain values of a label can meet."""
    return next((requirement for requirement in part if requirement.operator == IN), None)

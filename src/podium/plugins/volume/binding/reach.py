"""Which nodes can use a volume, a class or a pool of storage: demands on a node's labels.

Node affinity of volumes, allowed topologies of classes and the topology of storage pools are three
notations of one thing.
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
    """Any one alternative must hold, and all requirements in it; an empty one always does."""

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
    """A term that cannot be read covers no node; fields are not looked at, as upstream."""
    terms = node_selector(required).terms
    return Reach(tuple(term.labels for term in terms if not term.errors))


@lru_cache(maxsize=4096)
def of_topologies(terms: tuple[TopologySelectorTerm, ...]) -> Reach:
    """No terms at all allow every node; a term that says nothing or cannot be read allows none."""
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
    """Things in order of preference, found by the labels of a node.

    Thousands of local volumes are each on a node of their own: those that ask for a value of a
    label are looked up by it instead of being tried one by one.
    """

    def __init__(self, things: Iterable[tuple[Reach, T]]) -> None:
        self._anywhere: list[_Ranked[T]] = []
        self._by_label: dict[str, dict[str, list[_Ranked[T]]]] = {}
        self.reaches: list[Reach] = []
        for rank, (reach, thing) in enumerate(things):
            self.reaches.append(reach)
            self._put(reach, (rank, reach, thing))

    def at(self, labels: Labels) -> Iterator[T]:
        """Those that can be used on a node with these labels, best first."""
        found = [self._anywhere] if self._anywhere else []
        for key, by_value in self._by_label.items():
            there = by_value.get(labels.get(key, ""))
            if there:
                found.append(there)
        ranked = found[0] if len(found) == 1 else heapq.merge(*found, key=itemgetter(0))
        return (thing for _, reach, thing in ranked if reach.covers(labels))

    def _put(self, reach: Reach, ranked: _Ranked[T]) -> None:
        anchors = [_anchor(part) for part in reach.alternatives]
        if None in anchors:
            self._anywhere.append(ranked)
            return
        places = {
            (anchor.key, value): None for anchor in anchors if anchor for value in anchor.values
        }
        for key, value in places:
            self._by_label.setdefault(key, {}).setdefault(value, []).append(ranked)


def _anchor(part: tuple[Requirement, ...]) -> Requirement | None:
    """A requirement that only the nodes with certain values of a label can meet."""
    return next((requirement for requirement in part if requirement.operator == IN), None)

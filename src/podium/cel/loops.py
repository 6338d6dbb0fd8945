"""Macros' loops, evaluated directly instead of through their expansion.

An error does not end a loop: a later element can still decide ``all`` and ``exists``, and the other
loops report the same error as their expansion does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from podium.cel import access
from podium.cel.closures import Evaluate, Frame
from podium.cel.logic import decided
from podium.cel.values import Value, no_such_overload
from podium.errors import EvaluationError


@dataclass(frozen=True, slots=True)
class Source:
    """The range of a loop, and the slot of its variable; a second variable has the next slot."""

    looped: Evaluate
    slot: int
    has_two: bool

    def steps(self, frame: Frame) -> Iterator[None]:
        """Set the variables for one element after the other."""
        container, slot = self.looped(frame), self.slot
        if self.has_two:
            for frame[slot], frame[slot + 1] in access.pairs(container):
                yield
        else:
            for frame[slot] in access.elements(container):
                yield


def _decided_by(decisive: bool) -> Callable[[Source, Evaluate, Evaluate | None], Evaluate]:
    def build(source: Source, predicate: Evaluate, _: Evaluate | None) -> Evaluate:
        def decide(frame: Frame) -> Value:
            return decided(decisive, (predicate for _ in source.steps(frame)), frame)

        return decide

    return build


def _exactly_one(source: Source, predicate: Evaluate, _: Evaluate | None) -> Evaluate:
    def count(frame: Frame) -> bool:
        error: EvaluationError | None = None
        found = 0
        for _ in source.steps(frame):
            try:
                found += _chosen(predicate(frame))
            except EvaluationError as failed:
                error = failed
        if error is not None:
            raise error
        return found == 1

    return count


def _chosen(found: Value) -> bool:
    if type(found) is not bool:
        raise no_such_overload()
    return found


def _collected(
    source: Source, condition: Evaluate | None, add: Callable[[Frame], None]
) -> Callable[[Frame], None]:
    """Call ``add`` for the elements that the condition accepts."""

    def collect(frame: Frame) -> None:
        error: EvaluationError | None = None
        for _ in source.steps(frame):
            try:
                if condition is not None and not _chosen(condition(frame)):
                    continue
            except EvaluationError as failed:
                error = failed
                continue
            if error is None:
                try:
                    add(frame)
                except EvaluationError as failed:
                    error = failed
        if error is not None:
            raise error

    return collect


def _list(source: Source, body: Evaluate, condition: Evaluate | None) -> Evaluate:
    def build(frame: Frame) -> Value:
        built: list[Value] = []
        _collected(source, condition, lambda frame: built.append(body(frame)))(frame)
        return built

    return build


def _map(source: Source, body: Evaluate, condition: Evaluate | None) -> Evaluate:
    def build(frame: Frame) -> Value:
        built: dict[Value, Value] = {}
        slot = source.slot
        _collected(source, condition, lambda frame: access.insert(built, frame[slot], body(frame)))(
            frame
        )
        return built

    return build


def _entries(source: Source, body: Evaluate, condition: Evaluate | None) -> Evaluate:
    def build(frame: Frame) -> Value:
        built: dict[Value, Value] = {}

        def add(frame: Frame) -> None:
            found = body(frame)
            if not isinstance(found, dict):
                raise no_such_overload()
            for key, value in access.pairs(found):
                access.insert(built, key, value)

        _collected(source, condition, add)(frame)
        return built

    return build


LOOPS: Final[dict[str, Callable[[Source, Evaluate, Evaluate | None], Evaluate]]] = {
    "all": _decided_by(False),
    "exists": _decided_by(True),
    "one": _exactly_one,
    "list": _list,
    "map": _map,
    "entry": _entries,
}

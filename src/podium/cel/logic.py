"""The operations that do not evaluate all their arguments, or survive an error in one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from podium.cel.closures import Evaluate, Frame
from podium.cel.values import NONE, Optional, Value, no_such_overload
from podium.errors import EvaluationError


def all_of(terms: Sequence[Evaluate]) -> Evaluate:
    """Evaluate ``&&``: false if any term is, whatever fails; else the first error."""
    return _decided_by(False, terms)


def any_of(terms: Sequence[Evaluate]) -> Evaluate:
    """Evaluate ``||``: true if any term is, whatever fails; else the first error."""
    return _decided_by(True, terms)


def _decided_by(decisive: bool, terms: Sequence[Evaluate]) -> Evaluate:
    return lambda frame: decided(decisive, terms, frame)


def decided(decisive: bool, terms: Iterable[Evaluate], frame: Frame) -> Value:
    """Return ``decisive`` if any term is, whatever fails; raise the first error if none is."""
    error: EvaluationError | None = None
    for term in terms:
        try:
            found = term(frame)
        except EvaluationError as failed:
            error = error or failed
            continue
        if found is decisive:
            return decisive
        if type(found) is not bool:
            error = error or no_such_overload()
    if error is not None:
        raise error
    return not decisive


def conditional(condition: Evaluate, chosen: Evaluate, other: Evaluate) -> Evaluate:
    def choose(frame: Frame) -> Value:
        found = condition(frame)
        if found is True:
            return chosen(frame)
        if found is False:
            return other(frame)
        raise no_such_overload()

    return choose


def not_strictly_false(value: Evaluate) -> Evaluate:
    def holds(frame: Frame) -> bool:
        try:
            return value(frame) is not False
        except EvaluationError:
            return True

    return holds


def first_present(left: Evaluate, right: Evaluate) -> Evaluate:
    """Evaluate ``left.or(right)`` of optional values."""

    def present(frame: Frame) -> Value:
        found = left(frame)
        if type(found) is not Optional:
            raise no_such_overload()
        return right(frame) if found is NONE else found

    return present


def value_or(left: Evaluate, right: Evaluate) -> Evaluate:
    """Evaluate ``left.orValue(right)``."""

    def value(frame: Frame) -> Value:
        found = left(frame)
        if type(found) is not Optional:
            raise no_such_overload()
        return right(frame) if found is NONE else found.value

    return value

"""Decide which types fit together, and what type variables then stand for."""

from __future__ import annotations

from collections.abc import Sequence

from podium.cel import types
from podium.cel.types import Kind, Type, is_dyn

_NULLABLE = frozenset((Kind.OPAQUE, Kind.STRUCT, Kind.ANY, Kind.DURATION, Kind.TIMESTAMP))
_WITH_PARAMS = frozenset((Kind.OPAQUE, Kind.LIST, Kind.MAP))
_MAX_NESTING = 100


class Bindings:
    """What each type variable stands for. A failed attempt leaves it as it was."""

    def __init__(self) -> None:
        self._bound: dict[str, Type] = {}
        self._count = 0

    def fresh(self) -> Type:
        self._count += 1
        return types.param(f"_var{self._count - 1}")

    def assignable(self, left: Sequence[Type], right: Sequence[Type]) -> bool:
        """Whether each type on the left may be used for its counterpart; binds variables."""
        before = self._bound.copy() if self._bound else {}
        if self._all(left, right):
            return True
        self._bound = before
        return False

    def resolve(self, subject: Type, unbound_to_dyn: bool = False, depth: int = 0) -> Type:
        """Replace the variables in a type by what they stand for."""
        if depth > _MAX_NESTING:
            return types.DYN
        bound = self._bound.get(subject.name) if subject.kind is Kind.PARAM else None
        if bound is not None:
            return self.resolve(bound, unbound_to_dyn, depth + 1)
        if subject.kind is Kind.PARAM:
            return types.DYN if unbound_to_dyn else subject
        if not subject.params:
            return subject
        params = tuple(self.resolve(part, unbound_to_dyn, depth + 1) for part in subject.params)
        return Type(subject.kind, subject.name, params)

    def _all(self, left: Sequence[Type], right: Sequence[Type]) -> bool:
        return len(left) == len(right) and all(map(self._one, left, right))

    def _one(self, left: Type, right: Type) -> bool:
        if right.kind is Kind.PARAM:
            valid, known = self._binds(left, right)
            if valid or known:
                return valid
        if left.kind is Kind.PARAM:
            return self._binds(right, left)[0]
        if _is_wild(left) or _is_wild(right):
            return True
        if Kind.NULL in (left.kind, right.kind):
            other = right if left.kind is Kind.NULL else left
            return other.kind is Kind.NULL or other.kind in _NULLABLE
        if left.kind is Kind.TYPE:
            return right.kind is Kind.TYPE
        if left.kind in _WITH_PARAMS:
            same = left.kind is right.kind and left.name == right.name
            return same and self._all(left.params, right.params)
        return left == right

    def _binds(self, subject: Type, variable: Type) -> tuple[bool, bool]:
        """Whether the variable can stand for the type, and whether it stood for one before."""
        if subject == variable:
            return True, True
        bound = self._bound.get(variable.name)
        if bound is not None:
            if subject == bound:
                return True, True
            if not self._one(subject, bound):
                return False, True
            general = subject if _is_as_general(subject, bound) else bound
            if not self._occurs(variable, general):
                self._bound[variable.name] = general
            return True, True
        if self._occurs(variable, subject):
            return False, False
        self._bound[variable.name] = subject
        return True, False

    def _occurs(self, variable: Type, within: Type) -> bool:
        if variable == within:
            return True
        if within.kind is Kind.PARAM:
            bound = self._bound.get(within.name)
            return bound is not None and self._occurs(variable, bound)
        return any(self._occurs(variable, part) for part in within.params)


def most_general(left: Type, right: Type) -> Type:
    return left if _is_as_general(left, right) else right


def _is_wild(subject: Type) -> bool:
    return is_dyn(subject) or subject.kind is Kind.ERROR


def _is_as_general(left: Type, right: Type) -> bool:
    if is_dyn(left) or left.kind is Kind.PARAM:
        return True
    if is_dyn(right) or right.kind is Kind.PARAM or left.kind is not right.kind:
        return False
    if left.kind in _WITH_PARAMS:
        same = left.name == right.name and len(left.params) == len(right.params)
        return same and all(map(_is_as_general, left.params, right.params))
    return left.kind is Kind.TYPE or left == right

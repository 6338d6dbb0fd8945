"""How the values of an update relate to those that they replace.

A value that breaks a rule is tolerated if the update leaves it as it was: the rule may be newer
than the object. Elements of a list are compared with older ones only if they have keys.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from podium.apiserver.statuses import Json

_SCALARS = (bool, float, int, str)


def keys_of(schema: Json) -> Sequence[str]:
    """Return the names of the fields by which the elements of a list are told apart, if any."""
    if schema.get("type") != "array" or schema.get("x-kubernetes-list-type") != "map":
        return ()
    return schema.get("x-kubernetes-list-map-keys") or ()


def by_key(names: Sequence[str], elements: Any) -> dict[Any, Any]:
    """Return the elements of a list by their keys; empty if the list has no keys."""
    found: dict[Any, Any] = {}
    for element in elements if names and isinstance(elements, list) else ():
        key = key_of(names, element)
        if key is not None:
            found.setdefault(key, element)
    return found


def key_of(names: Sequence[str], element: Any) -> tuple[Any, ...] | None:
    """Return the values of an element's keys; None if it lacks one."""
    if not isinstance(element, dict) or not names:
        return None
    values = [element.get(name) for name in names]
    if not all(isinstance(value, _SCALARS) for value in values):
        return None
    return tuple(part for value in values for part in (type(value), value))


class Pair:
    """A value and the one at the same place in the old object."""

    __slots__ = ("_elements", "_is_same", "new", "old", "schema")

    def __init__(self, new: Any, old: Any, schema: Json) -> None:
        self.new, self.old, self.schema = new, old, schema
        self._is_same: bool | None = None
        self._elements: dict[Any, Any] | None = None

    def below(self, name: str) -> Pair | None:
        """Return the pair below a name; None if one side lacks it or no schema describes it."""
        if not isinstance(self.new, dict) or not isinstance(self.old, dict):
            return None
        schema = (self.schema.get("properties") or {}).get(name)
        if schema is None:
            schema = self.schema.get("additionalProperties")
        if name not in self.new or name not in self.old or not isinstance(schema, dict):
            return None
        return Pair(self.new[name], self.old[name], schema)

    def element(self, index: int) -> Pair | None:
        """Return the pair of an element; None if the old list has none with its keys."""
        schema = self.schema.get("items")
        if not isinstance(self.new, list) or not isinstance(schema, dict):
            return None
        names = keys_of(self.schema)
        if self._elements is None:
            self._elements = by_key(names, self.old)
        old = self._elements.get(key_of(names, self.new[index]))
        return None if old is None else Pair(self.new[index], old, schema)

    def is_same(self) -> bool:
        """Whether the update leaves the value as it was; elements with keys may change order."""
        if self._is_same is None:
            self._is_same = self._compare()
        return self._is_same

    def _compare(self) -> bool:
        match self.new, self.old:
            case dict(), dict():
                pairs = [self.below(name) for name in self.new]
            case list(), list() if self.schema.get("x-kubernetes-list-type") == "map":
                pairs = [self.element(index) for index in range(len(self.new))]
            case _:
                return identical(self.new, self.old)
        is_complete = len(self.new) == len(self.old)
        return is_complete and all(pair is not None and pair.is_same() for pair in pairs)


def identical(left: Any, right: Any) -> bool:
    """Compare JSON without taking 1 for 1.0 or for true."""
    if type(left) is not type(right):
        return False
    match left:
        case dict():
            return left.keys() == right.keys() and all(identical(left[k], right[k]) for k in left)
        case list():
            return len(left) == len(right) and all(map(identical, left, right))
    return bool(left == right)


class Change(NamedTuple):
    """Whether an update changes a value.

    ``current`` pairs the value with the old one; ``nearest`` is the pair of the closest parent that
    has one.
    """

    current: Pair | None = None
    nearest: Pair | None = None

    def below(self, name: str) -> Change:
        if self.current is None:
            return self
        # kube-apiserver does not compare these two fields of the object itself.
        if self.nearest is None and name in ("apiVersion", "kind"):
            return Change()
        return Change(self.current.below(name), self.current)

    def element(self, index: int) -> Change:
        return self if self.current is None else Change(self.current.element(index), self.current)

    def is_unchanged(self) -> bool:
        pair = self.current or self.nearest
        return pair is not None and pair.is_same()

"""What plugins keep for the rest of one cycle, keyed by type."""

from __future__ import annotations

from collections.abc import Collection
from functools import lru_cache
from typing import Any, Protocol, Self, TypeVar, cast, runtime_checkable

from podium.api.objects import Pod
from podium.errors import StateNotFound

T = TypeVar("T")


@runtime_checkable
class Cloneable(Protocol):
    """A value that a dry run may change keeps the original safe with its own copy."""

    def clone(self) -> Self: ...


class CycleState:
    """A typed store: ``state.put(value)`` and ``state.get(Type)``.

    Values hold rows only within their cycle. A value that ``add_pod`` or ``remove_pod`` changes
    must implement ``clone()``; others are shared between clones.
    """

    __slots__ = (
        "_asked",
        "_below",
        "_putter_of",
        "_values",
        "skip_filter",
        "skip_pre_bind",
        "skip_score",
    )  # fmt: skip

    def __init__(
        self, values: dict[type, object] | None = None, below: CycleState | None = None
    ) -> None:
        self._values: dict[type, Any] = {} if values is None else values  # each of its own type
        self._below = below  # what is not found here is looked up there
        self._putter_of: dict[type, str] = {}
        self._asked = ""  # the plugin whose PreFilter or PreScore runs
        self.skip_filter: frozenset[str] = frozenset()
        self.skip_score: frozenset[str] = frozenset()
        self.skip_pre_bind: frozenset[str] = frozenset()

    def put(self, value: object) -> None:
        kind = type(value)
        self._values[kind] = value
        self._putter_of[kind] = self._asked

    def get(self, kind: type[T]) -> T:
        """The value of this type; ``StateNotFound`` when its plugin has not put one."""
        try:
            found: T = self._values[kind]
        except KeyError:
            if self._below is not None:
                return self._below.get(kind)
            raise StateNotFound(kind) from None
        return found

    def find(self, kind: type[T]) -> T | None:
        found: T | None = self._values.get(kind)
        if found is None and self._below is not None:
            return self._below.find(kind)
        return found

    def drop(self, kind: type) -> None:
        self._values.pop(kind, None)

    def layer(self) -> CycleState:
        """Return a store on top of this one: it shows these values, and keeps its own apart."""
        return self._sharing_skips(CycleState(below=self))

    @property
    def base(self) -> CycleState:
        """The store that this one is a layer of, or itself."""
        return self if self._below is None else self._below

    def fork(self) -> CycleState:
        """Return a store of its own with the same values, for the rest of a pod's attempt."""
        values = dict(self._values) if self._below is None else self._all_values()
        return self._sharing_skips(CycleState(values))

    def _all_values(self) -> dict[type, object]:
        below = {} if self._below is None else self._below._all_values()
        return {**below, **self._values}

    def clone(self) -> CycleState:
        """A store whose changeable values are copies, for a dry run."""
        values = {
            kind: cast(Cloneable, value).clone() if _is_cloneable(kind) else value
            for kind, value in self._all_values().items()
        }
        return self._sharing_skips(CycleState(values))

    def _sharing_skips(self, other: CycleState) -> CycleState:
        other.skip_filter = self.skip_filter
        other.skip_score = self.skip_score
        other.skip_pre_bind = self.skip_pre_bind
        return other


def without(state: CycleState, plugins: Collection[str]) -> CycleState:
    """Return a store of its own that lacks what these plugins put in. For podium's core only."""
    putter_of = {kind: by for kind, by in state._putter_of.items() if by not in plugins}
    values = {kind: value for kind, value in state._values.items() if kind in putter_of}
    below = None if state._below is None else without(state._below, plugins)
    other = state._sharing_skips(CycleState(values, below))
    other._putter_of = putter_of
    return other


@lru_cache(maxsize=256)
def _is_cloneable(kind: type) -> bool:
    """Asking a protocol takes longer than the copy."""
    return issubclass(kind, Cloneable)


class PodsToActivate:
    """Pods that a plugin wants tried as soon as this cycle, and later its binding, succeeds."""

    def __init__(self) -> None:
        self.pods: dict[str, Pod] = {}  # by key

    def clone(self) -> PodsToActivate:
        # One list for all clones: what a dry run adds counts as well, as upstream.
        return self

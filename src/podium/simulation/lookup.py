"""The objects of a simulation by name, and the error about names that are not there."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Generic, TypeVar

from podium.api.meta import ApiObject
from podium.errors import SimulationError, did_you_mean

T = TypeVar("T", bound=ApiObject)


class KindObjects(Mapping[str, T], Generic[T]):
    """The objects of one kind in one simulation, by key."""

    def __init__(self, read: Callable[[str], Mapping[str, Any]], kind: str) -> None:
        self._read = read
        self._kind = kind

    def _all(self) -> Mapping[str, Any]:
        return self._read(self._kind)

    def __getitem__(self, key: str) -> T:
        found: T | None = self._all().get(key)
        if found is None:
            raise unknown_object(self._kind, key, self._all())
        return found

    def __contains__(self, key: object) -> bool:
        return key in self._all()

    def __iter__(self) -> Iterator[str]:
        return iter(list(self._all()))

    def __len__(self) -> int:
        return len(self._all())


class UnknownObject(SimulationError, KeyError):
    """An object that is not in the simulation; the message suggests a similar name."""

    def __str__(self) -> str:
        return str(self.args[0])


def unknown_object(kind: str, key: str, known: Iterable[str]) -> UnknownObject:
    """Return the error about a name that is not there, with a similar one."""
    return UnknownObject(f'no {kind} "{key}" in the simulation{did_you_mean(key, known)}')


def require(kind: str, keys: Iterable[str], known: Mapping[str, Any]) -> None:
    """Raise one error with all names that are not there."""
    unknown = [unknown_object(kind, key, known) for key in keys if key not in known]
    if unknown:
        raise UnknownObject("\n".join(map(str, unknown)))

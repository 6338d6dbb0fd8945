"""Check the options of a plugin: what its class sets, or what its decorator was given.

Each function yields what is wrong with one value; the caller puts the plugin's name before it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from podium.api.objects import Node, Pod, StorageClass
from podium.framework.field_signatures import problem_of
from podium.state.kinds import ASPECTS

_HIGHEST_WEIGHT: Final = 2**31 - 1  # a weight in a configuration has 32 bits
_WATCHABLE: Final[tuple[type, ...]] = (Pod, Node, *ASPECTS)


def name_problems(name: object) -> Iterator[str]:
    if not isinstance(name, str):
        yield f"name must be a text, not {name!r}"
    elif name != name.strip() or not name.isprintable():
        yield f"name must be one line of text without spaces at its ends, not {name!r}"


def weight_problems(weight: object) -> Iterator[str]:
    is_number = isinstance(weight, int) and not isinstance(weight, bool)
    if not is_number or not 1 <= weight <= _HIGHEST_WEIGHT:  # type: ignore[operator]  # a number
        yield f"weight must be a whole number from 1 to {_HIGHEST_WEIGHT}, not {weight!r}"


def watches_problems(watches: object) -> Iterator[str]:
    if not isinstance(watches, tuple | list | set | frozenset):
        example = next((kind for kind in _WATCHABLE if kind is watches), StorageClass)
        yield f"watches must be a tuple of kinds such as ({example.__name__},), not {watches!r}"
        return
    for each in watches:
        if each not in _WATCHABLE:
            known = ", ".join(sorted(kind.__name__ for kind in _WATCHABLE))
            yield f"watches: expected one of the classes {known}, got {each!r}"


def fields_problems(fields: tuple[object, ...] | list[object]) -> Iterator[str]:
    """Check the pod fields of ``sign``."""
    if not fields:
        yield "sign has no fields; if the results are the same for all pods: sign=lambda pod: ()"
    for path in fields:
        if problem := problem_of(path):
            yield f"sign: {problem}"

"""The typed arguments of a plugin, as its author declares them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from math import inf
from typing import Any

import msgspec

from podium.errors import Problem

__all__ = ["Args", "NoArgs", "Problem", "invalid", "outside"]


class Args(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Base of a plugin's ``Args``: fields with defaults, unknown names are errors.

    A configuration may spell the field ``max_pods`` as ``maxPods`` or as ``max_pods``.
    """

    def validate(self) -> Iterable[Problem]:
        """Everything wrong with these values, by paths below the args; called when the
        configuration is loaded."""
        return ()


class NoArgs(Args, frozen=True):
    """For plugins that take none."""


def as_written(data: Mapping[str, Any], kind: type[msgspec.Struct]) -> dict[str, Any]:
    """Return the data with camelCase names as the struct spells them; unknown names are kept.

    Structs inside, in lists and mappings too, are treated alike.
    """
    return dict(_as_written(data, msgspec.inspect.type_info(kind)))


def spelled_twice(data: Mapping[str, Any], kind: type[msgspec.Struct]) -> Iterator[tuple[str, str]]:
    """Yield the fields that are given in both spellings, as ``("max_pods", "maxPods")``."""
    fields = kind.__struct_encode_fields__
    for name in fields:
        other = camel_case(name)
        if other not in fields and name in data and other in data:
            yield name, other


def camel_case(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


def _as_written(value: Any, kind: msgspec.inspect.Type) -> Any:
    match kind:
        case msgspec.inspect.StructType() if isinstance(value, Mapping):
            return _fields_as_written(value, kind)
        case msgspec.inspect.ListType() | msgspec.inspect.VarTupleType() if isinstance(value, list):
            return [_as_written(each, kind.item_type) for each in value]
        case msgspec.inspect.DictType() if isinstance(value, Mapping):
            return {key: _as_written(each, kind.value_type) for key, each in value.items()}
        case msgspec.inspect.UnionType():
            structs = [t for t in kind.types if not isinstance(t, msgspec.inspect.NoneType)]
            return _as_written(value, structs[0]) if len(structs) == 1 else value
    return value


def _fields_as_written(
    value: Mapping[str, Any], kind: msgspec.inspect.StructType
) -> dict[str, Any]:
    fields = {field.encode_name: field for field in kind.fields}
    names = {camel_case(name): name for name in fields}
    found: dict[str, Any] = {}
    for given, each in value.items():
        name = given if given in fields else names.get(given, given)
        if name in value:  # perhaps given in both spellings, which spelled_twice reports
            name = given
        found[name] = _as_written(each, fields[name].type) if name in fields else each
    return found


def outside(path: str, value: int, lowest: int, highest: float = inf) -> Iterator[Problem]:
    """The problem of a number that is not in this range, in upstream's words."""
    if not lowest <= value <= highest:
        end = "inf)" if highest == inf else f"{highest}]"
        yield invalid(path, value, f"not in valid range [{lowest}, {end}")


def invalid(path: str, value: object, detail: str) -> Problem:
    return Problem(path, f"Invalid value: {value}: {detail}")

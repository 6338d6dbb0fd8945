"""Values of the model in the words of a v1 file: what a YAML or JSON writer takes."""

import base64
import dataclasses
from collections.abc import Mapping
from enum import Enum
from typing import Any, get_args

import msgspec

from podium import durations
from podium.config import model, wire
from podium.framework.args import Args


def of_args(args: Args) -> dict[str, Any]:
    """A plugin's arguments, all of them that are set."""
    return {name: value for name, value in _fields(args).items() if value is not None}


def of_section(value: model.LeaderElection | model.ClientConnection) -> dict[str, Any]:
    kind: Any = _WRITTEN[type(value)]
    return _fields(kind(**_own_fields(value)))


def of_extender(extender: model.Extender) -> dict[str, Any]:
    """An extender without what it leaves at nothing."""
    resources = tuple(
        wire.ManagedResource(**_own_fields(resource)) for resource in extender.managed_resources
    )
    tls = wire.TLSConfig(**_own_fields(extender.tls)) if extender.tls else None
    given = {**_own_fields(extender), "managed_resources": resources, "tls": tls}
    return _set_fields(wire.Extender(**given))


_WRITTEN = {
    model.LeaderElection: wire.LeaderElection,
    model.ClientConnection: wire.ClientConnection,
}


def _own_fields(value: Any) -> dict[str, Any]:
    return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}


def _fields(value: msgspec.Struct) -> dict[str, Any]:
    return {
        field.encode_name: _written(getattr(value, field.name), field.type)
        for field in msgspec.structs.fields(value)
    }


def _set_fields(value: msgspec.Struct) -> dict[str, Any]:
    return {name: item for name, item in _fields(value).items() if item not in _NOTHING}


_NOTHING: tuple[Any, ...] = (None, "", [], {}, False, 0)


def _written(value: Any, kind: Any = None) -> Any:
    match value:
        case float() if _is_duration(kind):
            return durations.format(value)
        case msgspec.Struct():
            fields = _fields(value)
            return {name: item for name, item in fields.items() if item not in _NO_ITEM}
        case Enum():
            return value.value
        case bytes():
            return base64.b64encode(value).decode()
        case Mapping():
            return {key: _written(item) for key, item in value.items()}
        case list() | tuple() | set() | frozenset():
            return [_written(item) for item in value]
    return value


# Inside a list a zero says something, a missing text does not.
_NO_ITEM: tuple[Any, ...] = (None, "", [], {})


def _is_duration(kind: Any) -> bool:
    notes = [note for note in get_args(kind) if isinstance(note, msgspec.Meta)]
    return any((note.extra or {}).get("format") == durations.FORMAT for note in notes)

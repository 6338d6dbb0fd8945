"""Find required fields of the published schemas that an object lacks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from podium.apiserver import statuses
from podium.apiserver.kinds.api_kind import ApiKind
from podium.apiserver.schemas import Schema
from podium.apiserver.statuses import Cause, Json

Causes = Iterator[Cause]
NotRequired = Mapping[str, tuple[str, ...]]


def missing_fields(obj: Json, kind: ApiKind) -> Causes:
    """Yield a cause for each required field that is missing, except in the status."""
    if not kind.checks_required:
        return
    schema, ignored = kind.schema, kind.not_required
    for name, below in schema.properties.items():
        if name in obj and name not in ("status", "metadata"):
            yield from _missing(obj[name], below, name, ignored)
    for name in _required(schema, ignored):
        if name not in obj:
            yield statuses.required(name)


def _required(schema: Schema, ignored: NotRequired) -> Iterator[str]:
    of_type = ignored.get(schema.name.rpartition(".")[2], ())
    return (name for name in schema.required if name not in of_type)


def _missing(value: Any, schema: Schema, path: str, ignored: NotRequired) -> Causes:
    match value:
        case dict():
            for name in _required(schema, ignored):
                if value.get(name) is None:
                    yield statuses.required(f"{path}.{name}")
            for name, below in value.items():
                if not isinstance(below, dict | list) or name == "metadata":
                    continue  # most values are scalars, which lack nothing
                child = schema.child(name)
                if child is not None:
                    inside = f"{path}.{name}" if name in schema.properties else f"{path}[{name}]"
                    yield from _missing(below, child, inside, ignored)
        case list():
            for index, one in enumerate(value):
                yield from _missing(one, schema.element, f"{path}[{index}]", ignored)

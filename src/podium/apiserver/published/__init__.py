"""What Kubernetes publishes about its types, as generated data by release.

``schemas-*.json.gz`` has the published JSON schemas (`make schemas` writes it). ``go-types-*.txt``
has what only the Go types know (`make go-types` writes it). Only the files of releases in use are
read. docs/upgrading.md explains when to write them anew.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from podium.release import Release


def schemas_file(release: Release) -> Path:
    return Path(__file__).with_name(f"schemas-{release}.json.gz")


def go_types_file(release: Release) -> Path:
    return Path(__file__).with_name(f"go-types-{release}.txt")


class _Definition(msgspec.Struct):
    """The part of a definition that says which kind it is."""

    kinds: list[dict[str, str]] = msgspec.field(name="x-kubernetes-group-version-kind", default=[])


class Definitions(Mapping[str, Any]):
    """The published schemas by name. A schema is decoded on each access and not kept.

    Decoding all of them at once takes 16 ms; most servers are asked for few of them.
    """

    def __init__(self, encoded: bytes) -> None:
        self._raw = msgspec.json.decode(encoded, type=dict[str, msgspec.Raw])
        self._names: dict[tuple[str, str, str], str] = {}
        for name, one in msgspec.json.decode(encoded, type=dict[str, _Definition]).items():
            if len(one.kinds) == 1:  # options such as DeleteOptions belong to all groups
                kind = one.kinds[0]
                self._names[kind["group"], kind["version"], kind["kind"]] = name

    def name_of(self, group: str, version: str, kind: str) -> str | None:
        """Return the name of the schema of a kind, such as ``io.k8s.api.core.v1.Pod``."""
        return self._names.get((group, version, kind))

    def __getitem__(self, name: str) -> Any:
        return msgspec.json.decode(self._raw[name])

    def __contains__(self, name: object) -> bool:
        return name in self._raw

    def __iter__(self) -> Iterator[str]:
        return iter(self._raw)

    def __len__(self) -> int:
        return len(self._raw)


@cache
def definitions(release: Release) -> Definitions:
    return Definitions(gzip.decompress(schemas_file(release).read_bytes()))


class GoType(NamedTuple):
    """The fields of a Go struct by their names in JSON, in the order of their declaration."""

    # In protobuf. A type in place of a name is a message whose fields JSON has directly.
    numbers: dict[int, str | GoType]
    omitted: tuple[str, ...]  # left out while they are zero or empty
    embedded: tuple[str, ...]  # structs that are always there


@cache
def _go_lines(release: Release) -> dict[str, str]:
    lines = (line.partition(" ") for line in go_types_file(release).read_text().splitlines())
    return {name: fields for name, _, fields in lines}


@cache
def go_type(release: Release, definition: str) -> GoType | None:
    """Return what Go knows about a type such as ``io.k8s.api.core.v1.Pod``, if it has that type."""
    line = _go_lines(release).get(definition.removeprefix("io.k8s."))
    if line is None:
        return None
    numbers: dict[int, str | GoType] = {}
    omitted: list[str] = []
    embedded: list[str] = []
    for part in line.split():
        number, _, field = part.partition(":")
        name = field.rstrip("?{}")
        inner = go_type(release, name[1:]) if name.startswith("~") else None
        if int(number):
            numbers[int(number)] = inner or name
        if inner:
            omitted += inner.omitted
            embedded += inner.embedded
        elif field.endswith("?"):
            omitted.append(name)
        elif field.endswith("{}"):
            embedded.append(name)
    return GoType(numbers, tuple(omitted), tuple(embedded))

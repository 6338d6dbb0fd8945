"""What Kubernetes publishes about its types, as generated data of one release.

``schemas-*.json.gz`` has the published JSON schemas (`make schemas` writes it). ``go-types-*.txt``
has what only the Go types know (`make go-types` writes it). docs/upgrading.md explains when to
write them anew.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

# The release whose schemas are served and whose behaviour is followed.
RELEASE = "1.36.0"

_MINOR = RELEASE.rpartition(".")[0]
SCHEMAS = Path(__file__).with_name(f"schemas-{_MINOR}.json.gz")
GO_TYPES = Path(__file__).with_name(f"go-types-{_MINOR}.txt")


class _Definition(msgspec.Struct):
    """The part of a definition that says which kind it is."""

    kinds: list[dict[str, str]] = msgspec.field(name="x-kubernetes-group-version-kind", default=[])


class Definitions(Mapping[str, Any]):
    """The published schemas by name. A schema is decoded on each access and not kept.

    Decoding all 771 at once takes 16 ms; most servers are asked for few of them.
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
def definitions() -> Definitions:
    return Definitions(gzip.decompress(SCHEMAS.read_bytes()))


class GoType(NamedTuple):
    """The fields of a Go struct by their names in JSON, in the order of their declaration."""

    numbers: dict[int, str]  # in protobuf; ``~type`` is a message whose fields JSON has directly
    omitted: tuple[str, ...]  # left out while they are zero or empty
    embedded: tuple[str, ...]  # structs that are always there


@cache
def _go_lines() -> dict[str, str]:
    lines = (line.partition(" ") for line in GO_TYPES.read_text().splitlines())
    return {name: fields for name, _, fields in lines}


@cache
def go_type(definition: str) -> GoType | None:
    """Return what Go knows about a type such as ``io.k8s.api.core.v1.Pod``, if it has that type."""
    line = _go_lines().get(definition.removeprefix("io.k8s."))
    if line is None:
        return None
    numbers: dict[int, str] = {}
    omitted: list[str] = []
    embedded: list[str] = []
    for part in line.split():
        number, _, field = part.partition(":")
        name = field.rstrip("?{}")
        if int(number):
            numbers[int(number)] = name
        if field.endswith("?"):
            omitted.append(name)
        elif field.endswith("{}"):
            embedded.append(name)
        elif name.startswith("~") and (inner := go_type(name[1:])):
            omitted += inner.omitted
            embedded += inner.embedded
    return GoType(numbers, tuple(omitted), tuple(embedded))

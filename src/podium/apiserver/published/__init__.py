"""What Kubernetes publishes about its types, as data of one release; nothing here is by hand.

``schemas-*.json.gz`` has the published JSON schemas (`make schemas` writes it), ``go-types-*.txt``
has what only the Go types know (`make go-types`). docs/upgrading.md says when to write them anew.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

# The release whose schemas are served; behaviour follows it too.
RELEASE = "1.36.0"

_MINOR = RELEASE.rpartition(".")[0]
SCHEMAS = Path(__file__).with_name(f"schemas-{_MINOR}.json.gz")
GO_TYPES = Path(__file__).with_name(f"go-types-{_MINOR}.txt")


class _Definition(msgspec.Struct):
    """The part of a definition that says which kind it is."""

    kinds: list[dict[str, str]] = msgspec.field(name="x-kubernetes-group-version-kind", default=[])


class Definitions(Mapping[str, Any]):
    """The published schemas by name. A schema is decoded when it is asked for, and not kept.

    Decoding all 771 at once takes 16 ms and 9 MB; a server that is asked for pods needs few.
    """

    def __init__(self, encoded: bytes) -> None:
        self._raw = msgspec.json.decode(encoded, type=dict[str, msgspec.Raw])
        self._names: dict[tuple[str, str, str], str] = {}
        for name, one in msgspec.json.decode(encoded, type=dict[str, _Definition]).items():
            if len(one.kinds) == 1:  # options such as DeleteOptions belong to every group
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
    """The fields of a Go struct by their names in JSON."""

    numbers: dict[int, str]  # in protobuf; ``~type`` is a message whose fields JSON has in place
    omitted: frozenset[str]  # not written while they are zero or empty
    embedded: frozenset[str]  # structs that are part of every value, set or not


@cache
def _go_lines() -> dict[str, str]:
    lines = (line.partition(" ") for line in GO_TYPES.read_text().splitlines())
    return {name: fields for name, _, fields in lines}


@cache
def go_type(definition: str) -> GoType | None:
    """Return what Go knows of a type: ``io.k8s.api.core.v1.Pod``; None for one it does not have."""
    line = _go_lines().get(definition.removeprefix("io.k8s."))
    if line is None:
        return None
    fields = [(int(number), name) for number, _, name in (p.partition(":") for p in line.split())]
    return GoType(
        {number: name.rstrip("?{}") for number, name in fields if number},
        _inherited(fields, "?"),
        _inherited(fields, "{}"),
    )


def _inherited(fields: list[tuple[int, str]], mark: str) -> frozenset[str]:
    """Return the fields with a mark, with those of messages whose fields JSON has in place."""
    own = {name.removesuffix(mark) for _, name in fields if name.endswith(mark)}
    for _, name in fields:
        if name.startswith("~") and (inner := go_type(name[1:])):
            own |= inner.omitted if mark == "?" else inner.embedded
    return frozenset(own)

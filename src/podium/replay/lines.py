"""The lines of a trace file: each is a JSON object whose field ``event`` says what it is.

``docs/replay.md`` describes them for users. Reader, converters and the replay share these structs.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from podium.api.meta import ResourceList

VERSION: Final = 1

Json = dict[str, Any]


class Line(
    msgspec.Struct,
    frozen=True,
    gc=False,
    kw_only=True,
    forbid_unknown_fields=True,
    omit_defaults=True,
    rename="camel",
    tag_field="event",
):
    """Base of all lines. Unknown fields are errors, so that no misspelled field is ignored."""


class Header(Line, frozen=True, gc=False, kw_only=True, tag="trace"):
    """The first line."""

    version: int


class Objects(Line, frozen=True, gc=False, kw_only=True, tag="objects"):
    """Objects that exist from the beginning: manifests, or a file of them beside the trace."""

    file: str = ""
    items: list[Json] = []


class Shape(Line, frozen=True, gc=False, kw_only=True, tag="shape"):
    """The common part of many pods, under a name that arrivals refer to."""

    name: str
    requests: ResourceList = {}
    priority: int = 0
    labels: dict[str, str] = {}
    pod: Json | None = None


class Timed(Line, frozen=True, gc=False, kw_only=True):
    """Base of the lines that happen at a moment, in seconds since the beginning."""

    time: float = 0.0


class Nodes(Timed, frozen=True, gc=False, kw_only=True, tag="nodes"):
    """Equal nodes join. With a ``count`` they are called ``name-0``, ``name-1`` and so on."""

    name: str
    allocatable: ResourceList
    count: int | None = None
    labels: dict[str, str] = {}
    taints: list[Json] = []

    def names(self) -> list[str]:
        if self.count is None:
            return [self.name]
        return [f"{self.name}-{number}" for number in range(self.count)]


class NodeChange(Timed, frozen=True, gc=False, kw_only=True, tag="node"):
    """A node joins or changes; ``node`` is its manifest."""

    node: Json


class NodeRemoval(Timed, frozen=True, gc=False, kw_only=True, tag="remove-node"):
    """A node leaves, and its pods with it."""

    name: str


class Arrival(Timed, frozen=True, gc=False, kw_only=True, tag="arrive"):
    """A pod arrives. It runs for ``duration`` seconds once it is bound, or until it departs.

    What it is like is one of: a ``shape``, ``requests`` with ``priority`` and ``labels``, or a
    whole manifest as ``pod``.
    """

    name: str
    duration: float | None = None
    shape: str = ""
    requests: ResourceList = {}
    priority: int = 0
    labels: dict[str, str] = {}
    pod: Json | None = None
    restarts: bool = True

    @property
    def key(self) -> str:
        """``namespace/name``."""
        return self.name if "/" in self.name else f"default/{self.name}"


class Departure(Timed, frozen=True, gc=False, kw_only=True, tag="depart"):
    """A pod is deleted, whether it runs or still waits."""

    name: str

    @property
    def key(self) -> str:
        return self.name if "/" in self.name else f"default/{self.name}"


class End(Line, frozen=True, gc=False, kw_only=True, tag="end"):
    """The last line. Without a time the replay goes on until nothing more happens."""

    time: float | None = None


AnyLine = Header | Objects | Shape | Nodes | NodeChange | NodeRemoval | Arrival | Departure | End
TimedLine = Nodes | NodeChange | NodeRemoval | Arrival | Departure


class Trace(msgspec.Struct, frozen=True):
    """A trace that was read and checked. Plain data, so that it can be sent to other processes.

    ``lines`` are in the order of their times. ``end`` is ``None`` if the replay goes on until
    nothing more happens.
    """

    name: str
    objects: list[Json]
    shapes: dict[str, Shape]
    lines: list[TimedLine]
    end: float | None = None

    @property
    def arrivals(self) -> int:
        return sum(isinstance(line, Arrival) for line in self.lines)

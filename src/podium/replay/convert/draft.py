"""A trace that is being made from tables, and how it is written."""

from __future__ import annotations

import gzip
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import msgspec

from podium import files
from podium.errors import PodiumError, ReplayError
from podium.replay.lines import (
    VERSION,
    Arrival,
    Departure,
    End,
    Header,
    Line,
    NodeChange,
    NodeRemoval,
    Nodes,
    Objects,
    Shape,
    TimedLine,
)

Json = dict[str, Any]

# Of one moment: a pod must arrive before it departs. Otherwise the order does not matter, because
# a replay takes all lines of a moment before the next attempt.
_ORDER: Final = {NodeRemoval: 0, Nodes: 1, NodeChange: 1, Arrival: 2, Departure: 3}


@dataclass(slots=True)
class Draft:
    """The lines of a trace, in any order; ``left_out`` counts what a trace cannot express."""

    lines: list[TimedLine] = field(default_factory=list)
    objects: list[Json] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)
    _shapes: dict[bytes, Shape] = field(default_factory=dict)

    @property
    def arrivals(self) -> int:
        return sum(isinstance(line, Arrival) for line in self.lines)

    def shape(self, pod: Json) -> str:
        """Return the name of the shape of such pods; equal pods have one shape."""
        key = msgspec.json.encode(pod)
        found = self._shapes.get(key)
        if found is None:
            found = self._shapes[key] = Shape(name=f"shape-{len(self._shapes)}", pod=pod)
        return found.name

    def finish(self) -> list[Line]:
        """Return all lines in order, from the header to the end; times start at 0."""
        begin = min((line.time for line in self.lines), default=0.0)
        timed = [msgspec.structs.replace(line, time=line.time - begin) for line in self.lines]
        timed.sort(key=lambda line: (line.time, _ORDER[type(line)]))
        self.notes += [f"{what}: {count:,}" for what, count in self.left_out.items()]
        objects = [Objects(items=self.objects)] if self.objects else []
        return [Header(version=VERSION), *objects, *self._shapes.values(), *timed, End()]


def write(draft: Draft, path: Path) -> None:
    """Write the trace; the file appears when it is complete."""
    lines = draft.finish()
    data = b"".join(msgspec.json.encode(line) + b"\n" for line in lines)
    if path.suffix == ".gz":
        data = gzip.compress(data, mtime=0)
    try:
        with files.replacing(path, 0o666) as file:
            file.write(data)
    except PodiumError as error:
        raise ReplayError(f"{path}: {error}") from error

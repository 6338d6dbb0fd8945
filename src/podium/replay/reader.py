"""Reads a trace file and checks all of it before anything is replayed.

Every problem is reported with its line, up to a limit.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Final, get_args

import msgspec

from podium import files
from podium.api.codec import UNREADABLE
from podium.api.objects import Node, Pod
from podium.errors import InvalidTrace, PodiumError, Problem, did_you_mean
from podium.replay.lines import (
    VERSION,
    AnyLine,
    Arrival,
    Departure,
    End,
    Header,
    Json,
    NodeChange,
    NodeRemoval,
    Nodes,
    Objects,
    Shape,
    TimedLine,
    Trace,
)
from podium.replay.workload import PodMaker, initial_objects, node, nodes

MOST_PROBLEMS: Final = 20
_MOST_NODES: Final = 1_000_000
_MOST_SECONDS: Final = 10 * 366 * 86_400.0  # ten years
_MOST_COMPARED: Final = 1_000  # names for "did you mean": comparing all would take seconds

_EXAMPLE_HEADER: Final = '{"event": "trace", "version": 1}'
_EXAMPLE_NODES: Final = (
    '{"event": "nodes", "name": "worker", "count": 10, "allocatable": {"cpu": "8"}}'
)
_FIELDS: Final = {
    str(kind.__struct_config__.tag): kind.__struct_encode_fields__ for kind in get_args(AnyLine)
}

LoadObjects = Callable[[Path], list[Json]]


def read(path: Path, load_objects: LoadObjects) -> Trace:
    """Read a trace, plain or ``.gz``. ``load_objects`` reads a file that the trace refers to."""
    checker = _Checker(path, load_objects)
    decoder = msgspec.json.Decoder(AnyLine)
    try:
        for number, raw in enumerate(files.read_lines(path), 1):
            checker.number = number
            if not raw.strip():
                continue
            try:
                checker.take(decoder.decode(raw))
            except UNREADABLE as error:
                checker.report(_reason(raw, error))
            except PodiumError as error:
                checker.report(str(error))
    except _TooMany:
        pass
    except PodiumError as error:
        line = checker.number + 1 if checker.number else None
        checker.problems.append(Problem("", str(error), line))
        raise checker.failure() from error
    return checker.finish()


def _reason(raw: bytes, error: Exception) -> str:
    if isinstance(error, msgspec.ValidationError):
        return _explained(raw, str(error))
    if not raw.endswith(b"\n"):
        return f"the file was cut short in this line ({error})"
    return f"not a JSON object: {error}"


def _explained(raw: bytes, text: str) -> str:
    """Name the known fields or events that are close to an unknown one."""
    reason, _, path = text.partition(" - at `$")
    path = path.rstrip("`").lstrip(".")
    try:
        line = msgspec.json.decode(raw)
    except UNREADABLE as error:  # nested too deeply, or a number that is too large
        return f"cannot be read: {error}"
    if not isinstance(line, dict):
        return f"must be a JSON object, not {raw.strip()[:40].decode(errors='replace')}"
    event = line.get("event")
    if event not in _FIELDS:
        known = ", ".join(_FIELDS)
        hint = did_you_mean(str(event), _FIELDS) if event else ""
        what = f'unknown event "{event}"' if event is not None else "the field event is missing"
        return f"{what}{hint}" if hint else f"{what}; events are {known}"
    unknown = [field for field in line if field not in ("event", *_FIELDS[event])]
    if unknown and not path:
        known = ", ".join(_FIELDS[event])
        hint = did_you_mean(unknown[0], _FIELDS[event]) or f"; {event} has {known}"
        return f'unknown field "{unknown[0]}"{hint}'
    return f"{path}: {reason}" if path else reason


class _TooMany(Exception):
    """Enough problems were found."""


class _Checker:
    """Takes one line after the other, and collects what is wrong with them."""

    def __init__(self, path: Path, load_objects: LoadObjects) -> None:
        self.problems: list[Problem] = []
        self.number = 0
        self._path = path
        self._load_objects = load_objects
        self._objects: list[Json] = []
        self._shapes: dict[str, Shape] = {}
        self._maker = PodMaker(self._shapes)
        self._lines: list[TimedLine] = []
        self._nodes: dict[str, int] = {}  # the line that added each node
        self._pods: dict[str, int] = {}
        self._departed: set[str] = set()
        self._time = 0.0
        self._has_header = False
        self._had_nodes = False
        self._end: End | None = None

    def take(self, line: AnyLine) -> None:
        if not self._has_header and not isinstance(line, Header):
            self.report(f"the first line must be {_EXAMPLE_HEADER}")
        self._has_header = True
        if self._end is not None:
            self.report("comes after the line with the event end, which must be the last")
            raise _TooMany
        match line:
            case Header():
                self._header(line)
            case Objects():
                self._objects += self._loaded(line)
            case Shape():
                self._shape(line)
            case End():
                self._ended(line)
            case _:
                self._timed(line)

    def report(self, message: str) -> None:
        self.problems.append(Problem("", message, self.number))
        if len(self.problems) >= MOST_PROBLEMS:
            raise _TooMany

    def failure(self) -> InvalidTrace:
        return InvalidTrace(str(self._path), self.problems)

    def finish(self) -> Trace:
        """Return the trace, or raise everything that is wrong with it."""
        if not self.number:
            self.problems.append(
                Problem("", f"the file is empty; it begins with {_EXAMPLE_HEADER}")
            )
        elif self._end is None and len(self.problems) < MOST_PROBLEMS:
            text = 'no line has the event end: the file was cut short, or add {"event": "end"}'
            self.problems.append(Problem("", text, self.number))
        elif not self._had_nodes and not self.problems:
            text = f"the trace has no nodes; add a line such as {_EXAMPLE_NODES}"
            self.problems.append(Problem("", text))
        if self.problems:
            raise self.failure()
        end = None if self._end is None else self._end.time
        return Trace(self._path.name, self._objects, self._shapes, self._lines, end)

    # --- one line --------------------------------------------------------------------------------

    def _header(self, line: Header) -> None:
        if self.number != 1:
            self.report("a second line with the event trace")
        elif line.version != VERSION:
            self.report(f"version {line.version} of the format; this podium reads {VERSION}")

    def _loaded(self, line: Objects) -> list[Json]:
        found = list(line.items)
        if line.file:
            file = self._path.parent / line.file
            try:
                found += self._load_objects(file)
            except PodiumError as error:
                self.report(f"{line.file}: {error}")
        for obj in initial_objects(found):
            if isinstance(obj, Node):
                self._had_nodes = True
                self._nodes[obj.name] = self.number
            elif isinstance(obj, Pod):
                self._pods[obj.key] = self.number
        for manifest in found:
            self._maker.learn(manifest)
        return found

    def _shape(self, line: Shape) -> None:
        if line.name in self._shapes:
            self.report(f'a second shape named "{line.name}"')
        self._shapes[line.name] = line
        self._check_body(line)

    def _ended(self, line: End) -> None:
        self._end = line
        if line.time is not None:
            self._check_time(line.time)

    def _timed(self, line: TimedLine) -> None:
        self._check_time(line.time)
        match line:
            case Nodes():
                self._joined(line)
            case NodeChange():
                self._had_nodes = True
                self._nodes[node(line.node).name] = self.number
            case NodeRemoval():
                if self._nodes.pop(line.name, None) is None:
                    self.report(
                        f'no node "{line.name}" is there{did_you_mean(line.name, self._nodes)}'
                    )
            case Arrival():
                self._arrived(line)
            case Departure():
                self._left(line)
        self._lines.append(line)

    def _check_time(self, time: float) -> None:
        if not 0 <= time <= _MOST_SECONDS:
            self.report(f"time must be from 0 to {_MOST_SECONDS:.0f}, ten years, not {time:g}")
        elif time < self._time:
            self.report(f"time goes back from {self._time:g} to {time:g}; sort the lines by time")
        else:
            self._time = time

    def _joined(self, line: Nodes) -> None:
        self._had_nodes = True
        if line.count is not None and not 1 <= line.count <= _MOST_NODES:
            self.report(f"count must be from 1 to {_MOST_NODES:,}, not {line.count}")
            return
        nodes(line)
        for name in line.names():
            if name in self._nodes:
                self.report(f'a second node "{name}" (the first is in line {self._nodes[name]})')
                return
            self._nodes[name] = self.number

    def _arrived(self, line: Arrival) -> None:
        if line.key in self._pods:
            where = self._pods[line.key]
            self.report(f'a second pod "{line.name}" (the first is in line {where})')
        self._pods[line.key] = self.number
        if not all(line.key.split("/")) or line.key.count("/") != 1:
            self.report(f'name must be NAME or NAMESPACE/NAME, not "{line.name}"')
        if line.duration is not None and not 0 <= line.duration <= _MOST_SECONDS:
            most = f"{_MOST_SECONDS:.0f}, ten years"
            self.report(f"duration must be from 0 to {most}, not {line.duration:g}")
        if line.shape and line.shape not in self._shapes:
            hint = did_you_mean(line.shape, self._shapes)
            self.report(f'no shape "{line.shape}" comes before{hint}')
        else:
            self._check_body(line)

    def _check_body(self, line: Shape | Arrival) -> None:
        shape = line.shape if isinstance(line, Arrival) else ""
        own = bool(line.requests or line.priority or line.labels)
        if (bool(shape) + own + (line.pod is not None)) > 1:
            self.report("give a shape, or a pod, or requests with priority and labels: only one")
        else:
            self._maker.template(line)

    def _left(self, line: Departure) -> None:
        if line.key not in self._pods:
            hint = did_you_mean(line.key, islice(self._pods, _MOST_COMPARED))
            self.report(f'no pod "{line.name}" has arrived before{hint}')
        elif line.key in self._departed:
            self.report(f'the pod "{line.name}" has departed before')
        self._departed.add(line.key)

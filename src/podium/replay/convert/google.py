"""Google's trace of 2019: the tables machine, instance and collection events.

Amounts in it are shares of the largest machine. Here the largest machine has 100 cpus and 1 TiB.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from podium.api.nodes import HOSTNAME
from podium.replay.convert.draft import Draft
from podium.replay.convert.tables import BadRow, Row, Table, group_by_kind, require
from podium.replay.lines import Arrival, Departure, NodeChange, NodeRemoval, Nodes

CPU_MILLI: Final = 100_000
MEMORY_BYTES: Final = 1 << 40
_PODS: Final = 100_000  # pods per machine: in effect unlimited, as in the trace
_MICROSECONDS: Final = 1e6
_AFTER_THE_TRACE: Final = float(2**63 - 1)
_LABEL: Final = "collection"
_JOB_IN_ALLOC: Final = "tasks inside a reservation (alloc set) left out: it counts as a pod itself"

# In the order of the numbers that the tables use.
_TYPES: Final = (
    "SUBMIT", "QUEUE", "ENABLE", "SCHEDULE", "EVICT", "FAIL", "FINISH", "KILL", "LOST",
    "UPDATE_PENDING", "UPDATE_RUNNING",
)  # fmt: skip
_MACHINE_TYPES: Final = ("EVENT_TYPE_UNKNOWN", "ADD", "REMOVE", "UPDATE")
_ENDS: Final = frozenset(("EVICT", "FAIL", "FINISH", "KILL", "LOST"))

_KINDS: Final = {
    "instance events": frozenset(("time", "type", "collection_id", "instance_index")),
    "machine events": frozenset(("time", "type", "machine_id")),
    "collection events": frozenset(("time", "type", "collection_id")),
}


def from_google(files: Sequence[Path]) -> Draft:
    tables = group_by_kind(files, _KINDS)
    require(tables, "machine events", "instance events")
    draft = Draft()
    machines, instances = _Machines(draft), _Instances(draft)
    _each(tables["machine events"], machines.take)
    _each(tables["collection events"], instances.take_collection)
    _each(tables["instance events"], instances.take)
    machines.finish()
    instances.finish()
    return draft


def _each(tables: Iterable[Table], take: Callable[[Row], None]) -> None:
    for table in tables:
        for row in table:
            try:
                take(row)
            except BadRow as bad:
                table.report(bad)
        table.check()


def _type(row: Row, names: Sequence[str]) -> str:
    text = row.text("type")
    if text in names:
        return text
    if not text.isdigit() or int(text) >= len(names):
        raise row.problem("type", f"must be a number below {len(names)}, not {text!r}")
    return names[int(text)]


def _amounts(row: Row, record: str) -> dict[str, str | int | float]:
    cpu = round(row.number(f"{record}.cpus", 0.0) * CPU_MILLI)
    return {"cpu": f"{cpu}m", "memory": round(row.number(f"{record}.memory", 0.0) * MEMORY_BYTES)}


class _Machines:
    """Machines that join, change and leave."""

    def __init__(self, draft: Draft) -> None:
        self._draft = draft
        self._events: list[tuple[float, str, str, Row]] = []

    def take(self, row: Row) -> None:
        time = row.number("time")
        if time < _AFTER_THE_TRACE:
            name = f"machine-{row.text('machine_id')}"
            self._events.append((time, name, _type(row, _MACHINE_TYPES), row))

    def finish(self) -> None:
        there: set[str] = set()
        for time, name, kind, row in sorted(self._events, key=lambda event: event[0]):
            seconds = time / _MICROSECONDS
            if kind == "REMOVE":
                if name in there:
                    there.discard(name)
                    self._draft.lines.append(NodeRemoval(time=seconds, name=name))
            elif not row.has("capacity.cpus"):
                self._draft.left_out["events of machines without a capacity left out"] += 1
            else:
                self._draft.lines.append(_node(seconds, name, row, name in there))
                there.add(name)


def _node(time: float, name: str, row: Row, is_there: bool) -> Nodes | NodeChange:
    amounts = {**_amounts(row, "capacity"), "pods": _PODS}
    platform = row.text("platform_id")
    labels = {"platform": platform} if platform else {}
    if not is_there:
        return Nodes(time=time, name=name, allocatable=amounts, labels=labels)
    manifest = {
        "metadata": {"name": name, "labels": {HOSTNAME: name, **labels}},
        "status": {"allocatable": amounts},
    }
    return NodeChange(time=time, node=manifest)


@dataclass(slots=True)
class _Instance:
    """An instance between the event that submits it and the one that ends it."""

    name: str
    since: float
    row: Row  # the last one that has a resource request
    bound: float | None = None


class _Instances:
    """Tasks and reservations. Each becomes a pod for every time it was submitted.

    Pods do not restart when they lose their node: the table has the next submission as well.
    """

    def __init__(self, draft: Draft) -> None:
        self._draft = draft
        self._events: list[tuple[float, str, Row]] = []
        self._open: dict[str, _Instance] = {}
        self._times: Counter[str] = Counter()
        self._one_per_machine: set[str] = set()  # collections with one instance per machine

    def take_collection(self, row: Row) -> None:
        most = row.number("max_per_machine", 0)
        if most == 1:
            self._one_per_machine.add(row.text("collection_id"))
        elif most:
            self._draft.left_out["limits above 1 of instances per machine left out, events"] += 1

    def take(self, row: Row) -> None:
        time, kind = row.number("time"), _type(row, _TYPES)
        if row.number("alloc_collection_id", 0):
            if kind == "SUBMIT":
                self._draft.left_out[_JOB_IN_ALLOC] += 1
        elif time < _AFTER_THE_TRACE:
            if row.cells.get("constraint"):
                self._draft.left_out["events with machine constraints, which were left out"] += 1
            self._events.append((time / _MICROSECONDS, kind, row))

    def finish(self) -> None:
        for time, kind, row in sorted(self._events, key=lambda event: event[0]):
            self._happened(time, kind, row)
        for instance in list(self._open.values()):
            self._close(instance, None)

    def _happened(self, time: float, kind: str, row: Row) -> None:
        key = f"{row.text('collection_id')}-{row.text('instance_index')}"
        instance = self._open.get(key)
        if kind in _ENDS:
            if instance is not None:
                del self._open[key]
                self._close(instance, time)
            return
        if instance is None:
            self._times[key] += 1
            number = self._times[key]
            name = f"instance-{key}" if number == 1 else f"instance-{key}-{number}"
            instance = self._open[key] = _Instance(name, time, row)
        if kind == "SCHEDULE":
            instance.bound = time
        elif instance.bound is None:
            if kind == "ENABLE":
                instance.since = time  # until now it was held back
            if row.has("resource_request.cpus"):
                instance.row = row

    def _close(self, instance: _Instance, end: float | None) -> None:
        row = instance.row
        duration = None if end is None or instance.bound is None else end - instance.bound
        arrival = Arrival(
            time=instance.since,
            name=instance.name,
            duration=duration,
            requests=_amounts(row, "resource_request"),
            priority=int(row.number("priority", 0)),
            restarts=False,
        )
        collection = row.text("collection_id")
        if collection in self._one_per_machine:
            arrival = _with_anti_affinity(arrival, collection)
        self._draft.lines.append(arrival)
        if end is not None and instance.bound is None:
            self._draft.lines.append(Departure(time=end, name=instance.name))


def _with_anti_affinity(arrival: Arrival, collection: str) -> Arrival:
    """Return the arrival of a pod that shares no machine with others of its collection."""
    labels = {_LABEL: collection}
    term = {"labelSelector": {"matchLabels": labels}, "topologyKey": HOSTNAME}
    apart = {"requiredDuringSchedulingIgnoredDuringExecution": [term]}
    pod: dict[str, Any] = {
        "metadata": {"labels": labels},
        "spec": {
            "priority": arrival.priority,
            "containers": [{"name": "main", "resources": {"requests": arrival.requests}}],
            "affinity": {"podAntiAffinity": apart},
        },
    }
    return Arrival(
        time=arrival.time, name=arrival.name, duration=arrival.duration, pod=pod, restarts=False
    )

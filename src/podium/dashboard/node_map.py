"""The map of nodes: how full each one is, as columns, and what has changed since the last look."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from podium.api.objects import Node, Taints
from podium.dashboard.sampling import Amounts, NodeColumns
from podium.dashboard.values import LabelColumn, MapChange, NodeMap

CORDONED: Final = 1
TAINTED: Final = 2
MOST_LABELS: Final = 200
_HARD: Final = ("NoSchedule", "NoExecute")
_FIRST: Final = ("cpu", "memory", "pods")

_PODS: Final = "\0pods"  # starts with a NUL, as no resource does
_FLAGS: Final = "\0flags"

Columns = dict[str, NDArray[np.int64]]


def version_of(nodes: NodeColumns) -> int:
    """Return a number that tells apart which nodes there are, and in which zones."""
    named = "\n".join(nodes.resources) + "\n" + "\n".join(nodes.devices)
    zones = crc32(nodes.zones[nodes.rows].tobytes(), crc32(named.encode(errors="replace")))
    return (nodes.structure << 32 | zones) & (
        (1 << 53) - 1
    )  # JavaScript has whole numbers up to 53 bits


class MapTracker:
    """Follows samples of one scheduler; ``look`` returns what differs from the sample before.

    ``version`` is another one when nodes come, go or change zones, or there is another measure.
    Within a version, a node keeps its place.
    """

    def __init__(self) -> None:
        self.version = 0
        self._names: tuple[str, ...] = ()
        self._zones: tuple[str, ...] = ()
        self._columns: Columns = {}

    def look(self, nodes: NodeColumns) -> MapChange | None:
        """Take in a sample; return the changes, or ``None`` if nothing or everything changed."""
        columns = _columns(nodes)
        version = version_of(nodes)
        if version != self.version or columns.keys() != self._columns.keys():
            self._start(version, nodes, columns)
            return None
        before, self._columns = self._columns, columns
        changed = np.zeros(len(nodes.rows), np.bool_)
        for name, column in columns.items():
            changed |= column != before[name]
        places = np.flatnonzero(changed)
        if not len(places):
            return None
        shown = {name: column[places].tolist() for name, column in columns.items()}
        return MapChange(
            version=self.version,
            nodes=places.tolist(),
            pods=shown.pop(_PODS),
            flags=shown.pop(_FLAGS),
            columns=shown,
        )

    def _start(self, version: int, nodes: NodeColumns, columns: Columns) -> None:
        self.version, self._columns = version, columns
        rows = nodes.rows.tolist()
        self._names = tuple(nodes.names[row] for row in rows)
        # A zone is kept as "region:\0:zone".
        zones = nodes.zones[nodes.rows].tolist()
        self._zones = tuple(nodes.zone_values[number].rpartition("\0:")[2] for number in zones)

    def whole(self) -> NodeMap:
        """Return the map as of the last look."""
        shown = {name: column.tolist() for name, column in self._columns.items()}
        return NodeMap(
            version=self.version,
            names=self._names,
            zones=self._zones,
            pods=shown.pop(_PODS, []),
            flags=shown.pop(_FLAGS, []),
            columns=shown,
        )


def _columns(nodes: NodeColumns) -> Columns:
    rows = nodes.rows
    found: Columns = {}
    for name in sorted(nodes.resources, key=_order):
        index = nodes.resources.index(name)
        allocatable = nodes.allocatable[index, rows]
        if name in _FIRST or allocatable.any():
            found[name] = share(nodes.requested[index, rows], allocatable)
    for name, (there, taken) in nodes.devices.items():
        found[f"devices of {name}"] = share(taken, there)
    found[_PODS] = nodes.requested[nodes.resources.index("pods"), rows]
    tainted = np.array([_keeps_off(each) for each in nodes.taint_values], np.int64)
    found[_FLAGS] = nodes.unschedulable[rows] * CORDONED + tainted[nodes.taints[rows]] * TAINTED
    return found


def _order(name: str) -> tuple[int, str]:
    return (_FIRST.index(name) if name in _FIRST else len(_FIRST)), name


def share(requested: Amounts, allocatable: Amounts) -> Amounts:
    """Return what is requested in thousandths of what there is; -1 where there is nothing."""
    there = np.maximum(allocatable, 1).astype(np.float64)
    thousandths = np.minimum(requested / there, 9.999) * 1000
    return np.where(allocatable > 0, thousandths, -1).astype(np.int64)


def _keeps_off(taints: Taints) -> int:
    return int(any(each.effect in _HARD for each in taints))


def label_column(version: int, key: str, nodes: Sequence[Node]) -> LabelColumn:
    """Return the values of one label, and the labels that some nodes share."""
    return LabelColumn(
        version=version,
        key=key,
        values=tuple(node.labels.get(key, "") for node in nodes),
        keys=tuple(_shared_labels(nodes)),
    )


def _shared_labels(nodes: Sequence[Node]) -> Iterable[str]:
    """Return the labels by which nodes can be grouped: not those that differ on every node."""
    values: dict[str, set[str]] = {}
    holders: dict[str, int] = {}
    for node in nodes:
        for name, value in node.labels.items():
            values.setdefault(name, set()).add(value)
            holders[name] = holders.get(name, 0) + 1
    shared = [name for name in values if len(values[name]) < holders[name] or holders[name] == 1]
    return sorted(shared)[:MOST_LABELS]

"""Why no node fits: a status per node, and the sentence that people read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from podium.framework.status import Code, Status
from podium.state.column import Column
from podium.state.rows import NodeInfo, Rows, table_of


class Rejections(dict[tuple[str, str], int]):
    """The number of nodes that each plugin refused for each reason: ``(plugin, reason): nodes``.

    ``refused`` has the nodes of each plugin, each once however many reasons there were.
    """

    __slots__ = ("refused",)

    def __init__(self) -> None:
        super().__init__()
        self.refused: dict[str, int] = {}

    def count(self, status: Status, nodes: int) -> None:
        """Count so many nodes with this status."""
        if status.ok or not nodes:
            return
        for said in status.parts:
            self.refused[said.plugin] = self.refused.get(said.plugin, 0) + nodes
            for reason in said.reasons:
                key = said.plugin, reason
                self[key] = self.get(key, 0) + nodes


UNKNOWN = Status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE)


@dataclass(frozen=True, slots=True)
class NodeStatuses:
    """The status of each node of ``nodes``, and ``absent`` for all other nodes of the cluster."""

    nodes: Rows
    statuses: Column[Status]
    absent: Status = UNKNOWN

    @classmethod
    def none(cls, nodes: Rows, absent: Status) -> NodeStatuses:
        """No node was judged on its own."""
        empty = np.zeros(0, np.intp)
        return cls(Rows(nodes.cluster, empty), Column([], empty), absent)

    def with_status(self, row: int, status: Status, absent: Status) -> NodeStatuses:
        """Add the status of a node that was judged on its own, and replace ``absent``."""
        explicit, values = self.nodes.index, self.statuses.values
        if row in explicit:
            return NodeStatuses(self.nodes, self.statuses, absent)
        position = int(np.searchsorted(explicit, row))
        nodes = Rows(self.nodes.cluster, np.insert(explicit, position, row))
        index = np.insert(self.statuses.index, position, len(values))
        return NodeStatuses(nodes, Column([*values, status], index), absent)

    def __iter__(self) -> Iterator[tuple[str, Status]]:
        return zip(self.nodes.names, self.statuses, strict=True)

    def of(self, node: NodeInfo) -> Status:
        found = np.flatnonzero(self.nodes.index == node.row)
        if not len(found):
            return self.absent
        return self.statuses.values[int(self.statuses.index[found[0]])]

    def rows_with(self, code: Code) -> NDArray[np.intp]:
        """Return the rows of nodes with this code, ascending."""
        explicit = self.nodes.index
        has_code = self.statuses.map(lambda status: status.code is code).to_array(np.bool_)
        if self.absent.code is not code:
            mine: NDArray[np.intp] = explicit[has_code]
            return mine
        rows = table_of(self.nodes).live_rows()
        others: NDArray[np.intp] = rows[~np.isin(rows, explicit[~has_code])]
        return others

    def reasons(self, total: int) -> dict[str, int]:
        """Return how many of ``total`` nodes gave each reason."""
        counts = count_reasons(self.statuses)
        if others := total - len(self.nodes):
            for reason in self.absent.reasons:
                counts[reason] += others
        return counts

    def by_plugin(self) -> Rejections:
        """Return how many of the judged nodes each plugin refused for each reason."""
        counts = Rejections()
        for status, nodes in _with_sizes(self.statuses):
            counts.count(status, nodes)
        return counts

    def distinct(self) -> list[Status]:
        """Every status that some node has, once."""
        return [status for status, nodes in _with_sizes(self.statuses) if nodes]


def count_reasons(statuses: Column[Status]) -> Counter[str]:
    """Count the nodes that gave each reason."""
    counts: Counter[str] = Counter()
    for status, nodes in _with_sizes(statuses):
        if nodes and not status.ok:
            for reason in status.reasons:
                counts[reason] += nodes
    return counts


def _with_sizes(statuses: Column[Status]) -> Iterator[tuple[Status, int]]:
    """Yield each stored status with the number of nodes that have it, which may be 0."""
    sizes = np.bincount(statuses.index, minlength=len(statuses.values))
    return zip(statuses.values, sizes.tolist(), strict=True)


def fit_message(total: int, reasons: Mapping[str, int], pre_filter: str = "") -> str:
    """``0/3 nodes are available: 1 Insufficient cpu, …``; the parts are sorted as text."""
    text = f"0/{total} nodes are available:"
    if pre_filter:
        return f"{text} {pre_filter}."
    parts = sorted(f"{count} {reason}" for reason, count in reasons.items())
    return f"{text} {', '.join(parts)}." if parts else text


@dataclass(slots=True)
class Diagnosis:
    """The reasons why an attempt found no node."""

    total: int
    statuses: NodeStatuses
    unschedulable_plugins: set[str] = field(default_factory=set)
    pending_plugins: set[str] = field(default_factory=set)
    pre_filter_message: str = ""
    post_filter_message: str = ""

    def blame(self, status: Status) -> None:
        """Remember the plugin that rejected: its events wake the pod. No plugin, no events."""
        if not status.plugin or not status.is_rejection:
            return
        self.unschedulable_plugins.add(status.plugin)
        if status.code is Code.PENDING:
            self.pending_plugins.add(status.plugin)

    @property
    def base_message(self) -> str:
        """The message before PostFilter had its say."""
        return fit_message(self.total, self.statuses.reasons(self.total), self.pre_filter_message)

    @property
    def message(self) -> str:
        after = self.post_filter_message
        return f"{self.base_message} {after}" if after else self.base_message

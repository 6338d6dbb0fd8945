"""What SIGUSR2 writes to the log: differences between state and informers, and a dump of both."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol

from podium.api.objects import Node, Pod
from podium.framework.nominator import Nominator
from podium.logs import get_logger
from podium.queue.scheduling_queue import SchedulingQueue
from podium.state.cluster import ClusterState
from podium.state.resource_columns import CPU, EPHEMERAL_STORAGE, MEMORY, PODS

log = get_logger(__name__)


class Known(Protocol):
    """The objects that the informers of nodes and pods know."""

    def nodes(self) -> Iterable[Node]: ...
    def pods(self) -> Iterable[Pod]: ...


@dataclass(frozen=True, slots=True)
class Debugger:
    """Writes the report. It only reads; call it between two cycles."""

    cluster: ClusterState
    queue: SchedulingQueue
    nominator: Nominator
    known: Known

    def report(self) -> None:
        """Compare, then dump."""
        self.compare()
        self.dump()

    def compare(self) -> None:
        table = self.cluster.table
        names = {table.names[row] for row in table.live_rows().tolist()}
        _log_mismatch("Nodes", {node.name for node in self.known.nodes()}, names)
        uids = {queued.pod.uid for queued in self.queue.pods()} | set(self.cluster.pods)
        _log_mismatch("Pods", {pod.uid for pod in self.known.pods()}, uids)

    def dump(self) -> None:
        rows = range(self.cluster.table.size)
        table = self.cluster.table
        shown = [row for row in rows if table.live[row] or table.pods[row]]
        log.info("Dump of cached NodeInfo", nodes="\n\n".join(map(self._node, shown)))
        pods = "\n".join(_pod(queued.pod) for queued in self.queue.pods())
        log.info("Dump of scheduling queue", summary=str(self.queue.pending()), pods=pods)

    def _node(self, row: int) -> str:
        table = self.cluster.table
        name, pods = table.names[row], [info.pod for info in table.pods[row].values()]
        lines = [
            f"Node name: {name}",
            f"Deleted: {'false' if table.live[row] else 'true'}",
            f"Requested Resources: {self._amounts(row, allocatable=False)}",
            f"Allocatable Resources:{self._amounts(row, allocatable=True)}",
            f"Scheduled Pods(number: {len(pods)}):",
            *map(_pod, pods),
        ]
        if nominated := [info.pod for info in self.nominator.on(name)]:
            lines += [f"Nominated Pods(number: {len(nominated)}):", *map(_pod, nominated)]
        return "\n".join(lines)

    def _amounts(self, row: int, *, allocatable: bool) -> str:
        """Format amounts as kube-scheduler does in this dump: like a Go struct."""
        columns = self.cluster.table.resources
        held = (columns.allocatable if allocatable else columns.requested)[:, row].tolist()
        others = " ".join(f"{k}:{v}" for k, v in _scalars(columns.index, held))
        most = held[PODS] if allocatable else 0
        return (
            f"{{MilliCPU:{held[CPU]} Memory:{held[MEMORY]} "
            f"EphemeralStorage:{held[EPHEMERAL_STORAGE]} AllowedPodNumber:{most} "
            f"ScalarResources:map[{others}]}}"
        )


def _scalars(index: dict[str, int], held: list[int]) -> Iterator[tuple[str, int]]:
    for name, row in sorted(index.items()):
        if row > PODS and held[row]:
            yield name, held[row]


def _pod(pod: Pod) -> str:
    return (
        f"name: {pod.name}, namespace: {pod.namespace}, uid: {pod.uid}, "
        f"phase: {pod.status.phase}, nominated node: {pod.nominated_node_name}"
    )


def _log_mismatch(what: str, expected: set[str], found: set[str]) -> None:
    missed, redundant = sorted(expected - found), sorted(found - expected)
    if missed or redundant:
        data = {f"missed{what}": missed, f"redundant{what}": redundant}
        log.info("Cache mismatch", **data)

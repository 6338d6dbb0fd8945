"""What a scenario changed: where pods were before and after, and how full the cluster is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from podium.api.objects import Pod
from podium.simulation.figures import Figures
from podium.simulation.results import (
    Blocked,
    FitResult,
    Move,
    Placement,
    Unplaced,
    Victim,
    blocked_rows,
    row,
    victim_rows,
)
from podium.simulation.tables import Table, counts


@dataclass(frozen=True, slots=True, repr=False)
class Report(Table):
    """The outcome of a scenario. Pods that were pending before are not counted against it.

    ``unplaced`` are pods that have no node now: new ones, and those that had one before. ``gone``
    had a node and are no longer there: no controller replaces them, or their node was removed.
    ``waiting`` were pending before and still are.
    """

    steps: tuple[str, ...]
    before: Figures
    after: Figures
    placed: tuple[Placement, ...] = ()
    moves: tuple[Move, ...] = ()
    unplaced: tuple[Unplaced, ...] = ()
    victims: tuple[Victim, ...] = ()
    blocked: tuple[Blocked, ...] = ()
    gone: tuple[Placement, ...] = ()
    waiting: tuple[Unplaced, ...] = ()
    fit: tuple[FitResult, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def fits(self) -> bool:
        """Whether everything has a node that should have one."""
        lost = self.unplaced or self.blocked or self.gone
        return not lost and all(each.fits for each in self.fit)

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each pod that something happened to; of ``fit``, one for each node."""
        rows = [row("placed", each.pod, "", each.node) for each in self.placed]
        rows += [row("moved", each.pod, each.source, each.target) for each in self.moves]
        rows += [row("unplaced", each.pod, detail=each.reason) for each in self.unplaced]
        rows += victim_rows(self.victims) + blocked_rows(self.blocked)
        rows += [row("gone", each.pod, each.node) for each in self.gone]
        rows += [row("waiting", each.pod, detail=each.reason) for each in self.waiting]
        for fit in self.fit:
            rows += [row("fits", fit.pod, "", each.node, str(each.pods)) for each in fit.nodes]
        return rows

    def __repr__(self) -> str:
        named = (
            (len(self.placed), "placed"),
            (len(self.moves), "moved"),
            (len(self.unplaced), "without a node"),
            (len(self.victims), "evicted"),
            (len(self.blocked), "blocked"),
            (len(self.gone), "gone"),
        )
        return f"<Report: {counts(*named)}>"


Nodes = Mapping[str, str]  # the node of each pod by its key; "" without one


def nodes_of_pods(pods: Mapping[str, Pod]) -> dict[str, str]:
    """Return the node of each pod; empty for a pod without one."""
    return {key: pod.node_name for key, pod in pods.items()}


def placements(before: Nodes, after: Nodes) -> Iterator[Placement]:
    """Yield the pods that got a node and had none."""
    return (Placement(pod, node) for pod, node in after.items() if node and not before.get(pod))


def moves(before: Nodes, after: Nodes) -> Iterator[Move]:
    """Yield the pods that are on another node than before."""
    for pod, source in before.items():
        target = after.get(pod, "")
        if source and target and source != target:
            yield Move(pod, source, target)


def gone(before: Nodes, after: Nodes) -> Iterator[Placement]:
    """Yield the pods that are no longer there."""
    return (Placement(pod, node) for pod, node in before.items() if node and pod not in after)

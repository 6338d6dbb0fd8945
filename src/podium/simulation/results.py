"""What a simulation answers, as frozen values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from podium.simulation.tables import Table, counts


@dataclass(frozen=True, slots=True)
class Placement:
    """A pod that got a node."""

    pod: str
    node: str


@dataclass(frozen=True, slots=True)
class Unplaced:
    """A pod that got none, and what the scheduler says about it."""

    pod: str
    reason: str
    plugins: tuple[str, ...] = ()  # those that rejected it


@dataclass(frozen=True, slots=True)
class Victim:
    """A pod that preemption evicted from its node, and for which pod.

    If ``is_replaced``, its controller creates it again, and it is scheduled like other pods.
    """

    pod: str
    node: str
    preemptor: str
    is_replaced: bool = False


@dataclass(frozen=True, slots=True, repr=False)
class ScheduleResult(Table):
    """What happened in ``schedule``: placements in order, pods without a node, and victims."""

    placed: tuple[Placement, ...] = ()
    unplaced: tuple[Unplaced, ...] = ()
    victims: tuple[Victim, ...] = ()
    attempts: int = 0

    @property
    def fits(self) -> bool:
        """Whether every pod has a node, and preemption removed none for good."""
        return not self.unplaced and all(each.is_replaced for each in self.victims)

    def rows(self) -> list[dict[str, Any]]:
        placed = [row("placed", each.pod, "", each.node) for each in self.placed]
        unplaced = [row("unplaced", each.pod, detail=each.reason) for each in self.unplaced]
        return placed + unplaced + victim_rows(self.victims)

    def __repr__(self) -> str:
        named = (len(self.placed), "placed"), (len(self.unplaced), "without a node")
        return f"<ScheduleResult: {counts(*named, (len(self.victims), 'evicted'))}>"


def row(
    change: str, pod: str, source: str = "", target: str = "", detail: str = ""
) -> dict[str, Any]:
    return {"change": change, "pod": pod, "from": source, "to": target, "detail": detail}


def victim_rows(victims: tuple[Victim, ...]) -> list[dict[str, Any]]:
    """Return a row for each victim of preemption."""
    return [row("evicted", each.pod, each.node, detail=f"for {each.preemptor}") for each in victims]


@dataclass(frozen=True, slots=True)
class Move:
    """A pod that was evicted, and the node that its replacement got; ``""`` if none."""

    pod: str
    source: str
    target: str


@dataclass(frozen=True, slots=True)
class Blocked:
    """A pod that stays on its node because disruption budgets do not allow to evict it."""

    pod: str
    node: str
    budgets: tuple[str, ...]


@dataclass(frozen=True, slots=True, repr=False)
class DrainResult(Table):
    """What happened to the pods of drained nodes.

    ``lost`` are pods that no controller replaces. ``left`` belong to the nodes: those of DaemonSets
    and those that kubelets run alone. ``unplaced`` has all pods without a node that had one before.
    """

    nodes: tuple[str, ...]
    moves: tuple[Move, ...] = ()
    unplaced: tuple[Unplaced, ...] = ()
    victims: tuple[Victim, ...] = ()
    blocked: tuple[Blocked, ...] = ()
    lost: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    rounds: int = 0  # evictions that had to wait for replacements, because of budgets

    @property
    def fits(self) -> bool:
        """Whether every evicted pod has another node, and none is lost or blocked."""
        is_whole = not (self.unplaced or self.blocked or self.lost)
        return is_whole and all(each.is_replaced for each in self.victims)

    def rows(self) -> list[dict[str, Any]]:
        moves = [each for each in self.moves if each.target]
        rows = [row("moved", each.pod, each.source, each.target) for each in moves]
        rows += [row("unplaced", each.pod, detail=each.reason) for each in self.unplaced]
        rows += victim_rows(self.victims)
        rows += blocked_rows(self.blocked)
        rows += [row("lost", each) for each in self.lost]
        return rows + [row("left", each) for each in self.left]

    def __repr__(self) -> str:
        named = (
            (sum(1 for each in self.moves if each.target), "moved"),
            (len(self.unplaced), "without a node"),
            (len(self.victims), "evicted"),
            (len(self.blocked), "blocked"),
            (len(self.lost), "lost"),
            (len(self.left), "left"),
        )
        return f"<DrainResult: {counts(*named)}>"


def blocked_rows(blocked: tuple[Blocked, ...]) -> list[dict[str, Any]]:
    """Return a row for each pod that budgets keep on its node."""
    return [row("blocked", each.pod, each.node, detail=" ".join(each.budgets)) for each in blocked]


@dataclass(frozen=True, slots=True)
class NodeCount:
    """How many pods fit on a node."""

    node: str
    pods: int


@dataclass(frozen=True, slots=True)
class Limit:
    """A reason why no more pods fit, and on how many nodes."""

    reason: str
    nodes: int


@dataclass(frozen=True, slots=True, repr=False)
class FitResult(Table):
    """How many more pods like one fit without evicting others, and where.

    ``limits`` are the reasons of all nodes once no more fit, the most frequent first; ``excluded``
    are those of nodes on which not even one fits.
    """

    pod: str
    count: int
    nodes: tuple[NodeCount, ...] = ()
    limits: tuple[Limit, ...] = ()
    excluded: tuple[Limit, ...] = ()
    is_complete: bool = True  # false if ``most`` pods were tried, and more may fit

    @property
    def fits(self) -> bool:
        return self.count > 0

    @property
    def runs_out(self) -> str:
        """Return what runs out first on most nodes that have taken pods; empty if unknown."""
        at_start = {each.reason: each.nodes for each in self.excluded}
        gained = {each.reason: each.nodes - at_start.get(each.reason, 0) for each in self.limits}
        return max(gained, key=lambda reason: gained[reason], default="")

    def rows(self) -> list[dict[str, Any]]:
        return [{"node": each.node, "pods": each.pods} for each in self.nodes]

    def __repr__(self) -> str:
        limit = f", then: {self.runs_out}" if self.runs_out else ""
        return f"<FitResult: {self.count:,} more {self.pod} on {len(self.nodes):,} nodes{limit}>"

"""Scenarios: changes of a cluster one after the other, and a report of what they lead to."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from podium.api.nodes import ZONE
from podium.api.objects import Node
from podium.api.selector_text import parse_selector
from podium.errors import SimulationError, did_you_mean
from podium.simulation.kinds import Given, seen
from podium.simulation.limits import check_number
from podium.simulation.report import Report, gone, moves, nodes_of_pods, placements
from podium.simulation.results import Blocked, FitResult, Unplaced, Victim
from podium.simulation.simulation import Simulation

_DIGITS = re.compile("[0-9]+")
_MOST_DIGITS = 100  # enough to see that a number is too large


class Steps:
    """What the steps of a scenario have found so far."""

    def __init__(self) -> None:
        self.blocked: list[Blocked] = []
        self.victims: list[Victim] = []
        self.fit: list[FitResult] = []


class Step(Protocol):
    """One change or question; ``str(step)`` says what it is."""

    def run(self, simulation: Simulation, found: Steps) -> None: ...


@dataclass(frozen=True, slots=True)
class Add:
    """Add objects; ``replicas`` as in ``Simulation.add``."""

    objects: Sequence[Given]
    replicas: int | None = None
    source: str = "objects"

    def run(self, simulation: Simulation, found: Steps) -> None:
        simulation.add(*self.objects, replicas=self.replicas)

    def __str__(self) -> str:
        times = "" if self.replicas is None else f", {self.replicas} replicas"
        return f"add {self.source}{times}"


@dataclass(frozen=True, slots=True)
class DrainNodes:
    """Drain nodes by name."""

    nodes: tuple[str, ...]
    ignore_budgets: bool = False

    def run(self, simulation: Simulation, found: Steps) -> None:
        result = simulation.drain(*self.nodes, ignore_budgets=self.ignore_budgets)
        found.blocked += result.blocked
        found.victims += result.victims

    def __str__(self) -> str:
        return f"drain {_listed(self.nodes)}"


@dataclass(frozen=True, slots=True)
class AddNodes:
    """Add nodes like one that is there."""

    like: str
    count: int = 1

    @classmethod
    def parse(cls, text: str) -> AddNodes:
        """Parse ``like:NODE`` and ``like:NODE*10``."""
        word, _, rest = text.partition(":")
        name, _, count = rest.partition("*")
        if word != "like" or not name or (count and not _DIGITS.fullmatch(count)):
            raise SimulationError(f'expected like:NODE or like:NODE*10, not "{text:.80}"')
        return cls(name, check_number("the number of nodes", int(count[:_MOST_DIGITS] or 1)))

    def run(self, simulation: Simulation, found: Steps) -> None:
        simulation.clone_node(self.like, self.count)

    def __str__(self) -> str:
        return f"add {self.count} {'node' if self.count == 1 else 'nodes'} like {self.like}"


@dataclass(frozen=True, slots=True)
class RemoveNodes:
    """Remove nodes by a selector of labels, or by name; their pods are evicted before."""

    selector: str

    def run(self, simulation: Simulation, found: Steps) -> None:
        names = self._names(simulation.nodes)
        result = simulation.drain(*names, ignore_budgets=True)
        found.victims += result.victims
        simulation.remove(*result.left, *names)

    def _names(self, nodes: Mapping[str, Node]) -> list[str]:
        if self.selector in nodes:
            return [self.selector]
        if not self.selector.strip():
            raise SimulationError("the selector of nodes to remove is empty, and would match all")
        try:
            selector = parse_selector(self.selector)
        except ValueError as error:
            raise SimulationError(f'"{self.selector}" is not a label selector: {error}') from error
        names = [name for name, node in nodes.items() if selector.matches(node.labels)]
        if not names:
            hint = did_you_mean(self.selector, nodes)
            raise SimulationError(f'no node matches "{self.selector}"{hint}')
        return names

    def __str__(self) -> str:
        return f"remove nodes {self.selector}"


@dataclass(frozen=True, slots=True)
class Fit:
    """Ask how many more pods like one fit at this point."""

    pod: Given
    source: str = "pod"

    def run(self, simulation: Simulation, found: Steps) -> None:
        found.fit.append(simulation.fit(self.pod))

    def __str__(self) -> str:
        return f"fit {self.source}"


def run(simulation: Simulation, steps: Sequence[Step], topology: str = ZONE) -> Report:
    """Schedule what is pending, carry out the steps, and report the difference.

    If a step fails, the simulation is as before.
    """
    simulation.commit()
    try:
        simulation.schedule()
        before, nodes_before = simulation.figures(topology), nodes_of_pods(simulation.pods)
        found = Steps()
        for step in steps:
            step.run(simulation, found)
            found.victims += simulation.schedule().victims
    except BaseException:
        simulation.rollback()
        raise
    unplaced = (*simulation.unplaced, *_ignored(simulation))
    nodes_after = nodes_of_pods(simulation.pods)
    waited = {pod for pod, node in nodes_before.items() if not node}
    return Report(
        steps=tuple(map(str, steps)),
        before=before,
        after=simulation.figures(topology),
        placed=tuple(placements(nodes_before, nodes_after)),
        moves=tuple(moves(nodes_before, nodes_after)),
        unplaced=tuple(each for each in unplaced if each.pod not in waited),
        victims=tuple(found.victims),
        blocked=tuple(found.blocked),
        gone=tuple(gone(nodes_before, nodes_after)),
        waiting=tuple(each for each in unplaced if each.pod in waited),
        fit=tuple(found.fit),
        notes=simulation.notes,
    )


def _ignored(simulation: Simulation) -> Iterator[Unplaced]:
    """Yield the pods without a node that no profile of the configuration schedules."""
    profiles = simulation.core.profiles
    for key, pod in simulation.pods.items():
        if not pod.node_name and pod.scheduler_name not in profiles and seen(pod) is not None:
            hint = did_you_mean(pod.scheduler_name, profiles)
            yield Unplaced(key, f'no profile is named "{pod.scheduler_name}"{hint}')


def _listed(names: Sequence[Any], most: int = 5) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more

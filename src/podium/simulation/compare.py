"""The same workload under two configurations, releases or sets of plugins."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from podium.api.nodes import ZONE
from podium.app import plugin_loading
from podium.errors import ConfigError, SimulationError
from podium.release import RELEASES, Release
from podium.simulation.building import DEFAULT_CONFIGURATION, ConfigurationSource
from podium.simulation.figures import Figures
from podium.simulation.results import Unplaced, Victim
from podium.simulation.simulation import Simulation
from podium.simulation.tables import Table, counts
from podium.snapshot import Snapshot

DEFAULT = "default"
_CONFIGURATIONS = (".yaml", ".yml", ".json")
_RELEASE = re.compile(r"v?\d+(\.\d+)+")
_HINT = "give default, a release, a configuration or a plugin, or several with commas"


@dataclass(frozen=True, slots=True)
class Variant:
    """A way to schedule: a configuration, a release and plugins, with a name for readers."""

    name: str
    configuration: ConfigurationSource | None = None
    release: Release | None = None
    plugins: tuple[object, ...] = ()

    @classmethod
    def parse(cls, text: str) -> Variant:
        """Parse ``default``, a release, a configuration, a plugin, or several with commas.

        ``default`` is the default configuration; without it, that of the snapshot is used if no
        other is given. A plugin is a file that ends with .py, or what ``--plugin`` takes otherwise.
        """
        configuration: ConfigurationSource | None = None
        release, plugins = None, list[object]()
        for part in text.split(","):
            if not part:
                raise SimulationError(f'"{text}" is not a variant: a part of it is empty; {_HINT}')
            if part == DEFAULT:
                configuration = DEFAULT_CONFIGURATION
            elif found := [each for each in RELEASES if part.removeprefix("v") == str(each)]:
                release = found[0]
            elif part.endswith(_CONFIGURATIONS):
                configuration = Path(part)
            elif _RELEASE.fullmatch(part):
                known = " and ".join(map(str, RELEASES))
                raise SimulationError(f"podium does not know release {part}; it knows {known}")
            else:
                plugins += plugin_loading.load(part)
        return cls(text, configuration, release, tuple(plugins))


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one variant did with the workload."""

    name: str
    placed: int
    unplaced: tuple[Unplaced, ...]
    victims: tuple[Victim, ...]
    figures: Figures
    nodes: Mapping[str, str] = field(repr=False)  # the node of each pod, by key


@dataclass(frozen=True, slots=True)
class Difference:
    """A pod that two variants place differently; ``""`` where it has no node."""

    pod: str
    first: str
    second: str


@dataclass(frozen=True, slots=True, repr=False)
class Comparison(Table):
    """Two outcomes and the pods in which they differ."""

    first: Outcome
    second: Outcome
    differences: tuple[Difference, ...]
    notes: tuple[str, ...] = ()

    @property
    def worse(self) -> tuple[Difference, ...]:
        """Return the pods that only the first variant places."""
        return tuple(each for each in self.differences if not each.second)

    @property
    def fits(self) -> bool:
        """Whether the second variant places every pod that the first one places."""
        return not self.worse

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each pod with different nodes."""
        first, second = self.first.name, self.second.name
        return [
            {"pod": each.pod, first: each.first, second: each.second} for each in self.differences
        ]

    def __repr__(self) -> str:
        names = f"{self.first.name} against {self.second.name}"
        return f"<Comparison: {names}, {counts((len(self.differences), 'pods differ'))}>"


def compare(
    taken: Snapshot, variants: tuple[Variant, Variant], *, only_pending: bool, seed: int = 0
) -> Comparison:
    """Schedule the pods of a snapshot under each variant, all of them anew or the pending ones.

    Pods are scheduled in the order of their creation; those of DaemonSets and of kubelets stay. If
    a release cannot use the snapshot's configuration, both variants get the default one.
    """
    try:
        return _compared(taken, variants, only_pending=only_pending, seed=seed)
    except ConfigError as error:
        if taken.configuration is None or any(each.configuration for each in variants):
            raise
        plain = taken.without_configuration()
        found = _compared(plain, variants, only_pending=only_pending, seed=seed)
        why = " ".join(str(error.problems[0]).split())
        note = (
            "the default configuration is assumed for both, because that of the snapshot cannot be "
            f"used: {why}; give another with --config"
        )
        return replace(found, notes=(note, *found.notes))


def _compared(
    taken: Snapshot, variants: tuple[Variant, Variant], *, only_pending: bool, seed: int
) -> Comparison:
    outcomes: list[Outcome] = []
    notes: list[str] = []
    for variant in variants:
        simulation = _simulation(taken, variant, only_pending=only_pending, seed=seed)
        outcomes.append(_outcome(variant, simulation))
        notes += simulation.notes
    first, second = outcomes
    return Comparison(
        first, second, tuple(_differences(first, second)), tuple(dict.fromkeys(notes))
    )


def _simulation(taken: Snapshot, variant: Variant, *, only_pending: bool, seed: int) -> Simulation:
    try:
        return Simulation.from_snapshot(
            taken,
            variant.configuration,
            variant.release,
            variant.plugins,
            seed,
            reschedule=not only_pending,
        )
    except OSError as error:
        raise SimulationError(f"{variant.name}: {error.strerror}") from error


def _outcome(variant: Variant, simulation: Simulation) -> Outcome:
    result = simulation.schedule()
    nodes = {key: pod.node_name for key, pod in simulation.pods.items()}
    return Outcome(
        name=variant.name,
        placed=len(result.placed),
        unplaced=result.unplaced,
        victims=result.victims,
        figures=simulation.figures(ZONE),
        nodes=nodes,
    )


def _differences(first: Outcome, second: Outcome) -> list[Difference]:
    pods = dict.fromkeys([*first.nodes, *second.nodes])
    pairs = ((pod, first.nodes.get(pod, ""), second.nodes.get(pod, "")) for pod in pods)
    return [Difference(*each) for each in pairs if each[1] != each[2]]

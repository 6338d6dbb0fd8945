"""The cluster in the process that answers questions: a simulation that follows the scheduler's."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial

from podium.api.meta import ApiObject
from podium.app import plugin_loading
from podium.dashboard.mirror import RESOURCES, Changes, Decider
from podium.errors import PodiumError
from podium.release import Release, release_named
from podium.serve.differences import Key, differences
from podium.simulation import Simulation
from podium.snapshot import KindName, Snapshot


@dataclass(slots=True)
class Replica:
    """Objects as JSON, and the simulation made of them on the first question."""

    decider: Decider
    _raw: dict[Key, bytes] = field(default_factory=dict)
    _simulation: Simulation | None = None

    def apply(self, changes: Changes) -> None:
        """Take in what has changed since the last question."""
        changed: dict[Key, ApiObject | None] = dict.fromkeys(changes.gone)
        for key in changes.gone:
            del self._raw[key]
        for kind, raws in changes.put.items():
            decode = RESOURCES[kind].decode
            for raw in raws:
                obj = decode(raw, None)
                self._raw[kind, obj.key] = raw
                changed[kind, obj.key] = obj
        if self._simulation is not None:
            _observe(self._simulation, changed)

    @property
    def release(self) -> Release:
        return release_named(self.decider.release)

    def plugins(self) -> list[object]:
        """Load the plugins that --plugin named."""
        return [each for text in self.decider.sources for each in plugin_loading.load(text)]

    def snapshot(self) -> Snapshot:
        """Return the cluster as a snapshot."""
        objects: dict[KindName, list[bytes]] = {}
        for (kind, _), raw in self._raw.items():
            resource = RESOURCES[kind]
            version = f"{resource.group}/{resource.version}" if resource.group else "v1"
            objects.setdefault(KindName(version, resource.kind), []).append(raw)
        return Snapshot({name: tuple(raws) for name, raws in objects.items()})

    def simulation(self) -> Simulation:
        """Return the cluster as it is now. Callers work on a fork of it."""
        if self._simulation is None:
            self._simulation = Simulation.from_snapshot(
                self.snapshot(), self.decider.configuration, self.release, self.plugins()
            )
            changed: dict[Key, ApiObject | None] = {}
            for kind in {kind for kind, _ in self._raw}:
                changed.update(differences(self._simulation, kind, partial(self._find, kind)))
            _observe(self._simulation, changed)
        self._simulation.notes = self.notes()
        return self._simulation

    def _find(self, kind: str, key: str) -> ApiObject | None:
        raw = self._raw.get((kind, key))
        return None if raw is None else RESOURCES[kind].decode(raw, None)

    def notes(self, extenders: Iterable[str] = ()) -> tuple[str, ...]:
        """Return why answers may differ from what the scheduler does, also with these extenders."""
        asked = ", ".join(dict.fromkeys((*self.decider.extenders, *extenders)))
        return (f"extenders are not asked: {asked}",) if asked else ()


def _observe(simulation: Simulation, changed: Mapping[Key, ApiObject | None]) -> None:
    with simulation.observing() as observe:
        for (kind, key), obj in changed.items():
            observe(kind, key, obj)


class Unanswerable(PodiumError):
    """A question that cannot be answered about this cluster."""

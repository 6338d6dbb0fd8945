"""The cluster that `podium serve` answers about: a snapshot, or a running cluster kept fresh."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, Protocol

from podium.api.meta import ApiObject
from podium.api.objects import PodGroup, PriorityClass, ResourceClaimTemplate
from podium.app.ignored_fields import watched_nodes, watched_pods
from podium.client.http import Connection
from podium.client.informer import Informer
from podium.client.resources import Resource, resource_of
from podium.config.feature_gates import FeatureGates
from podium.logs import get_logger
from podium.release import LATEST
from podium.serve.differences import Key, differences
from podium.serve.sources import Source, source_of
from podium.simulation import Simulation
from podium.snapshot import Snapshot
from podium.state.kinds import ASPECTS

log = get_logger(__name__)


class Cluster(Protocol):
    """The cluster of a server; its methods are called on the worker's thread."""

    release: str

    def simulation(self) -> Simulation:
        """Return the cluster as it is now. Callers work on a fork of it."""

    def source(self) -> Source: ...


class FixedCluster:
    """A snapshot with its simulation: it stays as it is."""

    def __init__(self, taken: Snapshot, simulation: Simulation) -> None:
        self.release = str(taken.release or LATEST)
        self._simulation = simulation
        self._source = source_of(taken, "snapshot")

    def simulation(self) -> Simulation:
        return self._simulation

    def source(self) -> Source:
        return self._source


class FollowedCluster:
    """A running cluster. ``follow`` watches it, on the event loop; it is never written to.

    It starts with a snapshot, and a simulation of that. Changes are collected by object, and
    applied to the simulation at the next request: an idle server does little, and every request
    sees all earlier changes.

    Invariant: with ``_changed`` applied, the simulation has the objects that the informers know.
    The informers start with the objects of the snapshot, so that their first list reports what has
    changed since, including deletions.
    """

    def __init__(self, taken: Snapshot, simulation: Simulation, connection: Connection) -> None:
        self.release = str(taken.release or LATEST)
        self._simulation = simulation
        self._source = source_of(taken, "cluster")
        self._lock = threading.Lock()
        self._refused: dict[Key, str] = {}  # why the simulation could not take an object
        gates = FeatureGates(taken.release or LATEST)
        forbidden = {each.kind for each in taken.missing}
        self._informers = {
            resource.event_name: Informer(connection, resource)
            for resource in _watched(taken, gates)
            if resource.kind not in forbidden
        }
        self._changed: dict[Key, ApiObject | None] = {}  # None if it is gone
        for kind, informer in self._informers.items():
            informer.subscribe(partial(self._note, kind))
            informer.expect(_objects_of(taken, informer.resource))
        for kind, informer in self._informers.items():
            self._changed.update(differences(simulation, kind, informer.get))

    def _note(self, kind: str, old: Any, new: Any) -> None:
        changed = new if new is not None else old
        with self._lock:
            self._changed[kind, changed.key] = new

    async def follow(self) -> None:
        """Watch the cluster until cancelled. What a watch raises ends all of them."""
        async with asyncio.TaskGroup() as group:
            for informer in self._informers.values():
                group.create_task(informer.run())

    def simulation(self) -> Simulation:
        with self._lock:
            changed, self._changed = self._changed, {}
        if changed:
            self._take(changed)
        return self._simulation

    def _take(self, changed: Mapping[Key, ApiObject | None]) -> None:
        with self._simulation.observing() as observe:
            for (kind, key), obj in changed.items():
                self._refused.pop((kind, key), None)
                try:
                    observe(kind, key, obj)
                except Exception as fault:  # one object must not keep others from being followed
                    log.error("cannot apply a change of the cluster", kind=kind, key=key)
                    self._refused[kind, key] = str(fault)

    def source(self) -> Source:
        return Source(
            kind="cluster",
            name=self._source.name,
            recomputed=True,
            taken_at=self._source.taken_at,
            missing=self._source.missing,
            notes=(*self._source.notes, *self._troubles()),
        )

    def _troubles(self) -> Iterator[str]:
        for informer in self._informers.values():
            if (trouble := informer.trouble) is not None:
                yield f"{informer.resource.name} may be out of date: {trouble}"
        for (kind, key), why in self._refused.items():
            yield f"{kind} {key} is not up to date: {why}"


def _watched(taken: Snapshot, gates: FeatureGates) -> Iterator[Resource[Any]]:
    yield watched_nodes(gates)
    yield watched_pods(gates)
    kinds: tuple[type[ApiObject], ...] = (PriorityClass, ResourceClaimTemplate, *ASPECTS)
    for kind in kinds:
        resource = resource_of(kind)
        # Few API servers have PodGroups, so they are watched only where there were some.
        if kind is not PodGroup or _objects_of(taken, resource):
            yield resource


def _objects_of(taken: Snapshot, resource: Resource[Any]) -> tuple[bytes, ...]:
    parts = (
        found
        for name, found in taken.objects.items()
        if (name.group, name.kind) == (resource.group, resource.kind)
    )
    return tuple(raw for part in parts for raw in part)

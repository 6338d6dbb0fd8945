"""The embedded cluster as one object: API server, controllers and kubelets, started together.

`podium up` runs one; tests and other programs can, too:

    async with EmbeddedCluster(ClusterOptions(nodes=3)) as cluster:
        print(cluster.url)
"""

from __future__ import annotations

import copy
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from podium.api.manifests import load_yaml, read_text
from podium.api.objects import Node, decode, validate
from podium.apiserver.bootstrap import new_api
from podium.apiserver.controllers.all_controllers import all_controllers
from podium.apiserver.controllers.cluster import Cluster
from podium.apiserver.controllers.runner import Controller, Runner
from podium.apiserver.kubelet import PodAgent
from podium.apiserver.kubelet_devices import (
    CLASSES,
    DeviceGroup,
    DevicePreparer,
    SlicePublisher,
    device_class,
)
from podium.apiserver.kubelet_nodes import NodeAgent
from podium.apiserver.restoring import RestoredState, restore
from podium.apiserver.server import EmbeddedServer
from podium.apiserver.statuses import Json, Refusal
from podium.clock import Clock, LoopClock, sleep
from podium.errors import PodiumError
from podium.release import LATEST, Release

_CLASSES = "storageclasses.storage.k8s.io"
_DEFINITIONS = "customresourcedefinitions.apiextensions.k8s.io"
_STANDARD: Json = {
    "metadata": {
        "name": "standard",
        "annotations": {"storageclass.kubernetes.io/is-default-class": "true"},
    },
    "provisioner": "podium.dev/simulated",
    "volumeBindingMode": "WaitForFirstConsumer",
}


class NodeGroup(NamedTuple):
    """A number of nodes made from one template."""

    nodes: int
    template: Json

    @property
    def name_prefix(self) -> str:
        """Return what the names of the nodes start with: ``big-`` for a template named ``big``."""
        meta = self.template.get("metadata") or {}
        return str(meta.get("generateName") or f"{meta.get('name') or 'node'}-")


@dataclass(frozen=True, slots=True)
class ClusterOptions:
    """The options and objects that a cluster starts with.

    There are ``nodes`` nodes made from ``template``, and those of ``more_nodes``. Port 0 is any
    free one. With a speed of 60 one minute of the cluster's time passes per second. Everything but
    the scheduler behaves as in this release. Each node has the devices of all ``devices``. With
    ``restored`` it starts in the state of another cluster and gets no nodes of its own.
    ``definitions`` are custom kinds that are there from the start, ``features`` the feature gates
    of the API server that are turned on.
    """

    nodes: int = 3
    template: Json = field(default_factory=dict)
    port: int = 0
    speed: float = 1.0
    more_nodes: tuple[NodeGroup, ...] = ()
    release: Release = LATEST
    devices: tuple[DeviceGroup, ...] = ()
    restored: RestoredState | None = None
    definitions: tuple[Json, ...] = ()
    features: frozenset[str] = frozenset()

    @property
    def node_groups(self) -> tuple[NodeGroup, ...]:
        return (NodeGroup(self.nodes, self.template), *self.more_nodes)

    @property
    def node_count(self) -> int:
        restored = self.restored.node_count if self.restored else 0
        return restored + sum(group.nodes for group in self.node_groups)

    @property
    def start_time(self) -> float | None:
        return self.restored.taken_at if self.restored else None


class EmbeddedCluster:
    """A running cluster. Code in the same process uses ``api`` and ``clock``."""

    def __init__(self, options: ClusterOptions, clock: Clock | None = None) -> None:
        self.clock = clock or LoopClock(options.speed, options.start_time)
        self.api = new_api(self.clock, release=options.release, features=options.features)
        self.cluster = Cluster(self.api)
        self.server = EmbeddedServer(self.api, port=options.port)
        self._options = options
        self._runner = Runner(self.api.store, self._controllers())

    @property
    def url(self) -> str:
        return self.server.url

    def _controllers(self) -> list[Controller]:
        if self._options.restored and self._options.restored.is_frozen:
            return []
        # Nodes first: a pod can start only on a node that has an address.
        agents: list[Controller] = [
            NodeAgent(self.cluster, self._options.speed),
            PodAgent(self.cluster),
        ]
        if devices := self._options.devices:
            drivers = (SlicePublisher, DevicePreparer)
            agents += [driver(self.cluster, devices) for driver in drivers]
        return [*agents, *all_controllers(self.cluster)]

    async def start(self) -> None:
        if self._options.restored is None:
            self.cluster.create(_CLASSES, _STANDARD)
        else:
            restore(self.cluster, self._options.restored)
        for definition in self._options.definitions:
            if self.cluster.find(_DEFINITIONS, definition["metadata"]["name"]) is None:
                self.cluster.create(_DEFINITIONS, definition)
        for devices in self._options.devices:
            self.cluster.create(CLASSES, device_class(devices.driver))
        for group in self._options.node_groups:
            add_nodes(self.cluster, group)
        self._runner.start()
        await self.settle()  # so that nodes are ready before the first client connects
        try:
            await self.server.start()
        except OSError as error:
            self._runner.stop()
            port, why = self._options.port, os.strerror(error.errno or 0)
            hint = "choose another with --port, or any free one with --port 0"
            raise PodiumError(f"port {port} cannot be used: {why}; {hint}") from error

    async def settle(self) -> None:
        """Wait until controllers and kubelets have reacted to everything so far."""
        while not self._runner.is_idle:
            await sleep(self.clock, 0)

    async def stop(self) -> None:
        self._runner.stop()
        await self.server.stop()

    async def __aenter__(self) -> EmbeddedCluster:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()


def add_nodes(cluster: Cluster, group: NodeGroup) -> None:
    """Register the nodes of a group; the kubelets complete them."""
    width = len(str(max(group.nodes - 1, 0)))
    for number in range(group.nodes):
        node = copy.deepcopy(group.template)
        meta = node.setdefault("metadata", {})
        meta.pop("generateName", None)
        meta["name"] = f"{group.name_prefix}{number:0{width}}"
        try:
            cluster.create("nodes", node)
        except Refusal as error:
            raise PodiumError(f"a node of the template is refused: {error}") from error


def read_template(path: Path) -> Json:
    """Return the one Node that a file holds."""
    try:
        objects = load_yaml(read_text(path))
    except PodiumError as error:
        raise PodiumError(f"{path}: {error}") from error
    kinds = [str(one.get("kind")) for one in objects]
    if kinds != ["Node"]:
        there = f"has {', '.join(kinds)}" if kinds else "is empty"
        raise PodiumError(f"{path}: must hold exactly one object of kind Node, but {there}")
    try:
        validate(decode(Node, objects[0]))
    except PodiumError as error:
        raise PodiumError(f"{path}: {error}") from error
    return objects[0]

"""The embedded cluster as one object: API server, controllers and kubelets, started together.

`podium up` runs one; tests and other programs can, too:

    async with EmbeddedCluster(ClusterOptions(nodes=3)) as cluster:
        print(cluster.url)
"""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from pathlib import Path

from podium.api.manifests import load_yaml, read_text
from podium.api.objects import Node, decode, validate
from podium.apiserver.bootstrap import new_api
from podium.apiserver.controllers import all_controllers
from podium.apiserver.controllers.cluster import Cluster
from podium.apiserver.controllers.runner import Controller, Runner
from podium.apiserver.kubelet import PodAgent
from podium.apiserver.kubelet_nodes import NodeAgent
from podium.apiserver.server import EmbeddedServer
from podium.apiserver.statuses import Json, Refusal
from podium.clock import Clock, LoopClock, sleep
from podium.errors import PodiumError

_CLASSES = "storageclasses.storage.k8s.io"
_STANDARD: Json = {
    "metadata": {
        "name": "standard",
        "annotations": {"storageclass.kubernetes.io/is-default-class": "true"},
    },
    "provisioner": "podium.dev/simulated",
    "volumeBindingMode": "WaitForFirstConsumer",
}


@dataclass(frozen=True, slots=True)
class ClusterOptions:
    """What a cluster starts with; port 0 is any free one, speed 60 makes a minute of a second."""

    nodes: int = 3
    template: Json = field(default_factory=dict)
    port: int = 0
    speed: float = 1.0


class EmbeddedCluster:
    """A running cluster; ``api`` and ``clock`` are for parts that run in the same process."""

    def __init__(self, options: ClusterOptions, clock: Clock | None = None) -> None:
        self.clock = clock or LoopClock(options.speed)
        self.api = new_api(self.clock)
        self.cluster = Cluster(self.api)
        self.server = EmbeddedServer(self.api, port=options.port)
        self._options = options
        self._runner = Runner(self.api.store, self._controllers())

    @property
    def url(self) -> str:
        return self.server.url

    def _controllers(self) -> list[Controller]:
        # Nodes first: a pod can start only where there is an address.
        agents: list[Controller] = [
            NodeAgent(self.cluster, self._options.speed),
            PodAgent(self.cluster),
        ]
        return [*agents, *all_controllers(self.cluster)]

    async def start(self) -> None:
        self.cluster.create(_CLASSES, _STANDARD)
        add_nodes(self.cluster, self._options.nodes, self._options.template)
        self._runner.start()
        await self.settle()  # nodes are ready when clients come
        try:
            await self.server.start()
        except OSError as error:
            self._runner.stop()
            port = self._options.port
            hint = "choose another with --port, or any free one with --port 0"
            raise PodiumError(f"port {port} cannot be used: {error}; {hint}") from error

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


def add_nodes(cluster: Cluster, count: int, template: Json) -> None:
    """Register nodes made after a template; the kubelets complete them."""
    width = len(str(max(count - 1, 0)))
    for number in range(count):
        node = copy.deepcopy(template)
        meta = node.setdefault("metadata", {})
        prefix = meta.pop("generateName", None) or f"{meta.get('name') or 'node'}-"
        meta["name"] = f"{prefix}{number:0{width}}"
        try:
            cluster.create("nodes", node)
        except Refusal as error:
            raise PodiumError(f"the template of nodes is refused: {error}") from error


def read_template(path: Path) -> Json:
    """The one Node that a file holds."""
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

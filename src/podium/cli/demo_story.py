"""The story of `podium demo`: a cluster fills, a zone fails, and one pod needs help.

Everything in it happens on the running cluster. Which pods wait, why, and what helps is what the
scheduler and ``podium explain`` say.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from podium.apiserver.controllers.pods import PodView
from podium.apiserver.embedded_cluster import EmbeddedCluster
from podium.apiserver.patch import json_patch
from podium.cli.background import in_background
from podium.cli.dashboard_client import DashboardClient
from podium.cli.demo_show import Stage
from podium.cli.demo_workloads import DATABASE, NAMESPACE, PODS, workload_manifests
from podium.cli.top_lines import milliseconds
from podium.clock import sleep
from podium.dashboard.values import NodeMap, Overview
from podium.errors import PodiumError
from podium.explain import Change, Explanation, Fix

LOOK_SECONDS: Final = 0.25
_BETWEEN_WORKLOADS: Final = 0.9
_READING: Final = 3.0  # seconds to read a line before the next one appears
_LONG_READING: Final = 7.0
_MISSES: Final = 2


class Story:
    """Tells the story on a stage; a slow one leaves time to watch and to read."""

    def __init__(
        self, embedded: EmbeddedCluster, client: DashboardClient, stage: Stage, *, is_slow: bool
    ) -> None:
        self._cluster = embedded.cluster
        self._clock = embedded.clock
        self._client = client
        self._stage = stage
        self._is_slow = is_slow
        self._failed_at = 0.0

    async def tell(self) -> None:
        await self.fill()
        lost = self.fail(await self.zone_of(DATABASE))
        waiting = await self.move(lost)
        for key in waiting:
            await self.help(key)

    # --- chapters --------------------------------------------------------------------------------

    async def fill(self) -> None:
        self._stage.begin("A cluster fills")
        workloads = list(workload_manifests())
        for resource, manifest in workloads:
            self._cluster.create(resource, manifest)
            await self._rest(_BETWEEN_WORKLOADS)
        await self._until(self.is_settled)
        self._stage.end(f"{PODS} pods of {len(workloads)} workloads have a node")
        await self._rest(_READING)

    async def zone_of(self, pod: str) -> tuple[str, list[str]]:
        """Return the zone that a pod is in, and the names of its nodes."""
        nodes = await in_background(self._client.node_map)
        zones = dict(zip(nodes.names, nodes.zones, strict=True))
        zone = zones[self.node_of((NAMESPACE, pod))]
        return zone, [name for name in nodes.names if zones[name] == zone]

    def fail(self, failing: tuple[str, Sequence[str]]) -> int:
        """Remove the nodes of a zone, as a cloud would; return how many pods were there."""
        zone, nodes = failing
        self._stage.begin(f"{zone} fails")
        pods = [pod for node in nodes for pod in self._cluster.pods.on_node(node)]
        for node in nodes:
            self._cluster.delete("nodes", ("", node))
        self._failed_at = self._clock.now()
        for pod in pods:  # at once: the controllers of a real cluster wait some minutes
            self._cluster.delete_at_once("pods", pod.key)
        self._stage.end(f"{len(nodes)} nodes are gone, and {len(pods)} pods with them")
        return len(pods)

    async def move(self, lost: int) -> list[str]:
        """Wait until the pods are elsewhere; return the keys of those that find no node."""
        self._stage.begin("Pods move")
        await self._until(self.is_settled)
        seconds = self._clock.now() - self._failed_at
        waiting = [f"{NAMESPACE}/{pod.key[1]}" for pod in self.pods() if not pod.spec.node_name]
        moved = lost - len(waiting)
        self._stage.end(
            f"{moved} of {lost} have a node in another zone after {milliseconds(seconds)}"
        )
        await self._rest(_READING)
        self._stage.begin("One stays pending" if len(waiting) == 1 else "Some stay pending")
        self._stage.end(", ".join(waiting) or "none")
        await self._rest(_READING)
        return waiting

    async def help(self, key: str) -> None:
        """Ask why a pod waits, apply a fix that explain names, and see whether the pod lands."""
        self._stage.begin("Why?")
        explanation = await self._explain(key)
        self._stage.end(explanation.sentence)
        self._stage.begin("Nearest misses")
        for miss in explanation.near_misses[:_MISSES]:
            self._stage.end(f"{miss.node}: {miss.text}")
        await self._rest(_LONG_READING)
        fix = chosen(explanation.fixes)
        self._stage.begin("What would help?")
        self._stage.end_with_choice([each.text for each in explanation.fixes], fix.text)
        await self._rest(_LONG_READING)
        self._stage.begin("The fix")
        self.apply(fix)
        self._stage.end(f"{fix.text}: it leaves the pod as it is, and evicts nobody")
        self._stage.begin("It lands")
        start = self._clock.now()
        await self._until(lambda: bool(self.node_of(_pair(key))))
        seconds = self._clock.now() - start
        node = self.node_of(_pair(key))
        foreseen = ", as explain has said" if node == fix.node else ""
        self._stage.end(f"{key} is on {node} after {milliseconds(seconds)}{foreseen}")
        await self._rest(_READING)

    # --- the cluster -----------------------------------------------------------------------------

    def pods(self) -> list[PodView]:
        return list(self._cluster.pods.inside(NAMESPACE))

    def is_settled(self) -> bool:
        """Whether all pods are there, and each has a node or was refused."""
        pods = self.pods()
        return len(pods) == PODS and all(pod.spec.node_name or _is_refused(pod) for pod in pods)

    def node_of(self, pod: tuple[str, str]) -> str:
        found = self._cluster.pods.get(pod)
        return found.spec.node_name if found is not None else ""

    def apply(self, fix: Fix) -> None:
        """Carry out the changes of a fix that changes nodes only."""
        for change in fix.changes:
            if change.action == "patch":
                self._patch_node(change)
            elif change.action == "create":
                self._cluster.create("nodes", change.object)
            else:
                self._cluster.delete("nodes", ("", change.name))

    def _patch_node(self, change: Change) -> None:
        steps = list(change.patch)
        self._cluster.modify("nodes", ("", change.name), lambda node: json_patch(node, steps))

    async def _explain(self, key: str) -> Explanation:
        found = (await in_background(lambda: self._client.explain_pod(key))).explanation
        if found is None:
            raise PodiumError(f"pod {key} waits, but there is no explanation")
        return found

    # --- time ------------------------------------------------------------------------------------

    async def _rest(self, seconds: float) -> None:
        """Leave time to look; the picture stays live."""
        if not self._is_slow:
            return
        end = self._clock.now() + seconds
        await self._until(lambda: self._clock.now() >= end)

    async def _until(self, is_so: Callable[[], bool]) -> None:
        while True:
            self._stage.look(*await in_background(self._look))
            if is_so():
                return
            await sleep(self._clock, LOOK_SECONDS)

    def _look(self) -> tuple[Overview, NodeMap]:
        return self._client.overview(), self._client.node_map()


def chosen(fixes: Sequence[Fix]) -> Fix:
    """Return the first fix that changes nodes only, and evicts nobody."""
    for fix in fixes:
        if not fix.victims and all(change.kind == "Node" for change in fix.changes):
            return fix
    raise PodiumError("no change of nodes would help: " + "; ".join(fix.text for fix in fixes))


def _is_refused(pod: PodView) -> bool:
    conditions = pod.status.conditions or ()
    return any(each.type == "PodScheduled" and each.status == "False" for each in conditions)


def _pair(key: str) -> tuple[str, str]:
    namespace, _, name = key.partition("/")
    return namespace, name

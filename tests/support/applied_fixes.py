"""Fixes applied for real: on the embedded cluster, with the running scheduler."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import msgspec

from podium import Simulation
from podium.explain import Change, Explanation, Fix, explain_pod
from podium.testing import SimulatedCluster
from tests.support.pending_pods import Scenario

Json = dict[str, Any]
KINDS = {
    "Pod": "pods",
    "Node": "nodes",
    "ResourceClaim": "resourceclaims.resource.k8s.io",
    "PodGroup": "podgroups.scheduling.k8s.io",
}
LONG = 360.0  # pods have left, and a pod that no event wakes is tried again after five minutes


async def build(cluster: SimulatedCluster, scenario: Scenario) -> None:
    """Create everything, and the pending pod last."""
    await cluster.create(*scenario.objects)
    await cluster.wait(5)
    await cluster.create(*scenario.scheduled)
    await cluster.wait(5)
    await cluster.create(scenario.pod)
    await cluster.wait(5)


def explain(cluster: SimulatedCluster, scenario: Scenario) -> tuple[Simulation, Explanation]:
    """Explain the pending pod from what the API server has."""
    simulation = Simulation.from_objects(objects_of(cluster))
    return simulation, explain_pod(simulation.core, simulation.pods[scenario.pod.key])


def objects_of(cluster: SimulatedCluster) -> list[Json]:
    """Return everything that the API server has, as `kubectl get` would show it."""
    store = cluster.api.store
    return [obj for resource in store.resources() for obj in store.objects(resource)]


async def apply(cluster: SimulatedCluster, scenario: Scenario, fix: Fix) -> str | None:
    """Carry out the changes of a fix; return the node that the pod gets."""
    await _create_again(cluster, [each for each in fix.changes if _patches_pod(each)], fix)
    await cluster.wait(LONG)
    return cluster.node_of(scenario.pod.name)


def _patches_pod(change: Change) -> bool:
    return change.kind == "Pod" and change.action == "patch"


async def _create_again(cluster: SimulatedCluster, changes: Sequence[Change], fix: Fix) -> None:
    """Make the other changes, then delete all pods that change, and create them in this order."""
    for change in fix.changes:
        if not _patches_pod(change):
            await _carry_out(cluster, change)
    again = [patched(_written(cluster, each.name), each.patch) for each in changes]
    for change in changes:
        await cluster.delete("pods", change.name.rpartition("/")[2], grace_seconds=0)
    if again:
        await cluster.settle()
        await cluster.create(*again)


async def _carry_out(cluster: SimulatedCluster, change: Change) -> None:
    if change.action == "create":
        await cluster.create(change.object)
    elif change.action == "delete":
        await cluster.delete(KINDS[change.kind], change.name)
        await cluster.wait(60)
    elif change.status:
        status_patch = tuple(
            {**step, "path": step["path"].removeprefix("/status")} for step in change.patch
        )
        await cluster.set_status("nodes", change.name, lambda s: _patch(s, status_patch))
    else:
        name = change.name.rpartition("/")[2]
        await cluster.update(KINDS[change.kind], name, lambda obj: _patch(obj, change.patch))


def _written(cluster: SimulatedCluster, key: str) -> Json:
    """Return the pod as a user would create it again."""
    manifest = cluster.get("pods", key.rpartition("/")[2])
    assert manifest is not None
    meta = {
        key: manifest["metadata"][key]
        for key in ("name", "namespace", "labels")
        if key in manifest["metadata"]
    }
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": manifest["spec"]}


def patched(manifest: Json, patch: tuple[Json, ...]) -> Json:
    result = copy.deepcopy(manifest)
    _patch(result, patch)
    return result


def _patch(obj: Json, patch: tuple[Json, ...]) -> None:
    """Apply a JSON patch in place, as far as fixes use it."""
    for step in patch:
        *path, last = [
            part.replace("~1", "/").replace("~0", "~") for part in step["path"].split("/")[1:]
        ]
        inside: Any = obj
        for part in path:
            inside = inside[int(part)] if isinstance(inside, list) else inside.setdefault(part, {})
        key: Any = int(last) if isinstance(inside, list) else last
        if step["op"] == "remove":
            del inside[key]
        else:
            inside[key] = msgspec.json.decode(msgspec.json.encode(step["value"]))

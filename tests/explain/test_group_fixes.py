"""Fixes for pods that wait for their group, applied for real: each places the pod."""

from __future__ import annotations

import asyncio
from random import Random
from typing import Any, ClassVar

import pytest

from podium import Simulation
from podium.config.feature_gates import FeatureGates, parse
from podium.explain import Explanation, Fix, explain_pod, in_order
from podium.testing import SimulatedCluster
from tests.support.applied_fixes import apply, objects_of
from tests.support.pending_pods import Scenario
from tests.support.search import scaled
from tests.support.smaller_fixes import smaller

Json = dict[str, Any]
SECONDS = 5.0


class GroupedCluster(SimulatedCluster):
    gates: ClassVar[FeatureGates] = parse(["GenericWorkload=true"])


def manifest(kind: str, name: str, version: str = "v1", **fields: Any) -> Json:
    meta = (
        {"name": name}
        if kind in ("Node", "PriorityClass")
        else {"name": name, "namespace": "default"}
    )
    return {"apiVersion": version, "kind": kind, "metadata": meta, **fields}


def node(name: str, cpu: int) -> Json:
    amounts = {"cpu": str(cpu), "memory": "16Gi", "pods": "20"}
    return manifest("Node", name, status={"capacity": amounts, "allocatable": amounts})


def member(name: str, cpu: int) -> Json:
    resources = {"requests": {"cpu": str(cpu)}}
    container = {"name": "main", "image": "app:1", "resources": resources}
    spec = {"containers": [container], "schedulingGroup": {"podGroupName": "gang"}}
    return manifest("Pod", name, spec=spec)


def gang(min_count: int) -> Json:
    spec = {"schedulingPolicy": {"gang": {"minCount": min_count}}}
    return manifest("PodGroup", "gang", "scheduling.k8s.io/v1beta1", spec=spec)


def placed(name: str, node_name: str, cpu: str, priority: str) -> Json:
    container = {"name": "main", "image": "app:1", "resources": {"requests": {"cpu": cpu}}}
    spec = {"containers": [container], "nodeName": node_name}
    return manifest("Pod", name, spec={**spec, "priorityClassName": priority} if priority else spec)


def crowded(seed: int) -> list[Json]:
    """Return the same with pods on the nodes, some of which are as important as the gang."""
    random, objects = Random(f"crowded {seed}"), generated(seed)
    names = [each["metadata"]["name"] for each in objects if each["kind"] == "Node"]
    pods = [
        placed(
            f"p{n}", random.choice(names), random.choice(("500m", "1")), random.choice(("", "high"))
        )
        for n in range(random.randint(1, 5))
    ]
    version = "scheduling.k8s.io/v1"
    return [
        manifest("PriorityClass", "high", version, value=50),
        *objects[: len(names)],
        *pods,
        *objects[len(names) :],
    ]


def generated(seed: int) -> list[Json]:
    """Return a few nodes and a gang: it lacks room, pods, or its PodGroup."""
    random = Random(seed)
    nodes = [node(f"n{number}", random.randint(2, 4)) for number in range(random.randint(1, 3))]
    size = random.randint(2, 6)
    pods = [member(f"w{number}", random.randint(1, 2)) for number in range(size)]
    group = [] if seed % 4 == 0 else [gang(random.randint(2, size + 2))]
    return [*nodes, *group, *pods]


async def built(cluster: SimulatedCluster, objects: list[Json]) -> None:
    await cluster.create(*objects)
    await cluster.wait(SECONDS)


async def explained(objects: list[Json]) -> tuple[Simulation, Explanation] | None:
    async with GroupedCluster() as cluster:
        await built(cluster, objects)
        if cluster.node_of("w0") is not None:
            return None
        simulation = Simulation.from_objects(objects_of(cluster))
    pod = simulation.pods["default/w0"]
    return simulation, explain_pod(simulation.core, pod, pending=in_order(simulation))


async def check(objects: list[Json], fix: Fix) -> None:
    async with GroupedCluster() as cluster:
        await built(cluster, objects)
        pod = Simulation.from_objects(objects).pods["default/w0"]
        scenario = Scenario("group", objects, pod, frozenset())
        assert await apply(cluster, scenario, fix) is not None, (fix, cluster.why_pending("w0"))


async def kinds_that_help(objects: list[Json]) -> set[str]:
    found = await explained(objects)
    if found is None:
        return set()
    simulation, explanation = found
    simulation.schedule(SECONDS)  # members that were tried come before those that are created again
    for fix in explanation.fixes:
        await check(objects, fix)
        assert smaller(simulation, "default/w0", fix) == [], fix
    return {fix.kind for fix in explanation.fixes}


# Gangs in which limits just below a request help: one member more comes after the others.
TELLING = (119, 125, 137, 138, 149)


@pytest.mark.slow
def test_fixes_of_generated_gangs_help():
    kinds: set[str] = set()
    for seed in (*range(scaled(80)), *TELLING):
        kinds |= asyncio.run(kinds_that_help(generated(seed)))
        kinds |= asyncio.run(kinds_that_help(crowded(seed)))

    of_gangs = {"min-count", "group-request", "group-priority", "new-nodes"}
    assert kinds >= {"create-pod-group", *of_gangs}

"""A simulation places pods as the running scheduler of an embedded cluster then does."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any, ClassVar

import pytest

from podium.config.feature_gates import FeatureGates, parse
from podium.simulation import Simulation
from podium.testing.cluster import SimulatedCluster
from tests.support.random_clusters import RandomCluster, random_cluster, random_gangs
from tests.support.search import scaled

SEED = 7
SECONDS = 60.0
KINDS = (
    "nodes",
    "namespaces",
    "priorityclasses.scheduling.k8s.io",
    "poddisruptionbudgets.policy",
    "services",
    "storageclasses.storage.k8s.io",
    "persistentvolumes",
    "persistentvolumeclaims",
    "deviceclasses.resource.k8s.io",
    "resourceslices.resource.k8s.io",
    "resourceclaims.resource.k8s.io",
    "resourceclaimtemplates.resource.k8s.io",
)
GROUPS = "podgroups.scheduling.k8s.io"
Json = dict[str, Any]


class SeededCluster(SimulatedCluster):
    seed: ClassVar[int | None] = SEED


class GroupedCluster(SeededCluster):
    gates: ClassVar[FeatureGates] = parse(["GenericWorkload=true"])


async def compared(
    case: RandomCluster, kind: type[SimulatedCluster] = SeededCluster
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what the simulation predicts for each pod, and what then really happens."""
    async with kind() as cluster:
        await cluster.create(*case.standing)
        await cluster.wait(5)
        standing = list(everything(cluster))
        await cluster.create(*case.pending)
        pods = [each for each in (*case.standing, *case.pending) if each["kind"] == "Pod"]
        in_order = [cluster.get("pods", each["metadata"]["name"]) for each in pods]
        predicted = predict([*standing, *filter(None, in_order)])
        await cluster.wait(SECONDS)
        return predicted, observe(cluster)


def everything(cluster: SimulatedCluster) -> Iterator[Json]:
    for kind in (*KINDS, GROUPS) if isinstance(cluster, GroupedCluster) else KINDS:
        yield from cluster.list(kind)


def predict(objects: list[Json]) -> dict[str, Any]:
    simulation = Simulation.from_objects(objects, seed=SEED)
    result = simulation.schedule()
    simulation.core.cluster.check_invariants()
    simulation.queue.check_invariants()
    reasons = {each.pod: each.reason for each in result.unplaced}
    return {key: pod.node_name or reasons.get(key, "") for key, pod in simulation.pods.items()}


def observe(cluster: SimulatedCluster) -> dict[str, Any]:
    return {
        f"default/{pod['metadata']['name']}": pod["spec"].get("nodeName")
        or cluster.why_pending(pod["metadata"]["name"])
        for pod in cluster.list("pods")
    }


def difference(predicted: dict[str, Any], observed: dict[str, Any]) -> dict[str, Any]:
    keys = sorted(predicted.keys() | observed.keys())
    pairs = {key: (predicted.get(key), observed.get(key)) for key in keys}
    return {key: pair for key, pair in pairs.items() if pair[0] != pair[1]}


@pytest.mark.slow
def test_random_scenarios_are_placed_as_predicted():
    differing = {}
    for seed in range(scaled(100)):
        differing[seed] = difference(*asyncio.run(compared(random_cluster(seed))))

    assert not {seed: found for seed, found in differing.items() if found}


@pytest.mark.slow
def test_random_gangs_are_placed_as_predicted():
    differing = {}
    for seed in range(scaled(100)):
        differing[seed] = difference(*asyncio.run(compared(random_gangs(seed), GroupedCluster)))

    assert not {seed: found for seed, found in differing.items() if found}

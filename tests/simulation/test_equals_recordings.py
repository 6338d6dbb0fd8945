"""Simulations place pods on nodes that kube-scheduler chooses among, in recorded sequences."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from podium.simulation import Simulation
from podium.simulation.compare import Variant, compare
from podium.snapshot import KindName, Snapshot
from tests.support.search import scaled

GOLDEN = Path(__file__).resolve().parent.parent / "data" / "golden"
FAMILIES = ("plain", "spread", "affinity", "churn", "mixed")
CASES = 5  # of each family, in the thorough profile
Json = dict[str, Any]
KINDS = {
    "namespaces": ("v1", "Namespace"),
    "nodes": ("v1", "Node"),
    "pods": ("v1", "Pod"),
    "services": ("v1", "Service"),
    "replicationcontrollers": ("v1", "ReplicationController"),
    "replicasets": ("apps/v1", "ReplicaSet"),
    "statefulsets": ("apps/v1", "StatefulSet"),
}


def recorded(release: str, family: str) -> list[Json]:
    with gzip.open(GOLDEN / release / f"sequence-{family}.jsonl.gz") as lines:
        return [json.loads(line) for line in lines]


def known(kind: str, obj: Json) -> Json:
    """Return the object as a cluster has it: with a uid, it is taken as it is."""
    version, name = KINDS[kind]
    meta = {"uid": f"uid-{obj['metadata']['name']}", **obj["metadata"]}
    return {"apiVersion": version, "kind": name, **obj, "metadata": meta}


def objects_of(cluster: Json) -> list[Json]:
    return [known(kind, obj) for kind, objects in cluster.items() for obj in objects]


def pending(pod: Json) -> Json:
    """Return the pod so that it evicts nobody: recorded attempts end with the filters."""
    spec = {**pod["spec"], "preemptionPolicy": "Never"}
    return known("pods", {**pod, "spec": spec})


def play(simulation: Simulation, step: Json) -> None:
    """Carry out a step that is not an attempt."""
    match step:
        case {"op": "delete", "pod": key}:
            simulation.remove(key)
        case {"op": "addPod" | "updatePod", "pod": pod}:
            simulation.add(known("pods", pod))
        case {"op": "addNode" | "updateNode", "node": node}:
            simulation.add(known("nodes", node))
        case {"op": "removeNode", "node": name}:
            simulation.remove(name)
        case {"op": "addService", "service": service}:
            simulation.add(known("services", service))
        case {"op": "removeService", "service": key}:
            simulation.remove(simulation.objects("Service")[key])
        case {"op": "updateNamespace", "namespace": namespace}:
            simulation.add(known("namespaces", namespace))


def check_attempt(simulation: Simulation, step: Json) -> None:
    trial, pod = simulation.fork(), pending(step["pod"])
    trial.add(pod)
    result = trial.schedule(seconds=0)  # pods that are being deleted stay, as in the recording
    expected = step["expect"]
    if "chosen" in expected:
        (placed,) = result.placed
        assert placed.node in expected["best"]
        spec = {**pod["spec"], "nodeName": expected["chosen"]}
        simulation.add({**pod, "spec": spec})
    else:
        (unplaced,) = result.unplaced
        said = expected.get("fitError") or expected["error"]
        assert unplaced.reason.startswith(said.rstrip("."))


@pytest.mark.slow
@pytest.mark.parametrize("release", ["1.36", "1.37"])
@pytest.mark.parametrize("family", FAMILIES)
def test_recorded_sequences(release, family):
    for case in recorded(release, family)[: scaled(CASES)]:
        simulation = Simulation.from_objects(
            objects_of(case["cluster"]), case.get("config"), release=release
        )
        for step in case["steps"]:
            if step["op"] == "schedule":
                check_attempt(simulation, step)
            else:
                play(simulation, step)
        simulation.core.cluster.check_invariants()


def snapshot_of(objects: list[Json]) -> Snapshot:
    by_kind: dict[KindName, list[bytes]] = {}
    for obj in objects:
        name = KindName(obj["apiVersion"], obj["kind"])
        by_kind.setdefault(name, []).append(json.dumps(obj).encode())
    return Snapshot({name: tuple(raws) for name, raws in by_kind.items()})


@pytest.mark.parametrize("release", ["1.36", "1.37"])
def test_compare_places_as_recorded_and_finds_no_difference_to_itself(release):
    variant = Variant.parse(f"default,{release}")
    cases = [case for case in recorded(release, "plain") if "config" not in case]
    started = [case for case in cases if case["steps"][0]["op"] == "schedule"]
    assert len(started) >= CASES
    for case in started[:CASES]:
        first = case["steps"][0]
        pod = pending(first["pod"])
        taken = snapshot_of([*objects_of(case["cluster"]), pod])

        comparison = compare(taken, (variant, variant), only_pending=True)

        assert not comparison.differences
        key = f"{pod['metadata']['namespace']}/{pod['metadata']['name']}"
        found = comparison.first.nodes[key]
        assert found in first["expect"].get("best", [""])

"""The pods that controllers would create for a new workload, such as a Deployment."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Final

from podium.api.objects import Node
from podium.apiserver.controllers import daemon_set, job, stateful_set
from podium.apiserver.controllers.deployment import new_set
from podium.apiserver.controllers.revisions import Revision
from podium.apiserver.controllers.templates import hash_of, pod_from
from podium.simulation.kinds import Json, kind_of_manifest

Nodes = Iterable[Node]
REPLICA_SET: Final = "apps/ReplicaSet"


def has_pods(kind: str) -> bool:
    """Whether objects of this kind, such as ``apps/Deployment``, have pods."""
    return kind in _EXPANSIONS


def expand(workload: Json, nodes: Nodes) -> Iterator[Json]:
    """Yield what the controllers of a workload create: pods with names, claims and sets.

    What is yielded may be a workload itself, such as the ReplicaSet of a Deployment.
    """
    return _EXPANSIONS[kind_of_manifest(workload)](workload, nodes)


def with_replicas(workload: Json, replicas: int) -> Json:
    """Return the workload with another number of pods; a DaemonSet has one for each node."""
    kind = kind_of_manifest(workload)
    if kind == "apps/DaemonSet":
        return workload
    counted = {"parallelism": replicas, "completions": replicas}
    fields = counted if kind == "batch/Job" else {"replicas": replicas}
    return {**workload, "spec": {**(workload.get("spec") or {}), **fields}}


def _deployment(deployment: Json, nodes: Nodes) -> Iterator[Json]:
    made = new_set(deployment, "1")
    made["spec"]["replicas"] = deployment["spec"].get("replicas", 1)
    yield made


def _replicas(owner: Json, nodes: Nodes) -> Iterator[Json]:
    for number in range(owner["spec"].get("replicas", 1)):
        yield _named(pod_from(owner, owner["spec"]["template"]), owner, str(number))


def _job(owner: Json, nodes: Nodes) -> Iterator[Json]:
    is_indexed = owner["spec"].get("completionMode") == "Indexed"
    for number in range(job.wanted_active(owner["spec"], 0, 0)):
        yield _named(job.new_pod(owner, number if is_indexed else None), owner, str(number))


def _stateful_set(owner: Json, nodes: Nodes) -> Iterator[Json]:
    revision = _revision(owner)
    start = (owner["spec"].get("ordinals") or {}).get("start", 0)
    for ordinal in range(start, start + owner["spec"].get("replicas", 1)):
        yield from stateful_set.new_claims(owner, ordinal)
        yield stateful_set.new_pod(owner, ordinal, revision)


def _daemon_set(owner: Json, nodes: Nodes) -> Iterator[Json]:
    revision = _revision(owner)
    probe = daemon_set.decode_pod(daemon_set.new_pod(owner, "", revision))
    for node in nodes:
        comes, _ = daemon_set.should_run(probe, node)
        if comes:
            yield _named(daemon_set.new_pod(owner, node.name, revision), owner, node.name)


def _revision(owner: Json) -> Revision:
    template = owner["spec"]["template"]
    text = hash_of(template)
    return Revision(f"{owner['metadata']['name']}-{text}", text, 1, template)


def _named(pod: Json, owner: Json, suffix: str) -> Json:
    """Give a pod a name that is the same in every run, unlike those of a real cluster."""
    pod["metadata"].pop("generateName", None)
    pod["metadata"]["name"] = f"{owner['metadata']['name']}-{suffix}"
    return pod


_EXPANSIONS: Final[dict[str, Callable[[Json, Nodes], Iterator[Json]]]] = {
    "apps/Deployment": _deployment,
    REPLICA_SET: _replicas,
    "ReplicationController": _replicas,
    "apps/StatefulSet": _stateful_set,
    "apps/DaemonSet": _daemon_set,
    "batch/Job": _job,
}

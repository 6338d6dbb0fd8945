"""Gangs, quotas and single pods for trials: their steps drawn from a seed, and their objects."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any, Final

from podium.api.pod_groups import COSCHEDULING_LABEL
from podium.chaos.script import Script, Step, draw_faults, draw_node_changes, draw_nodes

Json = dict[str, Any]

TEAMS: Final = ("team-a", "team-b")
HIGH: Final = 1000
LABELLED_TIMEOUT_SECONDS: Final = 20
NATIVE: Final = "scheduling.k8s.io/v1beta1"
LABELLED: Final = "scheduling.x-k8s.io/v1alpha1"
NATIVE_RESOURCE: Final = "podgroups.scheduling.k8s.io"
LABELLED_RESOURCE: Final = "podgroups.scheduling.x-k8s.io"
QUOTA_RESOURCE: Final = "elasticquotas.scheduling.x-k8s.io"

_CPU_MILLI: Final = (200, 300, 500)
_GANGS_PER_MINUTE: Final = 5
_SINGLES_PER_MINUTE: Final = 10
_LIFE_SECONDS: Final = 50.0
_TOO_MANY: Final = 60  # pods: more than the nodes have room for
_LATEST_MEMBER_SECONDS: Final = 20.0


def draw(seed: int, minutes: float) -> Script:
    """Draw the script of a seed: gangs of both kinds beside single pods, and faults."""
    chance = Random(f"groups {seed}")
    seconds = minutes * 60
    steps = [*draw_nodes(), *draw_node_changes(chance, seconds), *draw_faults(chance, seconds)]
    for number in range(max(1, round(_GANGS_PER_MINUTE * minutes))):
        steps += _life_of_gang(chance, f"g{number}", chance.uniform(0, seconds))
    for number in range(max(1, round(_SINGLES_PER_MINUTE * minutes))):
        steps += _life_of_pod(chance, f"p{number}", chance.uniform(0, seconds))
    steps = [step for step in steps if step.at <= seconds]
    return Script(seed, seconds, tuple(sorted(steps, key=lambda step: step.at)), groups=True)


def _life_of_pod(chance: Random, name: str, at: float) -> Iterator[Step]:
    where, cpu = chance.choice(("default", *TEAMS)), chance.choice(_CPU_MILLI)
    priority = HIGH * (chance.random() < 0.2)
    yield Step(at, "create-pod", name, amount=cpu, namespace=where, priority=priority)
    ends = at + chance.expovariate(1 / _LIFE_SECONDS)
    yield Step(ends, "delete-pod", name, namespace=where)


def _life_of_gang(chance: Random, name: str, at: float) -> Iterator[Step]:
    """Draw a gang; some of them never fit, are gated at first, or change while they wait."""
    count = _TOO_MANY if chance.random() < 0.04 else chance.randint(2, 6)
    minimum = count if chance.random() < 0.7 else chance.randint(1, count)
    what = chance.choice(("create-gang", "create-labelled-gang"))
    where = chance.choice(("default", "default", *TEAMS))
    is_gated = chance.random() < 0.1
    yield Step(
        at, what, name,
        seconds=chance.choice((0.0, 0.0, chance.uniform(0, _LATEST_MEMBER_SECONDS))),
        amount=chance.choice(_CPU_MILLI), namespace=where, count=count, minimum=minimum,
        priority=HIGH * (what == "create-gang" and chance.random() < 0.3), is_gated=is_gated,
    )  # fmt: skip
    ends = at + chance.expovariate(1 / _LIFE_SECONDS)
    if is_gated:
        yield Step(chance.uniform(at, ends), "open-gates", name, namespace=where)
    if chance.random() < 0.3:
        seed = chance.getrandbits(32)
        yield Step(chance.uniform(at, ends), "replace-member", name, seed=seed, namespace=where)
    if chance.random() < 0.2:
        minimum = chance.randint(1, count)
        changes = chance.uniform(at, ends)
        yield Step(changes, "set-minimum", name, namespace=where, minimum=minimum)
    yield Step(ends, "delete-gang", name, namespace=where)


# --- objects --------------------------------------------------------------------------------------


def first_objects(seed: int) -> Iterator[Json]:
    """Yield what is there from the start: a priority class, and namespaces with quotas."""
    priority = {"metadata": {"name": "high"}, "value": HIGH}
    yield {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", **priority}
    chance = Random(f"quotas {seed}")
    for team in TEAMS:
        yield {"kind": "Namespace", "metadata": {"name": team}}
        low = chance.choice((2000, 3000, 4000))
        limits = {"min": {"cpu": f"{low}m"}, "max": {"cpu": f"{low + 2000}m"}}
        metadata = {"name": team, "namespace": team}
        yield {"apiVersion": LABELLED, "kind": "ElasticQuota", "metadata": metadata, "spec": limits}


def group_of(step: Step) -> Json:
    """Return the PodGroup that a step creates."""
    metadata = {"name": step.name, "namespace": step.namespace}
    if step.what == "create-labelled-gang":
        version = LABELLED
        spec: Json = {
            "minMember": step.minimum,
            "scheduleTimeoutSeconds": LABELLED_TIMEOUT_SECONDS,
        }
    else:
        version = NATIVE
        spec = {"schedulingPolicy": {"gang": {"minCount": step.minimum}}}
        if step.priority:
            spec["priorityClassName"] = "high"
    return {"apiVersion": version, "kind": "PodGroup", "metadata": metadata, "spec": spec}


def join(pod: Json, step: Step) -> Json:
    """Make a pod a member of the gang that a step creates."""
    if step.what == "create-labelled-gang":
        pod["metadata"]["labels"] = {COSCHEDULING_LABEL: step.name}
    else:
        pod["spec"]["schedulingGroup"] = {"podGroupName": step.name}
    if step.is_gated:
        pod["spec"]["schedulingGates"] = [{"name": "wait"}]
    return pod


def gang_of(pod: Json) -> tuple[str, str] | None:
    """Return the resource and the key of the PodGroup that a pod belongs to."""
    namespace = pod["metadata"]["namespace"]
    if name := pod["spec"].get("schedulingGroup", {}).get("podGroupName"):
        return NATIVE_RESOURCE, f"{namespace}/{name}"
    if name := pod["metadata"].get("labels", {}).get(COSCHEDULING_LABEL):
        return LABELLED_RESOURCE, f"{namespace}/{name}"
    return None


def resource_of(step: Step) -> str:
    """Return the resource of the PodGroup that a step creates."""
    return NATIVE_RESOURCE if step.what == "create-gang" else LABELLED_RESOURCE


def minimum_of(group: Json) -> int:
    """Return how many pods a PodGroup of either kind needs."""
    spec = group["spec"]
    if "minMember" in spec:
        return int(spec["minMember"])
    return int(spec["schedulingPolicy"].get("gang", {}).get("minCount", 1))


def set_minimum(group: Json, minimum: int) -> None:
    """Change how many pods a PodGroup of either kind needs."""
    spec = group["spec"]
    if "minMember" in spec:
        spec["minMember"] = minimum
    else:
        spec["schedulingPolicy"]["gang"]["minCount"] = minimum

"""Smaller changes of nodes, other pods and other objects: each must leave the pod pending."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from itertools import product
from typing import Any

from podium import Simulation
from podium.api import quantity
from podium.api.objects import Pod, PodGroup, ResourceClaim
from podium.explain import Fix
from tests.support.fix_trials import Json, Trial, manifest, subsets, written

MOST_VECTORS = 60
MOST_PODS = 80
_COME_BACK = ("DaemonSet", "Node")


def _created(simulation: Simulation, pod: Json, fix: Fix) -> Iterator[Trial]:
    """All proper subsets of the objects that the fix creates."""
    objects = [change.object for change in fix.changes if change.action == "create"]
    for chosen in subsets(objects, len(objects)):
        names = ", ".join(f"{each['kind']} {each['metadata']['name']}" for each in chosen)
        yield Trial(f"only {names or 'nothing'}", added=chosen)


# --- devices --------------------------------------------------------------------------------------


def _devices(simulation: Simulation, pod: Json, fix: Fix) -> Iterator[Trial]:
    """All ways to give up fewer devices, over all requests of the pod's claims."""
    given_up = sum(each["from"] - each["to"] for each in fix.details["devices"])
    store = simulation.core.cluster.objects(ResourceClaim)
    claims = {
        each["resourceClaimName"]: manifest("ResourceClaim", found)
        for each in pod["spec"]["resourceClaims"]
        if "resourceClaimName" in each
        and (found := store.get(f"{pod['metadata']['namespace']}/{each['resourceClaimName']}"))
    }
    requests = [
        (name, index, request["exactly"].get("count", 1))
        for name, claim in claims.items()
        for index, request in enumerate(claim["spec"]["devices"]["requests"])
        if request.get("exactly", {}).get("allocationMode", "ExactCount") == "ExactCount"
        and "exactly" in request
    ]
    ranges = [range(min(count, given_up)) for _, _, count in requests]
    vectors = [vector for vector in product(*ranges) if sum(vector) < given_up][:MOST_VECTORS]
    for vector in vectors:
        changed = copy.deepcopy(claims)
        for (name, index, count), fewer in zip(requests, vector, strict=True):
            changed[name]["spec"]["devices"]["requests"][index]["exactly"]["count"] = count - fewer
        yield Trial(f"{vector} devices fewer", added=tuple(changed.values()))


# --- nodes ----------------------------------------------------------------------------------------


def _labels(simulation: Simulation, pod: Json, fix: Fix) -> Iterator[Trial]:
    """Fewer labels, on every node."""
    wanted = sorted(_wanted_labels(pod))
    for node in simulation.nodes.values():
        for chosen in subsets(wanted, len(fix.details["labels"])):
            if not chosen:
                continue  # which changes nothing: the pod is pending
            changed = manifest("Node", node)
            changed["metadata"].setdefault("labels", {}).update(chosen)
            yield Trial(f"{node.name} with {chosen}", added=(changed,))


def _wanted_labels(pod: Json) -> Iterator[tuple[str, str]]:
    yield from pod["spec"].get("nodeSelector", {}).items()
    own = pod["spec"].get("affinity", {}).get("nodeAffinity", {})
    required = own.get("requiredDuringSchedulingIgnoredDuringExecution", {})
    for term in required.get("nodeSelectorTerms", ()):
        for each in term.get("matchExpressions", ()):
            if each["operator"] in ("In", "Exists"):
                yield from ((each["key"], value) for value in each.get("values") or ("",))


def _features(simulation: Simulation, pod: Json, fix: Fix) -> Iterator[Trial]:
    """Fewer features, on every node."""
    features = sorted(_all_features(fix))
    for node in simulation.nodes.values():
        for chosen in subsets(features, len(fix.details["features"])):
            if not chosen:
                continue
            changed = manifest("Node", node)
            declared = {*changed["status"].get("declaredFeatures", ()), *chosen}
            changed["status"]["declaredFeatures"] = sorted(declared)
            yield Trial(f"{node.name} with {chosen}", added=(changed,))


def _all_features(fix: Fix) -> set[str]:
    (change,) = fix.changes
    return {name for step in change.patch for name in _names(step["value"])}


def _names(value: Any) -> list[str]:
    return [value] if isinstance(value, str) else list(value)


def _new_nodes(simulation: Simulation, pod: Json, fix: Fix) -> Iterator[Trial]:
    """One more node like each smaller one."""
    limit = _size(simulation.nodes[fix.details["like"]])
    for node in simulation.nodes.values():
        if _size(node) < limit and not node.spec.unschedulable and not node.spec.taints:
            yield Trial(f"one more {node.name}", cloned=node.name)


def _size(node: Any) -> tuple[int, int]:
    offered = node.status.allocatable
    return quantity.parse(offered.get("cpu", 0)), quantity.parse(offered.get("memory", 0))


def _larger_nodes(simulation: Simulation, pod: Json, fix: Fix) -> Iterator[Trial]:
    """The same node with one unit less of what was enlarged."""
    objects = [change.object for change in fix.changes if change.action == "create"]
    for name in fix.details["enlarged"]:
        made = copy.deepcopy(objects)
        amount = quantity.parse(made[0]["status"]["allocatable"][name])
        less = amount - (quantity.MILLI if name == "cpu" else quantity.NANO)
        made[0]["status"]["allocatable"][name] = quantity.format(less)
        yield Trial(f"{name} {quantity.format(less)}", added=tuple(made))


# --- other pods -----------------------------------------------------------------------------------


def _departures(simulation: Simulation, pod: Json, fix: Fix) -> Iterator[Trial]:
    """Every placed pod that is less important, or smaller, than the one that is deleted."""
    (name,) = fix.victims[:1]
    limit = _importance(simulation.pods[name])
    placed = [each for each in simulation.pods.values() if each.node_name]
    less = sorted((each for each in placed if _importance(each) < limit), key=_importance)
    for each in less[:MOST_PODS]:
        if each.controller is None or each.controller.kind not in _COME_BACK:
            yield Trial(f"without {each.key}", removed=(each.key,))


def _importance(pod: Pod) -> tuple[int, int]:
    requests = [each.resources.requests.get("cpu", 0) for each in pod.spec.containers]
    return pod.priority, sum(map(quantity.parse, requests))


# --- pod groups -----------------------------------------------------------------------------------


def _min_counts(simulation: Simulation, pod: Json, fix: Fix) -> Iterator[Trial]:
    """Every higher ``minCount`` that is lower than the present one."""
    (group,) = [
        each
        for each in simulation.core.cluster.objects(PodGroup)
        if each.key == fix.details["group"]
    ]
    for count in range(fix.details["to"] + 1, fix.details["from"]):
        changed = manifest("PodGroup", group)
        changed["spec"]["schedulingPolicy"]["gang"]["minCount"] = count
        yield Trial(f"minCount {count}", added=(changed,))


def _fewer_nodes(simulation: Simulation, pod: Json, fix: Fix) -> Iterator[Trial]:
    """One node less."""
    created = [change.object for change in fix.changes if change.action == "create"]
    made = [each for each in created if each["kind"] == "Node"]
    gone = made[-1]["metadata"]["name"]
    kept = [each for each in created if gone not in each["metadata"]["name"]]
    yield Trial(f"without {gone}", added=tuple(kept))


def _group_requests(simulation: Simulation, pod: Json, fix: Fix) -> Iterator[Trial]:
    """One unit more for the pods that request more, and steps on the way to what they request."""
    name = fix.details["resource"]
    unit = quantity.MILLI if name == "cpu" else quantity.NANO
    least, most = (quantity.parse(fix.details[each]) // unit for each in ("to", "from"))
    for limit in sorted({least + 1, *range(least + 1, most, max(1, (most - least) // 12))}):
        pods = [
            _limited(each, name, limit * unit)
            for each in _members(simulation, fix)
            if _requests_more(each, name, limit * unit)
        ]
        names = tuple(
            f"{each['metadata']['namespace']}/{each['metadata']['name']}" for each in pods
        )
        yield Trial(f"at most {limit}", removed=names, added=tuple(pods))


def _requests_more(pod: Json, name: str, most: int) -> bool:
    """Return whether it does, if it has one container."""
    (container,) = pod["spec"]["containers"]
    return quantity.parse(container["resources"].get("requests", {}).get(name, 0)) > most


def _limited(pod: Json, name: str, most: int) -> Json:
    for container in pod["spec"]["containers"]:
        requests = container.get("resources", {}).get("requests", {})
        if quantity.parse(requests.get(name, 0)) > most:
            requests[name] = quantity.format(most)
    return pod


def _members(simulation: Simulation, fix: Fix) -> list[Json]:
    found = [pod for pod in simulation.pods.values() if pod.group_key == fix.details["group"]]
    waiting = sorted((pod for pod in found if not pod.node_name), key=lambda pod: pod.name)
    return [written(pod) for pod in waiting]


def _group_priorities(simulation: Simulation, pod: Json, fix: Fix) -> Iterator[Trial]:
    """Every lower priority that exceeds that of more pods than now."""
    (group,) = [
        each
        for each in simulation.core.cluster.objects(PodGroup)
        if each.key == fix.details["group"]
    ]
    present = {each.priority for each in simulation.pods.values() if each.node_name}
    for value in sorted(each + 1 for each in present if each >= group.priority):
        if value >= fix.details["priority"]:
            return
        name = f"tried-{value}"
        of_value = {"metadata": {"name": name}, "value": value, "kind": "PriorityClass"}
        changed = manifest("PodGroup", group)
        changed["spec"] |= {"priority": value, "priorityClassName": name}
        pods = _members(simulation, fix)
        for each in pods:
            each["spec"] |= {"priority": value, "priorityClassName": name}
        names = tuple(
            f"{each['metadata']['namespace']}/{each['metadata']['name']}" for each in pods
        )
        added = ({**of_value, "apiVersion": "scheduling.k8s.io/v1"}, changed, *pods)
        yield Trial(f"priority {value}", removed=names, added=added)


ORDERED = {
    "min-count": _min_counts,
    "new-nodes": _fewer_nodes,
    "group-request": _group_requests,
    "group-priority": _group_priorities,
    "create-claim": _created,
    "create-volume": _created,
    "create-resource-claim": _created,
    "create-device-class": _created,
    "device-count": _devices,
    "node-label": _labels,
    "node-feature": _features,
    "new-node": _new_nodes,
    "larger-node": _larger_nodes,
    "pod-gone": _departures,
}

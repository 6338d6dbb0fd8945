"""Subresources with their own rules: scale, binding, eviction, finalize."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import msgspec

from podium.api.meta import LabelSelector
from podium.api.selectors import label_selector
from podium.api.times import time_text
from podium.apiserver import statuses
from podium.apiserver.api import Api, Call, check_name
from podium.apiserver.deletion import DeleteOptions, typed_options
from podium.apiserver.kinds.api_kind import ApiKind
from podium.apiserver.names import subdomain_problems
from podium.apiserver.statuses import Json
from podium.apiserver.store import Key, failed_precondition
from podium.errors import InvalidSelector
from podium.release import V1_37, Release

BUDGETS = "poddisruptionbudgets.policy"


def scale_of(kind: ApiKind, obj: Json) -> Json:
    """Return an object's size as an autoscaling/v1 Scale."""
    meta = obj["metadata"]
    kept = ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")
    paths = _scale_paths(kind)
    return {
        "kind": "Scale",
        "apiVersion": "autoscaling/v1",
        "metadata": {name: meta[name] for name in kept if name in meta},
        "spec": {"replicas": _at(obj, paths["specReplicasPath"]) or 0},
        "status": {
            "replicas": _at(obj, paths["statusReplicasPath"]) or 0,
            "selector": _selector_text(kind, obj, paths.get("labelSelectorPath", "")),
        },
    }


_PATHS = {
    "specReplicasPath": ".spec.replicas",
    "statusReplicasPath": ".status.replicas",
    "labelSelectorPath": ".spec.selector",
}


def _scale_paths(kind: ApiKind) -> dict[str, str]:
    scale: Any = (kind.details.get("subresources") or {}).get("scale")
    return scale if kind.custom and isinstance(scale, dict) else _PATHS


def _at(obj: Any, path: str) -> Any:
    for name in path.strip(".").split("."):
        obj = obj.get(name) if isinstance(obj, dict) else None
    return obj


def _selector_text(kind: ApiKind, obj: Json, path: str) -> str:
    selector = _at(obj, path) if path else ""
    if not isinstance(selector, dict):
        return selector or ""
    labels = selector.get("matchLabels", selector if kind.selects_by_labels else {})
    parts = [f"{key}={value}" for key, value in sorted((labels or {}).items())]
    for one in selector.get("matchExpressions") or []:
        operator = one.get("operator", "").lower()
        parts.append(f"{one.get('key')} {operator} ({','.join(one.get('values') or [])})")
    return ",".join(parts)


def _read_scale(scale: Any, key: Key) -> tuple[int, str]:
    """Return the size that a Scale asks for, and the version that it is based on."""
    parts = (
        [scale.get(name) or {} for name in ("spec", "metadata")] if isinstance(scale, dict) else []
    )
    if not parts or not all(isinstance(part, dict) for part in parts):
        raise statuses.bad_request("Scale: the body must be an object with metadata and spec")
    check_name(parts[1], key)
    replicas, version = parts[0].get("replicas", 0), parts[1].get("resourceVersion") or ""
    if isinstance(replicas, bool) or not isinstance(replicas, int) or not isinstance(version, str):
        raise statuses.bad_request("Scale: spec.replicas must be an integer")
    return replicas, version


def set_scale(api: Api, kind: ApiKind, key: Key, scale: Any, call: Call) -> Json:
    replicas, version = _read_scale(scale, key)
    if replicas < 0:
        cause = statuses.bad_value("spec.replicas", replicas, "must be greater than or equal to 0")
        raise statuses.invalid("Scale", "autoscaling", key[1], [cause])
    *path, last = _scale_paths(kind)["specReplicasPath"].strip(".").split(".")

    def change(obj: Json) -> Json:
        target = obj
        for name in path:
            target = target.setdefault(name, {})
        target[last] = replicas
        if version:
            obj["metadata"]["resourceVersion"] = version
        return obj

    item = api.modify(kind, key, change, Call(call.manager, call.dry_run, "Ignore", "scale"))
    return scale_of(kind, item.decode())


def bind(api: Api, key: Key, binding: Any, call: Call) -> Json:
    """Assign a pod to a node. A pod that has a node is a conflict."""
    pods = api.kind("pods")
    node = _target(binding, key, api.release)
    now = time_text(api.store.clock.now())
    given = binding.get("metadata") if isinstance(binding.get("metadata"), dict) else {}
    _check_name(given, key, "Binding")
    pod = api.item(pods, key).decode()
    _check_bindable(pod, given)
    pod["spec"]["nodeName"] = node
    for name in ("annotations", "labels"):
        if isinstance(given.get(name), dict) and given[name]:
            pod["metadata"][name] = {**(pod["metadata"].get(name) or {}), **given[name]}
    _scheduled(pod, now)
    api.store.update("pods", pod, dry_run=call.dry_run)
    return {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201}


def _check_name(given: Json, key: Key, kind: str) -> None:
    if given.get("name") and given["name"] != key[1]:
        raise statuses.bad_request(f"name in URL does not match name in {kind} object")


def _target(binding: Any, key: Key, release: Release) -> str:
    if not isinstance(binding, dict):
        raise statuses.bad_request("Binding: the body must be an object")
    target = binding.get("target")
    target = target if isinstance(target, dict) else {}
    if target.get("kind") not in (None, "", "Node"):
        cause = statuses.unsupported("target.kind", target["kind"], ["Node", "<empty>"])
        raise statuses.invalid("Binding", "", key[1], [cause])
    if not target.get("name") or not isinstance(target["name"], str):
        raise statuses.invalid("Binding", "", key[1], [statuses.required("target.name")])
    name = str(target["name"])
    if release >= V1_37 and (problems := subdomain_problems(name)):
        causes = [statuses.bad_value("target.name", name, problem) for problem in problems]
        raise statuses.invalid("Binding", "", key[1], causes)
    return name


def _check_bindable(pod: Json, given: Json) -> None:
    meta, spec = pod["metadata"], pod["spec"]
    name = meta["name"]
    for field, want, have in (
        ("UID", given.get("uid"), meta["uid"]),
        ("ResourceVersion", given.get("resourceVersion"), meta["resourceVersion"]),
    ):
        if want and want != have:
            raise statuses.conflict("pods", name, failed_precondition(field, want, have))
    if "deletionTimestamp" in meta:
        why = f"pod {name} is being deleted, cannot be assigned to a host"
        raise statuses.conflict("pods/binding", name, why)
    if spec.get("nodeName"):
        why = f'pod {name} is already assigned to node "{spec["nodeName"]}"'
        raise statuses.conflict("pods/binding", name, why)
    if spec.get("schedulingGates"):
        why = f"pod {name} has non-empty .spec.schedulingGates"
        raise statuses.conflict("pods/binding", name, why)


def _scheduled(pod: Json, now: str) -> None:
    conditions = pod.setdefault("status", {}).get("conditions") or []
    kept = [one for one in conditions if one.get("type") != "PodScheduled"]
    bound = {
        "type": "PodScheduled",
        "status": "True",
        "lastProbeTime": None,
        "lastTransitionTime": now,
    }
    pod["status"]["conditions"] = [*kept, bound]
    pod["status"].pop("nominatedNodeName", None)  # it has no use any more


def evict(api: Api, key: Key, eviction: Any, call: Call) -> Json:
    """Delete a pod if its disruption budget allows it; raise 429 if it does not."""
    pods = api.kind("pods")
    given = eviction if isinstance(eviction, dict) else {}
    _check_name(given.get("metadata") or {}, key, "Eviction")
    pod = api.item(pods, key).decode()
    raw = given.get("deleteOptions")
    asked = typed_options(raw if isinstance(raw, dict) else {}, pods.schemas)
    options = DeleteOptions.read(asked)
    if call.dry_run:
        options = replace(options, dry_run=True)
    finished = pod["status"].get("phase") in ("Succeeded", "Failed", "Pending")
    if not finished and "deletionTimestamp" not in pod["metadata"]:
        _use_budget(api, pod, options.dry_run)
    if not options.dry_run:
        _note_disruption(api, pod)
    api.delete(pods, key, options)
    return {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201}


def _note_disruption(api: Api, pod: Json) -> None:
    """Add a condition to the pod's status that names the reason of its end."""
    condition = {
        "type": "DisruptionTarget",
        "status": "True",
        "lastProbeTime": None,
        "lastTransitionTime": time_text(api.store.clock.now()),
        "reason": "EvictionByEvictionAPI",
        "message": "Eviction API: evicting",
    }
    listed = pod["status"].get("conditions") or []
    others = [one for one in listed if one.get("type") != condition["type"]]
    pod["status"]["conditions"] = [*others, condition]
    api.store.update("pods", pod)


def _use_budget(api: Api, pod: Json, dry_run: bool) -> None:
    budgets = [
        budget
        for budget in api.store.objects(BUDGETS, pod["metadata"]["namespace"])
        if _covers(budget, pod)
    ]
    if len(budgets) > 1:
        message = (
            "This pod has more than one PodDisruptionBudget, "
            "which the eviction subresource does not support."
        )
        raise statuses.Refusal(500, "InternalError", message)
    for budget in budgets:
        _take_from(api, budget, pod, dry_run)


def _covers(budget: Json, pod: Json) -> bool:
    raw = (budget.get("spec") or {}).get("selector")
    if raw is None:
        return False
    try:
        selector = label_selector(msgspec.convert(raw, LabelSelector))
    except (InvalidSelector, msgspec.ValidationError):
        return False
    return selector.matches(pod["metadata"].get("labels") or {})


def _take_from(api: Api, budget: Json, pod: Json, dry_run: bool) -> None:
    status, name = budget.setdefault("status", {}), budget["metadata"]["name"]
    allowed = status.get("disruptionsAllowed", 0)
    if not _is_ready(pod) and _spares_unhealthy(budget):
        return  # the pod does not count as available
    if status.get("observedGeneration", 0) < budget["metadata"].get("generation", 0):
        message = "Cannot evict pod as it would violate the pod's disruption budget."
        cause = f"The disruption budget {name} is still being processed by the server."
        raise statuses.too_many_requests(message, [_budget_cause(cause)], retry=10)
    if allowed <= 0:
        message = "Cannot evict pod as it would violate the pod's disruption budget."
        cause = (
            f"The disruption budget {name} needs {status.get('desiredHealthy', 0)} healthy pods "
            f"and has {status.get('currentHealthy', 0)} currently"
        )
        raise statuses.too_many_requests(message, [_budget_cause(cause)])
    status["disruptionsAllowed"] = allowed - 1
    gone = status.setdefault("disruptedPods", {})
    gone[pod["metadata"]["name"]] = time_text(api.store.clock.now())
    api.store.update(BUDGETS, budget, dry_run=dry_run)


def _is_ready(pod: Json) -> bool:
    listed = pod["status"].get("conditions") or []
    return any(one.get("type") == "Ready" and one.get("status") == "True" for one in listed)


def _spares_unhealthy(budget: Json) -> bool:
    """Return whether pods that are not ready may be evicted regardless of the budget."""
    policy = (budget.get("spec") or {}).get("unhealthyPodEvictionPolicy")
    healthy, wanted = (budget["status"].get(f"{one}Healthy", 0) for one in ("current", "desired"))
    return policy == "AlwaysAllow" or (healthy >= wanted > 0)


def _budget_cause(message: str) -> Json:
    return {"reason": "DisruptionBudget", "message": message}


def finalize(api: Api, key: Key, raw: Any, call: Call) -> Json:
    """Set the finalizers in a namespace's spec. Without any, the namespace is removed."""
    kind = api.kind("namespaces")
    spec = raw.get("spec") if isinstance(raw, dict) else None
    finalizers = (spec or {}).get("finalizers") if isinstance(spec or {}, dict) else None
    obj = api.item(kind, key).decode()
    kept = [one for one in finalizers or [] if isinstance(one, str)]
    obj["spec"] = {**(obj.get("spec") or {}), "finalizers": kept}
    return api.store.update("namespaces", obj, dry_run=call.dry_run).decode()

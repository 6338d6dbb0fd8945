"""Semantic checks of single kinds: the few that kubectl and the scheduler rely on.

What types and required fields can say is the schema's; this is the rest, with the server's words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from podium.api import quantity
from podium.api.names import label_key_problems, label_value_problems
from podium.apiserver import statuses
from podium.apiserver.crd_schemas import schema_warnings
from podium.apiserver.crds import CRDS, crd_causes
from podium.apiserver.data_rules import DATA_RULES, NOT_MISSED
from podium.apiserver.json_path import at
from podium.apiserver.metadata import subdomain_problems
from podium.apiserver.placement_rules import EFFECTS
from podium.apiserver.pod_rules import pod_spec_causes, pod_update_causes
from podium.apiserver.schemas import Schema
from podium.apiserver.statuses import Cause, Json
from podium.apiserver.watches import Item
from podium.apiserver.workload_rules import (
    budget_causes,
    daemon_set_causes,
    deployment_causes,
    job_causes,
    stateful_set_update_causes,
    workload_causes,
)

Causes = Iterator[Cause]

_PROTOCOLS = ["SCTP", "TCP", "UDP"]
_NO_SOURCES = ("capacity", "claimRef", "nodeAffinity")
_ACCESS_MODES = ["ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"]
_MAX_PRIORITY = 1_000_000_000
_IMMUTABLE = "field is immutable"


def missing_fields(obj: Json, schema: Schema) -> Causes:
    """Required fields that are not there; a status is its writer's business."""
    if schema.name == "io.k8s.api.core.v1.Node":
        return  # its rules name all of them, at other places
    for name, below in schema.properties.items():
        if name in obj and name not in ("status", "metadata"):
            yield from _missing(obj[name], below, name)
    for name in _insisted(schema):
        if name not in obj:
            yield statuses.required(name)


def _insisted(schema: Schema) -> Iterator[str]:
    ignored = NOT_MISSED.get(schema.name.rpartition(".")[2], ())
    return (name for name in schema.required if name not in ignored)


def _missing(value: Any, schema: Schema, path: str) -> Causes:
    match value:
        case dict():
            for name in _insisted(schema):
                if value.get(name) is None:
                    yield statuses.required(f"{path}.{name}")
            for name, below in value.items():
                child = schema.child(name)
                if child is not None and name != "metadata":
                    inside = f"{path}.{name}" if name in schema.properties else f"{path}[{name}]"
                    yield from _missing(below, child, inside)
        case list():
            for index, one in enumerate(value):
                yield from _missing(one, schema.element, f"{path}[{index}]")


def create_causes(resource: str, obj: Json) -> Causes:
    check = _CREATE.get(resource)
    if check is not None:
        yield from check(obj)


def update_causes(resource: str, old: Json, new: Json) -> Causes:
    yield from create_causes(resource, new)
    check = _UPDATE.get(resource)
    if check is not None:
        yield from check(old, new)


def _pod(obj: Json) -> Causes:
    yield from pod_spec_causes(obj.get("spec") or {}, "spec")


def _priority_class(obj: Json) -> Causes:
    name, value = obj["metadata"].get("name", ""), obj.get("value", 0)
    if name.startswith("system-") and name not in (
        "system-node-critical",
        "system-cluster-critical",
    ):
        detail = (
            "priority class names with 'system-' prefix are reserved for system use only. "
            f"error: {name} is not a known system priority class"
        )
        yield statuses.not_allowed("metadata.name", detail)
    if value > _MAX_PRIORITY and not name.startswith("system-"):
        detail = f"maximum allowed value of a user defined priority is {_MAX_PRIORITY}"
        yield statuses.not_allowed("value", detail)
    if obj.get("preemptionPolicy") not in ("PreemptLowerPriority", "Never"):
        yield statuses.unsupported(
            "preemptionPolicy", obj.get("preemptionPolicy"), ["PreemptLowerPriority", "Never"]
        )


def _priority_class_update(old: Json, new: Json) -> Causes:
    if old.get("value", 0) != new.get("value", 0):
        yield statuses.not_allowed("value", "may not be changed in an update.")
    yield from _immutable("preemptionPolicy")(old, new)


def _storage_class(obj: Json) -> Causes:
    for name, choices in (
        ("reclaimPolicy", ["Delete", "Retain"]),
        ("volumeBindingMode", ["Immediate", "WaitForFirstConsumer"]),
    ):
        if obj.get(name) not in choices:
            yield statuses.unsupported(name, obj.get(name), choices)


def _service(obj: Json) -> Causes:
    spec = obj.get("spec") or {}
    kinds = ["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"]
    if spec.get("type") not in kinds:
        yield statuses.unsupported("spec.type", spec.get("type"), kinds)
    if spec.get("type") == "ExternalName" and not spec.get("externalName"):
        yield statuses.required("spec.externalName")
    if spec.get("sessionAffinity", "None") not in ("ClientIP", "None"):
        choices = ["ClientIP", "None"]
        yield statuses.unsupported("spec.sessionAffinity", spec["sessionAffinity"], choices)
    ports = spec.get("ports") or []
    if not ports and spec.get("type") != "ExternalName" and spec.get("clusterIP") != "None":
        yield statuses.required("spec.ports")
    for index, port in enumerate(ports):
        for name in ("port", "targetPort"):
            number = port.get(name, 0)
            if isinstance(number, int) and not 0 < number < 65536:
                detail = "must be between 1 and 65535, inclusive"
                yield statuses.bad_value(f"spec.ports[{index}].{name}", number, detail)
        if port.get("protocol", "TCP") not in _PROTOCOLS:
            path = f"spec.ports[{index}].protocol"
            yield statuses.unsupported(path, port["protocol"], _PROTOCOLS)
        if len(ports) > 1 and not port.get("name"):
            yield statuses.required(f"spec.ports[{index}].name")


def _claim(obj: Json) -> Causes:
    spec = obj.get("spec") or {}
    if not spec.get("accessModes"):
        yield statuses.required("spec.accessModes", "at least 1 access mode is required")
    for mode in spec.get("accessModes") or []:
        if mode not in _ACCESS_MODES:
            yield statuses.unsupported("spec.accessModes", mode, _ACCESS_MODES)
    size = ((spec.get("resources") or {}).get("requests") or {}).get("storage")
    if not size:
        yield statuses.required("spec.resources[storage]")
    elif quantity.parse(size) <= 0:
        yield statuses.bad_value("spec.resources[storage]", size, "must be greater than zero")
    for problem in subdomain_problems(spec.get("storageClassName") or "x"):
        yield statuses.bad_value("spec.storageClassName", spec["storageClassName"], problem)
    if spec.get("volumeMode") not in ("Block", "Filesystem"):
        modes = ["Block", "Filesystem"]
        yield statuses.unsupported("spec.volumeMode", spec.get("volumeMode"), modes)


def _volume(obj: Json) -> Causes:
    spec = obj.get("spec") or {}
    if not spec.get("accessModes"):
        yield statuses.required("spec.accessModes")
    for mode in spec.get("accessModes") or []:
        if mode not in _ACCESS_MODES:
            yield statuses.unsupported("spec.accessModes", mode, _ACCESS_MODES)
    if not spec.get("capacity"):
        yield statuses.required("spec.capacity")
        yield statuses.unsupported("spec.capacity", None, ["storage"])
    if not any(isinstance(one, dict) for name, one in spec.items() if name not in _NO_SOURCES):
        yield statuses.required("spec", "must specify a volume type")


def _node(obj: Json) -> Causes:
    seen = set()
    for index, taint in enumerate((obj.get("spec") or {}).get("taints") or []):
        path = f"metadata.taints[{index}]"  # where the server looks for them
        yield from _taint(taint, path)
        pair = (taint.get("key"), taint.get("effect"))
        if pair in seen:
            shown = {"Key": pair[0], "Value": taint.get("value", ""), "Effect": pair[1]}
            message = statuses.duplicate(path, {**shown, "TimeAdded": None}).message
            why = f"{message}: taints must be unique by key and effect pair"
            yield Cause("FieldValueDuplicate", path, why)
        seen.add(pair)


def _taint(taint: Json, path: str) -> Causes:
    key, value, effect = (taint.get(name) or "" for name in ("key", "value", "effect"))
    for problem in label_key_problems(key):
        yield statuses.bad_value(f"{path}.key", key, problem)
    for problem in label_value_problems(value):
        yield statuses.bad_value(f"{path}.value", value, problem)
    if not effect:
        yield statuses.required(f"{path}.effect")
    elif effect not in EFFECTS:
        yield statuses.unsupported(f"{path}.effect", effect, EFFECTS)


def _node_update(old: Json, new: Json) -> Causes:
    before, after = (one.get("spec") or {} for one in (old, new))
    if before.get("providerID") and before["providerID"] != after.get("providerID"):
        detail = 'node updates may not change providerID except from "" to valid'
        yield statuses.not_allowed("spec.providerID", detail)


def warnings(resource: str, item: Item) -> Iterator[str]:
    """What a client should know of an object that it may write nevertheless."""
    if resource == CRDS:
        yield from schema_warnings(item.decode())


def new_warnings(resource: str, obj: Json) -> Iterator[str]:
    """The same, of an object that was not there before."""
    if resource == "csidrivers.storage.k8s.io":
        spec = obj["spec"]
        if spec.get("tokenRequests") and "serviceAccountTokenInSecrets" not in spec:
            yield (
                "spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set "
                "to true to prevent possible logging of tokens in volume attributes"
            )


def _immutable(*paths: str) -> Callable[[Json, Json], Causes]:
    def check(old: Json, new: Json) -> Causes:
        for path in paths:
            before, after = at(old, path), at(new, path)
            if before != after:
                yield statuses.bad_value(path, after, _IMMUTABLE)

    return check


def _claim_update(old: Json, new: Json) -> Causes:
    """Bound claims may grow; others may be bound, and given a class when they have none."""
    before, after = dict(old["spec"]), dict(new["spec"])
    free = (
        ["resources", "volumeAttributesClassName"] if before.get("volumeName") else ["volumeName"]
    )
    if before.get("storageClassName") is None:
        free.append("storageClassName")
    for spec in (before, after):
        for name in free:
            spec.pop(name, None)
    if before != after:
        detail = (
            "spec is immutable after creation except resources.requests and "
            "volumeAttributesClassName for bound claims"
        )
        yield statuses.not_allowed("spec", detail)


def _frozen_data(old: Json, new: Json) -> Causes:
    if old.get("immutable"):
        if not new.get("immutable"):
            yield statuses.not_allowed("immutable", "field is immutable when `immutable` is set")
        for name in ("data", "binaryData"):
            if old.get(name) != new.get(name):
                yield statuses.not_allowed(name, "field is immutable when `immutable` is set")


_WORKLOADS = ("deployments.apps", "replicasets.apps", "statefulsets.apps", "daemonsets.apps")
_CREATE: dict[str, Callable[[Json], Causes]] = {
    **DATA_RULES,
    "pods": _pod,
    "nodes": _node,
    "services": _service,
    "persistentvolumes": _volume,
    "persistentvolumeclaims": _claim,
    "replicationcontrollers": workload_causes,
    **dict.fromkeys(_WORKLOADS, workload_causes),
    "deployments.apps": deployment_causes,
    "daemonsets.apps": daemon_set_causes,
    "jobs.batch": job_causes,
    "poddisruptionbudgets.policy": budget_causes,
    "priorityclasses.scheduling.k8s.io": _priority_class,
    "storageclasses.storage.k8s.io": _storage_class,
    CRDS: crd_causes,
}
_UPDATE: dict[str, Callable[[Json, Json], Causes]] = {
    "pods": pod_update_causes,
    "nodes": _node_update,
    "configmaps": _frozen_data,
    "secrets": _frozen_data,
    "persistentvolumeclaims": _claim_update,
    **dict.fromkeys(_WORKLOADS, _immutable("spec.selector")),
    "statefulsets.apps": stateful_set_update_causes,
    "controllerrevisions.apps": _immutable("data"),
    "jobs.batch": _immutable("spec.completions", "spec.selector", "spec.completionMode"),
    "priorityclasses.scheduling.k8s.io": _priority_class_update,
    "storageclasses.storage.k8s.io": _immutable(
        "parameters", "provisioner", "reclaimPolicy", "volumeBindingMode"
    ),
}

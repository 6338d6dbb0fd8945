"""Semantic checks of single kinds: the few that kubectl and the scheduler rely on.

What types and required fields can say is the schema's; this is the rest, with the server's words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from podium.apiserver import statuses
from podium.apiserver.crd_schemas import schema_warnings
from podium.apiserver.crds import CRDS, crd_causes
from podium.apiserver.pod_rules import pod_spec_causes, pod_update_causes
from podium.apiserver.schemas import Schema
from podium.apiserver.statuses import Cause, Json
from podium.apiserver.watches import Item

Causes = Iterator[Cause]

_MAX_PRIORITY = 1_000_000_000
_IMMUTABLE = "field is immutable"


def missing_fields(obj: Json, schema: Schema) -> Causes:
    """Required fields that are not there; a status is its writer's business."""
    for name, below in schema.properties.items():
        if name in obj and name not in ("status", "metadata"):
            yield from _missing(obj[name], below, name)
    for name in schema.required:
        if name not in obj:
            yield statuses.required(name)


def _missing(value: Any, schema: Schema, path: str) -> Causes:
    match value:
        case dict():
            for name in schema.required:
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
    check = _UPDATE.get(resource)
    if check is not None:
        yield from check(old, new)
    yield from create_causes(resource, new)


def _pod(obj: Json) -> Causes:
    yield from pod_spec_causes(obj.get("spec") or {}, "spec")


def _workload(obj: Json) -> Causes:
    spec = obj.get("spec") or {}
    yield from _not_negative(spec, "replicas")
    template = spec.get("template") or {}
    labels = (template.get("metadata") or {}).get("labels") or {}
    selector = spec.get("selector")
    if isinstance(selector, dict) and not _selects(selector, labels):
        shown = "{" + ",".join(f'"{k}":"{v}"' for k, v in sorted(labels.items())) + "}"
        message = f"Invalid value: {shown}: `selector` does not match template `labels`"
        yield Cause("FieldValueInvalid", "spec.template.metadata.labels", message)
    pod = template.get("spec") or {}
    yield from pod_spec_causes(pod, "spec.template.spec")
    if pod.get("restartPolicy", "Always") != "Always":
        path = "spec.template.spec.restartPolicy"
        yield statuses.unsupported(path, pod["restartPolicy"], ["Always"])


def _daemon_set(obj: Json) -> Causes:
    yield from _workload(obj)
    rolling = ((obj.get("spec") or {}).get("updateStrategy") or {}).get("rollingUpdate") or {}
    path = "spec.updateStrategy.rollingUpdate"
    unavailable, surge = (rolling.get(name, 0) for name in ("maxUnavailable", "maxSurge"))
    is_set = [value not in (0, "0%") for value in (unavailable, surge)]
    if rolling and all(is_set):
        detail = "may not be set when maxUnavailable is non-zero"
        yield statuses.bad_value(f"{path}.maxSurge", surge, detail)
    elif rolling and not any(is_set):
        yield statuses.required(f"{path}.maxUnavailable", "cannot be 0 when maxSurge is 0")


def _selects(selector: Json, labels: Json) -> bool:
    if "matchLabels" not in selector and "matchExpressions" not in selector:
        # A replication controller's selector is the map itself; an empty LabelSelector is refused.
        return bool(selector) and all(labels.get(k) == v for k, v in selector.items())
    wanted = selector.get("matchLabels") or {}
    return all(labels.get(key) == value for key, value in wanted.items())


def _job(obj: Json) -> Causes:
    spec = obj.get("spec") or {}
    for name in ("parallelism", "completions", "backoffLimit"):
        yield from _not_negative(spec, name)
    pod = (spec.get("template") or {}).get("spec") or {}
    yield from pod_spec_causes(pod, "spec.template.spec")
    if pod.get("restartPolicy") not in ("OnFailure", "Never"):
        path = "spec.template.spec.restartPolicy"
        yield statuses.unsupported(path, pod.get("restartPolicy"), ["OnFailure", "Never"])


def _not_negative(spec: Json, name: str) -> Causes:
    value = spec.get(name)
    if isinstance(value, int) and value < 0:
        detail = "must be greater than or equal to 0"
        yield statuses.bad_value(f"spec.{name}", value, detail)


def _budget(obj: Json) -> Causes:
    spec = obj.get("spec") or {}
    if "minAvailable" in spec and "maxUnavailable" in spec:
        shown = "minAvailable and maxUnavailable cannot be both set"
        yield statuses.bad_value("spec", "", shown)


def _priority_class(obj: Json) -> Causes:
    name, value = obj["metadata"].get("name", ""), obj.get("value", 0)
    if name.startswith("system-") and name not in (
        "system-node-critical",
        "system-cluster-critical",
    ):
        detail = "priority class names with 'system-' prefix are reserved for system use only"
        yield statuses.not_allowed("metadata.name", detail)
    if value > _MAX_PRIORITY and not name.startswith("system-"):
        detail = f"maximum allowed value of a user defined priority is {_MAX_PRIORITY}"
        yield statuses.not_allowed("value", detail)
    if obj.get("preemptionPolicy") not in ("PreemptLowerPriority", "Never"):
        yield statuses.unsupported(
            "preemptionPolicy", obj.get("preemptionPolicy"), ["PreemptLowerPriority", "Never"]
        )


def _service(obj: Json) -> Causes:
    spec = obj.get("spec") or {}
    kinds = ["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"]
    if spec.get("type") not in kinds:
        yield statuses.unsupported("spec.type", spec.get("type"), kinds)
    ports = spec.get("ports") or []
    if not ports and spec.get("type") != "ExternalName" and spec.get("clusterIP") != "None":
        yield statuses.required("spec.ports")
    for index, port in enumerate(ports):
        number = port.get("port", 0)
        if not 0 < number < 65536:
            detail = "must be between 1 and 65535, inclusive"
            yield statuses.bad_value(f"spec.ports[{index}].port", number, detail)
        if len(ports) > 1 and not port.get("name"):
            yield statuses.required(f"spec.ports[{index}].name")


def _claim(obj: Json) -> Causes:
    spec = obj.get("spec") or {}
    if not spec.get("accessModes"):
        yield statuses.required("spec.accessModes", "at least 1 access mode is required")
    if not ((spec.get("resources") or {}).get("requests") or {}).get("storage"):
        yield statuses.required("spec.resources[storage]")


def _volume(obj: Json) -> Causes:
    spec = obj.get("spec") or {}
    if not spec.get("accessModes"):
        yield statuses.required("spec.accessModes")
    if not spec.get("capacity"):
        yield statuses.required("spec.capacity")


def _node(obj: Json) -> Causes:
    seen = set()
    for index, taint in enumerate((obj.get("spec") or {}).get("taints") or []):
        path = f"spec.taints[{index}]"
        effects = ["NoSchedule", "PreferNoSchedule", "NoExecute"]
        if taint.get("effect") not in effects:
            yield statuses.unsupported(f"{path}.effect", taint.get("effect"), effects)
        pair = (taint.get("key"), taint.get("effect"))
        if pair in seen:
            yield statuses.duplicate(path, taint.get("key"))
        seen.add(pair)


def warnings(resource: str, item: Item) -> Iterator[str]:
    """What a client should know of an object that it may write nevertheless."""
    if resource == CRDS:
        yield from schema_warnings(item.decode())


def _immutable(*paths: str) -> Callable[[Json, Json], Causes]:
    def check(old: Json, new: Json) -> Causes:
        for path in paths:
            before, after = _at(old, path), _at(new, path)
            if before != after:
                yield statuses.bad_value(path, after, _IMMUTABLE)

    return check


def _at(obj: Any, path: str) -> Any:
    for name in path.split("."):
        obj = obj.get(name) if isinstance(obj, dict) else None
    return obj


def _claim_update(old: Json, new: Json) -> Causes:
    before = {k: v for k, v in old["spec"].items() if k not in ("resources", "volumeName")}
    after = {k: v for k, v in new["spec"].items() if k not in ("resources", "volumeName")}
    bound = old["spec"].get("volumeName")
    if before != after or (bound and bound != new["spec"].get("volumeName")):
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
    "pods": _pod,
    "nodes": _node,
    "services": _service,
    "persistentvolumes": _volume,
    "persistentvolumeclaims": _claim,
    "replicationcontrollers": _workload,
    **dict.fromkeys(_WORKLOADS, _workload),
    "daemonsets.apps": _daemon_set,
    "jobs.batch": _job,
    "poddisruptionbudgets.policy": _budget,
    "priorityclasses.scheduling.k8s.io": _priority_class,
    CRDS: crd_causes,
}
_UPDATE: dict[str, Callable[[Json, Json], Causes]] = {
    "pods": pod_update_causes,
    "configmaps": _frozen_data,
    "secrets": _frozen_data,
    "persistentvolumeclaims": _claim_update,
    **dict.fromkeys(_WORKLOADS, _immutable("spec.selector")),
    "statefulsets.apps": _immutable(
        "spec.selector", "spec.serviceName", "spec.podManagementPolicy", "spec.volumeClaimTemplates"
    ),
    "jobs.batch": _immutable("spec.selector", "spec.completionMode"),
    "priorityclasses.scheduling.k8s.io": _immutable("value", "preemptionPolicy"),
    "storageclasses.storage.k8s.io": _immutable(
        "parameters", "provisioner", "reclaimPolicy", "volumeBindingMode"
    ),
}

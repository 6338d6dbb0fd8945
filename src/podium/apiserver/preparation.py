"""Which half of an object a write may set: its spec through itself, its status through /status."""

from __future__ import annotations

from collections.abc import Callable

from podium.apiserver.kinds import Kind
from podium.apiserver.pod_status import qos_class
from podium.apiserver.statuses import Json

_SYSTEM = (
    "uid",
    "resourceVersion",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "selfLink",
)
_EMPTY_NODE_INFO = dict.fromkeys(
    (
        "machineID",
        "systemUUID",
        "bootID",
        "kernelVersion",
        "osImage",
        "containerRuntimeVersion",
        "kubeletVersion",
        "kubeProxyVersion",
        "operatingSystem",
        "architecture",
    ),
    "",
)
_ZEROS: Json = {"integer": 0, "boolean": False}
# Kinds whose generation stays at one.
_FIRST_GENERATION = frozenset({"priorityclasses.scheduling.k8s.io"})
# A node reports its status when it registers, in one go.
_CREATED_WITH_STATUS = frozenset({"nodes"})
# Their status writers set labels and annotations on the way.
_STATUS_WITH_METADATA = frozenset({"pods", "nodes"})


def strip_system_metadata(meta: Json) -> None:
    for name in _SYSTEM:
        meta.pop(name, None)


def drop_status(kind: Kind, obj: Json) -> None:
    """A new object's status is not its creator's to say."""
    if kind.has_status and kind.resource not in _CREATED_WITH_STATUS:
        obj.pop("status", None)


def prepare_create(kind: Kind, obj: Json, now: str) -> None:
    """What a new object of its kind starts with, owned by nobody."""
    if not kind.custom and kind.has_status:
        schema = kind.schema.properties["status"]
        types = {one: schema.properties[one].type for one in schema.required}
        zeros = {one: _ZEROS[kind] for one, kind in types.items() if kind in _ZEROS}
        obj["status"] = {**zeros, **obj.get("status", {})}
    if kind.resource == "pods":
        _start_pod(obj, now)
    elif kind.resource == "persistentvolumes":
        obj["status"] = {"phase": "Pending", "lastPhaseTransitionTime": now}
    elif start := _STARTS.get(kind.storage):
        start(obj)


def _start_pod(pod: Json, now: str) -> None:
    spec = pod.get("spec") or {}
    pod["status"] = {"phase": "Pending", "qosClass": qos_class(spec)}
    if spec.get("schedulingGates"):
        condition = {"type": "PodScheduled", "status": "False", "reason": "SchedulingGated"}
        condition["message"] = "Scheduling is blocked due to non-empty scheduling gates"
        times = {"lastProbeTime": None, "lastTransitionTime": now}
        pod["status"]["conditions"] = [{**condition, **times}]


def _start_budget(budget: Json) -> None:
    counts = ("disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods")
    budget["status"] = dict.fromkeys(counts, 0)


def _start_job(job: Json) -> None:
    """A job without a selector of its own selects by its uid."""
    meta, spec = job["metadata"], job["spec"]
    if spec.get("manualSelector") or spec.get("selector"):
        return
    uid, name = meta["uid"], meta.get("name", "")
    prefixed = {f"batch.kubernetes.io/{key}": value for key, value in _job_labels(uid, name)}
    labels = {**prefixed, **dict(_job_labels(uid, name))}
    template = spec["template"].setdefault("metadata", {})
    own = template["labels"] = {**(template.get("labels") or {}), **labels}
    if not meta.get("labels"):
        meta["labels"] = dict(own)
    spec["selector"] = {"matchLabels": {"batch.kubernetes.io/controller-uid": uid}}


def _job_labels(uid: str, name: str) -> list[tuple[str, str]]:
    return [("controller-uid", uid), ("job-name", name)]


def _start_namespace(namespace: Json) -> None:
    namespace["status"] = {"phase": "Active"}
    spec = namespace.setdefault("spec", {})
    if "kubernetes" not in spec.setdefault("finalizers", []):
        spec["finalizers"].append("kubernetes")


def _start_service(service: Json) -> None:
    service["status"] = {"loadBalancer": {}}


def _start_scaler(scaler: Json) -> None:
    scaler["status"]["currentMetrics"] = None


def _start_node(node: Json) -> None:
    status = node.setdefault("status", {})
    status["daemonEndpoints"] = status.get("daemonEndpoints") or {"kubeletEndpoint": {"Port": 0}}
    status["nodeInfo"] = {**_EMPTY_NODE_INFO, **(status.get("nodeInfo") or {})}


def _start_definition(definition: Json) -> None:
    versions = definition["spec"].get("versions") or []
    stored = [one.get("name") for one in versions if one.get("storage")]
    names = {"plural": "", "kind": ""}
    definition["status"] = {"conditions": [], "acceptedNames": names, "storedVersions": stored}


def _start_claim(claim: Json) -> None:
    claim["status"] = {"phase": "Pending"}


def _start_stateful_set(workload: Json) -> None:
    workload["status"] = {"replicas": 0, "availableReplicas": 0}
    workload["spec"].setdefault("serviceName", "")


def _start_event(event: Json) -> None:
    """Times and sources are always there; the newer version has its own names for them."""
    is_newer = event["apiVersion"] != "v1"
    times = ("firstTimestamp", "lastTimestamp")
    for name in times:
        event.setdefault(f"deprecated{name[0].upper()}{name[1:]}" if is_newer else name, None)
    event.setdefault("eventTime", None)
    event.setdefault("deprecatedSource" if is_newer else "source", {})
    for name in () if is_newer else ("reportingComponent", "reportingInstance"):
        event.setdefault(name, "")


_STARTS: dict[str, Callable[[Json], None]] = {
    "nodes": _start_node,
    "jobs.batch": _start_job,
    "poddisruptionbudgets.policy": _start_budget,
    "namespaces": _start_namespace,
    "services": _start_service,
    "ingresses.networking.k8s.io": _start_service,
    "horizontalpodautoscalers.autoscaling": _start_scaler,
    "customresourcedefinitions.apiextensions.k8s.io": _start_definition,
    "persistentvolumeclaims": _start_claim,
    "statefulsets.apps": _start_stateful_set,
}


def complete(kind: Kind, obj: Json) -> None:
    """What Go always writes, set or not, and nobody owns."""
    if fill := _ALWAYS.get(kind.storage):
        fill(obj)


def _spec_of(obj: Json) -> Json:
    spec: Json = obj.setdefault("spec", {})
    return spec


def _list_in_spec(name: str) -> Callable[[Json], None]:
    return lambda obj: _spec_of(obj).setdefault(name, None)


def _devices(spec: Json) -> None:
    spec.setdefault("devices", {}).setdefault("requests", None)


def _no_rules(role: Json) -> None:
    role.setdefault("rules", None)


def _zero_field(name: str) -> Callable[[Json], None]:
    return lambda obj: obj.setdefault(name, 0)


_ALWAYS: dict[str, Callable[[Json], object]] = {
    "events": _start_event,
    "roles.rbac.authorization.k8s.io": _no_rules,
    "clusterroles.rbac.authorization.k8s.io": _no_rules,
    "leases.coordination.k8s.io": _spec_of,
    "poddisruptionbudgets.policy": _spec_of,
    "resourcequotas": _spec_of,
    "deviceclasses.resource.k8s.io": _spec_of,
    "limitranges": _list_in_spec("limits"),
    "csinodes.storage.k8s.io": _list_in_spec("drivers"),
    "networkpolicies.networking.k8s.io": lambda obj: _spec_of(obj).setdefault("podSelector", {}),
    "resourceclaims.resource.k8s.io": lambda obj: _devices(_spec_of(obj)),
    "resourceclaimtemplates.resource.k8s.io": lambda obj: _devices(
        _spec_of(obj).setdefault("spec", {})
    ),
    "priorityclasses.scheduling.k8s.io": _zero_field("value"),
    "controllerrevisions.apps": _zero_field("revision"),
}


def keep_status(kind: Kind, old: Json, new: Json) -> Json:
    """A write of the object itself leaves its status alone."""
    if kind.resource == "namespaces":  # what holds it is the business of /finalize
        kept = old["spec"].get("finalizers")
        new = {**new, "spec": {**(new.get("spec") or {}), "finalizers": kept}}
    if not kind.has_status:
        return new
    found = {name: value for name, value in new.items() if name != "status"}
    if "status" in old:
        found["status"] = old["status"]
    return found


def only_status(kind: Kind, old: Json, new: Json) -> Json:
    """A write of the status leaves all else alone, but for the version it was based on."""
    meta = dict(old["metadata"])
    for name in ("resourceVersion", "uid"):
        if name in new["metadata"]:
            meta[name] = new["metadata"][name]
        else:
            meta.pop(name, None)
    if kind.resource in _STATUS_WITH_METADATA:
        for name in ("labels", "annotations"):
            if name in new["metadata"]:
                meta[name] = new["metadata"][name]
    if new["metadata"].get("managedFields") is not None:
        meta["managedFields"] = new["metadata"]["managedFields"]
    found = {**old, "metadata": meta}
    if "status" in new:
        found["status"] = new["status"]
    return found


def keep_names(old: Json, new: Json) -> None:
    """Metadata that no update changes."""
    for name in ("generateName", "generation", "selfLink"):
        if name in old:
            new[name] = old[name]
        else:
            new.pop(name, None)


def count_generation(kind: Kind, old: Json, new: Json) -> None:
    """Let the generation say whether the spec has changed."""
    if not kind.counts_generations or kind.resource in _FIRST_GENERATION:
        return
    hidden = ("metadata", "status")
    before = {name: value for name, value in old.items() if name not in hidden}
    after = {name: value for name, value in new.items() if name not in hidden}
    if kind.resource == "deployments.apps":  # its controller reads some of them
        before["annotations"] = old["metadata"].get("annotations") or {}
        after["annotations"] = new["metadata"].get("annotations") or {}
    if kind.resource == "endpointslices.discovery.k8s.io":  # they say whose it is
        before["labels"] = old["metadata"].get("labels") or {}
        after["labels"] = new["metadata"].get("labels") or {}
    new["metadata"]["generation"] = old["metadata"].get("generation", 1) + (before != after)

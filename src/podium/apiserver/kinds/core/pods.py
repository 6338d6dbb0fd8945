"""Pods: defaults, the status of a new pod, and the columns of `kubectl get pods`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from podium.api import quantity
from podium.apiserver import statuses
from podium.apiserver.admission.default_tolerations import add_default_tolerations
from podium.apiserver.admission.priority import resolve_priority
from podium.apiserver.admission.runtime_class import apply_runtime_class
from podium.apiserver.json_path import at
from podium.apiserver.kinds.api_kind import NOT_SELECTABLE, ApiKind
from podium.apiserver.kinds.columns import AGE, NAME, NONE, Column, age, column
from podium.apiserver.kinds.pod_spec import pod_level
from podium.apiserver.kinds.pod_spec.checks import pod_spec_causes, pod_update_causes
from podium.apiserver.kinds.pod_spec.claims import claim_status_causes
from podium.apiserver.kinds.pod_spec.defaults import (
    set_defaults_of_pods_only,
    set_missing,
    set_pod_defaults,
)
from podium.apiserver.kinds.workloads import spec_of
from podium.apiserver.statuses import Cause, Json
from podium.release import V1_36


def _set_defaults(pod: Json) -> None:
    spec = spec_of(pod)
    set_pod_defaults(spec)
    set_defaults_of_pods_only(spec)
    set_missing(spec, enableServiceLinks=True)
    status = pod.get("status") or {}
    set_condition_times(status, "lastProbeTime", "lastTransitionTime")
    _match_addresses(status)


def _match_addresses(status: Json) -> None:
    """Make a pod's address the first one of its list; the single field decides."""
    first = (status.get("podIPs") or [{}])[0].get("ip")
    address = status.get("podIP") or first
    if address and address != first:
        status["podIPs"] = [{"ip": address}]
    elif address:
        status["podIP"] = address


def _set_defaults_and_pod_level(pod: Json) -> None:
    """Fill in resources of the pod as a whole as defaults, which its creator owns, as in 1.36."""
    _set_defaults(pod)
    pod_level.set_requests_beside_limits(pod["spec"])


def set_condition_times(status: Json, *names: str) -> None:
    """Set missing times of conditions to null."""
    for condition in status.get("conditions") or []:
        for name in names:
            condition.setdefault(name, None)


def _start(pod: Json, now: str) -> None:
    """Complete a new pod. What is filled in here has no owner."""
    pod_level.set_resources(pod["spec"])
    _set_initial_status(pod, now)


def _start_with_written_resources(pod: Json, now: str) -> None:
    """Start a pod as 1.36 does, where even empty resources of the pod decide about its class."""
    _set_initial_status(pod, now)
    if pod["spec"].get("resources") == {}:
        pod["status"]["qosClass"] = "BestEffort"


def _set_initial_status(pod: Json, now: str) -> None:
    spec = pod["spec"]
    pod["status"] = {"phase": "Pending", "qosClass": qos_class(spec)}
    if spec.get("schedulingGates"):
        condition = {"type": "PodScheduled", "status": "False", "reason": "SchedulingGated"}
        condition["message"] = "Scheduling is blocked due to non-empty scheduling gates"
        times = {"lastProbeTime": None, "lastTransitionTime": now}
        pod["status"]["conditions"] = [{**condition, **times}]


_COUNTED = ("cpu", "memory")


def qos_class(spec: Json) -> str:
    """Return Guaranteed, Burstable or BestEffort, by requests and limits of the containers."""
    containers = [*(spec.get("containers") or []), *(spec.get("initContainers") or [])]
    amounts = [container.get("resources") or {} for container in containers]
    if of_pod := spec.get("resources"):
        amounts = [of_pod]  # resources of the pod as a whole decide instead of the containers'
    if not any(_positive(one.get(group)) for one in amounts for group in ("requests", "limits")):
        return "BestEffort"
    return "Guaranteed" if all(map(_is_guaranteed, amounts)) else "Burstable"


def _positive(amounts: Json | None) -> Json:
    return {
        name: value
        for name in _COUNTED
        if (value := quantity.parse((amounts or {}).get(name, 0))) > 0
    }


def _is_guaranteed(resources: Json) -> bool:
    limits = _positive(resources.get("limits"))
    requests = _positive(resources.get("requests")) or limits
    return set(limits) == set(_COUNTED) and {**limits, **requests} == limits


def _check(pod: Json) -> Iterator[Cause]:
    spec = pod.get("spec") or {}
    yield from pod_spec_causes(spec, "spec")
    for index, volume in enumerate(spec.get("volumes") or []):
        image = volume.get("image")
        if image is not None and not image.get("reference"):
            yield statuses.required(f"spec.volumes[{index}].image.reference")
    yield from pod_level.request_causes(spec, "spec")


def pod_grace(pod: Json, asked: int | None = None) -> int:
    """Return the grace period of a pod; 0 if it never ran or has finished."""
    spec, status = pod.get("spec") or {}, pod.get("status") or {}
    if not spec.get("nodeName") or status.get("phase") in ("Succeeded", "Failed"):
        return 0
    grace = spec.get("terminationGracePeriodSeconds", 30) if asked is None else asked
    return int(grace) if grace >= 0 else 1


def pod_status(pod: Json) -> str:
    """Return one word for a pod's state: the most specific reason, or its phase."""
    status = pod.get("status") or {}
    reason = status.get("reason") or status.get("phase") or ""
    for condition in status.get("conditions") or []:
        if condition.get("type") == "PodScheduled" and condition.get("reason") == "SchedulingGated":
            reason = "SchedulingGated"
    waiting = _init_reason(pod)
    reason = waiting or _container_reason(status, reason)
    if "deletionTimestamp" in pod["metadata"]:
        return "Unknown" if status.get("reason") == "NodeLost" else "Terminating"
    return reason


def _init_reason(pod: Json) -> str:
    statuses = at(pod, "status.initContainerStatuses") or []
    total = len(at(pod, "spec.initContainers") or [])
    for index, one in enumerate(statuses):
        state = one.get("state") or {}
        ended, waiting = state.get("terminated"), state.get("waiting") or {}
        if ended is not None and ended.get("exitCode", 0) == 0:
            continue
        if ended is not None:
            return f"Init:{ended.get('reason') or _exit(ended)}"
        if waiting.get("reason") not in (None, "", "PodInitializing"):
            return f"Init:{waiting['reason']}"
        return f"Init:{index}/{total}"
    return ""


def _container_reason(status: Json, reason: str) -> str:
    has_running = False
    for one in reversed(status.get("containerStatuses") or []):
        state = one.get("state") or {}
        waiting, ended = state.get("waiting") or {}, state.get("terminated")
        if waiting.get("reason"):
            reason = waiting["reason"]
        elif ended is not None:
            reason = ended.get("reason") or _exit(ended)
        elif one.get("ready") and "running" in state:
            has_running = True
    if reason == "Completed" and has_running:
        conditions = {c.get("type"): c.get("status") for c in status.get("conditions") or []}
        return "Running" if conditions.get("Ready") == "True" else "NotReady"
    return reason


def _exit(ended: Json) -> str:
    if ended.get("signal"):
        return f"Signal:{ended['signal']}"
    return f"ExitCode:{ended.get('exitCode', 0)}"


def _ready(pod: Json) -> str:
    statuses = at(pod, "status.containerStatuses") or []
    ready = sum(bool(one.get("ready")) for one in statuses)
    return f"{ready}/{len(at(pod, 'spec.containers') or [])}"


def _restarts(pod: Json, now: float) -> Any:
    statuses = at(pod, "status.containerStatuses") or []
    count = sum(one.get("restartCount", 0) for one in statuses)
    ends = [at(one, "lastState.terminated.finishedAt") for one in statuses]
    last = max(filter(None, ends), default=None)
    return f"{count} ({age(last, now)} ago)" if count and last else str(count)


def _ip(pod: Json) -> str:
    listed = at(pod, "status.podIPs") or []
    return (listed[0].get("ip") if listed else at(pod, "status.podIP")) or NONE


def _gates(pod: Json) -> str:
    gates = at(pod, "spec.readinessGates") or []
    if not gates:
        return NONE
    conditions = {c.get("type"): c.get("status") for c in at(pod, "status.conditions") or []}
    true = sum(conditions.get(gate.get("conditionType")) == "True" for gate in gates)
    return f"{true}/{len(gates)}"


POD = ApiKind(
    "",
    "v1",
    "Pod",
    "pods",
    short_names=("po",),
    categories=("all",),
    subresources=(
        "status",
        "binding",
        "eviction",
        "log",
        "exec",
        "attach",
        "portforward",
        "ephemeralcontainers",
    ),
    counts_generations=True,
    status_sets_metadata=True,
    kept_in_status=(
        "observedGeneration",
        "qosClass",
        "resourceClaimStatuses",
        "extendedResourceClaimStatus",
        "nodeAllocatableResourceClaimStatuses",
    ),
    set_defaults=_set_defaults,
    admissions=(resolve_priority, add_default_tolerations, apply_runtime_class),
    start=_start,
    check=_check,
    check_update=pod_update_causes,
    check_status=claim_status_causes,
    not_required={"ResourceClaim": ("name",)},  # the check reports it by another path
    columns=(
        NAME,
        column("Ready", _ready),
        column("Status", pod_status),
        Column("Restarts", "string", 0, _restarts),
        AGE,
        column("IP", _ip, wide=True),
        column("Node", lambda pod: at(pod, "spec.nodeName") or NONE, wide=True),
        column(
            "Nominated Node", lambda pod: at(pod, "status.nominatedNodeName") or NONE, wide=True
        ),
        column("Readiness Gates", _gates, wide=True),
    ),
    selectable_fields=(
        "spec.nodeName",
        "spec.restartPolicy",
        "spec.schedulerName",
        "spec.serviceAccountName",
        "spec.hostNetwork",
        "status.phase",
        "status.podIP",
        "status.podIPs",
        "status.nominatedNodeName",
    ),
    unknown_field=NOT_SELECTABLE,
    grace=pod_grace,
    is_graceful=True,
    shown_when_deleted=True,
    earlier={
        V1_36: {
            "set_defaults": _set_defaults_and_pod_level,
            "start": _start_with_written_resources,
            "kept_in_status": ("observedGeneration", "qosClass"),
        }
    },
)

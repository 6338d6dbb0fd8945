"""The columns of pods: what `kubectl get pods` makes of a status."""

from __future__ import annotations

from typing import Any

from podium.apiserver.json_path import at
from podium.apiserver.printing import NONE, Column, age, column
from podium.apiserver.statuses import Json


def pod_status(pod: Json) -> str:
    """One word for a pod's state: the most telling reason, else its phase."""
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


POD_COLUMNS = [
    column("Ready", _ready),
    column("Status", pod_status),
    Column("Restarts", "string", 0, _restarts),
    column("IP", _ip, wide=True),
    column("Node", lambda pod: at(pod, "spec.nodeName") or NONE, wide=True),
    column("Nominated Node", lambda pod: at(pod, "status.nominatedNodeName") or NONE, wide=True),
    column("Readiness Gates", _gates, wide=True),
]

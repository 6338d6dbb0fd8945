"""One object in two versions: how it is stored, and how another version of its kind shows it."""

from __future__ import annotations

from podium.apiserver.kinds import Kind
from podium.apiserver.statuses import Json

# events.k8s.io/v1 and what v1 calls the same field.
_EVENT_FIELDS = {
    "regarding": "involvedObject",
    "note": "message",
    "deprecatedSource": "source",
    "deprecatedFirstTimestamp": "firstTimestamp",
    "deprecatedLastTimestamp": "lastTimestamp",
    "deprecatedCount": "count",
    "reportingController": "reportingComponent",
}
_BACK = {old: new for new, old in _EVENT_FIELDS.items()}


_SCALERS = "horizontalpodautoscalers.autoscaling"


def to_stored(kind: Kind, obj: Json) -> Json:
    if not kind.stored_version:
        return obj
    found = {**obj, "apiVersion": kind.stored_version}
    if kind.storage == _SCALERS:
        return _scaler_to_stored(found)
    return _renamed(found, _EVENT_FIELDS) if kind.storage == "events" else found


def from_stored(kind: Kind, obj: Json) -> Json:
    if not kind.stored_version:
        return obj
    found = {**obj, "apiVersion": kind.api_version}
    if kind.storage == _SCALERS:
        return _scaler_from_stored(found)
    return _newer_event(found) if kind.storage == "events" else found


def _newer_event(found: Json) -> Json:
    reporters = ("reportingComponent", "reportingInstance")
    kept = {name: one for name, one in found.items() if one or name not in reporters}
    return _renamed(kept, _BACK)


def _renamed(obj: Json, names: dict[str, str]) -> Json:
    return {names.get(name, name): value for name, value in obj.items()}


def _scaler_to_stored(obj: Json) -> Json:
    """autoscaling/v1 knows one metric, the CPU in percent of what is requested."""
    spec = dict(obj.get("spec") or {})
    percent = spec.pop("targetCPUUtilizationPercentage", None)
    if percent is not None:
        target = {"type": "Utilization", "averageUtilization": percent}
        spec["metrics"] = [{"type": "Resource", "resource": {"name": "cpu", "target": target}}]
    return {**obj, "spec": spec}


def _scaler_from_stored(obj: Json) -> Json:
    spec = dict(obj.get("spec") or {})
    spec.pop("behavior", None)
    for metric in spec.pop("metrics", None) or []:
        resource = metric.get("resource") or {}
        percent = (resource.get("target") or {}).get("averageUtilization")
        if resource.get("name") == "cpu" and percent is not None:
            spec["targetCPUUtilizationPercentage"] = percent
    unknown = ("conditions", "currentMetrics")
    status = {k: v for k, v in (obj.get("status") or {}).items() if k not in unknown}
    return {**obj, "spec": spec, "status": status}

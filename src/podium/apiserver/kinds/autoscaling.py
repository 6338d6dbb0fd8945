"""The group autoscaling: horizontal pod autoscalers, stored as v2 and also served as v1."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from podium.apiserver import statuses
from podium.apiserver.json_path import at
from podium.apiserver.kinds.api_kind import ApiKind
from podium.apiserver.kinds.columns import AGE, NAME, NONE, UNSET, column, first_of
from podium.apiserver.kinds.pod_spec.defaults import set_missing
from podium.apiserver.kinds.workloads import spec_of
from podium.apiserver.statuses import Cause, Json
from podium.release import V1_36

Causes = Iterator[Cause]


def _set_defaults(obj: Json) -> None:
    """Set the defaults of either version; without a metric the target is 80 % of the CPU."""
    spec = spec_of(obj)
    set_missing(spec, minReplicas=1)
    if obj["apiVersion"] == "autoscaling/v1":
        set_missing(spec, targetCPUUtilizationPercentage=80)
    elif not spec.get("metrics"):
        target = {"type": "Utilization", "averageUtilization": 80}
        spec["metrics"] = [{"type": "Resource", "resource": {"name": "cpu", "target": target}}]


def _start(scaler: Json, now: str) -> None:
    scaler["status"]["currentMetrics"] = None


def _check(scaler: Json) -> Causes:
    spec = scaler.get("spec") or {}
    yield from _bound_causes(spec)
    yield from _target_causes(spec)
    yield from _metric_causes(spec)
    yield from _least_causes(spec, 0)
    yield from _most_causes(spec, "")


def _check_replicas_first(scaler: Json) -> Causes:
    """Check an autoscaler in the order of 1.36, which does not scale to zero."""
    spec = scaler.get("spec") or {}
    yield from _least_causes(spec, 1)
    yield from _most_causes(spec, "must be set and greater than 0")
    yield from _bound_causes(spec)
    yield from _target_causes(spec)
    yield from _metric_causes(spec)


def _least_causes(spec: Json, bound: int) -> Causes:
    if spec.get("minReplicas", bound) < bound:
        detail = f"must be greater than or equal to {bound}"
        yield statuses.bad_value("spec.minReplicas", spec["minReplicas"], detail)


def _most_causes(spec: Json, why_required: str) -> Causes:
    most = spec.get("maxReplicas") or 0
    if most == 0:
        yield statuses.required("spec.maxReplicas", why_required)
    elif most < 0:
        yield statuses.bad_value("spec.maxReplicas", most, "must be greater than or equal to 1")


def _bound_causes(spec: Json) -> Causes:
    most, least = spec.get("maxReplicas") or 0, spec.get("minReplicas", 1)
    if most < least:
        detail = "must be greater than or equal to `minReplicas`"
        yield statuses.bad_value("spec.maxReplicas", most, detail)


def _target_causes(spec: Json) -> Causes:
    target = spec.get("scaleTargetRef") or {}
    for name in ("kind", "name"):
        if not target.get(name):
            yield statuses.required(f"spec.scaleTargetRef.{name}")
    version = target.get("apiVersion") or ""
    if not version:
        detail = "apiVersion must specify API group"
        yield statuses.bad_value("spec.scaleTargetRef.apiVersion", version, detail)


def _metric_causes(spec: Json) -> Causes:
    kinds = {metric.get("type") for metric in spec.get("metrics") or []}
    if spec.get("minReplicas") == 0 and not kinds & {"Object", "External"}:
        detail = "must specify at least one Object or External metric to support scaling to zero"
        yield statuses.not_allowed("spec.metrics", f"{detail} replicas")


def _reference(scaler: Json) -> str:
    target = at(scaler, "spec.scaleTargetRef") or {}
    return f"{target.get('kind')}/{target.get('name')}"


def _targets(scaler: Json) -> str:
    """Show the targets. Nothing is measured here, so present values are unknown."""
    resources = [one.get("resource") or {} for one in at(scaler, "spec.metrics") or []]
    shown = [f"{one.get('name')}: <unknown>/{_target(one)}" for one in resources if one]
    return first_of(shown, 2, ", ") or NONE


def _target(resource: Json) -> str:
    percent = at(resource, "target.averageUtilization")
    return f"{percent}%" if percent is not None else str(at(resource, "target.averageValue"))


SCALER = ApiKind(
    "autoscaling",
    "v2",
    "HorizontalPodAutoscaler",
    "horizontalpodautoscalers",
    short_names=("hpa",),
    categories=("all",),
    subresources=("status",),
    counts_generations=True,
    set_defaults=_set_defaults,
    start=_start,
    check=_check,
    earlier={V1_36: {"counts_generations": False, "check": _check_replicas_first}},
    not_required={
        "HorizontalPodAutoscaler": ("spec",),
        "HorizontalPodAutoscalerSpec": ("maxReplicas", "scaleTargetRef"),
    },
    columns=(
        NAME,
        column("Reference", _reference),
        column("Targets", _targets),
        column("MinPods", lambda o: str(at(o, "spec.minReplicas") or UNSET)),
        column("MaxPods", lambda o: at(o, "spec.maxReplicas"), kind="integer"),
        column("Replicas", lambda o: at(o, "status.currentReplicas") or 0, kind="integer"),
        AGE,
    ),
)


def _from_older(obj: Json) -> Json:
    """Convert from autoscaling/v1, whose only metric is the CPU in percent of the request."""
    spec = dict(obj.get("spec") or {})
    percent = spec.pop("targetCPUUtilizationPercentage", None)
    if percent is not None:
        target = {"type": "Utilization", "averageUtilization": percent}
        spec["metrics"] = [{"type": "Resource", "resource": {"name": "cpu", "target": target}}]
    return {**obj, "spec": spec}


def _to_older(obj: Json) -> Json:
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


OLDER_SCALER = replace(
    SCALER,
    version="v1",
    stored_version="autoscaling/v2",
    convert_to_stored=_from_older,
    convert_from_stored=_to_older,
)

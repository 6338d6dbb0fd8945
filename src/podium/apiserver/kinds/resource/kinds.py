"""The kinds of resource.k8s.io: their defaults, checks and columns."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from podium.api.times import time_text
from podium.apiserver.admission.admin_access import require_admin_label
from podium.apiserver.json_path import at
from podium.apiserver.kinds.api_kind import ApiKind
from podium.apiserver.kinds.columns import AGE, NAME, UNSET, Column, age, column
from podium.apiserver.kinds.pod_spec.defaults import set_missing
from podium.apiserver.kinds.resource import allocations, requests, slices, taints
from podium.apiserver.kinds.resource.values import Found, in_order
from podium.apiserver.kinds.workloads import declared_immutable, immutable, spec_of
from podium.apiserver.names import subdomain_bytes_problems
from podium.apiserver.statuses import Cause, Json
from podium.release import V1_36, V1_37, Release

_GROUP = "resource.k8s.io"
Check = Callable[[Json], Iterator[Cause]]


def _check(causes: Callable[[Json, Release], Found], release: Release = V1_37) -> Check:
    return lambda obj: in_order(causes(obj, release), release)


def _check_update(
    causes: Callable[[Json, Json, Release], Found], release: Release = V1_37
) -> Callable[[Json, Json], Iterator[Cause]]:
    return lambda old, new: in_order(causes(old, new, release), release)


DEVICE_CLASS = ApiKind(
    _GROUP,
    "v1",
    "DeviceClass",
    "deviceclasses",
    namespaced=False,
    name_problems=subdomain_bytes_problems,
    checks_name_prefix=False,
    counts_generations=True,
    complete=spec_of,
    check=_check(requests.class_causes),
    checks_updates=False,
    check_update=_check_update(requests.class_update_causes),
    checks_required=False,
    earlier={
        V1_36: {
            "check": _check(requests.class_causes, V1_36),
            "check_update": _check_update(requests.class_update_causes, V1_36),
        }
    },
    shown_when_deleted=True,
)


def _set_claim_defaults(obj: Json) -> None:
    _set_request_defaults(spec_of(obj))
    if at(obj, "status.allocation") is not None:
        set_missing(obj["status"]["allocation"], devices={})
    for result in at(obj, "status.allocation.devices.results") or []:
        _set_toleration_defaults(result)


def _set_template_defaults(obj: Json) -> None:
    spec = spec_of(obj)
    spec.setdefault("metadata", {})
    _set_request_defaults(spec.setdefault("spec", {}))


def _set_request_defaults(spec: Json) -> None:
    for request in (spec.get("devices") or {}).get("requests") or []:
        for one in (request.get("exactly"), *(request.get("firstAvailable") or [])):
            if isinstance(one, dict):
                set_missing(one, allocationMode="ExactCount")
                _set_toleration_defaults(one)
                if one["allocationMode"] == "ExactCount":
                    set_missing(one, count=1)


def _set_toleration_defaults(holder: Json) -> None:
    for toleration in holder.get("tolerations") or []:
        set_missing(toleration, operator="Equal")


def _complete_devices(spec: Json) -> None:
    spec.setdefault("devices", {}).setdefault("requests", None)


def _claim_state(claim: Json) -> str:
    states = [] if "deletionTimestamp" not in claim["metadata"] else ["deleted"]
    if at(claim, "status.allocation") is None:
        return ",".join([*states, "pending"])
    reserved = ["reserved"] if at(claim, "status.reservedFor") else []
    return ",".join([*states, "allocated", *reserved])


RESOURCE_CLAIM = ApiKind(
    _GROUP,
    "v1",
    "ResourceClaim",
    "resourceclaims",
    subresources=("status",),
    set_defaults=_set_claim_defaults,
    admissions=(require_admin_label,),
    complete=lambda claim: _complete_devices(spec_of(claim)),
    check=_check(requests.resource_claim_causes),
    checks_updates=False,  # nothing but the metadata can change
    check_update=declared_immutable("spec"),
    prepare_status=allocations.drop_reports,
    check_status=_check_update(allocations.status_causes),
    checks_required=False,
    columns=(NAME, column("State", _claim_state), AGE),
    shown_when_deleted=True,
    earlier={
        V1_36: {
            "check": _check(requests.resource_claim_causes, V1_36),
            "check_update": immutable("spec"),
            "check_status": _check_update(allocations.status_causes, V1_36),
        }
    },
)
RESOURCE_CLAIM_TEMPLATE = ApiKind(
    _GROUP,
    "v1",
    "ResourceClaimTemplate",
    "resourceclaimtemplates",
    set_defaults=_set_template_defaults,
    admissions=(require_admin_label,),
    complete=lambda template: _complete_devices(spec_of(template).setdefault("spec", {})),
    check=_check(requests.template_causes),
    check_update=immutable("spec"),
    checks_required=False,
    shown_when_deleted=True,
    earlier={V1_36: {"check": _check(requests.template_causes, V1_36)}},
)


def _set_slice_defaults(obj: Json) -> None:
    """Write amounts that are missing as Go does: as zero."""
    for device in at(obj, "spec.devices") or []:
        for capacity in (device.get("capacity") or {}).values():
            set_missing(capacity, value="0")
        _set_counter_defaults(device.get("consumesCounters"))
    _set_counter_defaults(at(obj, "spec.sharedCounters"))


def _set_counter_defaults(sets: list[Json] | None) -> None:
    for one in sets or []:
        for counter in (one.get("counters") or {}).values():
            set_missing(counter, value="0")


def _stamp_devices(resource_slice: Json, now: float) -> None:
    for device in at(resource_slice, "spec.devices") or []:
        for taint in device.get("taints") or []:
            set_missing(taint, timeAdded=time_text(now))


def _complete_policies(resource_slice: Json) -> None:
    for device in at(resource_slice, "spec.devices") or []:
        for capacity in (device.get("capacity") or {}).values():
            if capacity.get("requestPolicy") is not None:
                capacity["requestPolicy"].setdefault("default", None)


def _warn_of_upper_case(resource_slice: Json) -> Iterator[str]:
    driver = at(resource_slice, "spec.driver") or ""
    if driver != driver.lower():
        problem = f'"{driver}" contains uppercase characters'
        yield f"spec.driver: driver names should be lowercase; {problem}"


RESOURCE_SLICE = ApiKind(
    _GROUP,
    "v1",
    "ResourceSlice",
    "resourceslices",
    namespaced=False,
    counts_generations=True,
    set_defaults=_set_slice_defaults,
    stamp=_stamp_devices,
    complete=_complete_policies,
    check=_check(slices.slice_causes),
    check_update=immutable("spec.pool.name", "spec.driver", "spec.nodeName"),
    creation_warnings=_warn_of_upper_case,
    checks_required=False,
    columns=(
        NAME,
        column("Node", lambda o: at(o, "spec.nodeName") or UNSET),
        column("Driver", lambda o: at(o, "spec.driver")),
        column("Pool", lambda o: at(o, "spec.pool.name")),
        AGE,
    ),
    selectable_fields=("spec.nodeName", "spec.driver", "spec.pool.name"),
    unknown_field="field label not supported for resource.k8s.io/v1, Kind=ResourceSlice: {path}",
    shown_when_deleted=True,
    earlier={
        V1_36: {
            "check": _check(slices.slice_causes, V1_36),
            "selectable_fields": ("spec.nodeName", "spec.driver"),
        }
    },
)


def _stamp_rule(rule: Json, now: float) -> None:
    taint = at(rule, "spec.taint")
    if isinstance(taint, dict):
        set_missing(taint, timeAdded=time_text(now))


def _renew_time(old: Json, new: Json) -> Json:
    """Forget when the taint was added if its effect changes, unless the writer says when."""
    before, after = at(old, "spec.taint") or {}, at(new, "spec.taint") or {}
    if before.get("effect") == after.get("effect"):
        return new
    if before.get("timeAdded") != after.get("timeAdded"):
        return new
    undated = {name: one for name, one in after.items() if name != "timeAdded"}
    return {**new, "spec": {**new["spec"], "taint": undated}}


def _added(rule: Json, now: float) -> str:
    return age(at(rule, "spec.taint.timeAdded"), now, "")


DEVICE_TAINT_RULE = ApiKind(
    _GROUP,
    "v1",
    "DeviceTaintRule",
    "devicetaintrules",
    namespaced=False,
    subresources=("status",),
    since=V1_37,
    counts_generations=True,
    update_needs_version=True,
    keep_from_old=_renew_time,
    stamp=_stamp_rule,
    check=_check(taints.rule_causes),
    check_status=_check_update(allocations.rule_status_causes),
    checks_required=False,
    columns=(
        NAME,
        column("Key", lambda o: at(o, "spec.taint.key") or ""),
        column("Value", lambda o: at(o, "spec.taint.value") or ""),
        column("Effect", lambda o: at(o, "spec.taint.effect") or ""),
        Column("TimeAdded", "string", 0, _added),
        AGE,
    ),
)

KINDS = (
    DEVICE_CLASS,
    RESOURCE_CLAIM,
    RESOURCE_CLAIM_TEMPLATE,
    RESOURCE_SLICE,
    DEVICE_TAINT_RULE,
)

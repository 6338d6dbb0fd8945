"""The group resource.k8s.io: device classes, claims to devices, and what drivers offer."""

from __future__ import annotations

from collections.abc import Iterator

from podium.api.names import label_key_problems, label_value_problems
from podium.apiserver import statuses
from podium.apiserver.json_path import at
from podium.apiserver.kinds.api_kind import ApiKind
from podium.apiserver.kinds.columns import AGE, NAME, UNSET, Column, age, column
from podium.apiserver.kinds.pod_spec.defaults import set_missing
from podium.apiserver.kinds.workloads import spec_of
from podium.apiserver.names import subdomain_bytes_problems, subdomain_problems
from podium.apiserver.statuses import Cause, Json
from podium.release import V1_36, V1_37

Causes = Iterator[Cause]

_GROUP = "resource.k8s.io"

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
    earlier={V1_36: {"not_required": {"DeviceClass": ("spec",)}}},
    shown_when_deleted=True,
)


def _set_claim_defaults(obj: Json) -> None:
    _set_request_defaults(spec_of(obj))


def _set_template_defaults(obj: Json) -> None:
    spec = spec_of(obj)
    spec.setdefault("metadata", {})
    _set_request_defaults(spec.setdefault("spec", {}))


def _set_request_defaults(spec: Json) -> None:
    for request in (spec.get("devices") or {}).get("requests") or []:
        for one in (request.get("exactly"), *(request.get("firstAvailable") or [])):
            if isinstance(one, dict):
                set_missing(one, allocationMode="ExactCount")
                if one["allocationMode"] == "ExactCount":
                    set_missing(one, count=1)


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
    complete=lambda claim: _complete_devices(spec_of(claim)),
    columns=(NAME, column("State", _claim_state), AGE),
    shown_when_deleted=True,
)
RESOURCE_CLAIM_TEMPLATE = ApiKind(
    _GROUP,
    "v1",
    "ResourceClaimTemplate",
    "resourceclaimtemplates",
    set_defaults=_set_template_defaults,
    complete=lambda template: _complete_devices(spec_of(template).setdefault("spec", {})),
    shown_when_deleted=True,
)


def _check_slice(resource_slice: Json) -> Causes:
    spec = resource_slice.get("spec") or {}
    if not spec.get("driver"):
        yield statuses.required("spec.driver")
    pool = spec.get("pool") or {}
    if not pool.get("name"):
        yield statuses.required("spec.pool.name")
    count = pool.get("resourceSliceCount") or 0
    if count < 1:
        yield statuses.bad_value("spec.pool.resourceSliceCount", count, "must be greater than zero")
    places = ("nodeName", "nodeSelector", "allNodes", "perDeviceNodeSelection")
    if not any(spec.get(name) for name in places):
        listed = ", ".join(f"`{name}`" for name in places)
        yield statuses.required("spec", f"exactly one of {listed} is required")


RESOURCE_SLICE = ApiKind(
    _GROUP,
    "v1",
    "ResourceSlice",
    "resourceslices",
    namespaced=False,
    counts_generations=True,
    check=_check_slice,
    not_required={
        "ResourceSlice": ("spec",),
        "ResourceSliceSpec": ("driver", "pool"),
        "ResourcePool": ("name", "generation", "resourceSliceCount"),
    },
    columns=(
        NAME,
        column("Node", lambda o: at(o, "spec.nodeName") or UNSET),
        column("Driver", lambda o: at(o, "spec.driver")),
        column("Pool", lambda o: at(o, "spec.pool.name")),
        AGE,
    ),
    selectable_fields=("spec.nodeName", "spec.driver"),
    unknown_field="field label not supported for resource.k8s.io/v1, Kind=ResourceSlice: {path}",
    shown_when_deleted=True,
)

_EFFECTS = ("NoExecute", "NoSchedule", "None")


def _check_taint_rule(rule: Json) -> Causes:
    driver = at(rule, "spec.deviceSelector.driver")
    for problem in subdomain_problems(driver) if driver is not None else ():
        yield statuses.bad_value("spec.deviceSelector.driver", driver, problem)
    taint = at(rule, "spec.taint") or {}
    for problem in label_key_problems(taint.get("key") or ""):
        yield statuses.bad_value("spec.taint.key", taint.get("key") or "", problem)
    for problem in label_value_problems(taint.get("value") or ""):
        yield statuses.bad_value("spec.taint.value", taint["value"], problem)
    effect = taint.get("effect") or ""
    if not effect:
        yield statuses.required("spec.taint.effect")
    elif effect not in _EFFECTS:
        yield statuses.unsupported("spec.taint.effect", effect, _EFFECTS)


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
    check=_check_taint_rule,
    checks_required=False,  # the check above reports them
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

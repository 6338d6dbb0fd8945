"""Checks of a claim's status: what was allocated, who uses it, and what drivers report."""

from __future__ import annotations

import ipaddress
import re
from functools import partial
from typing import Any

from podium.api.resource_claims import MAX_RESERVED_FOR
from podium.apiserver import statuses
from podium.apiserver.kinds.pod_spec.placement import node_selector_causes
from podium.apiserver.kinds.resource.requests import MOST, configuration, json_object
from podium.apiserver.kinds.resource.slices import binding_causes
from podium.apiserver.kinds.resource.taints import tolerations
from podium.apiserver.kinds.resource.values import (
    Found,
    declared_driver,
    declared_pool,
    distinct,
    driver,
    label,
    listed,
    pool,
    qualified_label,
    reference,
    repeated,
    request_names,
    same,
    worded,
)
from podium.apiserver.statuses import Json
from podium.release import V1_37, Release

MOST_REPORTED_CONDITIONS = 8
MOST_ADDRESSES, LONGEST_INTERFACE, LONGEST_HARDWARE_ADDRESS = 16, 256, 128
SOURCES = ("FromClaim", "FromClass")
_STATUSES = ("False", "True", "Unknown")
_UUID = "[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_NEW_USERS = (
    "new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set"
)
_NO_ADDRESS = "must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)"
_REASON = "[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?"
_REASON_RULE = (
    "a condition reason must start with alphabetic character, optionally followed by a string of "
    "alphanumeric characters or '_,:', and must end with an alphanumeric character or '_' (e.g. "
    "'my_name',  or 'MY_NAME',  or 'MyName',  or 'ReasonA,ReasonB',  or 'ReasonA:ReasonB', regex "
    f"used for validation is '{_REASON}')"
)
Device = tuple[str, str, str, str | None]


def status_causes(old: Json, new: Json, release: Release) -> Found:
    """Check a new status of a claim."""
    status, before = new.get("status") or {}, old.get("status") or {}
    users = status.get("reservedFor")
    yield from _users(users)
    yield from _reports(status, release)
    if users and "allocation" not in status:
        detail = "may not be specified when `allocated` is not set"
        yield statuses.not_allowed("status.reservedFor", detail)
    elif users and "deletionTimestamp" in new["metadata"] and _has_more(before, users):
        yield statuses.not_allowed("status.reservedFor", _NEW_USERS)
    yield from _allocation(before.get("allocation"), status.get("allocation"), new, release)


def rule_status_causes(old: Json, new: Json, release: Release) -> Found:
    """Check a new status of a DeviceTaintRule."""
    conditions, path = (new.get("status") or {}).get("conditions") or [], "status.conditions"
    yield from condition_causes(conditions, path, release)
    if len(conditions) > MOST_REPORTED_CONDITIONS:
        yield statuses.too_many(path, len(conditions), MOST_REPORTED_CONDITIONS)


def drop_reports(old: Json, new: Json) -> None:
    """Remove what drivers report about devices that were taken from a claim, in place."""
    status = new.get("status") or {}
    taken = _allocated(old.get("status") or {}) - _allocated(status)
    if taken and status.get("devices"):
        left = [one for one in status["devices"] if _device(one) not in taken]
        new["status"] = {name: one for name, one in status.items() if name != "devices"}
        if left:
            new["status"]["devices"] = left


def _users(users: list[Json] | None) -> Found:
    path = "status.reservedFor"
    yield from listed(users, path, MAX_RESERVED_FOR, _user)
    if len(users or ()) <= MAX_RESERVED_FOR:
        yield from repeated(users, path, lambda one: one.get("uid", ""))


def _has_more(before: Json, users: list[Json]) -> bool:
    return any(one not in (before.get("reservedFor") or []) for one in users)


def _user(user: Json, path: str) -> Found:
    for name in ("resource", "name", "uid"):
        if not user.get(name):
            yield statuses.required(f"{path}.{name}")


def _device(holder: Json) -> Device:
    driver_, pool_, device = (holder.get(name, "") for name in ("driver", "pool", "device"))
    return driver_, pool_, device, holder.get("shareID")


def _allocated(status: Json) -> set[Device]:
    devices = (status.get("allocation") or {}).get("devices") or {}
    return {_device(one) for one in devices.get("results") or []}


def _reports(status: Json, release: Release) -> Found:
    reports, path = status.get("devices"), "status.devices"
    allocated = _allocated(status)
    for index, report in enumerate(reports or ()):
        yield from _report(report, f"{path}[{index}]", allocated, release)
    seen: list[Device] = []
    for index, report in enumerate(reports or ()):
        if _device(report) in seen:
            where, shown = f"{path}[{index}]", {"conditions": None, **report}
            shown = {**{name: one for name, one in shown.items() if name != "conditions"}, **shown}
            yield worded(
                statuses.duplicate(where, _go_device(report)), statuses.duplicate(where, shown)
            )
        seen.append(_device(report))


def _go_device(report: Json) -> Json:
    """Return the identity of a device as Go prints it."""
    driver_, pool_, device, share = _device(report)
    return {"Driver": driver_, "Pool": pool_, "Device": device, "ShareID": share or ""}


def _report(report: Json, path: str, allocated: set[Device], release: Release) -> Found:
    yield from driver(report.get("driver"), f"{path}.driver")
    yield from pool(report.get("pool"), f"{path}.pool")
    yield from label(report.get("device"), f"{path}.device")
    yield from _share(report, path)
    if _device(report) not in allocated:
        detail = "must be an allocated device in the claim"
        yield statuses.bad_value(path, _go_device(report), detail)
    conditions = report.get("conditions") or []
    if len(conditions) > MOST_REPORTED_CONDITIONS:
        where = f"{path}.conditions"
        yield statuses.too_many(where, len(conditions), MOST_REPORTED_CONDITIONS)
    yield from condition_causes(conditions, f"{path}.conditions", release)
    if report.get("data") is not None:
        yield from json_object(report["data"], f"{path}.data")
    yield from _network(report.get("networkData") or {}, f"{path}.networkData")


def condition_causes(conditions: list[Json], path: str, release: Release) -> Found:
    """Check conditions; their types must differ."""
    types: list[str] = []
    for index, one in enumerate(conditions):
        where, type_ = f"{path}[{index}]", one.get("type", "")
        if type_ in types:
            yield statuses.duplicate(where if release >= V1_37 else f"{where}.type", type_)
        types.append(type_)
        if not type_ and release >= V1_37:
            yield statuses.required(f"{where}.type", "is required")
        else:
            yield from qualified_label(type_, f"{where}.type")
        yield from _condition(one, where, release)


def _condition(one: Json, path: str, release: Release) -> Found:
    status = one.get("status", "")
    if not status and release >= V1_37:
        yield statuses.required(f"{path}.status")
    elif status not in _STATUSES:
        yield statuses.unsupported(f"{path}.status", status, _STATUSES)
    if one.get("observedGeneration", 0) < 0:
        detail = "must be greater than or equal to zero"
        yield statuses.bad_value(f"{path}.observedGeneration", one["observedGeneration"], detail)
    if not one.get("lastTransitionTime"):
        yield statuses.required(f"{path}.lastTransitionTime")
    reason = one.get("reason", "")
    if not reason:
        yield statuses.required(f"{path}.reason")
    elif not re.fullmatch(_REASON, reason):
        yield statuses.bad_value(f"{path}.reason", reason, _REASON_RULE)


def _network(data: Json, path: str) -> Found:
    limits = (("interfaceName", LONGEST_INTERFACE), ("hardwareAddress", LONGEST_HARDWARE_ADDRESS))
    for name, most in limits:
        if len(data.get(name, "").encode()) > most:
            yield same(statuses.too_long(f"{path}.{name}", most))
    yield from distinct(data.get("ips"), f"{path}.ips", MOST_ADDRESSES, _address)


def _address(text: str, path: str) -> Found:
    try:
        shown = str(ipaddress.ip_interface(text)) if "/" in text else ""
    except ValueError:
        shown = ""
    if not shown:
        yield statuses.bad_value(path, text, _NO_ADDRESS)
    elif shown != text:
        yield statuses.bad_value(path, text, f'must be in canonical form ("{shown}")')


def _share(holder: Json, path: str) -> Found:
    share, where = holder.get("shareID"), f"{path}.shareID"
    if share is None or re.fullmatch(_UUID, share):
        return
    newer = "must be a lowercase UUID in 8-4-4-4-12 format"
    yield worded(
        statuses.bad_value(where, share, _older_uuid_problem(share)),
        statuses.bad_value(where, share, newer),
    )


def _older_uuid_problem(share: str) -> str:
    if re.fullmatch(_UUID, share.lower()):
        form = "`xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx` with lowercase hexadecimal characters"
        return f"uid must be in RFC 4122 normalized form, {form}"
    return f"error validating uid: invalid UUID length: {len(share)}"


def _allocation(before: Json | None, after: Json | None, claim: Json, release: Release) -> Found:
    path = "status.allocation"
    if after is None:
        return
    if before is not None:
        if before != after:
            yield worded(
                statuses.bad_value(path, after, "field is immutable"),
                statuses.bad_value(path, None, "field cannot be modified once set"),
            )
        return
    names = request_names((claim.get("spec") or {}).get("devices") or {})
    devices = after.get("devices") or {}
    refer = partial(reference, names)
    where = f"{path}.devices"
    result = partial(_result, refer, release)
    yield from listed(devices.get("results"), f"{where}.results", MOST, result)
    yield from listed(devices.get("config"), f"{where}.config", 2 * MOST, partial(_config, refer))
    if after.get("nodeSelector") is not None:
        yield from node_selector_causes(after["nodeSelector"], f"{path}.nodeSelector")


def _result(refer: Any, release: Release, result: Json, path: str) -> Found:
    yield from refer(result.get("request", ""), f"{path}.request")
    yield from declared_driver(result.get("driver"), f"{path}.driver")
    yield from declared_pool(result.get("pool"), f"{path}.pool")
    yield from label(result.get("device"), f"{path}.device")
    yield from binding_causes(result, path)
    if release >= V1_37:
        yield from tolerations(result, path)
    yield from _share(result, path)


def _config(refer: Any, config: Json, path: str) -> Found:
    source = config.get("source", "")
    if not source:
        yield same(statuses.required(f"{path}.source"))
    elif source not in SOURCES:
        yield same(statuses.unsupported(f"{path}.source", source, SOURCES))
    yield from distinct(config.get("requests"), f"{path}.requests", MOST, refer)
    yield from configuration(config, path)

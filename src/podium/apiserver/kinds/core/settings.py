"""Kinds of the core group that hold settings: config maps, secrets, accounts, limits, quotas."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator

from podium.apiserver import statuses
from podium.apiserver.json_path import at
from podium.apiserver.kinds.api_kind import NOT_SELECTABLE, ApiKind
from podium.apiserver.kinds.columns import AGE, CREATED_AT, NAME, column, value_column
from podium.apiserver.kinds.pod_spec.defaults import set_missing
from podium.apiserver.kinds.workloads import immutable, spec_of
from podium.apiserver.statuses import Cause, Json


def _check_immutable_data(old: Json, new: Json) -> Iterator[Cause]:
    if old.get("immutable"):
        if not new.get("immutable"):
            yield statuses.not_allowed("immutable", "field is immutable when `immutable` is set")
        for name in ("data", "binaryData"):
            if old.get(name) != new.get(name):
                yield statuses.not_allowed(name, "field is immutable when `immutable` is set")


CONFIG_MAP = ApiKind(
    "",
    "v1",
    "ConfigMap",
    "configmaps",
    short_names=("cm",),
    check_update=_check_immutable_data,
    columns=(
        NAME,
        column(
            "Data",
            lambda o: len(o.get("data") or {}) + len(o.get("binaryData") or {}),
            kind="integer",
        ),
        AGE,
    ),
)


def _set_secret_defaults(obj: Json) -> None:
    set_missing(obj, type="Opaque")
    if obj.get("stringData"):
        data = obj.setdefault("data", {})
        for name, text in obj.pop("stringData").items():
            data[name] = base64.b64encode(text.encode()).decode()


def _check_secret_update(old: Json, new: Json) -> Iterator[Cause]:
    yield from immutable("type")(old, new)
    yield from _check_immutable_data(old, new)


SECRET = ApiKind(
    "",
    "v1",
    "Secret",
    "secrets",
    set_defaults=_set_secret_defaults,
    check_update=_check_secret_update,
    columns=(
        NAME,
        value_column("Type", "type"),
        column("Data", lambda o: len(o.get("data") or {}), kind="integer"),
        AGE,
    ),
    selectable_fields=("type",),
    unknown_field=NOT_SELECTABLE,
)

SERVICE_ACCOUNT = ApiKind(
    "",
    "v1",
    "ServiceAccount",
    "serviceaccounts",
    short_names=("sa",),
    subresources=("token",),
    shown_when_deleted=True,
)


def _set_limit_defaults(obj: Json) -> None:
    for limit in spec_of(obj).get("limits") or []:
        if limit.get("type") == "Container" and limit.get("max"):
            limit["default"] = {**limit["max"], **(limit.get("default") or {})}
        if limit.get("type") == "Container" and (limit.get("default") or limit.get("min")):
            amounts = limit.get("min") or limit["default"]
            limit["defaultRequest"] = {**amounts, **(limit.get("defaultRequest") or {})}


LIMIT_RANGE = ApiKind(
    "",
    "v1",
    "LimitRange",
    "limitranges",
    short_names=("limits",),
    named_by_uid=True,
    put_creates=True,
    set_defaults=_set_limit_defaults,
    complete=lambda limits: spec_of(limits).setdefault("limits", None),
    not_required={"LimitRangeSpec": ("limits",)},
    columns=(NAME, CREATED_AT),
)


def _used(quota: Json, is_shown: Callable[[str], bool]) -> str:
    hard, used = at(quota, "status.hard") or {}, at(quota, "status.used") or {}
    return ", ".join(
        f"{key}: {used.get(key, 0)}/{hard[key]}" for key in sorted(hard) if is_shown(key)
    )


RESOURCE_QUOTA = ApiKind(
    "",
    "v1",
    "ResourceQuota",
    "resourcequotas",
    short_names=("quota",),
    subresources=("status",),
    complete=spec_of,
    columns=(
        NAME,
        column("Request", lambda o: _used(o, lambda name: not name.startswith("limits."))),
        column("Limit", lambda o: _used(o, lambda name: name.startswith("limits."))),
        AGE,
    ),
    shown_when_deleted=True,
)

"""Admin access to devices: only in namespaces with a label that allows it."""

from __future__ import annotations

from podium.apiserver import statuses
from podium.apiserver.admission import Reader
from podium.apiserver.statuses import Json

LABEL = "resource.kubernetes.io/admin-access"


def require_admin_label(obj: Json, old: Json | None, reader: Reader) -> None:
    """Refuse a new claim, template or allocation with admin access in other namespaces."""
    path = _requested(obj) if old is None else _granted(obj)
    if path is None or (old is not None and _granted(old) is not None):
        return
    item = reader.find("namespaces", ("", obj["metadata"]["namespace"]))
    labels = (item.decode()["metadata"].get("labels") or {}) if item else {}
    if labels.get(LABEL) == "true":
        return
    detail = (
        f"admin access to devices requires the `{LABEL}: true` label on the containing namespace"
    )
    meta = obj["metadata"]
    name = meta.get("name") or meta.get("generateName") or ""
    group = obj["apiVersion"].partition("/")[0]
    raise statuses.invalid(obj["kind"], group, name, [statuses.not_allowed(path, detail)])


def _requested(obj: Json) -> str | None:
    spec = obj.get("spec") or {}
    spec = spec.get("spec") or spec  # of a template
    for index, request in enumerate((spec.get("devices") or {}).get("requests") or []):
        if (request.get("exactly") or {}).get("adminAccess"):
            return f"spec.devices.requests[{index}].adminAccess"
    return None


def _granted(claim: Json) -> str | None:
    allocation = (claim.get("status") or {}).get("allocation") or {}
    for index, result in enumerate((allocation.get("devices") or {}).get("results") or []):
        if result.get("adminAccess"):
            return f"status.allocation.devices.results[{index}].adminAccess"
    return None

"""Events in two versions that share one store: what is written as one is read as the other."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from podium.apiserver import statuses
from podium.apiserver.json_path import at
from podium.apiserver.kinds.api_kind import NOT_SELECTABLE, ApiKind
from podium.apiserver.kinds.columns import Column, age, column, joined
from podium.apiserver.names import path_problems, subdomain_problems
from podium.apiserver.statuses import Cause, Json

Causes = Iterator[Cause]


def _complete(event: Json) -> None:
    """Fill in times and sources, which are always there, by the names of either version."""
    is_newer = event["apiVersion"] != "v1"
    times = ("firstTimestamp", "lastTimestamp")
    for name in times:
        event.setdefault(f"deprecated{name[0].upper()}{name[1:]}" if is_newer else name, None)
    event.setdefault("eventTime", None)
    event.setdefault("deprecatedSource" if is_newer else "source", {})
    for name in () if is_newer else ("reportingComponent", "reportingInstance"):
        event.setdefault(name, "")


def _check(event: Json) -> Causes:
    """Check an event of either version; the newer one requires more fields."""
    is_newer = event["apiVersion"] != "v1"
    about = (event.get("regarding") if is_newer else event.get("involvedObject")) or {}
    inside, given = event["metadata"].get("namespace", ""), about.get("namespace", "")
    if given != inside:
        detail = "does not match event.namespace"
        yield statuses.bad_value("involvedObject.namespace", given, detail)
    if is_newer and not event.get("eventTime"):
        yield statuses.required("eventTime")
    if is_newer and event.get("type") not in ("Normal", "Warning"):
        kind = event.get("type") or ""
        yield statuses.bad_value("type", kind, f"has invalid value: {kind}")


def _object(event: Json) -> str:
    about = event.get("involvedObject") or {}
    return f"{about.get('kind', '').lower()}/{about.get('name', '')}"


def _last_seen(event: Json, now: float) -> str:
    series = event.get("series") or {}
    last = series.get("lastObservedTime") or event.get("lastTimestamp") or event.get("eventTime")
    return age(last, now)


def _first_seen(event: Json, now: float) -> str:
    return age(event.get("firstTimestamp") or event.get("eventTime"), now)


def _source(event: Json) -> str:
    source = event.get("source") or {}
    if source.get("component") or source.get("host"):
        return joined(source.get("component"), source.get("host"))
    return joined(event.get("reportingComponent"), event.get("reportingInstance"))


EVENT = ApiKind(
    "",
    "v1",
    "Event",
    "events",
    short_names=("ev",),
    is_cached=False,
    name_problems=path_problems,
    put_creates=True,
    complete=_complete,
    check=_check,
    checked_first="involvedObject",
    metadata_checked_last=True,
    not_required={"Event": ("involvedObject", "metadata")},
    columns=(
        Column("Last Seen", "string", 0, _last_seen),
        column("Type", lambda event: event.get("type") or ""),
        column("Reason", lambda event: event.get("reason") or ""),
        column("Object", _object),
        column("Subobject", lambda event: at(event, "involvedObject.fieldPath") or "", wide=True),
        column("Source", _source, wide=True),
        column("Message", lambda event: (event.get("message") or "").strip()),
        Column("First Seen", "string", 1, _first_seen),
        column("Count", lambda event: event.get("count", 1), wide=True),
        Column("Name", "string", 1, lambda event, now: event["metadata"]["name"], "name"),
    ),
    selectable_fields=(
        "involvedObject.kind",
        "involvedObject.namespace",
        "involvedObject.name",
        "involvedObject.uid",
        "involvedObject.apiVersion",
        "involvedObject.resourceVersion",
        "involvedObject.fieldPath",
        "reason",
        "reportingComponent",
        "source",
        "type",
    ),
    unknown_field=NOT_SELECTABLE,
    has_dependents=False,
)

# Fields of events.k8s.io/v1, and their names in v1.
_OLD_NAMES = {
    "regarding": "involvedObject",
    "note": "message",
    "deprecatedSource": "source",
    "deprecatedFirstTimestamp": "firstTimestamp",
    "deprecatedLastTimestamp": "lastTimestamp",
    "deprecatedCount": "count",
    "reportingController": "reportingComponent",
}
_NEW_NAMES = {old: new for new, old in _OLD_NAMES.items()}


def _to_old(event: Json) -> Json:
    return {_OLD_NAMES.get(name, name): value for name, value in event.items()}


def _to_new(event: Json) -> Json:
    reporters = ("reportingComponent", "reportingInstance")
    return {
        _NEW_NAMES.get(name, name): value
        for name, value in event.items()
        if value or name not in reporters
    }


NEWER_EVENT = replace(
    EVENT,
    group="events.k8s.io",
    stored_as="events",
    stored_version="v1",
    convert_to_stored=_to_old,
    convert_from_stored=_to_new,
    name_problems=subdomain_problems,
    metadata_checked_last=False,
    not_required={},
    selectable_fields=tuple(
        path.replace("involvedObject", "regarding") for path in EVENT.selectable_fields
    ),
)

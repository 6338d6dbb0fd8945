"""The columns of events, of either version in the form in which they are stored."""

from __future__ import annotations

from podium.apiserver.json_path import at
from podium.apiserver.printing import Column, age, column, joined
from podium.apiserver.statuses import Json


def _event_object(event: Json) -> str:
    about = event.get("involvedObject") or {}
    return f"{about.get('kind', '').lower()}/{about.get('name', '')}"


def _last_seen(event: Json, now: float) -> str:
    series = event.get("series") or {}
    last = series.get("lastObservedTime") or event.get("lastTimestamp") or event.get("eventTime")
    return age(last, now)


def _first_seen(event: Json, now: float) -> str:
    return age(event.get("firstTimestamp") or event.get("eventTime"), now)


def _event_source(event: Json) -> str:
    source = event.get("source") or {}
    if source.get("component") or source.get("host"):
        return joined(source.get("component"), source.get("host"))
    return joined(event.get("reportingComponent"), event.get("reportingInstance"))


EVENT_COLUMNS = [
    Column("Last Seen", "string", 0, _last_seen),
    column("Type", lambda event: event.get("type") or ""),
    column("Reason", lambda event: event.get("reason") or ""),
    column("Object", _event_object),
    column("Subobject", lambda event: at(event, "involvedObject.fieldPath") or "", wide=True),
    column("Source", _event_source, wide=True),
    column("Message", lambda event: (event.get("message") or "").strip()),
    Column("First Seen", "string", 1, _first_seen),
    column("Count", lambda event: event.get("count", 1), wide=True),
    Column("Name", "string", 1, lambda event, now: event["metadata"]["name"], "name"),
]

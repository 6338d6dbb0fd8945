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


def to_stored(kind: Kind, obj: Json) -> Json:
    if not kind.stored_version:
        return obj
    names = _EVENT_FIELDS if kind.stored_as == "events" else {}
    renamed = {names.get(name, name): value for name, value in obj.items()}
    return {**renamed, "apiVersion": kind.stored_version}


def from_stored(kind: Kind, obj: Json) -> Json:
    if not kind.stored_version:
        return obj
    names = _BACK if kind.stored_as == "events" else {}
    renamed = {names.get(name, name): value for name, value in obj.items()}
    return {**renamed, "apiVersion": kind.api_version}

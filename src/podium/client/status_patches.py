"""What is written into the status of pods and pod groups: only the difference to what they have."""

from __future__ import annotations

from typing import Any

from podium.api.objects import Condition, Pod, PodGroup
from podium.api.times import time_text

Json = dict[str, Any]


def status_patch(
    pod: Pod, condition: Condition | None, nominated_node_name: str | None, now: str
) -> Json | None:
    """Return a strategic merge patch with the difference, or None if there is none.

    A name of None leaves the nomination alone, "" removes it. The patch names no version, so it
    cannot conflict, and it leaves all other conditions as they are.
    """
    status: Json = {}
    if condition is not None:
        status |= _conditions(pod.status.conditions, condition, now)
    if nominated_node_name not in (None, pod.status.nominated_node_name):
        status["nominatedNodeName"] = nominated_node_name or None
    return {"status": status} if status else None


def group_condition(group: PodGroup, condition: Condition, now: float) -> Json:
    """Return a condition as a PodGroup has it; the time is that of the last change of status."""
    known = next((one for one in group.status.conditions if one.type == condition.type), None)
    is_same = known is not None and known.status == condition.status
    since = known.last_transition_time if known is not None and is_same else time_text(now)
    return {
        "type": condition.type,
        "status": condition.status,
        "reason": condition.reason,
        "message": condition.message,
        "observedGeneration": condition.observed_generation,
        "lastTransitionTime": since,
    }


def _conditions(before: tuple[Condition, ...], wanted: Condition, now: str) -> Json:
    old = next((one for one in before if one.type == wanted.type), None)
    if old is None:
        change = {"lastProbeTime": None, "lastTransitionTime": now, **_fields(wanted)}
    elif _is_same(old, wanted):
        return {}
    else:
        change = _difference(old, wanted, now)
    change["type"] = wanted.type
    found: Json = {"conditions": [dict(sorted(change.items()))]}
    if before:
        types = [one.type for one in before] + ([wanted.type] if old is None else [])
        found = {"$setElementOrder/conditions": [{"type": one} for one in types], **found}
    return found


def _is_same(old: Condition, wanted: Condition) -> bool:
    """Compare as upstream does: a new observedGeneration alone is not written."""
    return (old.status, old.reason, old.message) == (wanted.status, wanted.reason, wanted.message)


def _difference(old: Condition, wanted: Condition, now: str) -> Json:
    was, is_now = _fields(old), _fields(wanted)
    change = {key: is_now.get(key) for key in was | is_now if was.get(key) != is_now.get(key)}
    if old.last_probe_time:
        change["lastProbeTime"] = None
    if old.status != wanted.status:  # only then is it a transition
        change["lastTransitionTime"] = now
    return change


def _fields(condition: Condition) -> Json:
    """Return the fields that are not empty, under their names in JSON."""
    fields = {
        "message": condition.message,
        "observedGeneration": condition.observed_generation,
        "reason": condition.reason,
        "status": condition.status,
    }
    return {key: value for key, value in fields.items() if value}

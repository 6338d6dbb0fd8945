"""The patch that brings a pod's status to what it should be: the difference, and nothing else.

It names no version, so it cannot conflict; conditions of others stay as they are.
"""

from __future__ import annotations

from typing import Any

from podium.api.objects import Condition, Pod

Json = dict[str, Any]


def status_patch(
    pod: Pod, condition: Condition | None, nominated_node_name: str | None, now: str
) -> Json | None:
    """A strategic merge patch; None when nothing is to change.

    A name of None leaves the nomination alone, "" takes it away.
    """
    status: Json = {}
    if condition is not None:
        status |= _conditions(pod.status.conditions, condition, now)
    if nominated_node_name not in (None, pod.status.nominated_node_name):
        status["nominatedNodeName"] = nominated_node_name or None
    return {"status": status} if status else None


def _conditions(before: tuple[Condition, ...], wanted: Condition, now: str) -> Json:
    old = next((one for one in before if one.type == wanted.type), None)
    if old is None:
        change = {"lastProbeTime": None, "lastTransitionTime": now, **_words(wanted)}
    elif _is_said(old, wanted):
        return {}
    else:
        change = _difference(old, wanted, now)
    change["type"] = wanted.type
    found: Json = {"conditions": [dict(sorted(change.items()))]}
    if before:
        types = [one.type for one in before] + ([wanted.type] if old is None else [])
        found = {"$setElementOrder/conditions": [{"type": one} for one in types], **found}
    return found


def _is_said(old: Condition, wanted: Condition) -> bool:
    """As upstream compares: a new observedGeneration alone is not worth a write."""
    return (old.status, old.reason, old.message) == (wanted.status, wanted.reason, wanted.message)


def _difference(old: Condition, wanted: Condition, now: str) -> Json:
    was, is_now = _words(old), _words(wanted)
    change = {key: is_now.get(key) for key in was | is_now if was.get(key) != is_now.get(key)}
    if old.last_probe_time:
        change["lastProbeTime"] = None
    if old.status != wanted.status:  # only then is it a transition
        change["lastTransitionTime"] = now
    return change


def _words(condition: Condition) -> Json:
    """The fields that have something to say, as they are written."""
    fields = {
        "message": condition.message,
        "observedGeneration": condition.observed_generation,
        "reason": condition.reason,
        "status": condition.status,
    }
    return {key: value for key, value in fields.items() if value}

"""The table of `podium get podgroups`: how many pods of each group have a node, and why not more.

Both kinds of groups are shown: PodGroup of scheduling.k8s.io, and that of scheduling.x-k8s.io for
the plugin Coscheduling.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from podium.api.pod_groups import COSCHEDULING_LABEL
from podium.apiserver.statuses import Json

BUILT_IN: Final = "scheduling.k8s.io"
GROUPS: Final = (BUILT_IN, "scheduling.x-k8s.io")
PLURAL: Final = "podgroups"
LONGEST_REASON: Final = 100
_USUAL: Final = "default-scheduler"
_ENDED: Final = ("Succeeded", "Failed")
_COLUMNS: Final = ("Name", "Placed", "Members", "Status", "Age", "Reason")


class Members(NamedTuple):
    """The number of pods of a group, and of those with a node; and why one has none.

    ``schedulers`` says which of them name another scheduler, if any do.
    """

    total: int
    placed: int
    reason: str
    schedulers: str


def is_groups(group: str, plural: str) -> bool:
    """Return whether this resource is one of pod groups."""
    return plural == PLURAL and group in GROUPS


def table_of(table: Json, groups: Sequence[Json], pods: Sequence[Json], wide: bool) -> Json:
    """Return the server's table of these groups with columns about their pods."""
    titles = [one["name"] for one in table.get("columnDefinitions") or []]
    found = {_key(one): one for one in groups}
    rows = []
    for row in table.get("rows") or []:
        group = found.get(_key(row["object"]))
        if group is not None:
            shown = dict(zip(titles, row["cells"], strict=False))
            rows.append({**row, "cells": _cells(group, pods, shown, wide)})
    return {**table, "columnDefinitions": [{"name": name} for name in _COLUMNS], "rows": rows}


def _cells(group: Json, pods: Sequence[Json], shown: Json, wide: bool) -> list[str]:
    wanted, members = _wanted(group), _members(group, pods)
    reason = _reason(group, members, wanted)
    if not wide and len(reason) > LONGEST_REASON:
        reason = f"{reason[: LONGEST_REASON - 1]}…"
    status = shown.get("Status") or shown.get("Phase") or "<none>"
    placed = f"{members.placed}/{wanted}"
    name, age = str(shown.get("Name", "")), str(shown.get("Age") or "<none>")
    return [name, placed, str(members.total), str(status), age, reason]


def _wanted(group: Json) -> int:
    """Return how many pods must have a node at once; a group without a gang wants one."""
    spec = group.get("spec") or {}
    gang = (spec.get("schedulingPolicy") or {}).get("gang") or {}
    return int(spec.get("minMember") or gang.get("minCount") or 1)


def _members(group: Json, pods: Sequence[Json]) -> Members:
    key = _key(group)
    is_built_in = str(group.get("apiVersion", "")).startswith(f"{BUILT_IN}/")
    own = [pod for pod in pods if _group_of(pod, is_built_in) == key]
    living = [pod for pod in own if (pod.get("status") or {}).get("phase") not in _ENDED]
    pending = [pod for pod in living if not pod["spec"].get("nodeName")]
    reason = next(filter(None, map(_why, pending)), "")
    return Members(len(own), len(own) - len(pending), reason, _schedulers(pending))


def _schedulers(pods: Sequence[Json]) -> str:
    """Return which pods name another scheduler than most; empty if all name the same."""
    named = [pod["spec"].get("schedulerName", _USUAL) for pod in pods]
    first = max(
        sorted(set(named)), key=lambda name: (named.count(name), name == _USUAL), default=""
    )
    other = [(pod, name) for pod, name in zip(pods, named, strict=True) if name != first]
    if not other:
        return ""
    pod, name = other[0]
    more = f" (and {len(other) - 1} more do not name {first})" if len(other) > 1 else ""
    return f"{'/'.join(_key(pod))} names the scheduler {name}{more}: it must be {first}"


def _group_of(pod: Json, is_built_in: bool) -> tuple[str, str]:
    meta = pod["metadata"]
    if is_built_in:
        name = (pod["spec"].get("schedulingGroup") or {}).get("podGroupName", "")
    else:
        name = (meta.get("labels") or {}).get(COSCHEDULING_LABEL, "")
    return meta.get("namespace", ""), name


def _why(pod: Json) -> str:
    conditions = (pod.get("status") or {}).get("conditions") or ()
    scheduled = (one for one in conditions if one["type"] == "PodScheduled")
    return next((one.get("message", "") for one in scheduled if one["status"] == "False"), "")


def _reason(group: Json, members: Members, wanted: int) -> str:
    """Return what the group itself says, what it lacks, or what one of its pods says."""
    if members.placed >= wanted:
        return members.reason
    if members.total < wanted:
        missing = wanted - members.total
        return f"waits for {missing} more pod{'' if missing == 1 else 's'}"
    conditions = (group.get("status") or {}).get("conditions") or ()
    own = (one for one in conditions if one["type"] == "PodGroupInitiallyScheduled")
    said = next((one.get("message", "") for one in own if one["status"] == "False"), "")
    return said or members.reason or members.schedulers


def _key(obj: Json) -> tuple[str, str]:
    return obj["metadata"].get("namespace", ""), obj["metadata"]["name"]

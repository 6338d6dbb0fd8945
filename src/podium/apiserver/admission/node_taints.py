"""Taints that follow from a node's state: not ready at first, then by its conditions.

In a real cluster the node lifecycle controller sets the latter. Here they are set by the write that
changes a condition.
"""

from __future__ import annotations

from podium.apiserver.admission import Reader
from podium.apiserver.statuses import Json

_NOT_READY = "node.kubernetes.io/not-ready"
_UNREACHABLE = "node.kubernetes.io/unreachable"
_UNSCHEDULABLE = "node.kubernetes.io/unschedulable"

# The taint for a condition with a status.
_BY_CONDITION = {
    ("Ready", "False"): _NOT_READY,
    ("Ready", "Unknown"): _UNREACHABLE,
    ("MemoryPressure", "True"): "node.kubernetes.io/memory-pressure",
    ("DiskPressure", "True"): "node.kubernetes.io/disk-pressure",
    ("PIDPressure", "True"): "node.kubernetes.io/pid-pressure",
    ("NetworkUnavailable", "True"): "node.kubernetes.io/network-unavailable",
}
_OURS = {*_BY_CONDITION.values(), _UNSCHEDULABLE}


def taint_new_node(node: Json, old: Json | None, reader: Reader) -> None:
    """Taint a new node without conditions as not ready."""
    if old is None and not _conditions(node):
        _replace(node, {_NOT_READY, *_present(node)})


def taint_by_condition(node: Json, old: Json | None, reader: Reader) -> None:
    conditions = _conditions(node)
    if not conditions and not node.get("spec", {}).get("unschedulable") and old is None:
        return
    wanted = {
        taint
        for condition in conditions
        if (taint := _BY_CONDITION.get((condition.get("type", ""), condition.get("status", ""))))
    }
    if not any(condition.get("type") == "Ready" for condition in conditions):
        wanted |= _present(node) & {_NOT_READY, _UNREACHABLE}
    if node.get("spec", {}).get("unschedulable"):
        wanted.add(_UNSCHEDULABLE)
    _replace(node, wanted)


def _conditions(node: Json) -> list[Json]:
    return (node.get("status") or {}).get("conditions") or []


def _present(node: Json) -> set[str]:
    return {taint.get("key", "") for taint in node.get("spec", {}).get("taints") or []} & _OURS


def _replace(node: Json, wanted: set[str]) -> None:
    """Set our own NoSchedule taints to exactly these; other taints stay, in their order."""
    spec = node.setdefault("spec", {})
    taints = spec.get("taints") or []
    kept = [
        taint
        for taint in taints
        if taint.get("key") not in _OURS
        or taint.get("effect") != "NoSchedule"
        or taint["key"] in wanted
    ]
    there = {taint.get("key") for taint in kept if taint.get("effect") == "NoSchedule"}
    kept += [{"key": key, "effect": "NoSchedule"} for key in sorted(wanted - there)]
    if kept:
        spec["taints"] = kept
    else:
        spec.pop("taints", None)

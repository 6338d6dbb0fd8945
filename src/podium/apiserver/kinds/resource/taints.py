"""Checks of device taints, the rules that add them, and what tolerates them."""

from __future__ import annotations

from podium.api.names import label_value_problems
from podium.apiserver import statuses
from podium.apiserver.kinds.resource.values import (
    Found,
    declared,
    driver,
    label,
    pool,
    qualified_label,
    same,
)
from podium.apiserver.statuses import Json
from podium.release import Release

EFFECTS = ("NoExecute", "NoSchedule", "None")
OPERATORS = ("Equal", "Exists")


def taint(one: Json, path: str) -> Found:
    yield from qualified_label(one.get("key", ""), f"{path}.key")
    yield from _label_value(one.get("value", ""), f"{path}.value")
    effect = one.get("effect", "")
    if not effect:
        yield same(statuses.required(f"{path}.effect"))
    else:
        yield from _effect(effect, path)


def tolerations(holder: Json, path: str) -> Found:
    """Check the tolerations of a request, or of an allocated device."""
    for index, one in enumerate(holder.get("tolerations") or []):
        yield from _toleration(one, f"{path}.tolerations[{index}]")


def _toleration(one: Json, path: str) -> Found:
    key, operator = one.get("key", ""), one.get("operator", "")
    if key:
        yield from declared(qualified_label(key, f"{path}.key"))
    if operator == "Exists" and one.get("value"):
        detail = "must be empty for operator `Exists`"
        yield statuses.bad_value(f"{path}.value", one["value"], detail)
    elif operator == "Equal":
        yield from _label_value(one.get("value", ""), f"{path}.value")
    elif not operator:
        yield same(statuses.required(f"{path}.operator"))
    elif operator not in OPERATORS:
        yield same(statuses.unsupported(f"{path}.operator", operator, OPERATORS))
    if one.get("effect"):
        yield from _effect(one["effect"], path)


def _effect(effect: str, path: str) -> Found:
    if effect not in EFFECTS:
        yield same(statuses.unsupported(f"{path}.effect", effect, EFFECTS))


def _label_value(value: str, path: str) -> Found:
    for problem in label_value_problems(value):
        yield statuses.bad_value(path, value, problem)


def rule_causes(rule: Json, release: Release) -> Found:
    """Check a DeviceTaintRule."""
    spec = rule.get("spec") or {}
    chosen, path = spec.get("deviceSelector") or {}, "spec.deviceSelector"
    for name, check in (("driver", driver), ("pool", pool), ("device", label)):
        if chosen.get(name) is not None:
            yield from check(chosen[name], f"{path}.{name}")
    yield from taint(spec.get("taint") or {}, "spec.taint")

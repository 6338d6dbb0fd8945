"""Conditions of a status: set one, and its transition time follows."""

from __future__ import annotations

from typing import NamedTuple

from podium.apiserver.statuses import Json


class Condition(NamedTuple):
    """What a condition says."""

    type: str
    status: str
    reason: str = ""
    message: str = ""


def find_condition(conditions: list[Json], type_: str) -> Json | None:
    return next((one for one in conditions if one.get("type") == type_), None)


def set_condition(conditions: list[Json], wanted: Condition, now: str, **times: str) -> list[Json]:
    """Return the conditions with this one set; an equal condition stays unchanged.

    ``times`` are fields that get a new value on every change, besides lastTransitionTime.
    """
    old = find_condition(conditions, wanted.type)
    new = {name: value for name, value in wanted._asdict().items() if value}
    if old is not None and all(
        old.get(name, "") == getattr(wanted, name) for name in ("status", "reason", "message")
    ):
        return conditions
    moved = old is None or old.get("status") != wanted.status
    new["lastTransitionTime"] = now if moved or old is None else old["lastTransitionTime"]
    new |= times
    if old is None:
        return [*conditions, new]
    return [new if one is old else one for one in conditions]


def is_true(conditions: list[Json], type_: str) -> bool:
    found = find_condition(conditions, type_)
    return found is not None and found.get("status") == "True"

"""Columns of `kubectl get`, and what their cells show: ages, label lists, values at a path."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from podium.api.times import parse_time
from podium.apiserver.json_path import at
from podium.apiserver.statuses import Json
from podium.errors import InvalidTime

NONE, UNSET, UNKNOWN = "<none>", "<unset>", "<unknown>"

Cell = Callable[[Json], Any]


@dataclass(frozen=True, slots=True)
class Column:
    """One column; ``priority`` above 0 shows with `-o wide` only."""

    name: str
    type: str
    priority: int
    cell: Callable[[Json, float], Any]  # the object and the time in seconds
    format: str = ""
    cell_of_list: Callable[[list[Json]], Cell] | None = None  # if it depends on the other objects

    def header(self) -> Json:
        return {
            "name": self.name,
            "type": self.type,
            "format": self.format,
            "description": "",
            "priority": self.priority,
        }


def column(name: str, cell: Cell, wide: bool = False, kind: str = "string") -> Column:
    return Column(name, kind, 1 if wide else 0, lambda obj, now: cell(obj))


def value_column(
    name: str, path: str, default: Any = "", wide: bool = False, kind: str = "string"
) -> Column:
    """Return a column of the value at a path; ``default`` where there is none."""

    def cell(obj: Json) -> Any:
        value = at(obj, path)
        return default if value is None else value

    return column(name, cell, wide, kind)


def count_column(name: str, path: str, wide: bool = False) -> Column:
    return value_column(name, path, 0, wide, "integer")


def flag_column(name: str, path: str) -> Column:
    """Return a column of a boolean that is false when nobody set it."""
    return column(name, lambda obj: bool(at(obj, path)), kind="boolean")


def labels_text(labels: Json) -> str:
    return ",".join(f"{key}={value}" for key, value in sorted(labels.items())) or NONE


def joined(*parts: str | None) -> str:
    return ", ".join(part for part in parts if part)


def first_of(texts: list[str], count: int, separator: str = ",") -> str:
    """Return the first few texts, and how many more there are."""
    more = f" + {len(texts) - count} more..." if len(texts) > count else ""
    return separator.join(texts[:count]) + more


def age(time: str | None, now: float, missing: str = UNKNOWN) -> str:
    """Return how long ago a time was, as kubectl shows it."""
    if not time:
        return missing
    try:
        return human_duration(now - parse_time(time) / 1e9)
    except InvalidTime:
        return "<invalid>"


def human_duration(seconds: float) -> str:
    """Format a duration with at most two units: ``3m20s``, ``5h``, ``2y30d``."""
    whole = int(seconds)
    if whole < -1:
        return "<invalid>"
    if whole < 120:
        return f"{max(whole, 0)}s"
    minutes, hours, days = whole // 60, whole // 3600, whole // 86400
    if minutes < 10:
        return _two(minutes, "m", whole % 60, "s")
    if minutes < 180:
        return f"{minutes}m"
    if hours < 8:
        return _two(hours, "h", minutes % 60, "m")
    if hours < 48:
        return f"{hours}h"
    if days < 8:
        return _two(days, "d", hours % 24, "h")
    if days < 730:
        return f"{days}d"
    years = days // 365
    return _two(years, "y", days % 365, "d") if years < 8 else f"{years}y"


def _two(first: int, unit: str, second: int, smaller: str) -> str:
    return f"{first}{unit}{second}{smaller}" if second else f"{first}{unit}"


NAME = Column("Name", "string", 0, lambda obj, now: obj["metadata"]["name"], "name")
AGE = Column("Age", "string", 0, lambda obj, now: age(at(obj, "metadata.creationTimestamp"), now))
CREATED_AT = value_column("Created At", "metadata.creationTimestamp")

"""Cells of tables: durations, label lists, columns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from podium.api.times import parse_time
from podium.apiserver.statuses import Json
from podium.errors import InvalidTime

NONE, UNSET, UNKNOWN = "<none>", "<unset>", "<unknown>"


@dataclass(frozen=True, slots=True)
class Column:
    """One column; ``priority`` above 0 shows with `-o wide` only."""

    name: str
    type: str
    priority: int
    cell: Callable[[Json, float], Any]  # the object and the time in seconds
    format: str = ""

    def header(self) -> Json:
        return {
            "name": self.name,
            "type": self.type,
            "format": self.format,
            "description": "",
            "priority": self.priority,
        }


def column(
    name: str, cell: Callable[[Json], Any], wide: bool = False, kind: str = "string"
) -> Column:
    return Column(name, kind, 1 if wide else 0, lambda obj, now: cell(obj))


def labels_text(labels: Json) -> str:
    return ",".join(f"{key}={value}" for key, value in sorted(labels.items())) or NONE


def joined(*parts: str | None) -> str:
    return ", ".join(part for part in parts if part)


def age(time: str | None, now: float, missing: str = UNKNOWN) -> str:
    """How long ago a time was, as kubectl shows it."""
    if not time:
        return missing
    try:
        return human_duration(now - parse_time(time) / 1e9)
    except InvalidTime:
        return "<invalid>"


def human_duration(seconds: float) -> str:
    """Two units at most, the second only while it matters: ``3m20s``, ``5h``, ``2y30d``."""
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

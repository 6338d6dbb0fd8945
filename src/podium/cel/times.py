"""Durations and timestamps: how they are read, written and taken apart."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Final
from zoneinfo import ZoneInfo

from podium.cel.arithmetic import MAX_TIME, MIN_TIME
from podium.cel.values import MAX_INT, NANOS, Duration, Timestamp, Value
from podium.errors import EvaluationError

_UNITS: Final = {
    "ns": 1,
    "us": 10**3,
    "µs": 10**3,
    "μs": 10**3,
    "ms": 10**6,
    "s": NANOS,
    "m": 60 * NANOS,
    "h": 3600 * NANOS,
}
_DURATION: Final = re.compile(
    r"([+-]?)(0|(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:ns|us|µs|μs|ms|s|m|h))+)"
)
_PART: Final = re.compile(r"([0-9]*)\.?([0-9]*)(ns|us|µs|μs|ms|s|m|h)")
_TIMESTAMP: Final = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{2}):([0-9]{2}):([0-9]{2})(?:[.,]([0-9]+))?"
    r"(Z|[+-][0-9]{2}:[0-9]{2})"
)
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def parse_duration(text: str) -> Duration | None:
    """Read a Go duration such as ``1h30m``; None if it is not one."""
    found = _DURATION.fullmatch(text)
    if found is None or len(text) > 1000:
        return None
    nanos = 0
    for whole, fraction, unit in _PART.findall(found[2]):
        nanos += int(whole or "0") * _UNITS[unit]
        nanos += int(fraction or "0") * _UNITS[unit] // int(10 ** len(fraction))
    if nanos > MAX_INT:
        return None
    return Duration(-nanos if found[1] == "-" else nanos)


def duration_text(value: Duration) -> str:
    """Write seconds, as CEL converts a duration to a string."""
    sign = "-" if value.nanos < 0 else ""
    seconds, nanos = divmod(abs(value.nanos), NANOS)
    fraction = f"{nanos:09d}".rstrip("0")
    return f"{sign}{seconds}{'.' + fraction if fraction else ''}s"


def parse_timestamp(text: str) -> Timestamp | None:
    """Read an RFC 3339 time; None if it is not one."""
    found = _TIMESTAMP.fullmatch(text)
    if found is None:
        return None
    year, month, day, hour, minute, second, fraction, zone = found.groups()
    try:
        moment = datetime(
            max(int(year), 1), int(month), int(day), int(hour), int(minute), int(second), tzinfo=UTC
        )
    except ValueError:
        return None
    offset = 0 if zone == "Z" else _offset(zone)
    nanos = ((moment - _EPOCH) // timedelta(seconds=1) - offset) * NANOS
    nanos += int(f"{fraction or '':0<9.9}")
    if not int(year) or not MIN_TIME <= nanos <= MAX_TIME:
        raise EvaluationError("timestamp overflow")
    return Timestamp(nanos)


def _offset(zone: str) -> int:
    sign = -1 if zone[0] == "-" else 1
    return sign * (int(zone[1:3]) * 3600 + int(zone[4:6]) * 60)


def timestamp_text(value: Timestamp) -> str:
    seconds, nanos = divmod(value.nanos, NANOS)
    moment = _EPOCH + timedelta(seconds=seconds)
    fraction = f"{nanos:09d}".rstrip("0")
    return f"{moment:%Y-%m-%dT%H:%M:%S}".rjust(19, "0") + (f".{fraction}Z" if fraction else "Z")


def _zone(name: str) -> tzinfo | timedelta:
    """Return a time zone, or the offset that a text such as ``-08:00`` says."""
    hours, colon, minutes = name.partition(":")
    if not colon:
        return _named(name)
    try:
        total = int(hours) * 60
        late = int(minutes)
    except ValueError:
        wrong = hours if not re.fullmatch("[+-]?[0-9]+", hours) else minutes
        raise EvaluationError(f'strconv.Atoi: parsing "{wrong}": invalid syntax') from None
    total += -late if name.startswith("-") else late
    return timedelta(minutes=total)


def _named(name: str) -> tzinfo:
    if name in ("", "UTC"):
        return UTC
    try:
        return ZoneInfo(name)
    except (ValueError, OSError, KeyError):
        raise EvaluationError(f"unknown time zone {name}") from None


def _local(value: Timestamp, zone: str) -> datetime:
    moment = _EPOCH + timedelta(seconds=value.nanos // NANOS)
    try:
        found = _zone(zone)
        return moment + found if isinstance(found, timedelta) else moment.astimezone(found)
    except OverflowError:
        raise EvaluationError("timestamp overflow") from None


# By function: how a moment in its time zone is read, and how a duration is.
_MOMENT: Final[dict[str, Callable[[datetime], int]]] = {
    "getFullYear": lambda moment: moment.year,
    "getMonth": lambda moment: moment.month - 1,
    "getDayOfYear": lambda moment: moment.timetuple().tm_yday - 1,
    "getDate": lambda moment: moment.day,
    "getDayOfMonth": lambda moment: moment.day - 1,
    "getDayOfWeek": lambda moment: moment.isoweekday() % 7,
    "getHours": lambda moment: moment.hour,
    "getMinutes": lambda moment: moment.minute,
    "getSeconds": lambda moment: moment.second,
}
_SPAN: Final = {
    "getHours": 3600 * NANOS,
    "getMinutes": 60 * NANOS,
    "getSeconds": NANOS,
    "getMilliseconds": 10**6,
}
TIMESTAMP_PARTS: Final = (*_MOMENT, "getMilliseconds")
DURATION_PARTS: Final = tuple(_SPAN)


def timestamp_part(name: str) -> Callable[..., int]:
    """Return the function that reads one part of a timestamp, in UTC or a time zone."""

    def part(value: Timestamp, zone: str = "") -> int:
        if name == "getMilliseconds":
            return value.nanos % NANOS // 10**6
        return _MOMENT[name](_local(value, zone))

    return part


def duration_part(name: str) -> Callable[[Value], int]:
    unit = _SPAN[name]

    def part(value: Duration) -> int:
        return abs(value.nanos) // unit * (-1 if value.nanos < 0 else 1)

    return part

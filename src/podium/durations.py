"""Convert Go's durations, such as "1m30s", to seconds and back."""

import re
from fractions import Fraction
from typing import Annotated

from msgspec import Meta

FORMAT = "duration"

# A field of this type is written as a duration and read as seconds.
Duration = Annotated[float, Meta(extra={"format": FORMAT})]

_NANOSECONDS = {
    "ns": 1,
    "us": 1_000,
    "µs": 1_000,
    "μs": 1_000,
    "ms": 1_000_000,
    "s": 1_000_000_000,
    "m": 60_000_000_000,
    "h": 3_600_000_000_000,
}
_PART = re.compile(r"(?P<number>\d+\.?\d*|\.\d+)(?P<unit>[^\d.]*)", re.ASCII)
_LONGEST = 2**63 - 1
_LONGEST_TEXT = 200


def parse(text: str) -> float:
    """Return the seconds of ``"1m30s"``; raise ``ValueError`` with Go's message otherwise."""
    unsigned = text[1:] if text[:1] in ("+", "-") else text
    if unsigned == "0":
        return 0.0
    nanoseconds = _nanoseconds(text, unsigned)
    return (-nanoseconds if text.startswith("-") else nanoseconds) / _NANOSECONDS["s"]


def _nanoseconds(text: str, unsigned: str) -> int:
    invalid = ValueError(f'time: invalid duration "{text[:_LONGEST_TEXT]}"')
    if not unsigned or len(unsigned) > _LONGEST_TEXT:
        raise invalid
    total, end = 0, 0
    while end < len(unsigned):
        part = _PART.match(unsigned, end)
        if part is None:
            raise invalid
        total += int(Fraction(part["number"]) * _unit(part["unit"], text))
        end = part.end()
    if total > _LONGEST:
        raise invalid
    return total


def _unit(unit: str, text: str) -> int:
    if not unit:
        raise ValueError(f'time: missing unit in duration "{text}"')
    if unit not in _NANOSECONDS:
        raise ValueError(f'time: unknown unit "{unit}" in duration "{text}"')
    return _NANOSECONDS[unit]


def format(seconds: float) -> str:
    """Format seconds as Go does: ``"1m30s"``, ``"15m0s"``, ``"100ms"``."""
    nanoseconds = round(seconds * _NANOSECONDS["s"])
    sign, rest = ("-", -nanoseconds) if nanoseconds < 0 else ("", nanoseconds)
    if rest < _NANOSECONDS["s"]:
        return sign + _below_a_second(rest)
    minutes, rest = divmod(rest, _NANOSECONDS["m"])
    text = f"{_decimal(rest, _NANOSECONDS['s'])}s"
    if minutes:
        hours, minutes = divmod(minutes, 60)
        text = f"{hours}h{minutes}m{text}" if hours else f"{minutes}m{text}"
    return sign + text


def _below_a_second(nanoseconds: int) -> str:
    for unit in ("ms", "µs", "ns"):
        if nanoseconds >= _NANOSECONDS[unit]:
            return f"{_decimal(nanoseconds, _NANOSECONDS[unit])}{unit}"
    return "0s"


def _decimal(amount: int, unit: int) -> str:
    whole, rest = divmod(amount, unit)
    digits = str(unit + rest)[1:].rstrip("0")
    return f"{whole}.{digits}" if digits else str(whole)

"""Convert times as the API writes them, RFC 3339, to numbers and back."""

import re
from datetime import UTC, datetime
from functools import lru_cache
from typing import Final

from podium.errors import InvalidTime

NANOSECONDS: Final = 10**9  # in a second

_RFC3339 = re.compile(
    r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:[.,](\d+))?(?:Z|([+-])(\d\d):(\d\d))", re.ASCII
)


@lru_cache(maxsize=65536)
def parse_time(text: str) -> int:
    """Return the exact nanoseconds since 1970 of an RFC 3339 time."""
    match = _RFC3339.fullmatch(text)
    try:
        if match is None:
            raise ValueError
        moment, fraction, sign, hours, minutes = match.groups()
        seconds = int(datetime.fromisoformat(moment).replace(tzinfo=UTC).timestamp())
    except ValueError:
        raise InvalidTime(f"{text!r} is not an RFC 3339 time") from None
    if sign:
        offset = int(hours) * 3600 + int(minutes) * 60
        seconds -= offset if sign == "+" else -offset
    return seconds * NANOSECONDS + int((fraction or "0")[:9].ljust(9, "0"))


def time_text(seconds: float) -> str:
    """Format to the second, as metadata and conditions do."""
    return f"{_second_text(int(seconds))}Z"


def micro_time_text(seconds: float) -> str:
    """Format with microseconds, as leases and events do."""
    second, microseconds = divmod(round(seconds * 1e6), 10**6)
    return f"{_second_text(second)}.{microseconds:06}Z"


@lru_cache(maxsize=64)  # many events have the same second
def _second_text(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S")

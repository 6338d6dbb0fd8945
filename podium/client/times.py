"""Times as the API writes them, from a clock's seconds."""

from __future__ import annotations

from datetime import UTC, datetime


def time_text(seconds: float) -> str:
    """To the second, as conditions have it."""
    return datetime.fromtimestamp(int(seconds), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def micro_time_text(seconds: float) -> str:
    """With microseconds, as leases and events have it."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")

"""Limits on what one call may add to a simulation: larger numbers are probably mistyped."""

from __future__ import annotations

from typing import Final

from podium.errors import SimulationError

MOST_ADDED: Final = 200_000  # nodes, or objects of one call; clusters have some thousands of nodes

_LONGEST: Final = 10**18  # larger numbers are left out of messages


def check_number(what: str, number: int, most: int = MOST_ADDED) -> int:
    """Return the number of objects to add; raise ``SimulationError`` if it is out of bounds."""
    if not 1 <= number <= most:
        shown = f", not {number:,}" if abs(number) < _LONGEST else ""
        raise SimulationError(f"{what} must be from 1 to {most:,}{shown}")
    return number


def too_many(most: int) -> SimulationError:
    """Return the error about a call that would add more objects than this."""
    return SimulationError(
        f"this adds more than {most:,} objects at a time: ask for fewer replicas, "
        "or add them in several steps"
    )

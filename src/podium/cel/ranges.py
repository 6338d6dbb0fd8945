"""Ranges of sizes and costs, as cel-go's estimates have them: they saturate at the largest."""

from __future__ import annotations

import math
from typing import Final, NamedTuple

from podium.cel.values import MAX_UINT


class Range(NamedTuple):
    """At least ``low`` and at most ``high``."""

    low: int
    high: int

    def plus(self, other: Range) -> Range:
        return Range(_bounded(self.low + other.low), _bounded(self.high + other.high))

    def times(self, other: Range) -> Range:
        return Range(_bounded(self.low * other.low), _bounded(self.high * other.high))

    def scaled(self, factor: float) -> Range:
        """Multiply, rounding up; in floating point, as cel-go does."""
        return Range(_scaled(self.low, factor), _scaled(self.high, factor))

    def union(self, other: Range) -> Range:
        return Range(min(self.low, other.low), max(self.high, other.high))


def exactly(number: int) -> Range:
    return Range(number, number)


def _bounded(number: int) -> int:
    return min(number, MAX_UINT)


def _scaled(number: int, factor: float) -> int:
    product = math.ceil(float(number) * factor)
    return MAX_UINT if product >= 2**64 else product


UNKNOWN: Final = Range(0, MAX_UINT)
NOTHING: Final = Range(0, 0)
ONE: Final = Range(1, 1)

LIST_COST: Final = 10
MAP_COST: Final = 30
STRUCT_COST: Final = 40
TEXT_FACTOR: Final = 0.1
REGEX_FACTOR: Final = 0.25

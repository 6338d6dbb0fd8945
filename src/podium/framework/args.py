"""The typed arguments of a plugin, as its author declares them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import inf

import msgspec

from podium.errors import Problem

__all__ = ["Args", "NoArgs", "Problem", "invalid", "outside"]


class Args(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Base of a plugin's ``Args``: fields with defaults, unknown names are errors.

    In-tree plugins spell their fields as Kubernetes does (``rename="camel"``).
    """

    def validate(self) -> Iterable[Problem]:
        """Everything wrong with these values, by paths below the args; called when the
        configuration is loaded."""
        return ()


class NoArgs(Args, frozen=True):
    """For plugins that take none."""


def outside(path: str, value: int, lowest: int, highest: float = inf) -> Iterator[Problem]:
    """The problem of a number that is not in this range, in upstream's words."""
    if not lowest <= value <= highest:
        end = "inf)" if highest == inf else f"{highest}]"
        yield invalid(path, value, f"not in valid range [{lowest}, {end}")


def invalid(path: str, value: object, detail: str) -> Problem:
    return Problem(path, f"Invalid value: {value}: {detail}")

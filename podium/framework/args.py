"""The typed arguments of a plugin, as its author declares them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import msgspec


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing wrong with a configuration: where (a path below the args) and what."""

    path: str
    message: str


class Args(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Base of a plugin's ``Args``: fields with defaults, unknown names are errors.

    In-tree plugins spell their fields as Kubernetes does (``rename="camel"``).
    """

    def validate(self) -> Iterable[Problem]:
        """Everything wrong with these values; called when the configuration is loaded."""
        return ()


class NoArgs(Args, frozen=True):
    """For plugins that take none."""

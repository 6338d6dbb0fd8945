"""The registry of families: functions that build a cluster with a pod that stays pending."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Any

from podium.api.objects import Pod


@dataclass(frozen=True)
class Scenario:
    """``objects`` are there before; ``pod`` is pending for a reason with one of these ``codes``."""

    family: str
    objects: list[Any]
    pod: Pod
    codes: frozenset[str]
    scheduled: list[Pod] = field(default_factory=list)  # placed by the scheduler before the pod


Build = Callable[[Random], Scenario]
FAMILIES: dict[str, Build] = {}


def family(*codes: str) -> Callable[[Callable[[Random], tuple[list[Any], Pod]]], Build]:
    """Register a function that returns the objects and the pod, and perhaps scheduled pods."""

    def register(build: Callable[[Random], tuple[Any, ...]]) -> Build:
        def made(random: Random) -> Scenario:
            objects, subject, *rest = build(random)
            scheduled = rest[0] if rest else []
            name = build.__name__.lstrip("_")
            return Scenario(name, objects, subject, frozenset(codes), scheduled)

        FAMILIES[build.__name__] = made
        return made

    return register

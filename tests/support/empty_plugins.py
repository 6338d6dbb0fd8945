"""Registries for these tests: plugins with names and extension points, and nothing inside."""

from collections.abc import Iterable

from podium.config import upstream
from podium.framework.args import Args, NoArgs, Problem
from podium.framework.plugin import Plugin, Point
from podium.framework.registry import Registry


class Resource(Args, frozen=True, rename="camel"):
    name: str
    weight: int = 1


class FitArgs(Args, frozen=True, rename="camel"):
    ignored_resources: tuple[str, ...] = ()
    resources: tuple[Resource, ...] = ()
    percentage: int = 10

    def validate(self) -> Iterable[Problem]:
        if not 0 <= self.percentage <= 100:
            message = f"Invalid value: {self.percentage}: not in valid range [0, 100]"
            yield Problem("percentage", message)
        for index, resource in enumerate(self.resources):
            if resource.weight < 1:
                yield Problem(f"resources[{index}].weight", "must be positive")


def plugin(name: str, keys: Iterable[str], args: type[Args] = NoArgs) -> type[Plugin]:
    bases = tuple(Point(key).interface for key in keys if key not in upstream.PLACEMENT_KEYS)
    methods = (each for base in bases for each in base.__abstractmethods__)
    body = {"name": name, "Args": args, **dict.fromkeys(methods, stub)}
    return type(name, bases or (Plugin,), body)


def stub(*given: object) -> None:
    """Nobody calls it here."""


def upstream_plugin(name: str) -> type[Plugin]:
    args = FitArgs if name == "NodeResourcesFit" else NoArgs
    return plugin(name, sorted(upstream.POINTS[name]), args)


def registry(*more: type[Plugin], without: Iterable[str] = ()) -> Registry:
    """Every plugin of v1.36 at its points, but for some, and some more."""
    known = [upstream_plugin(name) for name in upstream.POINTS if name not in without]
    return Registry([*known, *more])

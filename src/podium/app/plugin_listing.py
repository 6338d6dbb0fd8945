"""What plugins there are and where they run, for `podium plugin list`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from podium.config import export
from podium.config.model import Configuration, Profile
from podium.errors import PluginError
from podium.framework.points import Point
from podium.framework.registry import Registry


@dataclass(frozen=True, slots=True)
class Listed:
    """A plugin in one profile; without a profile it is registered but not enabled."""

    name: str
    origin: str
    source: str
    points: tuple[str, ...]  # enabled in the profile, else all that it implements
    profile: str = ""
    weight: int | None = None
    args: dict[str, Any] | None = None
    trouble: str = ""  # why it cannot be loaded


def listing(registry: Registry, configuration: Configuration) -> list[Listed]:
    """Return all registered plugins: those from outside first, then by name."""
    found = [each for name in registry for each in _rows(name, registry, configuration)]
    return sorted(found, key=lambda each: (each.origin == "podium", each.name, each.profile))


def _rows(name: str, registry: Registry, configuration: Configuration) -> Iterator[Listed]:
    try:
        entry = registry.entry(name)
    except PluginError as error:  # an installed package that does not load
        yield Listed(name, "an installed package", "", (), trouble=str(error))
        return
    profiles = [each for each in configuration.profiles if _points(name, each)]
    for profile in profiles:
        args = export.args_fields(profile.args[name]) or None
        weighted = [export.weights_at(profile, point) for point in _points(name, profile)]
        weight = next((weights[name] for weights in weighted if weights is not None), None)
        points = tuple(point.value for point in _points(name, profile))
        where = profile.scheduler_name
        yield Listed(name, entry.origin, entry.source, points, where, weight, args)
    if not profiles:
        points = tuple(point.value for point in Point if point in entry.points)
        yield Listed(name, entry.origin, entry.source, points)


def _points(name: str, profile: Profile) -> list[Point]:
    return [point for point, names in profile.plugins.items() if name in names]

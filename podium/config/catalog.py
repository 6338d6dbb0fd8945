"""What can be said about a plugin's name: what podium has, what only kube-scheduler has."""

from dataclasses import dataclass

from podium.config import upstream
from podium.config.problems import did_you_mean
from podium.framework.plugin import Point
from podium.framework.registry import Registry


@dataclass(frozen=True, slots=True)
class Catalog:
    """The plugins a configuration may name: those of the registry and those of v1.36."""

    registry: Registry

    def __contains__(self, name: str) -> bool:
        return name in self.registry or name in upstream.POINTS

    def is_absent(self, name: str) -> bool:
        return name not in self.registry and name in upstream.POINTS

    def runs_at(self, name: str, key: str) -> bool:
        """Whether the plugin takes part at this extension point."""
        if name in self.registry and key not in upstream.PLACEMENT_KEYS:
            return Point(key) in self.registry.points(name)
        return key in upstream.POINTS.get(name, ())

    def may_be_listed_at(self, name: str, key: str) -> bool:
        """Whether a file may list it there: a file written for upstream stays valid."""
        return self.runs_at(name, key) or key in upstream.POINTS.get(name, ())

    def suggestion(self, name: str) -> str:
        return did_you_mean(name, {*self.registry, *upstream.POINTS})

"""What can be said about a plugin's name: what podium has, what only kube-scheduler has."""

from dataclasses import dataclass

from podium.config import upstream
from podium.config.problems import did_you_mean
from podium.config.version import Version
from podium.framework.plugin import Point
from podium.framework.registry import Registry


@dataclass(frozen=True, slots=True)
class Catalog:
    """The plugins a configuration may name: those of the registry and those of its version."""

    registry: Registry
    version: Version

    def __contains__(self, name: str) -> bool:
        return self.has(name) or name in self.version.known

    def has(self, name: str) -> bool:
        """Whether podium can run it: a plugin that the version has dropped is not there."""
        return name in self.registry and name not in self.version.removed

    def is_absent(self, name: str) -> bool:
        return not self.has(name) and name in self.version.known

    def runs_at(self, name: str, key: str) -> bool:
        """Whether the plugin takes part at this extension point."""
        if self.has(name) and key not in upstream.PLACEMENT_KEYS:
            return Point(key) in self.registry.points(name)
        return key in self.version.known.get(name, ())

    def may_be_listed_at(self, name: str, key: str) -> bool:
        """Whether a file may list it there: a file written for upstream stays valid."""
        return self.runs_at(name, key) or key in self.version.known.get(name, ())

    def suggestion(self, name: str) -> str:
        if name in self.version.removed:
            return f"; {upstream.REPLACEMENTS[name]}"
        known = {*self.registry, *self.version.known}.difference(self.version.removed)
        return did_you_mean(name, known)

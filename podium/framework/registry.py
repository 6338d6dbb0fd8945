"""Plugin names to classes. In-tree plugins are handed in by ``app``; nothing is imported here."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from podium.errors import PluginError
from podium.framework.args import Args, NoArgs
from podium.framework.cycle_state import Cloneable
from podium.framework.plugin import Plugin, Point, PreFilterExtensions, points_of

if TYPE_CHECKING:
    from podium.framework.handle import Handle

Factory = Callable[[Any, "Handle"], Plugin]


@dataclass(frozen=True, slots=True)
class Entry:
    """How one plugin is built and what it is known to implement."""

    name: str
    build: Factory
    args: type[Args]
    points: frozenset[Point]


class Registry:
    """The plugins that a configuration may name."""

    def __init__(self, plugins: Iterable[type[Plugin]] = ()) -> None:
        self._entries: dict[str, Entry] = {}
        for plugin in plugins:
            self.register(plugin)

    def register(
        self, plugin: type[Plugin], *, name: str = "", build: Factory | None = None
    ) -> None:
        """Add a plugin class, under its own name or another; ``build`` replaces its constructor."""
        name = name or plugin.name
        if not name:
            raise PluginError(f"{plugin.__module__}.{plugin.__qualname__} has no name")
        if name in self._entries:
            raise PluginError(f"a plugin named {name} already exists")
        if issubclass(plugin, PreFilterExtensions):
            _check_state_type(plugin)
        entry = Entry(name, build or plugin, plugin.Args, points_of(plugin))
        self._entries[name] = entry

    def __contains__(self, name: str) -> bool:
        return name in self._entries

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def points(self, name: str) -> frozenset[Point]:
        return self._entries[name].points

    def args_type(self, name: str) -> type[Args]:
        """The plugin's own arguments type; ``NoArgs`` for one that takes none."""
        return self._entries[name].args

    def build(self, name: str, args: Args, handle: Handle) -> Plugin:
        """Make the plugin; what its constructor raises names the plugin."""
        entry = self._entries.get(name)
        if entry is None:
            raise PluginError(f"no plugin {name} is registered: build with the registry it is in")
        try:
            return entry.build(args, handle)
        except Exception as fault:
            raise PluginError(f'initializing plugin "{name}": {fault}') from fault


def _check_state_type(plugin: type[PreFilterExtensions]) -> None:
    """A dry run changes copies only: the state behind add_pod and remove_pod must be copyable."""
    kind = getattr(plugin, "State", None)
    if not isinstance(kind, type) or not issubclass(kind, Cloneable):
        raise PluginError(f"{plugin.name}.State must be a type with a clone() method")


__all__ = ["Entry", "Factory", "NoArgs", "Registry"]

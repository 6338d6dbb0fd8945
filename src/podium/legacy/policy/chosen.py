"""The plugins that a policy comes to, put together one predicate or priority at a time."""

from typing import Any

from podium.config import wire
from podium.config.merge import FIELDS_OF_KEYS
from podium.config.version import Notes

PROFILE = "profiles[0]"


class Chosen:
    """Which plugin runs where, which arguments it gets, and what in the policy asked for it."""

    def __init__(self) -> None:
        self._points: dict[str, dict[str, tuple[int, str]]] = {}
        self._args: dict[str, dict[str, Any]] = {}
        self._places: dict[str, dict[str, str]] = {}  # of arguments, by plugin

    def enable(self, plugin: str, points: str, path: str, weight: int = 0) -> None:
        """A plugin that is there already keeps its place and its weight."""
        for key in points.split():
            here = self._points.setdefault(key, {})
            here.setdefault(plugin, (weight if key == "score" else 0, path))

    def runs(self, plugin: str) -> bool:
        return any(plugin in here for here in self._points.values())

    def configure(self, plugin: str, args: dict[str, Any], path: str) -> None:
        self._args.setdefault(plugin, {}).update(args)
        self._places.setdefault(plugin, {})[""] = path

    def add_to_list(self, plugin: str, name: str, values: dict[str, str]) -> None:
        """Continue a list among the plugin's arguments with values, by where they are written."""
        known = self._args.setdefault(plugin, {}).setdefault(name, [])
        places = self._places.setdefault(plugin, {})
        for path, value in values.items():
            places[f".{name}[{len(known)}]"] = path
            known.append(value)

    def profile(self, notes: Notes) -> wire.Profile:
        plugins = {FIELDS_OF_KEYS[key]: self._plugin_set(key, notes) for key in self._points}
        return wire.Profile(
            plugins=wire.Plugins(**plugins), plugin_config=tuple(self._plugin_config(notes))
        )

    def _plugin_set(self, key: str, notes: Notes) -> wire.PluginSet:
        entries = []
        for index, (plugin, (weight, path)) in enumerate(self._points[key].items()):
            notes.moved(f"{PROFILE}.plugins.{key}.enabled[{index}]", path)
            entries.append(wire.Plugin(name=plugin, weight=weight))
        return wire.PluginSet(enabled=tuple(entries))

    def _plugin_config(self, notes: Notes) -> list[wire.PluginConfig]:
        entries = []
        for index, (plugin, args) in enumerate(self._args.items()):
            where = f"{PROFILE}.pluginConfig[{index}]"
            for place, path in self._places[plugin].items():
                notes.moved(f"{where}.args{place}", path)
            entries.append(wire.PluginConfig(name=plugin, args=args))
        return entries

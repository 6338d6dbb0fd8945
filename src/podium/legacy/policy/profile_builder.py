"""Builds the profile that a policy amounts to, one predicate or priority at a time."""

from typing import Any

from podium.config import wire
from podium.config.merge import FIELDS_OF_KEYS
from podium.config.version import Notes

PROFILE = "profiles[0]"


class PolicyProfile:
    """Which plugin runs at which extension point, with which arguments.

    ``_points`` maps an extension point to its plugins in order, each with its weight and the path
    in the policy that asked for it. ``_args`` holds arguments by plugin, and ``_args_paths``, by
    plugin and argument, the path in the policy that they come from: problems are reported there.
    """

    def __init__(self) -> None:
        self._points: dict[str, dict[str, tuple[int, str]]] = {}
        self._args: dict[str, dict[str, Any]] = {}
        self._args_paths: dict[str, dict[str, str]] = {}

    def enable(self, plugin: str, points: str, path: str, weight: int = 0) -> None:
        """Add a plugin at the end of each point; one that is there keeps position and weight."""
        for key in points.split():
            here = self._points.setdefault(key, {})
            here.setdefault(plugin, (weight if key == "score" else 0, path))

    def runs(self, plugin: str) -> bool:
        return any(plugin in here for here in self._points.values())

    def configure(self, plugin: str, args: dict[str, Any], path: str) -> None:
        self._args.setdefault(plugin, {}).update(args)
        self._args_paths.setdefault(plugin, {})[""] = path

    def add_to_list(self, plugin: str, name: str, values: dict[str, str]) -> None:
        """Append values to a list argument; ``values`` maps their paths in the policy to them."""
        known = self._args.setdefault(plugin, {}).setdefault(name, [])
        paths = self._args_paths.setdefault(plugin, {})
        for path, value in values.items():
            paths[f".{name}[{len(known)}]"] = path
            known.append(value)

    def build(self, notes: Notes) -> wire.Profile:
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
            for argument, path in self._args_paths[plugin].items():
                notes.moved(f"{where}.args{argument}", path)
            entries.append(wire.PluginConfig(name=plugin, args=args))
        return entries

"""Convert a configuration of any version to v1 with the same meaning.

Called by ``podium config convert``. What v1 cannot express is a ``ConfigError``.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import msgspec

from podium.config import export, upstream, wire
from podium.config.expand import Expansion, weights
from podium.config.feature_gates import FeatureGates
from podium.config.load import SOURCE, Reading, default, from_value, read_value
from podium.config.merge import merged_plugins
from podium.config.model import Configuration
from podium.config.problems import Problems
from podium.config.version import V1, Catalog, default_plugins
from podium.errors import Problem
from podium.framework.args import NoArgs
from podium.framework.registry import Registry
from podium.legacy.counterparts import V1Profile, in_v1

NO_WEIGHTS: Mapping[str, int] = MappingProxyType({})
HEADER = {"apiVersion": upstream.API_VERSION, "kind": upstream.KIND}


@dataclass(frozen=True, slots=True)
class Converted:
    """A v1 file as plain data; ``warnings`` say where its meaning is not quite the same."""

    value: dict[str, Any]
    warnings: tuple[Problem, ...] = ()


def as_v1(reading: Reading, registry: Registry, source: str) -> Reading:
    """Convert the configuration to v1 and read it again, unless it is v1 already."""
    if reading.version is V1:
        return reading
    return read_value(convert(reading, registry, source=source).value, registry, source=source)


def convert(reading: Reading, registry: Registry, *, source: str = SOURCE) -> Converted:
    if reading.version is V1:
        return Converted(reading.value)
    problems, warnings = Problems(), Problems()
    configuration = reading.configuration
    if configuration.run_all_filters:
        message = "v1 cannot express it; remove it to convert the rest"
        problems.add("alwaysCheckAllPredicates", message)
    writer = _Writer(registry)
    profiles = []
    for index, given in enumerate(configuration.profiles):
        profile = in_v1(given, f"profiles[{index}]", problems, warnings)
        profile.args |= _unread_args(reading, index, registry)
        written = {**writer.plugins(profile), **writer.args(profile)}
        profiles.append({"schedulerName": given.scheduler_name, **written})
    problems.raise_if_any(source)
    value = {**HEADER, **_top_level(configuration), "profiles": profiles}
    if configuration.extenders:
        value["extenders"] = [export.extender_fields(each) for each in configuration.extenders]
    # v1 is stricter in places; this raises what it would refuse.
    from_value(value, registry, source=f"{source} as v1")
    return Converted(value, tuple(warnings.found))


def _top_level(configuration: Configuration) -> dict[str, Any]:
    """Return the top-level fields that differ from v1's defaults."""
    usual = Configuration(profiles=())
    found = _changed(export.top_level(configuration), export.top_level(usual))
    for name, ours, theirs in (
        ("leaderElection", configuration.leader_election, usual.leader_election),
        ("clientConnection", configuration.client_connection, usual.client_connection),
    ):
        changed = _changed(export.section_fields(ours), export.section_fields(theirs))
        found |= {name: changed} if changed else {}
    return found


def _changed(ours: dict[str, Any], usual: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in ours.items() if value != usual.get(name)}


def _unread_args(reading: Reading, index: int, registry: Registry) -> dict[str, Any]:
    """Return arguments that podium does not read: their plugins are absent or take none."""
    given = reading.meaning.given.profiles
    entries = given[index].plugin_config if given else ()
    return {
        entry.name: entry.args
        for entry in entries
        if entry.args
        and entry.name not in upstream.LEGACY_POINTS
        and (entry.name not in registry or registry.args_type(entry.name) is NoArgs)
    }


class _Writer:
    """Writes the differences between a profile and v1's default profile."""

    def __init__(self, registry: Registry) -> None:
        self.release = registry.release
        self.catalog = Catalog(registry, V1, FeatureGates(registry.release))
        [usual] = default(registry).profiles
        self.usual_args = {name: export.args_fields(args) for name, args in usual.args.items()}

    def plugins(self, profile: V1Profile) -> dict[str, Any]:
        unused = [name for name in upstream.default_weights(self.release) if not profile.runs(name)]
        off = wire.PluginSet(disabled=tuple(wire.Plugin(name=name) for name in unused))
        sets = merged_plugins(wire.Plugins(multi_point=off), "", V1, default_plugins(self.release))
        found: dict[str, Any] = {}
        if unused or profile.unplaced:
            found[upstream.MULTI_POINT] = _plugin_set(profile.unplaced, unused)
        order = Expansion(sets, self.catalog, Problems()).order()
        for key, names in profile.points.items():
            own, usual = profile.weights_at(key), weights(sets, key, self.catalog)
            same_weights = all(usual.get(name) == own[name] for name in names if name in own)
            if tuple(names) != order[key] or not same_weights:
                # The point lists all of its plugins itself, and takes none from multiPoint.
                found[key] = _plugin_set(names, ["*"], own)
        return {"plugins": found} if found else {}

    def args(self, profile: V1Profile) -> dict[str, Any]:
        entries = []
        for name, args in sorted(profile.args.items()):
            changed = _changed(args, self._usual(name))
            if changed:
                entries.append({"name": name, "args": changed})
        return {"pluginConfig": entries} if entries else {}

    def _usual(self, name: str) -> dict[str, Any]:
        """Return a plugin's default arguments."""
        if name in self.usual_args or not self.catalog.has(name):
            return self.usual_args.get(name, {})
        kind = self.catalog.registry.args_type(name)
        needs_some = any(field.required for field in msgspec.structs.fields(kind))
        return {} if needs_some else export.args_fields(kind())


def _plugin_set(
    enabled: list[str], disabled: list[str], weights: Mapping[str, int] = NO_WEIGHTS
) -> dict[str, Any]:
    listed = [
        {"name": name, **({"weight": weights[name]} if name in weights else {})} for name in enabled
    ]
    dropped = [{"name": name} for name in disabled]
    both = {"enabled": listed, "disabled": dropped}
    return {key: plugins for key, plugins in both.items() if plugins}

"""Merge the plugin sets of a profile with the default ones of its version, key by key."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from podium.config import upstream, wire
from podium.config.version import Defaults, Version
from podium.framework.registry import Registry

ALL = "*"
COMMAND_LINE = "--plugin"

FIELDS_OF_KEYS = dict(
    zip(wire.Plugins.__struct_encode_fields__, wire.Plugins.__struct_fields__, strict=True)
)


@dataclass(frozen=True, slots=True)
class Entry:
    """One enabled plugin; ``path`` is where the file lists it, or its key if it is a default."""

    name: str
    weight: int
    path: str

    @property
    def is_listed(self) -> bool:
        """Whether the file lists it, rather than the version's defaults."""
        return self.path.endswith("]")


@dataclass(frozen=True, slots=True)
class PluginSet:
    enabled: tuple[Entry, ...] = ()
    disabled: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(entry.name for entry in self.enabled)


PluginSets = Mapping[str, PluginSet]


def merged_plugins(
    custom: wire.Plugins, path: str, version: Version, defaults: Defaults
) -> PluginSets:
    """Return the set of every key after the merge; in v1 only multiPoint has defaults."""
    merge = merged if version.replaces_in_place else appended
    return {
        key: merge(given(custom, key, path), default_set(key, f"{path}.{key}", defaults))
        for key in (upstream.MULTI_POINT, *upstream.INTERFACES)
    }


def given(custom: wire.Plugins, key: str, path: str) -> PluginSet:
    """Return the set as the file lists it."""
    written = wire_sets(custom)[key]
    entries = (
        Entry(plugin.name, plugin.weight, f"{path}.{key}.enabled[{index}]")
        for index, plugin in enumerate(written.enabled)
    )
    return PluginSet(tuple(entries), tuple(plugin.name for plugin in written.disabled))


def wire_sets(plugins: wire.Plugins) -> dict[str, wire.PluginSet]:
    return {key: getattr(plugins, field) for key, field in FIELDS_OF_KEYS.items()}


def default_set(key: str, path: str, defaults: Defaults) -> PluginSet:
    weights = defaults.get(key, {}).items()
    return PluginSet(tuple(Entry(name, weight, path) for name, weight in weights))


def merged(custom: PluginSet, default: PluginSet) -> PluginSet:
    """Change the default set as a file asks: drop, replace in place, then append."""
    disabled = custom.disabled + default.disabled
    kept: list[Entry] = []
    used: set[Entry] = set()
    if ALL not in disabled:
        replacements = {entry.name: entry for entry in custom.enabled}  # the last one listed wins
        for entry in default.enabled:
            if entry.name in disabled:
                continue
            replacement = replacements.get(entry.name, entry)
            used.add(replacement)
            kept.append(replacement)
    added = [entry for entry in custom.enabled if entry not in used]
    return PluginSet((*kept, *added), disabled)


def appended(custom: PluginSet, default: PluginSet) -> PluginSet:
    """Merge as versions before v1beta2 did: drop, then append; nothing is replaced in place."""
    kept = [entry for entry in default.enabled if not {entry.name, ALL} & {*custom.disabled}]
    return PluginSet((*kept, *custom.enabled))


def with_command_line(sets: PluginSets, custom: wire.Plugins, registry: Registry) -> PluginSets:
    """Add to multiPoint the plugins from ``--plugin``, unless the file names them anywhere."""
    written = wire_sets(custom).values()
    named = {each.name for one in written for each in (*one.enabled, *one.disabled)}
    added = [
        Entry(each.name, each.weight, COMMAND_LINE)
        for each in registry.enabled
        if each.name not in named
    ]
    before = sets[upstream.MULTI_POINT]
    after = PluginSet((*before.enabled, *added), before.disabled)
    return {**sets, upstream.MULTI_POINT: after}


def enabled_names(sets: PluginSets) -> Iterable[str]:
    """Return every plugin that some key enables, once each: those that upstream would build."""
    return dict.fromkeys(name for plugin_set in sets.values() for name in plugin_set.names)

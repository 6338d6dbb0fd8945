"""What v1alpha1 and v1alpha2 share: Unreserve apart from Reserve, arguments at the top."""

from collections.abc import Iterator
from typing import Any

from msgspec.structs import replace

from podium.config import wire
from podium.config.version import Notes, same_fields
from podium.legacy.versions.shared import AnyProfile, Basics, OldestPoints

# The name that SelectorSpread had in 1.18.
_RENAMED = {"DefaultPodTopologySpread": "SelectorSpread"}
_PREEMPTION = wire.Plugin(name="DefaultPreemption")


class AlphaPoints(OldestPoints, frozen=True):
    unreserve: wire.PluginSet = wire.PluginSet()


class AlphaBasics(Basics, frozen=True):
    """What a file says at the top for all of its profiles."""

    healthz_bind_address: str = ""
    metrics_bind_address: str = ""
    disable_preemption: bool = False
    bind_timeout_seconds: wire.Int64 | None = None

    @property
    def arguments(self) -> dict[str, int | None]:
        """The fields that are arguments of plugins now."""
        return {"bindTimeoutSeconds": self.bind_timeout_seconds}


def profile_in_words_of_v1(
    given: AnyProfile, top: AlphaBasics, path: str, notes: Notes
) -> wire.Profile:
    plugins = same_fields(given.plugins, wire.Plugins)
    if isinstance(given.plugins, AlphaPoints):
        plugins = _with_unreserve(plugins, given.plugins.unreserve, f"{path}.plugins", notes)
    if top.disable_preemption:
        plugins = replace(plugins, post_filter=wire.PluginSet(disabled=(_PREEMPTION,)))
    sets = {name: _renamed_set(getattr(plugins, name)) for name in plugins.__struct_fields__}
    written = [replace(entry, name=_today(entry.name)) for entry in given.plugin_config]
    return wire.Profile(
        scheduler_name=given.scheduler_name,
        plugins=wire.Plugins(**sets),
        plugin_config=(*written, *args_of_top(top.arguments, len(written), path, notes)),
    )


def _with_unreserve(
    plugins: wire.Plugins, unreserve: wire.PluginSet, path: str, notes: Notes
) -> wire.Plugins:
    """A plugin that reserves also unreserves: whoever is listed at either runs at Reserve."""
    listed = {plugin.name for plugin in plugins.reserve.enabled}
    enabled = list(plugins.reserve.enabled)
    for index, plugin in enumerate(unreserve.enabled):
        if plugin.name not in listed:
            written = notes.problems.written(f"{path}.unreserve.enabled[{index}]")
            notes.moved(f"{path}.reserve.enabled[{len(enabled)}]", written)
            enabled.append(plugin)
    return replace(plugins, reserve=replace(plugins.reserve, enabled=tuple(enabled)))


def _renamed_set(given: wire.PluginSet) -> wire.PluginSet:
    enabled, disabled = (
        tuple(replace(plugin, name=_today(plugin.name)) for plugin in plugins)
        for plugins in (given.enabled, given.disabled)
    )
    return wire.PluginSet(enabled=enabled, disabled=disabled)


def _today(name: str) -> str:
    return _RENAMED.get(name, name)


_PLUGINS_OF_FIELDS = {
    "bindTimeoutSeconds": ("VolumeBinding", "bindTimeoutSeconds"),
    "hardPodAffinitySymmetricWeight": ("InterPodAffinity", "hardPodAffinityWeight"),
}


def args_of_top(
    values: dict[str, int | None], place: int, path: str, notes: Notes
) -> Iterator[wire.PluginConfig]:
    """Fields of the file's top as entries of pluginConfig, the first of them at this place."""
    for field, value in values.items():
        if value is not None:
            plugin, name = _PLUGINS_OF_FIELDS[field]
            notes.moved(f"{path}.pluginConfig[{place}]", field)
            notes.moved(f"{path}.pluginConfig[{place}].args.{name}", field)
            place += 1
            yield wire.PluginConfig(name=plugin, args={name: value})


def complete_args(name: str, args: dict[str, Any]) -> dict[str, Any]:
    """The system had no constraints of its own: SelectorSpread was there for that."""
    if name == "PodTopologySpread" and not args.get("defaultingType"):
        return {**args, "defaultingType": "List"}
    return args

"""v1alpha2, read by kube-scheduler 1.18, and what v1alpha1 shares with it.

Both have Unreserve apart from Reserve, and fields at the top that are plugin arguments now.
v1alpha2 is the first version with profiles and extenders.
"""

from collections.abc import Iterator
from typing import Any, Protocol

from msgspec.structs import replace

from podium.config import wire
from podium.config.version import Meaning, Notes, Version, same_fields
from podium.legacy.versions import default_plugins
from podium.legacy.versions.shared import (
    Basics,
    LegacyExtender,
    OldestPoints,
    election_in_v1,
    extenders_in_v1,
    warn_of_addresses,
)

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
        """The fields that are plugin arguments now."""
        return {"bindTimeoutSeconds": self.bind_timeout_seconds}


class AlphaProfile(Protocol):
    """A profile of v1alpha2, or the whole file of v1alpha1."""

    @property
    def scheduler_name(self) -> str | None: ...
    @property
    def plugins(self) -> AlphaPoints: ...
    @property
    def plugin_config(self) -> tuple[wire.PluginConfig, ...]: ...


def profile_in_v1(given: AlphaProfile, top: AlphaBasics, path: str, notes: Notes) -> wire.Profile:
    """Translate a profile, with the fields at the top of the file as its plugins' arguments."""
    plugins = same_fields(given.plugins, wire.Plugins)
    plugins = _with_unreserve(plugins, given.plugins.unreserve, f"{path}.plugins", notes)
    if top.disable_preemption:
        plugins = replace(plugins, post_filter=wire.PluginSet(disabled=(_PREEMPTION,)))
    sets = {name: _renamed_set(getattr(plugins, name)) for name in plugins.__struct_fields__}
    written = [replace(entry, name=_present_name(entry.name)) for entry in given.plugin_config]
    return wire.Profile(
        scheduler_name=given.scheduler_name,
        plugins=wire.Plugins(**sets),
        plugin_config=(*written, *args_of_top(top.arguments, len(written), path, notes)),
    )


def _with_unreserve(
    plugins: wire.Plugins, unreserve: wire.PluginSet, path: str, notes: Notes
) -> wire.Plugins:
    """Add the plugins of Unreserve to Reserve, because Reserve plugins also unreserve now."""
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
        tuple(replace(plugin, name=_present_name(plugin.name)) for plugin in plugins)
        for plugins in (given.enabled, given.disabled)
    )
    return wire.PluginSet(enabled=enabled, disabled=disabled)


def _present_name(name: str) -> str:
    return _RENAMED.get(name, name)


_PLUGINS_OF_FIELDS = {
    "bindTimeoutSeconds": ("VolumeBinding", "bindTimeoutSeconds"),
    "hardPodAffinitySymmetricWeight": ("InterPodAffinity", "hardPodAffinityWeight"),
}


def args_of_top(
    values: dict[str, int | None], index: int, path: str, notes: Notes
) -> Iterator[wire.PluginConfig]:
    """Yield fields from the top of the file as entries of pluginConfig, the first at ``index``."""
    for field, value in values.items():
        if value is not None:
            plugin, name = _PLUGINS_OF_FIELDS[field]
            notes.moved(f"{path}.pluginConfig[{index}]", field)
            notes.moved(f"{path}.pluginConfig[{index}].args.{name}", field)
            index += 1
            yield wire.PluginConfig(name=plugin, args={name: value})


def complete_args(name: str, args: dict[str, Any]) -> dict[str, Any]:
    """The system had no default constraints then: SelectorSpread spread pods instead."""
    if name == "PodTopologySpread" and not args.get("defaultingType"):
        return {**args, "defaultingType": "List"}
    return args


class Plugins(AlphaPoints, frozen=True):
    pre_score: wire.PluginSet = wire.PluginSet()


class Profile(wire.Wire, frozen=True):
    scheduler_name: str | None = None
    plugins: Plugins = Plugins()
    plugin_config: tuple[wire.PluginConfig, ...] = ()


class Configuration(AlphaBasics, frozen=True):
    leader_election: wire.LeaderElection = wire.LeaderElection()
    profiles: tuple[Profile, ...] = ()
    extenders: tuple[LegacyExtender, ...] = ()


def _translate(given: Configuration, notes: Notes) -> Meaning:
    warn_of_addresses(given, notes)
    # The fields at the top apply to every profile, so there must be at least one.
    written = given.profiles or (Profile(),)
    profiles = tuple(
        profile_in_v1(profile, given, f"profiles[{index}]", notes)
        for index, profile in enumerate(written)
    )
    translated = same_fields(
        given,
        wire.Configuration,
        profiles=profiles,
        leader_election=election_in_v1(given.leader_election, notes),
        extenders=extenders_in_v1(given.extenders),
    )
    return Meaning(translated, default_plugins.V1ALPHA2)


V1ALPHA2 = Version(
    name="v1alpha2",
    written=Configuration,
    translate=_translate,
    last_release="1.18",
    replaces_in_place=False,
    complete_args=complete_args,
)

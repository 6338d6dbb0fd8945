"""Profiles with their plugins, built from a configuration; also while a scheduler is running.

A plugin whose code and arguments are the same stays the same object, with all that it keeps.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from podium.config.model import Configuration
from podium.config.model import Profile as ProfileConfig
from podium.cycle.services import ProfileHandle, Services
from podium.framework.args import Args
from podium.framework.calls import CallObserver, Calls
from podium.framework.plugin import Plugin, close
from podium.framework.profile import Profile
from podium.framework.registry import Factory, Registry
from podium.framework.signature import PAGE
from podium.framework.thorough import ThoroughProfile
from podium.logs import get_logger

log = get_logger(__name__)


class Built(NamedTuple):
    """A plugin, and what it was made from."""

    factory: Factory
    args: Args
    plugin: Plugin


BuiltByName = dict[str, Built]


@dataclass(frozen=True, slots=True)
class DraftProfiles:
    """Profiles that are built, and not in use yet."""

    configuration: Configuration
    profiles: Mapping[str, Profile]
    built: Mapping[str, BuiltByName]  # by profile


class ProfileBuilder:
    """Builds the plugins of all profiles. ``profiles`` are those in use, by name.

    The names are those of ``services.events``. An observer is told about calls of plugins.
    """

    def __init__(self, services: Services, observer: CallObserver | None = None) -> None:
        self.profiles: dict[str, Profile] = {}
        self._built: Mapping[str, BuiltByName] = {}
        names = tuple(services.events)
        self._handles = {name: ProfileHandle(services, name, self.profiles) for name in names}
        clock = None if observer is None else services.clock
        self.calls = {name: Calls(name, observer, clock) for name in names}

    def draft(self, configuration: Configuration, registry: Registry) -> DraftProfiles:
        """Build the plugins that are new; if one raises, everything stays as it was."""
        built: dict[str, BuiltByName] = {}
        try:
            for wanted in configuration.profiles:
                plugins = built[wanted.scheduler_name] = {}
                self._build(plugins, wanted, registry)
        except BaseException:
            close(self._new(built), "draft")
            raise
        kind = ThoroughProfile if configuration.run_all_filters else Profile
        profiles = {
            each.scheduler_name: self._profile(kind, each, built[each.scheduler_name])
            for each in configuration.profiles
        }
        return DraftProfiles(configuration, profiles, built)

    def _build(self, plugins: BuiltByName, wanted: ProfileConfig, registry: Registry) -> None:
        before = self._built.get(wanted.scheduler_name, {})
        handle = self._handles[wanted.scheduler_name]
        for name in sorted({name for names in wanted.plugins.values() for name in names}):
            args = wanted.args[name]
            old = before.get(name)
            factory = registry.entry(name).build if name in registry else None
            if old is not None and (old.factory, old.args) == (factory, args):
                plugins[name] = old
            else:
                plugin = registry.build(name, args, handle)
                plugins[name] = Built(registry.entry(name).build, args, plugin)

    def _profile(self, kind: type[Profile], wanted: ProfileConfig, built: BuiltByName) -> Profile:
        plugins = {
            point: [built[name].plugin for name in names] for point, names in wanted.plugins.items()
        }
        name = wanted.scheduler_name
        weights, calls = wanted.weights, self.calls[name]
        return kind(name, plugins, weights, calls, wanted.placement_weights)

    def adopt(self, draft: DraftProfiles) -> list[Plugin]:
        """Take the draft into use. Return the plugins that are no longer used, for ``close``."""
        left = [
            each.plugin
            for name, plugins in self._built.items()
            for each in plugins.values()
            if each not in draft.built.get(name, {}).values()
        ]
        self._built = draft.built
        self.profiles.update(draft.profiles)
        return left

    def discard(self, draft: DraftProfiles) -> None:
        """Close what was built for this draft alone, since it will not be used."""
        close(self._new(draft.built), "draft")

    def _new(self, built: Mapping[str, BuiltByName]) -> list[Plugin]:
        known = {id(each.plugin) for one in self._built.values() for each in one.values()}
        found = (each.plugin for one in built.values() for each in one.values())
        return [plugin for plugin in found if id(plugin) not in known]


def report_unsigned(profiles: Iterable[Profile]) -> None:
    """Log each plugin that has no signature, and is therefore asked again for every pod."""
    for profile in profiles:
        for name in profile.unsigned:
            log.info(
                "plugin has no signature: it is asked again for every pod",
                plugin=name, profile=profile.name, see=PAGE,
            )  # fmt: skip

"""v1alpha2, read by kube-scheduler 1.18: the first version with profiles and extenders."""

from podium.config import wire
from podium.config.version import Meaning, Notes, Version, same_fields
from podium.legacy.versions import addresses, default_plugins, legacy_extenders
from podium.legacy.versions.alpha import (
    AlphaBasics,
    AlphaPoints,
    complete_args,
    profile_in_words_of_v1,
)
from podium.legacy.versions.locks import leases


class Plugins(AlphaPoints, frozen=True):
    pre_score: wire.PluginSet = wire.PluginSet()


class Profile(wire.Wire, frozen=True):
    scheduler_name: str | None = None
    plugins: Plugins = Plugins()
    plugin_config: tuple[wire.PluginConfig, ...] = ()


class Configuration(AlphaBasics, frozen=True):
    leader_election: wire.LeaderElection = wire.LeaderElection()
    profiles: tuple[Profile, ...] = ()
    extenders: tuple[legacy_extenders.LegacyExtender, ...] = ()


def _translate(given: Configuration, notes: Notes) -> Meaning:
    addresses.warn_of(given, notes)
    # What stands at the top is for every profile, so there must be one.
    written = given.profiles or (Profile(),)
    profiles = tuple(
        profile_in_words_of_v1(profile, given, f"profiles[{index}]", notes)
        for index, profile in enumerate(written)
    )
    translated = same_fields(
        given,
        wire.Configuration,
        profiles=profiles,
        leader_election=leases(given.leader_election, notes),
        extenders=legacy_extenders.in_words_of_v1(given.extenders),
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

"""v1beta1, v1beta2 and v1beta3: they differ from v1 in default plugins and a few fields."""

from typing import Any

from podium.config import upstream, wire
from podium.config.version import Meaning, Notes, Version, same_fields
from podium.legacy.versions import default_plugins
from podium.legacy.versions.shared import (
    Basics,
    OldestPoints,
    election_in_v1,
    refuse_addresses,
    warn_of_addresses,
)


class Beta1Plugins(OldestPoints, frozen=True):
    post_filter: wire.PluginSet = wire.PluginSet()
    pre_score: wire.PluginSet = wire.PluginSet()


class Beta1Profile(wire.Wire, frozen=True):
    scheduler_name: str | None = None
    plugins: Beta1Plugins = Beta1Plugins()
    plugin_config: tuple[wire.PluginConfig, ...] = ()


class BetaConfiguration(Basics, frozen=True):
    """What the three versions have in common; each has its own type of profiles."""

    parallelism: wire.Int32 | None = None
    leader_election: wire.LeaderElection = wire.LeaderElection()
    profiles: tuple[Beta1Profile, ...] = ()
    extenders: tuple[wire.Extender, ...] = ()


def _in_v1(given: BetaConfiguration, notes: Notes) -> wire.Configuration:
    """Translate a file: every field means what it means in v1, except the locks of elections."""
    profiles = tuple(
        wire.Profile(
            scheduler_name=profile.scheduler_name,
            plugins=same_fields(profile.plugins, wire.Plugins),
            plugin_config=profile.plugin_config,
        )
        for profile in given.profiles
    )
    election = election_in_v1(given.leader_election, notes)
    return same_fields(given, wire.Configuration, profiles=profiles, leader_election=election)


class Beta1Configuration(BetaConfiguration, frozen=True):
    healthz_bind_address: str = ""
    metrics_bind_address: str = ""


def _translate_beta1(given: Beta1Configuration, notes: Notes) -> Meaning:
    warn_of_addresses(given, notes)
    return Meaning(_in_v1(given, notes), default_plugins.V1BETA1)


def _complete_args(name: str, args: dict[str, Any]) -> dict[str, Any]:
    """In v1beta1 constraints replaced those of the system even without a defaultingType."""
    if name == "PodTopologySpread" and args.get("defaultConstraints"):
        return args if args.get("defaultingType") else {**args, "defaultingType": "List"}
    return args


V1BETA1 = Version(  # read by kube-scheduler 1.19 to 1.22
    name="v1beta1",
    written=Beta1Configuration,
    translate=_translate_beta1,
    last_release="1.22",
    replaces_in_place=False,
    complete_args=_complete_args,
)


class Beta2Plugins(Beta1Plugins, frozen=True):
    pre_enqueue: wire.PluginSet = wire.PluginSet()


class Beta2Profile(Beta1Profile, frozen=True):
    plugins: Beta2Plugins = Beta2Plugins()


class Beta2Configuration(Beta1Configuration, frozen=True):
    profiles: tuple[Beta2Profile, ...] = ()


def _translate_beta2(given: Beta2Configuration, notes: Notes) -> Meaning:
    refuse_addresses(given, notes)
    return Meaning(_in_v1(given, notes), default_plugins.V1BETA2)


_REJECTED = dict.fromkeys(
    upstream.REMOVED_IN_V1BETA2, f'was removed in version "{upstream.GROUP}/v1beta2"'
)

V1BETA2 = Version(  # read by kube-scheduler 1.22 to 1.27
    name="v1beta2",
    written=Beta2Configuration,
    translate=_translate_beta2,
    last_release="1.27",
    removed=upstream.REMOVED_IN_V1BETA2,
    rejected=_REJECTED,
)


class Beta3Plugins(Beta2Plugins, frozen=True):
    multi_point: wire.PluginSet = wire.PluginSet()


class Beta3Profile(Beta1Profile, frozen=True):
    plugins: Beta3Plugins = Beta3Plugins()


class Beta3Configuration(BetaConfiguration, frozen=True):
    profiles: tuple[Beta3Profile, ...] = ()


def _translate_beta3(given: Beta3Configuration, notes: Notes) -> Meaning:
    return Meaning(_in_v1(given, notes), default_plugins.V1BETA3)


V1BETA3 = Version(  # read by kube-scheduler 1.23 to 1.28
    name="v1beta3",
    written=Beta3Configuration,
    translate=_translate_beta3,
    last_release="1.28",
    removed=upstream.REMOVED_IN_V1BETA2,
    rejected=_REJECTED,
)

"""v1beta1, read by kube-scheduler 1.19 to 1.22: custom plugins are added to the default ones."""

from typing import Any

from podium.config import wire
from podium.config.versions import addresses, default_plugins
from podium.config.versions.locks import leases
from podium.config.versions.shared import Points, in_words_of_v1
from podium.config.versions.version import Meaning, Notes, Version, same_fields


class Profile(wire.Wire, frozen=True):
    scheduler_name: str | None = None
    plugins: Points = Points()
    plugin_config: tuple[wire.PluginConfig, ...] = ()


class Configuration(addresses.BindAddresses, frozen=True):
    parallelism: wire.Int32 | None = None
    leader_election: wire.LeaderElection = wire.LeaderElection()
    profiles: tuple[Profile, ...] = ()
    extenders: tuple[wire.Extender, ...] = ()


def _translate(given: Configuration, notes: Notes) -> Meaning:
    addresses.warn_of(given, notes)
    profiles = in_words_of_v1(given.profiles)
    election = leases(given.leader_election, notes)
    translated = same_fields(given, wire.Configuration, profiles=profiles, leader_election=election)
    return Meaning(translated, default_plugins.V1BETA1)


def _complete_args(name: str, args: dict[str, Any]) -> dict[str, Any]:
    """Constraints alone were enough to replace those of the system."""
    if name == "PodTopologySpread" and args.get("defaultConstraints"):
        return args if args.get("defaultingType") else {**args, "defaultingType": "List"}
    return args


V1BETA1 = Version(
    name="v1beta1",
    written=Configuration,
    translate=_translate,
    last_release="1.22",
    replaces_in_place=False,
    complete_args=_complete_args,
)

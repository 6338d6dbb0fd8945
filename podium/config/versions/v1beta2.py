"""v1beta2, read by kube-scheduler 1.22 to 1.27: plugins are listed point by point."""

from podium.config import upstream, wire
from podium.config.versions import addresses, default_plugins
from podium.config.versions.locks import leases
from podium.config.versions.shared import Points, in_words_of_v1
from podium.config.versions.v1beta3 import REMOVED
from podium.config.versions.version import Meaning, Notes, Version, same_fields


class Plugins(Points, frozen=True):
    pre_enqueue: wire.PluginSet = wire.PluginSet()


class Profile(wire.Wire, frozen=True):
    scheduler_name: str | None = None
    plugins: Plugins = Plugins()
    plugin_config: tuple[wire.PluginConfig, ...] = ()


class Configuration(addresses.BindAddresses, frozen=True):
    parallelism: wire.Int32 | None = None
    leader_election: wire.LeaderElection = wire.LeaderElection()
    profiles: tuple[Profile, ...] = ()
    extenders: tuple[wire.Extender, ...] = ()


def _translate(given: Configuration, notes: Notes) -> Meaning:
    addresses.refuse(given, notes)
    profiles = in_words_of_v1(given.profiles)
    election = leases(given.leader_election, notes)
    translated = same_fields(given, wire.Configuration, profiles=profiles, leader_election=election)
    return Meaning(translated, default_plugins.V1BETA2)


V1BETA2 = Version(
    name="v1beta2",
    written=Configuration,
    translate=_translate,
    last_release="1.27",
    removed=upstream.REMOVED_IN_V1BETA2,
    rejected=dict.fromkeys(upstream.REMOVED_IN_V1BETA2, REMOVED),
)

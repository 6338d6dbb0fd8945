"""v1beta3, read by kube-scheduler 1.23 to 1.28: v1 with other default plugins."""

from podium.config import upstream, wire
from podium.config.versions import default_plugins
from podium.config.versions.locks import leases
from podium.config.versions.shared import Basics, Points, in_words_of_v1
from podium.config.versions.version import Meaning, Notes, Version, same_fields

REMOVED = f'was removed in version "{upstream.GROUP}/v1beta2"'


class Plugins(Points, frozen=True):
    pre_enqueue: wire.PluginSet = wire.PluginSet()
    multi_point: wire.PluginSet = wire.PluginSet()


class Profile(wire.Wire, frozen=True):
    scheduler_name: str | None = None
    plugins: Plugins = Plugins()
    plugin_config: tuple[wire.PluginConfig, ...] = ()


class Configuration(Basics, frozen=True):
    parallelism: wire.Int32 | None = None
    leader_election: wire.LeaderElection = wire.LeaderElection()
    profiles: tuple[Profile, ...] = ()
    extenders: tuple[wire.Extender, ...] = ()


def _translate(given: Configuration, notes: Notes) -> Meaning:
    profiles = in_words_of_v1(given.profiles)
    election = leases(given.leader_election, notes)
    translated = same_fields(given, wire.Configuration, profiles=profiles, leader_election=election)
    return Meaning(translated, default_plugins.V1BETA3)


V1BETA3 = Version(
    name="v1beta3",
    written=Configuration,
    translate=_translate,
    last_release="1.28",
    removed=upstream.REMOVED_IN_V1BETA2,
    rejected=dict.fromkeys(upstream.REMOVED_IN_V1BETA2, REMOVED),
)

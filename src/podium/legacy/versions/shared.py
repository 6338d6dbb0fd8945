"""What the files of several older versions have in common."""

from typing import Protocol

from podium.config import wire
from podium.config.version import Notes, same_fields
from podium.legacy.versions.locks import leases


class Basics(wire.Wire, frozen=True):
    """The fields at the top that have been there from the first version on."""

    api_version: str = ""
    kind: str = ""
    client_connection: wire.ClientConnection = wire.ClientConnection()
    enable_profiling: bool | None = None
    enable_contention_profiling: bool | None = None
    percentage_of_nodes_to_score: wire.Int32 | None = None
    pod_initial_backoff_seconds: wire.Int64 | None = None
    pod_max_backoff_seconds: wire.Int64 | None = None


class OldestPoints(wire.Wire, frozen=True):
    """The extension points that have been there from the first version on, and kept their names."""

    queue_sort: wire.PluginSet = wire.PluginSet()
    pre_filter: wire.PluginSet = wire.PluginSet()
    filter: wire.PluginSet = wire.PluginSet()
    score: wire.PluginSet = wire.PluginSet()
    reserve: wire.PluginSet = wire.PluginSet()
    permit: wire.PluginSet = wire.PluginSet()
    pre_bind: wire.PluginSet = wire.PluginSet()
    bind: wire.PluginSet = wire.PluginSet()
    post_bind: wire.PluginSet = wire.PluginSet()


class Points(OldestPoints, frozen=True):
    """Those, and the two that v1beta1 has settled."""

    post_filter: wire.PluginSet = wire.PluginSet()
    pre_score: wire.PluginSet = wire.PluginSet()


class AnyProfile(Protocol):
    """A profile of some version."""

    @property
    def scheduler_name(self) -> str | None: ...
    @property
    def plugins(self) -> OldestPoints: ...
    @property
    def plugin_config(self) -> tuple[wire.PluginConfig, ...]: ...


class Profile(wire.Wire, frozen=True):
    """A profile as v1beta1 has it; its successors have more points."""

    scheduler_name: str | None = None
    plugins: Points = Points()
    plugin_config: tuple[wire.PluginConfig, ...] = ()


class Configuration(Basics, frozen=True):
    """What the beta versions have in common; each says what its profiles are."""

    parallelism: wire.Int32 | None = None
    leader_election: wire.LeaderElection = wire.LeaderElection()
    profiles: tuple[Profile, ...] = ()
    extenders: tuple[wire.Extender, ...] = ()


def in_words_of_v1(given: Configuration, notes: Notes) -> wire.Configuration:
    """A file whose keys all mean what they mean in v1, but for the locks of elections."""
    profiles = tuple(
        wire.Profile(
            scheduler_name=profile.scheduler_name,
            plugins=same_fields(profile.plugins, wire.Plugins),
            plugin_config=profile.plugin_config,
        )
        for profile in given.profiles
    )
    election = leases(given.leader_election, notes)
    return same_fields(given, wire.Configuration, profiles=profiles, leader_election=election)

"""What the files of several older versions have in common."""

from collections.abc import Iterable
from typing import Protocol

from podium.config import wire
from podium.config.versions.version import same_fields


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


def in_words_of_v1(profiles: Iterable[AnyProfile]) -> tuple[wire.Profile, ...]:
    """Profiles whose keys all mean what they mean in v1."""
    return tuple(
        wire.Profile(
            scheduler_name=profile.scheduler_name,
            plugins=same_fields(profile.plugins, wire.Plugins),
            plugin_config=profile.plugin_config,
        )
        for profile in profiles
    )

"""The scheduler of an embedded cluster, in the same process: `podium up` runs it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import NamedTuple

from podium.app import plugin_loading
from podium.app.feature_gates import LiveOptions
from podium.app.live import build_live, embedded_connection
from podium.app.own_plugins import in_tree_with_legacy
from podium.app.plugin_reloading import PluginWatch, files_of
from podium.clock import Clock, LoopClock
from podium.config.export import effective
from podium.config.feature_gates import FeatureGates
from podium.config.model import Configuration
from podium.framework.registry import Registry
from podium.live.health import Health
from podium.live.running import RunningScheduler
from podium.live.serving import Server, stats
from podium.metrics import Metrics
from podium.release import LATEST, Release


@dataclass(frozen=True, slots=True)
class Schedule:
    """Where configuration and plugins come from; ``configure`` reads the former for the latter."""

    configure: Callable[[Registry], Configuration]
    sources: Sequence[str] = ()  # what --plugin names
    is_watching: bool = False
    release: Release = LATEST

    def load(self) -> tuple[Configuration, Registry]:
        """Reload the configuration and all plugins; raise ``ConfigError`` if anything is wrong."""
        if self.is_watching:
            files_of(self.sources)
        own = in_tree_with_legacy(FeatureGates(self.release))
        registry = plugin_loading.registry(self.sources, own=own)
        return self.configure(registry), registry


class Embedded(NamedTuple):
    """A running scheduler, and the address of its metrics and plugin statistics."""

    scheduler: RunningScheduler
    address: str


@asynccontextmanager
async def embedded_scheduler(
    schedule: Schedule, url: str, clock: Clock, say: Callable[[str], None] = print
) -> AsyncIterator[Embedded]:
    """Schedule the pods of the cluster at this address until the block ends."""
    configuration, registry = schedule.load()
    metrics = Metrics(release=registry.release)
    connection = embedded_connection(
        url, LoopClock()
    )  # a cluster with faster time has no faster network
    options = LiveOptions(FeatureGates(schedule.release), clock=clock)
    running = build_live(
        configuration, connection, registry=registry, metrics=metrics, options=options
    )
    async with connection, running:
        server = Server(
            _health(running),
            metrics,
            lambda: effective(configuration),
            lambda: stats(running.profiles),
        )
        host, port = await server.start("127.0.0.1", 0)
        if schedule.is_watching:
            watch = PluginWatch(
                files_of(schedule.sources), lambda: running.exchange(*schedule.load()), say
            )
            running.watches.spawn("watch of plugins", watch.run(clock))
        try:
            yield Embedded(running, f"http://{host}:{port}")
        finally:
            await server.stop()


def _health(running: RunningScheduler) -> Health:
    return Health(
        is_stopping=lambda: False,
        is_synced=lambda: running.watching.has_synced,
        watches=running.watching.failing,
        event_loop=lambda: None,  # it runs on the same loop: an answer proves that it works
    )

"""The scheduler of an embedded cluster, in the same process: `podium up` runs it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from podium.app import plugin_loading
from podium.app.feature_gates import LiveOptions
from podium.app.file_watching import FileWatch, Report
from podium.app.live import build_live, embedded_connection, enabled_plugins
from podium.app.own_plugins import in_tree_with_legacy
from podium.app.plugin_reloading import files_of
from podium.clock import Clock, LoopClock
from podium.config.export import effective
from podium.config.feature_gates import NO_CHOICE, FeatureGates
from podium.config.model import Configuration
from podium.framework.registry import Registry
from podium.live.answers import Answers
from podium.live.asking import Asking
from podium.live.endpoints import Shown, stats
from podium.live.health import Health
from podium.live.running import RunningScheduler
from podium.live.serving import MakeSite, Server
from podium.metrics import Metrics
from podium.release import Release
from podium.scheduler_plugins.definitions import definitions


@dataclass(frozen=True, slots=True)
class Schedule:
    """The source of the configuration and the plugins. ``configure`` reads it, given the plugins.

    ``config_file`` is the file that it reads, if any; ``site`` makes the pages for people.
    """

    configure: Callable[[Registry], Configuration]
    sources: Sequence[str] = ()  # what --plugin names
    is_watching: bool = False
    gates: FeatureGates = NO_CHOICE
    config_file: Path | None = None
    site: MakeSite | None = None

    @property
    def release(self) -> Release:
        return self.gates.release

    def files(self) -> list[Path]:
        """Return the files that are watched; raise ``PluginError`` if that is not possible."""
        return files_of(self.sources, self.config_file)

    def load(self) -> tuple[Configuration, Registry]:
        """Reload the configuration and all plugins; raise ``ConfigError`` if anything is wrong."""
        if self.is_watching:
            self.files()
        own = in_tree_with_legacy(self.gates)
        registry = plugin_loading.registry(self.sources, own=own)
        return self.configure(registry), registry

    def definitions(self) -> list[dict[str, Any]]:
        """Return the custom kinds that the plugins of podium read, if any are enabled."""
        configuration, _ = self.load()
        return definitions(enabled_plugins(configuration))


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
    options = LiveOptions(schedule.gates, clock=clock)
    running = build_live(
        configuration, connection, registry=registry, metrics=metrics, options=options
    )
    async with connection, running:
        shown = Shown(
            health=_health(running),
            metrics=metrics,
            clock=LoopClock(),
            configuration=lambda: {"componentconfig": effective(configuration)},
            plugins=lambda: stats(running.profiles),
            pods=running.watching.pods,
            is_profiled=True,
            release=schedule.release,
        )
        asking = Asking(asyncio.get_running_loop())
        site = None if schedule.site is None else schedule.site(shown, running, asking)
        server = Server(shown, Answers(running.introspection, asking), site)
        host, port = await server.start("127.0.0.1", 0)
        if schedule.is_watching:
            watch = FileWatch(
                schedule.files(), lambda: running.exchange(*schedule.load()), reporter(say)
            )
            running.watches.spawn("watch of files", watch.run(clock))
        try:
            yield Embedded(running, f"http://{host}:{port}")
        finally:
            await server.stop()


def reporter(say: Callable[[str], None]) -> Report:
    """Return a function that reports a reload to a person, as a sentence."""

    def report(files: list[str], problem: str | None) -> None:
        if problem is None:
            say(f"loaded {', '.join(files)} again")
        else:
            say(f"{problem}\nThe old code goes on.")

    return report


def _health(running: RunningScheduler) -> Health:
    return Health(
        is_stopping=lambda: False,
        is_synced=lambda: running.watching.has_synced,
        watches=running.watching.failing,
        event_loop=lambda: None,  # it runs on the same loop: an answer proves that it works
    )

"""The scheduler process: connects, serves health, takes part in the election, schedules.

`podium scheduler` runs it. Exit codes and log lines are kube-scheduler's.
"""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from concurrent.futures import Future
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Final, Protocol, TypeVar
from urllib.parse import urlsplit

from podium.app.config_reloading import ConfigFile, ConfigReloading
from podium.app.feature_gates import USUAL, LiveOptions
from podium.app.file_watching import FileWatch
from podium.app.live import build_live
from podium.client.api_client import ApiClient
from podium.client.endpoint import Endpoint
from podium.client.endpoints import find_endpoint
from podium.client.http import Connection, Options
from podium.clock import Clock, LoopClock
from podium.config import Configuration
from podium.framework.handle import EventNote
from podium.framework.registry import Registry
from podium.live import event_loop
from podium.live.answers import Answers
from podium.live.asking import Asking
from podium.live.coordinated_election import CoordinatedElector
from podium.live.election import Elector
from podium.live.endpoints import Shown, stats
from podium.live.event_loop import SideThread
from podium.live.health import Health, Watchdog
from podium.live.leader_election import Callbacks, LeaderElection, new_identity
from podium.live.lease_candidate import LeaseCandidacy, watch_candidate
from podium.live.lease_lock import LeaseLock
from podium.live.running import RunningScheduler
from podium.live.serving import MakeSite, Server
from podium.live.slices import Collector, Slices
from podium.live.tasks import DRAIN_SECONDS
from podium.logs import get_logger
from podium.metrics import Metrics
from podium.serving.options import ServingOptions

log = get_logger(__name__)

Candidacy = Future[bool] | None

FAILED: Final = 1
LOOPBACK: Final = "127.0.0.1"

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessOptions:
    """Options of the process that come from flags.

    ``flags`` are shown at ``/flagz``, ``configz`` at ``/configz``; ``config_file`` is watched, if
    it is given. ``site`` makes the pages for people; ``on_plain`` hears the address of plain HTTP.
    """

    configz: Mapping[str, Any]
    master: str = ""
    serving: ServingOptions = field(default_factory=ServingOptions)
    flags: Mapping[str, str] = field(default_factory=dict)
    shows_hidden_metrics: bool = False
    live: LiveOptions = USUAL
    config_file: ConfigFile | None = None
    site: MakeSite | None = None
    on_plain: Callable[[str], None] = lambda address: None


def run(configuration: Configuration, options: ProcessOptions, registry: Registry) -> int:
    """Schedule until a signal or the loss of the lease; return the exit code."""
    with SideThread() as side:
        return event_loop.run(SchedulerProcess(configuration, options, registry, side).run())


class Side(Protocol):
    """The home of the election, the server and the watchdog: a thread, or the same event loop."""

    def spawn(self, work: Coroutine[Any, Any, T]) -> Future[T]: ...

    def call(self, function: Callable[[], object]) -> None: ...


class SchedulerProcess:
    """One process from start to end; `podium chaos` replaces its network and its time."""

    _checks_clock: ClassVar[bool] = True

    def __init__(
        self,
        configuration: Configuration,
        options: ProcessOptions,
        registry: Registry,
        side: Side,
        clock: Clock | None = None,
    ) -> None:
        self._configuration = configuration
        self._registry = registry
        self._options = options
        self._side = side
        self._clock = clock or LoopClock()
        self._metrics = Metrics(release=registry.release, shows_hidden=options.shows_hidden_metrics)
        self._collector = Collector(self._clock)
        self._identity = new_identity()
        self._is_leading = asyncio.Event()
        self._over = asyncio.Event()  # a signal came, or the lease is lost
        self._is_lost = False
        self._reloading: ConfigReloading | None = None

    async def run(self) -> int:
        async with self._connection("scheduler") as connection:
            scheduler = build_live(
                self._configuration,
                connection,
                registry=self._registry,
                metrics=self._metrics,
                slices=self._slices(),
                options=self._options.live,
            )
            self._handle_signals(scheduler)
            self._watch_configuration(scheduler, connection)
            elects = self._configuration.leader_election.leader_elect
            election = self._election() if elects else None
            if election is not None:
                connection.fence.may_write = election.may_write
            log.info("Starting Kubernetes Scheduler")
            async with self._served(scheduler, election):
                return await self._schedule(scheduler, election)

    def _slices(self) -> Slices:
        return Slices(self._collector.between_slices)

    # --- the work --------------------------------------------------------------------------------

    async def _schedule(self, scheduler: RunningScheduler, election: LeaderElection | None) -> int:
        candidacy: Candidacy = None
        if self._configuration.delay_cache_until_active:
            candidacy = await self._lead(election)
        self._collector.start()
        scheduler.start()
        await self._unless_over(scheduler.wait_synced())
        if candidacy is None:
            candidacy = await self._lead(election)
            if candidacy is not None:
                await self._unless_over(scheduler.catch_up())
        await self._unless_over(scheduler.run())
        await scheduler.stop(0 if self._is_lost else DRAIN_SECONDS)
        self._collector.stop()
        if election is None:
            log.warning("finished without leader elect")  # upstream's message and exit code
            return FAILED
        if candidacy is not None:
            self._side.call(election.stop)  # after the drain: until then we must hold the lease
            await asyncio.wrap_future(candidacy)
        if self._is_lost:
            log.warning("Leaderelection lost")
            return FAILED
        log.info("Requested to terminate, exiting")
        return 0

    async def _lead(self, election: LeaderElection | None) -> Candidacy:
        """Take part in the election; wait until it is won or the process must end."""
        if election is None or self._over.is_set():
            return None
        candidacy = self._side.spawn(self._stand(election))
        await self._unless_over(self._is_leading.wait())
        return candidacy

    async def _stand(self, election: LeaderElection) -> bool:
        """Run the election in the side thread; when it ends for any reason, the process ends."""
        try:
            async with self._election_connection, self._candidacy():
                return await election.run()
        finally:
            self._loop.call_soon_threadsafe(self._over.set)

    @asynccontextmanager
    async def _candidacy(self) -> AsyncIterator[None]:
        """Keep a candidate meanwhile, if the API server is to choose the leader."""
        if not self._options.live.is_election_coordinated:
            yield
            return
        connection = self._election_connection
        candidacy = LeaseCandidacy(
            self._identity,
            self._options.live.gates.release,
            ApiClient(connection),
            watch_candidate(connection, self._identity),
            self._clock,
        )
        standing = asyncio.ensure_future(candidacy.run())
        try:
            yield
        finally:
            standing.cancel()
            await asyncio.wait({standing})

    async def _unless_over(self, work: Coroutine[Any, Any, object]) -> None:
        """Wait for this until the process must end; what it raises ends the process.

        A process that must end starts nothing: a standby that is stopped would schedule its whole
        queue before it notices, although another process leads.
        """
        if self._over.is_set():
            work.close()
            return
        task, over = asyncio.ensure_future(work), asyncio.ensure_future(self._over.wait())
        try:
            await asyncio.wait({task, over}, return_when=asyncio.FIRST_COMPLETED)
            if task.done():
                task.result()
        finally:
            task.cancel()
            over.cancel()
            await asyncio.wait({task, over})

    # --- around it -------------------------------------------------------------------------------

    def _endpoint(self) -> Endpoint:
        configured = self._configuration.client_connection.kubeconfig
        file = Path(configured) if configured else None
        return find_endpoint(self._clock, file, master=self._options.master)

    def _connection(self, name: str) -> Connection:
        """Return a connection with its own rate limit: one for each part, as upstream."""
        settings = self._configuration.client_connection
        elects = self._configuration.leader_election.leader_elect
        often_asking = "leader-election" if elects else "scheduler"
        endpoint = self._endpoint()
        observe = partial(self._metrics.request, urlsplit(endpoint.server).netloc)
        options = Options(
            settings.qps,
            settings.burst,
            f"podium/{name}",
            streams_lists=self._options.live.streams_lists,
            checks_clock=self._checks_clock and name == often_asking,
        )
        return Connection(endpoint, self._clock, options, observe)

    def _election(self) -> LeaderElection:
        settings = self._configuration.leader_election
        self._election_connection = self._connection("leader-election")
        client = ApiClient(self._election_connection)
        loop = self._loop = asyncio.get_running_loop()
        callbacks = Callbacks(
            on_leading=lambda: loop.call_soon_threadsafe(self._is_leading.set),
            on_lost=lambda: loop.call_soon_threadsafe(self._lose),
        )
        coordinated = self._options.live.is_election_coordinated
        elector = CoordinatedElector if coordinated else Elector
        return LeaderElection(
            elector(self._identity, settings, self._clock, self._metrics),
            LeaseLock(client, settings.resource_namespace, settings.resource_name),
            callbacks,
            self._clock,
            self._component,
        )

    def _watch_configuration(self, scheduler: RunningScheduler, connection: Connection) -> None:
        file, settings = self._options.config_file, self._configuration.leader_election
        if file is None:
            return
        lock = LeaseLock(ApiClient(connection), settings.resource_namespace, settings.resource_name)

        def record(note: EventNote) -> None:
            text = f"{self._identity}: {note.note}"
            event = lock.record_event(replace(note, note=text), self._component, self._clock)
            scheduler.background.spawn("event about the configuration", event)

        reloading = ConfigReloading(file, scheduler.exchange, self._metrics, record)
        watch = FileWatch([file.path], reloading.reload, reloading.report)
        scheduler.watches.spawn("watch of the configuration", watch.run(self._clock))
        self._reloading = reloading

    def _configz(self) -> Mapping[str, Any]:
        return self._options.configz if self._reloading is None else self._reloading.configz

    @property
    def _component(self) -> str:
        """The source of events about this process."""
        return self._configuration.profiles[0].scheduler_name

    def _lose(self) -> None:
        if not self._over.is_set():
            self._is_lost = True
            self._over.set()

    @asynccontextmanager
    async def _served(
        self, scheduler: RunningScheduler, election: LeaderElection | None
    ) -> AsyncIterator[None]:
        loop = asyncio.get_running_loop()
        watchdog = Watchdog(self._clock, loop.call_soon_threadsafe, threading.get_ident())
        health = Health(
            is_stopping=self._over.is_set,
            is_synced=lambda: scheduler.watching.has_synced,
            watches=scheduler.watching.failing,
            event_loop=watchdog.failing,
            election=election.failing if election is not None else None,
        )
        asking = Asking(loop)
        answers = Answers(scheduler.introspection, asking)
        shown, make = self._shown(scheduler, health), self._options.site
        site = None if make is None else make(shown, scheduler, asking)
        server = Server(shown, answers, site)
        try:
            await self._on_side(self._start(server))
        except BaseException:
            await self._on_side(server.stop())
            raise
        watching = self._side.spawn(watchdog.run())
        try:
            yield
        finally:
            watching.cancel()
            await self._on_side(server.stop())

    async def _start(self, server: Server) -> None:
        """Start to serve; runs in the side thread."""
        options = self._options.serving
        if options.plain_port:
            host, port = await server.start(LOOPBACK, options.plain_port)
            log.info(f"Serving without TLS and authentication on {host}:{port}")
            self._options.on_plain(f"http://{host}:{port}")
        if options.secure_port:
            host, port = await server.start_secure(options)
            shown = f"[{host}]" if ":" in host else host
            log.info(f"Serving securely on {shown}:{port}")

    async def _on_side(self, work: Coroutine[Any, Any, T]) -> T:
        return await asyncio.wrap_future(self._side.spawn(work))

    def _shown(self, scheduler: RunningScheduler, health: Health) -> Shown:
        gates = self._options.live.gates
        return Shown(
            health=health,
            metrics=self._metrics,
            clock=self._clock,
            configuration=self._configz,
            plugins=lambda: stats(scheduler.profiles),
            pods=scheduler.watching.pods,
            is_leading=self._leads,
            flags=self._options.flags if gates.enabled("ComponentFlagz") else {},
            shows_status=gates.enabled("ComponentStatusz"),
            is_profiled=self._configuration.enable_profiling,
            release=gates.release,
        )

    def _leads(self) -> bool:
        return not self._configuration.leader_election.leader_elect or self._is_leading.is_set()

    def _handle_signals(self, scheduler: RunningScheduler) -> None:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, self._end)
        loop.add_signal_handler(signal.SIGUSR2, scheduler.report)

    def _end(self) -> None:
        """End gracefully at the first signal, at once at the second."""
        if self._over.is_set():
            os._exit(FAILED)
        self._over.set()

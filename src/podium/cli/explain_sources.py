"""Where `podium explain` gets its answers: a running scheduler, a cluster, or a snapshot."""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec

from podium import snapshot
from podium.app import plugin_loading
from podium.cli import kubeconfig, state_file
from podium.cli.arguments.configuration import SCHEDULER
from podium.cli.known_plugins import unknown_plugins, without_plugins
from podium.cli.scheduler_client import SchedulerClient
from podium.client.endpoint import Endpoint
from podium.errors import (
    CacheError,
    ConfigError,
    CredentialsError,
    InvalidObject,
    PodiumError,
)
from podium.live.answer_values import RunningConfiguration
from podium.release import Release
from podium.serve.sources import Source, SourceKind, source_of
from podium.snapshot import Snapshot

if TYPE_CHECKING:
    from podium.client.http import Connection
    from podium.simulation import Simulation

_PROBE_SECONDS: Final = 1.0
_SHOWN: Final = 3


@dataclass(slots=True)
class Target:
    """The cluster or snapshot that is asked about, and its podium scheduler if one runs.

    ``client`` is the scheduler; ``endpoint`` the API server, where the cluster is read if need be.
    ``notes`` are what readers of an answer should know about it.
    """

    args: argparse.Namespace
    endpoint: Endpoint | None = None
    client: SchedulerClient | None = None
    notes: list[str] = field(default_factory=list)
    profiles_from: str = ""  # a note for answers that do not come from the scheduler itself

    @property
    def namespace(self) -> str:
        """The namespace of pods that are named without one."""
        own = self.endpoint.namespace if self.endpoint is not None else "default"
        return self.args.namespace or own

    @property
    def can_read(self) -> bool:
        """Whether there is a cluster or snapshot to read, and not only a scheduler to ask."""
        return self.endpoint is not None or self.args.snapshot is not None

    def to_simulate(self) -> Snapshot | Path:
        """Return what ``simulate`` takes: the path of a file, or what ``load`` returns.

        The objects of a snapshot are decoded while the file is read, in half the memory.
        """
        path: Path | None = self.args.snapshot
        # A pipe can be read only once. Unlike Path.is_file this never raises: ``load`` will.
        return path if path is not None and os.path.isfile(path) else self.load()

    def load(self) -> Snapshot:
        """Return the whole snapshot or the cluster as it is now. Nothing is ever written there."""
        if self.args.snapshot is not None:
            return snapshot.load(self.args.snapshot)
        return asyncio.run(_read(self.args))

    def simulate(self, taken: Snapshot | Path, **options: Any) -> Simulation:
        """Return a simulation of what was read, with the configuration of its scheduler.

        ``options`` are those of ``Simulation.from_snapshot``.
        """
        plugins = [each for text in self.args.plugin for each in plugin_loading.load(text)]
        running = None if self.args.config is not None else self._running_configuration()
        # Slow to load, and not needed if records suffice.
        from podium.simulation import Simulation
        from podium.simulation.building import DEFAULT_CONFIGURATION

        configuration = self.args.config
        if running is not None:
            assert isinstance(taken, Snapshot), "a scheduler is asked only about its cluster"
            configuration = self._usable(running.content, taken.release, plugins)

        def build(configuration: Any) -> Simulation:
            with self._blamed_on_the_file():
                return Simulation.from_snapshot(taken, configuration, plugins=plugins, **options)

        try:
            found = build(configuration)
        except ConfigError as error:
            if self.args.config is not None:
                raise
            self.notes.append(_fallback(error))
            return build(DEFAULT_CONFIGURATION)
        if running is not None and self.client is not None:
            self.profiles_from = f"the profiles are those of the scheduler at {self.client.address}"
            if running.extenders:
                self.notes.append(f"extenders are not asked: {', '.join(running.extenders)}")
        return found

    @contextmanager
    def _blamed_on_the_file(self) -> Iterator[None]:
        """Let errors about objects name the file that they are in."""
        try:
            yield
        except (InvalidObject, CacheError) as error:
            if self.args.snapshot is None:
                raise
            raise PodiumError(f"{self.args.snapshot}: {error}") from error

    def _usable(
        self, content: dict[str, Any], release: Release | None, plugins: list[object]
    ) -> dict[str, Any]:
        """Return the scheduler's configuration without the plugins that are not loaded here."""
        from podium.simulation.building import gates_of, registry_of

        missing = unknown_plugins(content, set(registry_of(gates_of(release), plugins)))
        if missing:
            names = f"{', '.join(missing[:_SHOWN])}{_more(missing)}"
            self.notes.append(
                f"plugins of the scheduler that are not loaded here take no part: {names}; give "
                "their files with --plugin"
            )
        return without_plugins(content, missing)

    def _running_configuration(self) -> RunningConfiguration | None:
        return None if self.client is None else self.client.configuration()

    @property
    def all_notes(self) -> tuple[str, ...]:
        """The notes of an answer that does not come from the scheduler itself."""
        return (*filter(None, [self.profiles_from]), *self.notes)

    def source(self, taken: Snapshot | None, *, uses_records: bool = True) -> Source:
        """Return where the answer comes from.

        ``taken`` is what was simulated, if anything was: ``Simulation.taken``.
        """
        if self.client is not None and uses_records:
            missing = tuple(map(str, taken.missing)) if taken is not None else ()
            return Source(
                kind="scheduler",
                name=self.client.address,
                recomputed=taken is not None,
                missing=missing,
                notes=tuple(self.notes),
            )
        assert taken is not None, "without a scheduler something was read"
        kind: SourceKind = "cluster" if self.args.snapshot is None else "snapshot"
        found = source_of(taken, kind)
        return msgspec.structs.replace(
            found, name=str(self.args.snapshot or found.name), notes=(*self.all_notes, *found.notes)
        )


def _fallback(error: ConfigError) -> str:
    """Return the note that the default configuration is used, and what to do about it."""
    problems = [" ".join(str(each).split()) for each in error.problems]
    return (
        "the default configuration is assumed, because that of the scheduler cannot be used here "
        f"({'; '.join(problems[:_SHOWN])}{_more(problems)}): give its plugins with --plugin"
    )


def _more(listed: list[str]) -> str:
    return f" and {len(listed) - _SHOWN} more" if len(listed) > _SHOWN else ""


def find_target(args: argparse.Namespace) -> Target:
    """Find what the options name: a snapshot, the cluster of `podium up`, or that of a context."""
    if args.snapshot is not None:
        _refuse_beside_snapshot(args)
        return Target(args)
    target = Target(args, _endpoint(args))
    target.client = _find_scheduler(target)
    return target


def _refuse_beside_snapshot(args: argparse.Namespace) -> None:
    given = {"--server": args.server, "--kubeconfig": args.kubeconfig, "--context": args.context}
    for option in [option for option, value in given.items() if value]:
        raise PodiumError(f"{option} names a cluster: leave it out beside --from")


def connect(args: argparse.Namespace) -> Connection:
    """Return a connection to the cluster that the options name; it refuses to write.

    Without options that is the cluster of `podium up` while one runs, as for `podium get`; as a
    plugin of kubectl it is always the cluster of kubectl.
    """
    if not (args.kubeconfig or args.context or args.by_kubectl):
        running = state_file.usual_cluster()
        if running is not None:
            context = kubeconfig.context_of(running.name)
            return snapshot.connect(Path(running.kubeconfig), context)
    if args.by_kubectl:
        return snapshot.connect(args.kubeconfig, args.context)
    from podium.cli import snapshot_saving  # slow to load, and not needed for a snapshot

    return snapshot_saving.connect(args.kubeconfig, args.context)


def _endpoint(args: argparse.Namespace) -> Endpoint | None:
    try:
        return connect(args).endpoint
    except CredentialsError:
        if not args.server:
            raise
        return None  # the scheduler that the options name can answer alone


def _find_scheduler(target: Target) -> SchedulerClient | None:
    """Return the podium scheduler of this cluster, if one runs; one that is named must answer."""
    args, server = target.args, target.endpoint.server if target.endpoint is not None else ""
    if args.server:
        return _named_scheduler(args.server, server)
    running = [each for each in state_file.running_clusters() if each.url == server]
    addresses = [each.scheduler for each in running if each.scheduler] or [SCHEDULER]
    for address in addresses:
        try:
            if SchedulerClient(address, _PROBE_SECONDS).identity().server == server:
                return SchedulerClient(address)
        except PodiumError as error:
            if running:  # its cluster runs, so the scheduler should have answered
                target.notes.append(f"{error}; the decision is worked out again")
    return None


def _named_scheduler(address: str, server: str) -> SchedulerClient:
    client = SchedulerClient(address)
    found = client.identity().server
    if server and found != server:
        raise PodiumError(
            f"the scheduler at {client.address} schedules for {found}, not for {server}; "
            "leave --server out, or choose its cluster with --context"
        )
    return client


async def _read(args: argparse.Namespace) -> Snapshot:
    from podium.cli.snapshot_text import ProgressLine

    with ProgressLine(sys.stderr) as line:
        async with connect(args) as connection:
            return await snapshot.read_cluster(connection, line.show)

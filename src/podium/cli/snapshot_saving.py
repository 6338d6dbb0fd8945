"""Take snapshots for ``podium snapshot save`` and ``podium down --save``, with progress."""

from __future__ import annotations

import asyncio
import sys
import urllib.request
from dataclasses import replace
from pathlib import Path
from typing import Final

import msgspec

from podium import snapshot
from podium.cli import state_file
from podium.cli.snapshot_text import ProgressLine, print_saved
from podium.cli.state_file import RunningCluster
from podium.client.endpoint import Endpoint
from podium.client.http import Connection
from podium.clock import LoopClock
from podium.config.export import loadable
from podium.errors import CredentialsError
from podium.snapshot import Snapshot
from podium.snapshot.model import FOUND, Json
from podium.snapshot.reading import READ_ONLY

_TIMEOUT_SECONDS: Final = 5.0
_NO_PROXY: Final = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def connect(kubeconfig: Path | None, context: str) -> Connection:
    """Return a connection that refuses to write; without a cluster, say how to start one."""
    try:
        return snapshot.connect(kubeconfig, context)
    except CredentialsError as error:
        if kubeconfig or context:
            raise
        raise CredentialsError(f"{error}; start a cluster with: podium up --detach") from error


def read(connection: Connection) -> Snapshot:
    """Read a cluster; one of ``podium up`` also tells the configuration of its scheduler."""
    taken = asyncio.run(_read(connection))
    server = connection.endpoint.server
    running = [each for each in state_file.running_clusters() if each.url == server]
    if taken.configuration is not None or not running:
        return taken
    configuration = _configuration_of(running[0])
    notes = (f"{FOUND} the cluster's scheduler when it was read",)
    return replace(taken, configuration=configuration, notes=notes) if configuration else taken


async def _read(connection: Connection) -> Snapshot:
    with ProgressLine(sys.stderr) as line:
        async with connection:
            return await snapshot.read_cluster(connection, line.show)


def _configuration_of(running: RunningCluster) -> Json | None:
    """Return the configuration of its scheduler, None if there is no scheduler or no answer."""
    if not running.scheduler:
        return None
    url = f"{running.scheduler}/configz"
    try:
        with _NO_PROXY.open(url, timeout=_TIMEOUT_SECONDS) as answer:
            shown = msgspec.json.decode(answer.read())["componentconfig"]
            return shown if "apiVersion" in shown else loadable(shown)
    except (OSError, ValueError, LookupError, TypeError, msgspec.DecodeError):
        return None


def save_running(running: RunningCluster, file: Path) -> None:
    """Save a snapshot of a cluster of ``podium up``."""
    endpoint = Endpoint(running.url, f"the cluster {running.name}")
    taken = read(Connection(endpoint, LoopClock(), READ_ONLY))
    print_saved(taken, file, snapshot.write(taken, file))

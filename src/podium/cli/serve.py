"""``podium serve``: answer explain, fit and simulate over HTTP until Ctrl-C."""

from __future__ import annotations

import argparse
import asyncio
import signal
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import (
    AbstractContextManager,
    asynccontextmanager,
    contextmanager,
    nullcontext,
)
from dataclasses import replace
from functools import partial
from pathlib import Path

from podium import snapshot
from podium.cli import state_file
from podium.cli.arguments.parser import BAD_INPUT
from podium.cli.background import in_background
from podium.cli.explain_sources import Target, connect, find_target
from podium.cli.log_lines import write_warnings
from podium.cli.messages import FAILED, print_error
from podium.cli.snapshot_text import ProgressLine, warn
from podium.errors import PodiumError
from podium.logs import get_logger
from podium.serve.cluster import Cluster, FixedCluster, FollowedCluster
from podium.serve.server import Server, check_address
from podium.serve.token import Token, new_token, read_token
from podium.simulation import Simulation
from podium.snapshot import Snapshot

log = get_logger(__name__)


def run(args: argparse.Namespace) -> int:
    write_warnings()
    try:
        check_address(args.host)
        token = read_token(args.token_file) if args.token_file else ""
        return asyncio.run(_until_signal(find_target(args), token))
    except PodiumError as error:
        print_error(error)
        return BAD_INPUT


async def _until_signal(target: Target, token: str) -> int:
    """Serve; a signal ends it at any time, also while the cluster is being read."""
    work = asyncio.ensure_future(_serve(target, token))
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, work.cancel)
    try:
        return await work
    except asyncio.CancelledError:
        return 0


async def _serve(target: Target, token: str) -> int:
    async with _followed(target) as (cluster, following):
        with _token(target.args.token_file, token) as used:
            return await answer(cluster, following, target.args, used)


async def answer(
    cluster: Cluster, following: asyncio.Future[None], args: argparse.Namespace, token: Token
) -> int:
    """Answer until cancelled, or until the cluster cannot be followed any more."""
    server = Server(cluster, token.text)
    try:
        host, port = await server.start(args.host, args.port)
        _announce(f"http://{f'[{host}]' if ':' in host else host}:{port}", token.path)
        await following
    except ExceptionGroup as fault:
        log.error("following the cluster failed", fault)
        print_error(
            "the cluster cannot be followed any more, as logged above; start podium serve again"
        )
    finally:
        await server.stop()
    return FAILED


def _token(given: Path | None, token: str) -> AbstractContextManager[Token]:
    if given is not None:
        return nullcontext(Token(token, given))
    return _new_token()


@contextmanager
def _new_token() -> Iterator[Token]:
    usual = state_file.default_path().with_name("serve.token")
    with new_token(usual) as token:
        if token.path != usual:
            print(f"another podium serve is running, with its token in {usual}")
        yield token


@asynccontextmanager
async def _followed(target: Target) -> AsyncIterator[tuple[Cluster, asyncio.Future[None]]]:
    """Read the snapshot or the cluster; a cluster is followed until the block ends.

    The future ends only if following fails.
    """
    if target.args.snapshot is not None:
        read = await in_background(target.to_simulate)
        yield FixedCluster(*await _simulated(target, read)), asyncio.Future()
        return
    async with connect(target.args) as connection:
        with ProgressLine(sys.stderr) as line:
            read = await snapshot.read_cluster(connection, line.show)
        header, simulation = await _simulated(target, read)
        taken = replace(header, objects=read.objects)
        cluster = await in_background(partial(FollowedCluster, taken, simulation, connection))
        del read, taken  # a server would keep the JSON of the whole cluster
        following = asyncio.ensure_future(cluster.follow())
        try:
            yield cluster, following
        finally:
            following.cancel()
            await asyncio.wait({following})


async def _simulated(target: Target, read: Snapshot | Path) -> tuple[Snapshot, Simulation]:
    """Build the simulation, and say what answers will lack.

    The snapshot that is returned has no objects.
    """
    simulation = await in_background(partial(target.simulate, read))
    taken = simulation.taken
    assert taken is not None, "it was built from a snapshot"
    taken = replace(taken, notes=(*target.all_notes, *taken.notes))
    warn(taken)
    return taken, simulation


def _announce(url: str, token_path: Path) -> None:
    print(f"answering at {url}; {url}/openapi.json describes how to ask")
    print(f"the token is in {token_path}, for example:")
    print(f'  curl -H "Authorization: Bearer $(cat {token_path})" {url}/v1/cluster')
    print("press Ctrl-C to stop", flush=True)

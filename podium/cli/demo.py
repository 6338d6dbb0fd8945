"""``podium demo``: a cluster, a thousand pods, and what the scheduler decides about them."""

from __future__ import annotations

import argparse
import asyncio
import logging
import sys
from typing import TYPE_CHECKING, TypeAlias

from rich.console import Console
from rich.live import Live

from podium import config
from podium.apiserver import kubeconfig, state_file
from podium.apiserver.state_file import StateFile
from podium.cli import demo_show, demo_workload, up
from podium.clock import sleep
from podium.errors import PodiumError

if TYPE_CHECKING:
    from podium.apiserver.up import EmbeddedCluster
    from podium.live.running import RunningScheduler

NODES = 100
_REFRESH_SECONDS = 0.2

Subparsers: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"

_EXAMPLES = """\
examples:
  podium demo                                 watch 1,000 pods come to 100 nodes
  podium demo --kubeconfig ./podium.yaml      leave kubectl's own file alone
"""


def add_parser(subparsers: Subparsers) -> None:
    parser = subparsers.add_parser(
        "demo",
        help="watch 1,000 pods come to 100 simulated nodes",
        description="Start a cluster as podium up does, create workloads, show where their pods "
        "land and why some do not, and keep the cluster running until Ctrl-C.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    up.add_kubeconfig(parser)
    up.add_state_file(parser)


def run(args: argparse.Namespace) -> int:
    from podium.apiserver.up import ClusterOptions  # see up.run()
    from podium.app.embedded import Schedule

    path = args.state_file or state_file.default_path()
    context_file = (args.kubeconfig or kubeconfig.default_path()).absolute()
    logging.basicConfig(level=logging.ERROR)
    try:
        with StateFile(path) as file:
            place = up.Place(context_file, file, None)
            options = ClusterOptions(NODES)
            schedule = Schedule(config.default)
            return asyncio.run(up.serve(options, schedule, place, show))
    except PodiumError as error:
        print(error, file=sys.stderr)
        return up.BAD_INPUT


async def show(cluster: EmbeddedCluster, scheduler: RunningScheduler) -> None:
    """Create the workloads, follow their pods, and tell of one that landed and one that waits."""
    console = Console(highlight=False, soft_wrap=True)
    for manifest in demo_workload.manifests():
        cluster.cluster.create("deployments.apps", manifest)
    start = cluster.clock.now()
    with Live(console=console, auto_refresh=False) as live:
        while True:
            progress = demo_show.Progress.of(scheduler.watching.pods())
            seconds = cluster.clock.now() - start
            live.update(demo_show.table(progress, seconds), refresh=True)
            if progress.seen == demo_workload.PODS and progress.is_settled:
                break
            await sleep(cluster.clock, _REFRESH_SECONDS)
    records = scheduler.scheduler.services.records
    for title, record in demo_show.examples(progress, records):
        console.print(f"\n[bold]{title}[/]")
        console.print(demo_show.record_text(record), markup=False)
    console.print("\nThe cluster keeps running. To end it: Ctrl-C", style="dim")

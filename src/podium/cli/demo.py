"""``podium demo``: a cluster, a thousand pods, and what the scheduler decides about them."""

from __future__ import annotations

import argparse
import asyncio
import logging
from typing import TYPE_CHECKING

from rich.console import Console

from podium import config
from podium.apiserver import kubeconfig, state_file
from podium.apiserver.state_file import StateFile
from podium.cli import demo_show, demo_workload, up
from podium.cli.parser import Subparsers
from podium.clock import sleep
from podium.errors import PodiumError

if TYPE_CHECKING:
    from podium.apiserver.embedded_cluster import EmbeddedCluster
    from podium.live.running import RunningScheduler

NODES = 100
_REFRESH_SECONDS = 0.2


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
    )
    up.add_kubeconfig(parser)
    up.add_state_file(parser)


def run(args: argparse.Namespace) -> int:
    from podium.apiserver.embedded_cluster import ClusterOptions  # see up.run()
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
        return up.refuse(error)


async def show(cluster: EmbeddedCluster, scheduler: RunningScheduler) -> None:
    """Create the workloads, follow their pods, and tell of one that landed and one that waits."""
    console = Console(highlight=False, soft_wrap=True)
    console.print(f"\n[bold]{demo_workload.PODS:,} pods are created[/]")
    for manifest in demo_workload.manifests():
        cluster.cluster.create("deployments.apps", manifest)
    progress = await _follow(cluster, scheduler, console)
    records = scheduler.scheduler.services.records
    for title, record in demo_show.examples(progress, records):
        weights = scheduler.profiles[record.profile].weights
        console.print(f"\n[bold]{title}[/]")
        demo_show.print_record(demo_show.record_text(record, weights), console)
    console.print("\nThe cluster keeps running. To end it: Ctrl-C", style="dim")


async def _follow(
    cluster: EmbeddedCluster, scheduler: RunningScheduler, console: Console
) -> demo_show.Progress:
    """Show the pods landing until nothing more is to be expected."""
    start = cluster.clock.now()
    with demo_show.Display(console) as display:
        while True:
            progress = demo_show.Progress.of(scheduler.watching.pods())
            display.show(progress, cluster.clock.now() - start)
            if progress.seen == demo_workload.PODS and progress.is_settled:
                return progress
            await sleep(cluster.clock, _REFRESH_SECONDS)

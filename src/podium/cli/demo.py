"""``podium demo``: place a thousand pods on a hundred nodes, and show the decisions."""

from __future__ import annotations

import argparse
import asyncio
import logging
from collections.abc import Iterator
from typing import Final

from rich.console import Console

from podium import config
from podium.apiserver.embedded_cluster import ClusterOptions, EmbeddedCluster
from podium.apiserver.statuses import Json
from podium.app.embedded import Schedule
from podium.cli import demo_show, kubeconfig, state_file, terminal, up
from podium.cli.state_file import StateFile
from podium.clock import sleep
from podium.errors import PodiumError
from podium.live.running import RunningScheduler

NODES = 100
_REFRESH_SECONDS = 0.2

_APART: Final = {
    "podAntiAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": [
            {
                "topologyKey": "kubernetes.io/hostname",
                "labelSelector": {"matchLabels": {"app": "cache"}},
            }
        ]
    }
}
# By name: replicas, the cpu request of each, and the rest of the pod spec.
WORKLOADS: Final[dict[str, tuple[int, str, Json]]] = {
    "web": (700, "500m", {}),
    "cache": (150, "1", {"affinity": _APART}),  # one per node: fifty too many
    "training": (100, "250m", {"nodeSelector": {"gpu": "a100"}}),  # there is no such node
    "giant": (50, "32", {}),  # larger than every node
}
PODS: Final = sum(replicas for replicas, _, _ in WORKLOADS.values())


def run(args: argparse.Namespace) -> int:
    path = args.state_file or state_file.default_path(args.name)
    context_file = (args.kubeconfig or kubeconfig.default_path()).absolute()
    logging.basicConfig(level=logging.ERROR)
    try:
        with StateFile(path) as file:
            files = up.ClusterFiles(args.name, context_file, file, None)
            options = ClusterOptions(NODES)
            schedule = Schedule(config.default)
            return asyncio.run(up.serve(options, schedule, files, show))
    except PodiumError as error:
        return up.refuse(error)


async def show(cluster: EmbeddedCluster, scheduler: RunningScheduler) -> None:
    """Create the workloads, follow their pods, and explain two decisions."""
    console = terminal.console()
    console.print(f"\n[heading]{PODS:,} pods are created[/heading]")
    for manifest in manifests():
        cluster.cluster.create("deployments.apps", manifest)
    progress = await _follow(cluster, scheduler, console)
    records = scheduler.scheduler.services.records
    for title, record in demo_show.examples(progress, records):
        weights = scheduler.profiles[record.profile].weights
        console.print(f"\n[heading]{title}[/heading]")
        demo_show.print_record(demo_show.record_text(record, weights), console)
    console.print("\nThe cluster keeps running. To stop it: Ctrl-C", style="note")


async def _follow(
    cluster: EmbeddedCluster, scheduler: RunningScheduler, console: Console
) -> demo_show.Progress:
    """Show how many pods are placed, until every pod is placed or pending."""
    start = cluster.clock.now()
    with demo_show.Display(console) as display:
        while True:
            progress = demo_show.Progress.of(scheduler.watching.pods())
            display.show(progress, cluster.clock.now() - start)
            if progress.seen == PODS and progress.is_settled:
                return progress
            await sleep(cluster.clock, _REFRESH_SECONDS)


def manifests() -> Iterator[Json]:
    """Yield a Deployment for each workload."""
    for name, (replicas, cpu, rest_of_spec) in WORKLOADS.items():
        container = {"name": "c", "image": f"{name}:1", "resources": {"requests": {"cpu": cpu}}}
        labels = {"app": name}
        yield {
            "metadata": {"name": name, "namespace": "default"},
            "spec": {
                "replicas": replicas,
                "selector": {"matchLabels": labels},
                "template": {
                    "metadata": {"labels": labels},
                    "spec": {"containers": [container], **rest_of_spec},
                },
            },
        }

"""``podium demo``: a cluster fills, a zone fails, a pod waits, and explain knows what helps."""

from __future__ import annotations

import argparse
import asyncio
import logging
import shlex
from pathlib import Path

from podium import config
from podium.apiserver.embedded_cluster import EmbeddedCluster
from podium.app.embedded import Schedule
from podium.cli import demo_workloads, kubeconfig, state_file, terminal, up
from podium.cli.arguments.options import DEFAULT_NAME
from podium.cli.dashboard_client import DashboardClient
from podium.cli.demo_show import Stage
from podium.cli.demo_story import Story
from podium.cli.next_steps import dashboard_link, program
from podium.cli.state_file import RunningCluster, StateFile
from podium.errors import PodiumError


def run(args: argparse.Namespace) -> int:
    path = args.state_file or state_file.default_path(args.name)
    context_file = (args.kubeconfig or kubeconfig.default_path()).absolute()
    logging.basicConfig(level=logging.ERROR)

    async def show(cluster: EmbeddedCluster, running: RunningCluster) -> bool:
        return await tell(cluster, running, args.state_file)

    try:
        with StateFile(path) as file:
            files = up.ClusterFiles(args.name, context_file, file, None)
            return asyncio.run(
                up.serve(demo_workloads.options(), Schedule(config.default), files, show)
            )
    except PodiumError as error:
        return up.refuse(error)


async def tell(cluster: EmbeddedCluster, running: RunningCluster, file: Path | None) -> bool:
    """Tell the story; return whether the cluster goes on after it: for people, not for pipes."""
    console = terminal.console()
    zones = len(demo_workloads.ZONES)
    console.print(f"[heading]podium demo[/heading]: {running.nodes} nodes in {zones} zones")
    console.print(f"dashboard: {dashboard_link(running)}\n", markup=False)
    client = DashboardClient(running.scheduler, running.key)
    with Stage(console) as stage:
        await Story(cluster, client, stage, is_slow=console.is_terminal).tell()
    keeps_on = console.is_terminal
    when = "Try next in another terminal, while the cluster runs" if keeps_on else "Try next"
    console.print(f"\n[heading]{when}[/heading]")
    for command in next_commands(running, file) if keeps_on else _FRESH:
        console.print(f"  {program()} {command}", markup=False)
    if keeps_on:
        console.print("\nCtrl-C ends the cluster and leaves nothing behind", style="note")
    return keeps_on


_FRESH = ("up --nodes 50 --detach", "top", "dashboard --open")


def next_commands(running: RunningCluster, file: Path | None) -> tuple[str, str, str]:
    """Return what to try on this cluster; options name it if it is not the usual one."""
    named = "" if running.name == DEFAULT_NAME else f" --name {running.name}"
    named += "" if file is None else f" --state-file {shlex.quote(str(file))}"
    is_usual = Path(running.kubeconfig) == kubeconfig.default_path().absolute()
    where = "" if is_usual else f" --kubeconfig {shlex.quote(running.kubeconfig)}"
    if where or running.name != DEFAULT_NAME:
        where += f" --context {kubeconfig.context_of(running.name)}"
    return (
        f"top{named}",
        f"explain pod {demo_workloads.DATABASE}{where}",
        f"dashboard --open{named}",
    )

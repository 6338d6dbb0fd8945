"""What `podium up` prints when a cluster is ready: where it is, and what to type next."""

from __future__ import annotations

import shlex
import shutil
import sys
import time
import webbrowser
from pathlib import Path
from typing import Final

from podium.cli import kubeconfig, terminal
from podium.cli.arguments.options import DEFAULT_NAME
from podium.cli.messages import print_error
from podium.cli.state_file import RunningCluster
from podium.dashboard.links import link

_PROGRAM: Final = "podium"


def open_dashboard(running: RunningCluster) -> None:
    """Open the dashboard in a browser, or say that there is none."""
    if not webbrowser.open(dashboard_link(running)):
        print_error("no browser could be opened; open the link above yourself")


def print_next_steps(running: RunningCluster, end: str, log: Path | None = None) -> None:
    """Print what runs, and what to type next."""
    out = terminal.console()
    out.print(f"[good]podium is up[/good]: {nodes_of(running)}, {running.url}")
    file, context = Path(running.kubeconfig), kubeconfig.context_of(running.name)
    out.print(f"kubeconfig: {_short(file)}, context {context}", markup=False)
    if running.scheduler:
        out.print(f"metrics: {running.scheduler}/metrics", markup=False)
    if running.key:
        out.print(f"dashboard: {dashboard_link(running)}", markup=False, soft_wrap=True)
    if log is not None:
        out.print(f"log: {_short(log)}", markup=False)
    is_usual = file == kubeconfig.default_path().absolute()
    elsewhere = "" if is_usual else f" --kubeconfig {shlex.quote(running.kubeconfig)}"
    kubectl = f"kubectl{elsewhere} --context {context}"
    named = "" if context == kubeconfig.CONTEXT else f" --context {context}"
    out.print("\n[heading]next[/heading]")
    for command in (
        f"{kubectl} get nodes",
        f"{kubectl} create deployment shop --image nginx --replicas 3",
        f"{program()} get pods{elsewhere}{named}",
    ):
        out.print(f"  {command}", markup=False)
    out.print(f"\nTo stop it: {end}", markup=False)


def dashboard_link(running: RunningCluster) -> str:
    """Return a link that signs a browser in, once."""
    return link(running.scheduler, running.key, time.time())


def nodes_of(running: RunningCluster) -> str:
    return "1 node" if running.nodes == 1 else f"{running.nodes} nodes"


def down_command(running: RunningCluster) -> str:
    named = "" if running.name == DEFAULT_NAME else f" --name {running.name}"
    return f"{program()} down{named}"


def program() -> str:
    """Return how to type this command: by its path if the shell does not find it."""
    typed = sys.argv[0]
    is_lost = Path(typed).name == _PROGRAM and shutil.which(_PROGRAM) is None
    return shlex.quote(typed) if is_lost else _PROGRAM


def _short(path: Path) -> str:
    home = Path.home()
    return f"~/{path.relative_to(home)}" if path.is_relative_to(home) else str(path)

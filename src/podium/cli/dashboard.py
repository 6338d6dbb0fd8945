"""``podium dashboard``: print a new link to the dashboard of a running cluster, or open it."""

from __future__ import annotations

import argparse

from podium.cli import state_file
from podium.cli.messages import FAILED, print_error
from podium.cli.next_steps import dashboard_link, open_dashboard
from podium.errors import PodiumError


def run(args: argparse.Namespace) -> int:
    path = args.state_file or state_file.default_path(args.name)
    try:
        running = state_file.find_running(path)
    except PodiumError as error:
        print_error(error)
        return FAILED
    if running is None:
        print_error(f"{state_file.none_runs()}; start one with: podium up --detach")
        return FAILED
    if not running.key:
        print_error("this cluster runs no scheduler, so it has no dashboard")
        return FAILED
    print(dashboard_link(running), flush=True)
    if args.open:
        open_dashboard(running)
    return 0

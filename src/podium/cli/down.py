"""``podium down``: end the cluster that ``podium up`` runs."""

from __future__ import annotations

import argparse
import os
import signal
import time
from pathlib import Path

from podium.apiserver import kubeconfig, state_file
from podium.cli.complaint import FAILED, complain, signed
from podium.cli.parser import Subparsers
from podium.cli.up import add_state_file
from podium.errors import PodiumError

_PATIENCE = 30.0
_LOOK_EVERY = 0.05


def add_parser(subparsers: Subparsers) -> None:
    parser = subparsers.add_parser(
        "down",
        help="end the cluster that podium up runs",
        description="End the running cluster, with everything in it, and take its context out of "
        "the kubeconfig. Where none runs there is nothing to do, and that is no error.",
        epilog="example:\n  podium up --detach && podium get nodes && podium down",
    )
    add_state_file(parser)


def run(args: argparse.Namespace) -> int:
    path = args.state_file or state_file.default_path()
    try:
        return _end(path)
    except PodiumError as error:
        complain(error)
        return FAILED


def _end(path: Path) -> int:
    found, is_running = state_file.look(path)
    if not is_running:
        if found is not None:  # it died without cleaning up
            kubeconfig.remove_context(Path(found.kubeconfig), found.url)
            path.unlink(missing_ok=True)
        print(signed("no cluster is running"))
        return 0
    if found is None:
        raise PodiumError(f"{path}: its cluster is just starting; try again in a moment")
    try:
        os.kill(found.pid, signal.SIGTERM)
    except ProcessLookupError:
        pass  # it ends by itself just now
    except OSError as error:
        why = f"process {found.pid} cannot be ended: {error.strerror}"
        raise PodiumError(why) from error
    if not _is_gone(path):
        raise PodiumError(f"process {found.pid} has not ended after {_PATIENCE:g} seconds")
    print(signed(f"the cluster at {found.url} has ended"))
    return 0


def _is_gone(path: Path) -> bool:
    """Wait until nobody holds the state file any more."""
    end = time.monotonic() + _PATIENCE
    while time.monotonic() < end:
        if not state_file.look(path)[1]:
            return True
        time.sleep(_LOOK_EVERY)
    return False

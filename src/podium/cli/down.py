"""``podium down``: stop a cluster that ``podium up`` runs."""

from __future__ import annotations

import argparse
import os
import signal
import time
from pathlib import Path

from podium.cli import kubeconfig, state_file
from podium.cli.messages import FAILED, prefixed, print_error
from podium.errors import PodiumError

_TIMEOUT_SECONDS = 30.0
_CHECK_SECONDS = 0.05
_NONE = "no cluster is running"


def run(args: argparse.Namespace) -> int:
    path = args.state_file or state_file.default_path(args.name)
    try:
        if args.save:
            _save(path, args.save, args.name)
        return _stop(path, args.name)
    except PodiumError as error:
        print_error(error)
        return FAILED


def _save(path: Path, file: Path, name: str) -> None:
    """Save a snapshot of a running cluster; if that fails, the cluster goes on."""
    running = state_file.find_running(path)
    if running is None:
        raise PodiumError(f"nothing to save: {_nothing_to_stop(name)}")
    from podium.cli import snapshot_saving  # loaded only when it is asked for

    snapshot_saving.save_running(running, file)


def _stop(path: Path, name: str) -> int:
    found, is_running = state_file.look(path)
    if not is_running:
        if found is not None:  # it crashed without cleaning up
            context = kubeconfig.context_of(found.name)
            kubeconfig.remove_context(Path(found.kubeconfig), found.url, context)
            path.unlink(missing_ok=True)
        print(prefixed(_nothing_to_stop(name)))
        if found is None and _has_text(path):
            print_error(f"{path} is not a state file of podium; delete it if nothing else needs it")
        return 0
    if found is None:
        raise PodiumError(f"{path}: its cluster is starting; try again in a moment")
    try:
        os.kill(found.pid, signal.SIGTERM)
    except ProcessLookupError:
        pass  # it has just ended by itself
    except OSError as error:
        why = f"process {found.pid} cannot be stopped: {error.strerror}"
        raise PodiumError(why) from error
    if not _is_gone(path):
        raise PodiumError(f"process {found.pid} has not ended after {_TIMEOUT_SECONDS:g} seconds")
    print(prefixed(f"the cluster at {found.url} has ended"))
    return 0


def _has_text(path: Path) -> bool:
    return path.is_file() and path.stat().st_size > 0


def _nothing_to_stop(name: str) -> str:
    others = ", ".join(running.name for running in state_file.running_clusters())
    return f'no cluster "{name}" is running; there are: {others}' if others else _NONE


def _is_gone(path: Path) -> bool:
    """Wait until the process has released the state file; False after the timeout."""
    end = time.monotonic() + _TIMEOUT_SECONDS
    while time.monotonic() < end:
        if not state_file.look(path)[1]:
            return True
        time.sleep(_CHECK_SECONDS)
    return False

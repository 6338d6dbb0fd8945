"""``podium up --detach``: start the cluster in another process and wait until it is ready."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path
from typing import Final, TextIO

from podium.app.plugin_loading import Source
from podium.cli import state_file
from podium.cli.messages import FAILED, prefixed
from podium.cli.next_steps import down_command, open_dashboard, print_next_steps
from podium.errors import PodiumError

_LOG_LINES: Final = 20


def start(args: argparse.Namespace, path: Path) -> int:
    """Start the same command in another process, and wait until it is ready or has ended."""
    state_file.check_ours(path)
    if running := state_file.find_running(path):
        raise state_file.already_running(running)
    log = path.with_name(f"{path.name}.log")
    process, is_ready = _started(args, path, log)
    running = state_file.find_running(path)
    if is_ready and running is not None:
        print_next_steps(running, down_command(running), log)
        if args.open:
            open_dashboard(running)
        return 0
    status = process.wait()
    lines = log.read_text(errors="replace").splitlines()[-_LOG_LINES:]
    print("\n".join(lines) or prefixed(f"the cluster did not start; see {log}"), file=sys.stderr)
    return status or FAILED


def _started(
    args: argparse.Namespace, path: Path, log: Path
) -> tuple[subprocess.Popen[bytes], bool]:
    """Start the process, and return it with whether the cluster became ready."""
    read_end, write_end = os.pipe()
    with open(read_end) as pipe:
        try:
            with _opened(log) as output:
                process = subprocess.Popen(
                    _command(args, path, write_end),
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=output,
                    pass_fds=(write_end,),
                    start_new_session=True,  # Ctrl-C here must not reach it
                )
        finally:
            os.close(write_end)
        return process, pipe.read() == "ready"  # the read ends with the process


def _opened(log: Path) -> TextIO:
    try:
        log.parent.mkdir(parents=True, exist_ok=True)
        file = log.open("a")  # appending, so that two processes do not overwrite each other
        file.truncate(0)
        return file
    except OSError as error:
        hint = "give another file with --state-file"
        raise PodiumError(f"{log}: cannot be written: {error.strerror}; {hint}") from error


def _command(args: argparse.Namespace, path: Path, ready_fd: int) -> list[str]:
    command = [sys.executable, "-m", "podium", "up", f"--ready-fd={ready_fd}"]
    command += [f"--port={args.port}", f"--speed={args.speed}", f"--name={args.name}"]
    command += [f"--state-file={path.absolute()}"]
    if args.kubernetes_version:
        command.append(f"--kubernetes-version={args.kubernetes_version}")
    if args.source:
        command.append(f"--from={args.source.absolute()}")
    if args.freeze:
        command.append("--freeze")
    if args.nodes is not None:
        command.append(f"--nodes={args.nodes}")
    for template in args.node_template:
        count = "" if template.nodes is None else f"={template.nodes}"
        command.append(f"--node-template={template.file.absolute()}{count}")
    command += [f"--devices={group.driver}={group.devices}" for group in args.devices]
    if args.config:
        command.append(f"--config={args.config.absolute()}")
    command += [f"--plugin={_absolute(source)}" for source in args.plugin]
    command += [f"--feature-gates={','.join(args.feature_gates)}"] * bool(args.feature_gates)
    if args.watch:
        command.append("--watch")
    if args.no_scheduler:
        command.append("--no-scheduler")
    if args.kubeconfig:
        command.append(f"--kubeconfig={args.kubeconfig.absolute()}")
    return command


def _absolute(source: str) -> str:
    """Make a ``--plugin`` independent of the directory; a module is found by its name."""
    found = Source.parse(source)
    if found.file is None:
        return source
    return f"{found.file.absolute()}:{found.name}" if found.name else str(found.file.absolute())

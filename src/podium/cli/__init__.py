"""The command ``podium``: ``COMMANDS`` lists its subcommands.

What a subcommand takes is in ``arguments``; the module that runs it is loaded only when it runs,
so that ``podium --help`` starts fast. Such a module has ``run(args)``: it does the work, prints,
and returns the exit status.
"""

from __future__ import annotations

import argparse
import errno
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Final, NamedTuple

from podium.cli.arguments import (
    answers,
    cluster,
    configuration,
    faults,
    general,
    measurement,
    objects,
    replay,
    scheduler_flags,
    simulations,
    snapshots,
)
from podium.cli.arguments.parser import BAD_INPUT, Parser, Subparsers
from podium.cli.closed_streams import ClosedOutput, ClosedStream, replace_closed_streams
from podium.cli.messages import INTERRUPTED, print_error
from podium.garbage import without_collector


class Command(NamedTuple):
    """A subcommand: how its parser is added, and the module that runs it."""

    add_parser: Callable[[Subparsers], None]
    module: str

    def run(self, args: argparse.Namespace) -> int:
        with without_collector():  # it takes a tenth of the start
            module = import_module(f"podium.cli.{self.module}")
        if (logs := sys.modules.get("podium.logs")) is not None:  # not loaded if nothing is logged
            logs.escape_tracebacks()
        status: int = module.run(args)
        return status


PROGRAM: Final = "podium"
_CLOSED_PIPE: Final = 141

COMMANDS: Final[Mapping[str, Command]] = {
    "demo": Command(cluster.add_demo, "demo"),
    "scheduler": Command(scheduler_flags.add_scheduler, "scheduler"),
    "up": Command(cluster.add_up, "up"),
    "dashboard": Command(cluster.add_dashboard, "dashboard"),
    "top": Command(cluster.add_top, "top"),
    "down": Command(cluster.add_down, "down"),
    "apply": Command(objects.add_apply, "apply"),
    "get": Command(objects.add_get, "get"),
    "delete": Command(objects.add_delete, "delete"),
    "snapshot": Command(snapshots.add_snapshot, "snapshot"),
    "explain": Command(answers.add_explain, "explain"),
    "simulate": Command(simulations.add_simulate, "simulate"),
    "serve": Command(answers.add_serve, "serve"),
    "config": Command(configuration.add_config, "config"),
    "plugin": Command(configuration.add_plugin_command, "plugin"),
    "replay": Command(replay.add_replay, "replay"),
    "conformance": Command(measurement.add_conformance, "conformance"),
    "bench": Command(measurement.add_bench, "bench"),
    "chaos": Command(faults.add_chaos, "chaos"),
    "completion": Command(general.add_completion, "completion"),
    "version": Command(general.add_version, "version"),
}


class ShowVersion(argparse.Action):
    """``--version``: like the command ``version``, in one line."""

    def __call__(self, parser: argparse.ArgumentParser, *args: object) -> None:
        from podium.cli.version import podium_version  # loaded only when it is asked for

        parser.exit(message=f"podium {podium_version()}\n")


def main(argv: Sequence[str] | None = None, program: str = PROGRAM) -> int:
    """Run the subcommand named in ``argv`` (by default the process's arguments)."""
    replace_closed_streams()
    try:
        try:
            return _run(argv, program)
        finally:
            sys.stdout.flush()  # also the output of --help, which raises SystemExit
    except BrokenPipeError:
        # The reader has closed the pipe, as in ``podium bench … | head``.
        _drop_output()
        return _CLOSED_PIPE
    except OSError as error:
        is_full = error.errno == errno.ENOSPC and error.filename is None
        if not is_full and not isinstance(error, ClosedOutput):
            raise
        print_error(f"the output cannot be written: {error.strerror}")
        _drop_output()
        return BAD_INPUT  # 1 would mean "does not fit" or "is pending"
    except KeyboardInterrupt:
        return INTERRUPTED


def _run(argv: Sequence[str] | None, program: str) -> int:
    args = build_parser(program).parse_args(argv)
    args.by_kubectl = program != PROGRAM
    return COMMANDS[args.command].run(args)


def _drop_output() -> None:
    """Send what is still buffered nowhere: Python flushes it at the end."""
    if not isinstance(sys.stdout, ClosedStream):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def build_parser(program: str = PROGRAM) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = Parser(
        prog=program, description="The Kubernetes scheduler as a Python program and library."
    )
    parser.add_argument("--version", action=ShowVersion, nargs=0, help="print the version and exit")
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for command in COMMANDS.values():
        command.add_parser(subparsers)
    return parser

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
    cluster,
    configuration,
    general,
    measurement,
    objects,
    scheduler_flags,
)
from podium.cli.arguments.parser import Parser, Subparsers
from podium.cli.messages import FAILED, print_error


class Command(NamedTuple):
    """A subcommand: how its parser is added, and the module that runs it."""

    add_parser: Callable[[Subparsers], None]
    module: str

    def run(self, args: argparse.Namespace) -> int:
        status: int = import_module(f"podium.cli.{self.module}").run(args)
        return status


_INTERRUPTED: Final = 130
_CLOSED_PIPE: Final = 141

COMMANDS: Final[Mapping[str, Command]] = {
    "demo": Command(cluster.add_demo, "demo"),
    "scheduler": Command(scheduler_flags.add_scheduler, "scheduler"),
    "up": Command(cluster.add_up, "up"),
    "down": Command(cluster.add_down, "down"),
    "apply": Command(objects.add_apply, "apply"),
    "get": Command(objects.add_get, "get"),
    "delete": Command(objects.add_delete, "delete"),
    "config": Command(configuration.add_config, "config"),
    "plugin": Command(configuration.add_plugin_command, "plugin"),
    "conformance": Command(measurement.add_conformance, "conformance"),
    "bench": Command(measurement.add_bench, "bench"),
    "completion": Command(general.add_completion, "completion"),
    "version": Command(general.add_version, "version"),
}


class ShowVersion(argparse.Action):
    """``--version``: like the command ``version``, in one line."""

    def __call__(self, parser: argparse.ArgumentParser, *args: object) -> None:
        from podium.cli.version import podium_version  # loaded only when it is asked for

        parser.exit(message=f"podium {podium_version()}\n")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the subcommand named in ``argv`` (by default the process's arguments)."""
    args = build_parser().parse_args(argv)
    try:
        status = COMMANDS[args.command].run(args)
        sys.stdout.flush()
        return status
    except BrokenPipeError:
        # The reader has closed the pipe, as in ``podium bench … | head``.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _CLOSED_PIPE
    except OSError as error:
        if error.errno != errno.ENOSPC or error.filename is not None:
            raise
        print_error(f"the output cannot be written: {error.strerror}")
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # Python flushes at the end
        return FAILED
    except KeyboardInterrupt:
        return _INTERRUPTED


def build_parser() -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = Parser(
        prog="podium", description="The Kubernetes scheduler as a Python program and library."
    )
    parser.add_argument("--version", action=ShowVersion, nargs=0, help="print the version and exit")
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for command in COMMANDS.values():
        command.add_parser(subparsers)
    return parser

"""The command ``podium``: one module per subcommand, listed in ``COMMANDS``.

A subcommand parses its arguments, calls one function and prints what comes back.
"""

import argparse
import os
import sys
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import Protocol

from podium.cli import (
    apply,
    bench,
    config,
    conformance,
    delete,
    demo,
    down,
    get,
    plugin,
    scheduler,
    up,
)
from podium.cli.parser import Parser, Subparsers


class Command(Protocol):
    """What the module of a subcommand defines."""

    def add_parser(self, subparsers: Subparsers, /) -> object:
        """Add the subcommand's parser, named as in ``COMMANDS``."""

    def run(self, args: argparse.Namespace, /) -> int:
        """Do the work and return the exit status."""


_INTERRUPTED = 130
_CLOSED_PIPE = 141

COMMANDS: Mapping[str, Command] = {
    "demo": demo,
    "scheduler": scheduler,
    "up": up,
    "down": down,
    "apply": apply,
    "get": get,
    "delete": delete,
    "config": config,
    "plugin": plugin,
    "conformance": conformance,
    "bench": bench,
}


class ShowVersion(argparse.Action):
    """Looks the version up only when asked: a tree that is not installed has none."""

    def __call__(self, parser: argparse.ArgumentParser, *args: object) -> None:
        try:
            parser.exit(message=f"podium {version('podium')}\n")
        except PackageNotFoundError:
            parser.exit(message="podium, run from a tree that is not installed\n")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the subcommand named in ``argv`` (by default the process's arguments)."""
    args = build_parser().parse_args(argv)
    try:
        return COMMANDS[args.command].run(args)
    except BrokenPipeError:
        # The reader has seen enough, as in ``podium bench … | head``. Nothing is left to say.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _CLOSED_PIPE
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

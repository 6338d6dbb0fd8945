"""The options of `podium version` and `podium completion`."""

from __future__ import annotations

import argparse
from typing import Final

from podium.cli.arguments.parser import Subparsers

SHELLS: Final = ("bash", "zsh", "fish")

_COMPLETION_EXAMPLES = """\
examples:
  source <(podium completion bash)                    for this bash; or add it to ~/.bashrc
  source <(podium completion zsh)                     after compinit, in ~/.zshrc
  podium completion fish > ~/.config/fish/completions/podium.fish
"""


def add_version(subparsers: Subparsers) -> None:
    subparsers.add_parser(
        "version",
        help="print the versions of podium, of the Kubernetes it follows, and of Python",
        description="Print podium's version, the Kubernetes version whose scheduler it behaves "
        "as, and the Python that runs it. Another release of Kubernetes is chosen by podium "
        "scheduler with --emulated-version, as for kube-scheduler, and by other commands with "
        "--kubernetes-version.",
        epilog="example:\n  podium version",
    )


def add_completion(subparsers: Subparsers) -> None:
    parser = subparsers.add_parser(
        "completion",
        help="print a script that lets your shell complete podium's commands",
        description="Print a script for bash, zsh or fish. Once the shell has read it, the Tab key "
        "completes commands, options and their values.",
        epilog=_COMPLETION_EXAMPLES,
    )
    parser.add_argument("shell", nargs="?", choices=SHELLS, help="the shell to print it for")
    # What the scripts call: print what can follow these words.
    parser.add_argument("--words", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)

"""Options that several commands share."""

from __future__ import annotations

import argparse
import re
from pathlib import Path
from typing import Final

from podium.release import LATEST, RELEASES, Release, release_named

DEFAULT_NAME: Final = "podium"

_NAME = re.compile(r"[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?")


def add_name(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--name",
        metavar="NAME",
        type=_cluster_name,
        default=DEFAULT_NAME,
        help="name of the cluster, if several run at once (default: %(default)s)",
    )


def add_kubeconfig(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--kubeconfig",
        metavar="FILE",
        type=Path,
        help="where to write the context (default: the file that kubectl uses)",
    )


def add_state_file(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--state-file",
        metavar="FILE",
        type=Path,
        help="where a running cluster is recorded (default: in the user's state directory)",
    )


def _cluster_name(text: str) -> str:
    if not _NAME.fullmatch(text):
        rule = "up to 40 lower case letters, digits and hyphens, not a hyphen first or last"
        raise argparse.ArgumentTypeError(f"must be {rule}: not {text!r}")
    return text


def add_plugin(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--plugin",
        metavar="FILE|MODULE[:NAME]",
        action="append",
        default=[],
        help="load plugins and run them in every profile that does not name them; may be repeated",
    )


def add_kubernetes_version(
    parser: argparse.ArgumentParser, default: Release | None = LATEST, shown: str = str(LATEST)
) -> None:
    parser.add_argument(
        "--kubernetes-version",
        metavar="VERSION",
        type=_release,
        default=default,
        help=f"behave as this release: {' or '.join(map(str, RELEASES))} (default: {shown})",
    )


def _release(text: str) -> Release:
    try:
        return release_named(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def add_watch(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--watch",
        action="store_true",
        help="reload the files of --plugin and --config when they are saved",
    )


def add_watch_config(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--watch-config",
        action="store_true",
        help="use the file of --config again when it changes, without a restart",
    )


def add_plain_http_port(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--plain-http-port",
        type=int,
        default=0,
        metavar="INT",
        help="also serve health and metrics on 127.0.0.1 at this port, without TLS and "
        "authentication; 0 does not (default 0)",
    )


def add_serves_dashboard(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--dashboard",
        action="store_true",
        help="serve the dashboard at /dashboard/ on the ports of metrics: to users who may get "
        "that path, and with --plain-http-port to those who have the link that is printed",
    )


def add_tracing_config(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--tracing-config",
        metavar="FILE",
        help="send spans of scheduling attempts to a collector, as this TracingConfiguration says",
    )

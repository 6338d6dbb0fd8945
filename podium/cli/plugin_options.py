"""The options ``--plugin`` and ``--watch``, for every command that takes plugins from outside."""

from __future__ import annotations

import argparse


def add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--plugin",
        metavar="FILE|MODULE[:NAME]",
        action="append",
        default=[],
        help="load plugins and run them in every profile that does not name them; may be repeated",
    )

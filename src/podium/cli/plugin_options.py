"""The options ``--plugin`` and ``--watch``, for every command that takes plugins from outside."""

from __future__ import annotations

import argparse

from podium.app.plugin_loading import Source


def add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--plugin",
        metavar="FILE|MODULE[:NAME]",
        action="append",
        default=[],
        help="load plugins and run them in every profile that does not name them; may be repeated",
    )


def add_watch(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--watch", action="store_true", help="load the files of --plugin again when they are saved"
    )


def absolute(source: str) -> str:
    """The same ``--plugin`` from any directory; a module is found by its name everywhere."""
    found = Source.parse(source)
    if found.file is None:
        return source
    return f"{found.file.absolute()}:{found.name}" if found.name else str(found.file.absolute())

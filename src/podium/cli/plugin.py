"""``podium plugin``: write a new plugin, list plugins, show what they cost."""

from __future__ import annotations

import argparse
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
from rich.console import Console

from podium import config
from podium.app import plugin_loading
from podium.app.plugin_listing import listing
from podium.cli import plugin_template, plugin_text, state_file, terminal
from podium.cli.arguments.configuration import SCHEDULER
from podium.cli.arguments.parser import BAD_INPUT
from podium.cli.messages import print_error
from podium.errors import PodiumError
from podium.legacy import VERSIONS

_TIMEOUT_SECONDS = 10
_NO_PROXY = urllib.request.build_opener(urllib.request.ProxyHandler({}))  # for loopback
_WIDE = 120  # characters; the width in pipes


def run(args: argparse.Namespace) -> int:
    actions: dict[str, Callable[[argparse.Namespace], None]] = {
        "new": _new,
        "list": _list,
        "stats": _stats,
    }
    try:
        actions[args.action](args)
    except PodiumError as error:
        print_error(error)
        return BAD_INPUT
    return 0


def _new(args: argparse.Namespace) -> None:
    plugin, test = plugin_template.write(args.name, Path())
    print(f"wrote {plugin} and {test}")
    print(f"next: podium up --plugin {plugin} --watch")


def _list(args: argparse.Namespace) -> None:
    registry = plugin_loading.registry(args.plugin)
    found = (
        config.load_file(args.config, registry, versions=VERSIONS)
        if args.config
        else config.default(registry)
    )
    rows = listing(registry, found)
    if args.output == "json":
        _print_json(rows)
    else:
        plugin_text.print_listing(rows, _console())


def _stats(args: argparse.Namespace) -> None:
    found = _ask(args.server or _running(args) or SCHEDULER)
    if args.output == "json":
        _print_json(found)
    else:
        plugin_text.print_stats(found, _console())


def _running(args: argparse.Namespace) -> str:
    running = state_file.find_running(args.state_file or state_file.default_path(args.name))
    return running.scheduler if running else ""


def _ask(server: str) -> Any:
    url = f"{server.rstrip('/')}/debug/plugins"
    try:
        with _NO_PROXY.open(url, timeout=_TIMEOUT_SECONDS) as answer:
            return msgspec.json.decode(answer.read())
    except (OSError, ValueError, msgspec.DecodeError) as error:
        cause = getattr(error, "reason", None) or error
        why = getattr(cause, "strerror", None) or cause
        hint = (
            "start one with podium up, or with podium scheduler --plain-http-port, and give its "
            "address with --server"
        )
        raise PodiumError(f"no scheduler answers at {url}: {why}; {hint}") from error


def _console() -> Console:
    console = terminal.console(soft_wrap=False)
    if not console.is_terminal:
        console.width = _WIDE
    return console


def _print_json(value: Any) -> None:
    print(msgspec.json.format(msgspec.json.encode(value)).decode())

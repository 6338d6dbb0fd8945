"""``podium plugin``: start a plugin, list what there is, see what plugins cost."""

from __future__ import annotations

import argparse
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
from rich.console import Console

from podium import config
from podium.apiserver import state_file
from podium.app import plugin_loading
from podium.app.plugin_listing import listing
from podium.cli import plugin_options, plugin_template, plugin_text
from podium.cli.complaint import BAD_INPUT, complain
from podium.cli.parser import Subparsers
from podium.errors import PodiumError
from podium.legacy import VERSIONS

_SCHEDULER = "http://127.0.0.1:10259"
_TIMEOUT_SECONDS = 10
_NO_PROXY = urllib.request.build_opener(urllib.request.ProxyHandler({}))  # it is on loopback
_WIDE = 120  # characters, for pipes

_EXAMPLES = {
    "new": """\
  podium plugin new EmptiestRack                  write emptiest_rack.py and its test
""",
    "list": """\
  podium plugin list                              every plugin, and where it runs by default
  podium plugin list --plugin rack.py --config scheduler.yaml
""",
    "stats": """\
  podium plugin stats                             what plugins cost in the cluster of podium up
  podium plugin stats --server http://127.0.0.1:10259
""",
}


def add_parser(subparsers: Subparsers) -> None:
    parser = subparsers.add_parser(
        "plugin",
        help="start a plugin of your own, list plugins, see what they cost",
        description="Plugins are Python classes or functions; docs/plugins/writing.md tells how "
        "to write one.",
        epilog=_examples(*_EXAMPLES),
    )
    commands = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    new = _action(commands, "new", "write a plugin that runs as it stands, with its test")
    new.add_argument("name", metavar="NAME", help="such as EmptiestRack")
    shown = _action(commands, "list", "show what is registered and what runs where")
    shown.add_argument("--config", metavar="FILE", type=Path, help="default: no file")
    plugin_options.add(shown)
    stats = _action(commands, "stats", "show what the plugins of a running scheduler cost")
    stats.add_argument(
        "--server",
        metavar="URL",
        help=f"of its metrics; default: podium up's, else {_SCHEDULER}",
    )
    stats.add_argument("--state-file", metavar="FILE", type=Path, help="of podium up")
    for each in (shown, stats):
        each.add_argument("-o", "--output", choices=("text", "json"), default="text")


def _action(commands: Subparsers, name: str, summary: str) -> argparse.ArgumentParser:
    return commands.add_parser(
        name,
        help=summary,
        description=f"{summary[0].upper()}{summary[1:]}.",
        epilog=_examples(name),
    )


def _examples(*actions: str) -> str:
    return "examples:\n" + "".join(_EXAMPLES[action] for action in actions)


def run(args: argparse.Namespace) -> int:
    actions: dict[str, Callable[[argparse.Namespace], None]] = {
        "new": _new,
        "list": _list,
        "stats": _stats,
    }
    try:
        actions[args.action](args)
    except PodiumError as error:
        complain(error)
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
    found = _ask(args.server or _running(args.state_file) or _SCHEDULER)
    if args.output == "json":
        _print_json(found)
    else:
        plugin_text.print_stats(found, _console())


def _running(path: Path | None) -> str:
    running = state_file.find_running(path or state_file.default_path())
    return running.scheduler if running else ""


def _ask(server: str) -> Any:
    url = f"{server.rstrip('/')}/debug/plugins"
    try:
        with _NO_PROXY.open(url, timeout=_TIMEOUT_SECONDS) as answer:
            return msgspec.json.decode(answer.read())
    except (OSError, ValueError, msgspec.DecodeError) as error:
        cause = getattr(error, "reason", None) or error
        why = getattr(cause, "strerror", None) or cause
        hint = "start one with podium up, or say where it is with --server"
        raise PodiumError(f"no scheduler answers at {url}: {why}; {hint}") from error


def _console() -> Console:
    console = Console(highlight=False, soft_wrap=False)
    if not console.is_terminal:
        console.width = _WIDE
    return console


def _print_json(value: Any) -> None:
    print(msgspec.json.format(msgspec.json.encode(value)).decode())

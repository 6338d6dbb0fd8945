"""``podium config``: check configurations, show what they come to, convert and compare them."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable
from typing import Any

import msgspec
import yaml
from rich.console import Console
from rich.markup import escape

from podium.app import plugin_loading
from podium.cli import config_text, plugin_options
from podium.cli.complaint import BAD_INPUT, complain
from podium.cli.parser import Subparsers
from podium.config import Configuration
from podium.config.diff import differences
from podium.config.export import effective
from podium.config.load import Reading, default, read, text_of
from podium.errors import ConfigError, PluginError, Problem
from podium.framework.registry import Registry
from podium.legacy import VERSIONS
from podium.legacy.convert import convert

DIFFERENT = 1
_STDIN = "-"
_THE_DEFAULT = "the default configuration"
_EXAMPLES = """examples:
  podium config validate scheduler.yaml policy.cfg
  podium config show                                  the default configuration
  podium config show scheduler.yaml -o json
  podium config convert old.yaml > new.yaml           v1beta3 and older, or a Policy, as v1
  podium config diff scheduler.yaml                   what it changes of the default
  podium config diff old.yaml new.yaml
  podium config show scheduler.yaml --plugin rack.py  with a plugin of your own
"""


def add_parser(subparsers: Subparsers) -> None:
    parser = subparsers.add_parser(
        "config",
        help="check, show, convert and compare configurations",
        description="Work with KubeSchedulerConfiguration files of every version from v1alpha1 to "
        "v1, with legacy Policy files, and with ConfigMaps that hold a policy.cfg. A file named - "
        "is standard input. The exit status is 0 when all is well, 1 when diff finds differences, "
        "2 when a file cannot be used.",
        epilog=_EXAMPLES,
    )
    commands = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    _add_validate(commands)
    _add_show(commands)
    _add_convert(commands)
    _add_diff(commands)


def _add_validate(commands: Subparsers) -> None:
    parser = _action(commands, "validate", "report everything that is wrong with a file")
    parser.add_argument("files", nargs="+", metavar="FILE")


def _add_show(commands: Subparsers) -> None:
    parser = _action(commands, "show", "print the effective plugins, arguments and fields")
    parser.add_argument("file", nargs="?", metavar="FILE", help="without it: the default")
    parser.add_argument("-o", "--output", choices=("text", "json", "yaml"), default="text")


def _add_convert(commands: Subparsers) -> None:
    parser = _action(commands, "convert", "write a file of any version as v1")
    parser.add_argument("file", metavar="FILE")
    parser.add_argument("--to", choices=("v1",), default="v1", help="the version to write")


def _add_diff(commands: Subparsers) -> None:
    parser = _action(commands, "diff", "tell what differs in the effect of two files")
    parser.add_argument("before", metavar="A", help="what it has is marked with a minus")
    parser.add_argument(
        "after",
        nargs="?",
        metavar="B",
        help="what it has is marked with a plus; without B, A is compared with the default, "
        "and has the plus",
    )


def _action(commands: Subparsers, name: str, summary: str) -> argparse.ArgumentParser:
    parser = commands.add_parser(
        name,
        help=summary,
        description=f"{summary[0].upper()}{summary[1:]}.",
        epilog=_EXAMPLES,
    )
    plugin_options.add(parser)
    return parser


def run(args: argparse.Namespace) -> int:
    actions: dict[str, Callable[[argparse.Namespace, Registry], int]] = {
        "validate": _validate,
        "show": _show,
        "convert": _convert,
        "diff": _diff,
    }
    try:
        return actions[args.action](args, plugin_loading.registry(args.plugin))
    except (ConfigError, PluginError) as error:
        complain(error)
        return BAD_INPUT


def _validate(args: argparse.Namespace, registry: Registry) -> int:
    console = Console(highlight=False, soft_wrap=True)
    status = 0
    for name in args.files:
        try:
            reading = _read(name, registry)
        except ConfigError as error:
            complain(error)
            status = BAD_INPUT
        else:
            console.print(f"{escape(name)}: [green]valid[/green] {reading.version.title}")
    return status


def _show(args: argparse.Namespace, registry: Registry) -> int:
    shown = effective(_configuration(args.file, registry))
    if args.output == "text":
        config_text.print_effective(shown, Console(highlight=False, soft_wrap=True))
    else:
        _dump(shown, args.output)
    return 0


def _convert(args: argparse.Namespace, registry: Registry) -> int:
    reading = _read(args.file, registry)
    converted = convert(reading, registry, source=args.file)
    _warn(args.file, converted.warnings)
    _dump(converted.value, "yaml")
    return 0


def _diff(args: argparse.Namespace, registry: Registry) -> int:
    sides = (args.before, args.after) if args.after else (None, args.before)
    found = differences(*(_configuration(name, registry) for name in sides))
    before, after = (name or _THE_DEFAULT for name in sides)
    console = Console(highlight=False, soft_wrap=True)
    config_text.print_differences(found, before, after, console)
    return DIFFERENT if found else 0


def _configuration(name: str | None, registry: Registry) -> Configuration:
    return default(registry) if name is None else _read(name, registry).configuration


def _read(name: str, registry: Registry) -> Reading:
    """The file's configuration; what it warns of goes to stderr."""
    text = sys.stdin.read() if name == _STDIN else text_of(name)
    reading = read(text, registry, source=name, versions=VERSIONS)
    _warn(name, reading.configuration.warnings)
    return reading


def _warn(name: str, warnings: Iterable[Problem]) -> None:
    for warning in warnings:
        complain(f"warning: {name}: {warning}")


def _dump(value: Any, output: str) -> None:
    if output == "json":
        print(msgspec.json.format(msgspec.json.encode(value)).decode())
    else:
        print(yaml.safe_dump(value, sort_keys=False, allow_unicode=True, width=100), end="")

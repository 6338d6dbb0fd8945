"""``podium config``: check, show, convert and compare configurations."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable
from typing import Any

import msgspec
import yaml
from rich.markup import escape

from podium.app import plugin_loading
from podium.app.own_plugins import in_tree_with_legacy
from podium.cli import config_text
from podium.cli.arguments.parser import BAD_INPUT
from podium.cli.messages import print_error
from podium.cli.terminal import console
from podium.config import Configuration
from podium.config.diff import differences
from podium.config.export import effective
from podium.config.feature_gates import FeatureGates
from podium.config.load import Reading, default, read, text_of
from podium.errors import ConfigError, PluginError, Problem
from podium.framework.registry import Registry
from podium.legacy import VERSIONS
from podium.legacy.convert import convert

DIFFERENT = 1
_STDIN = "-"
_THE_DEFAULT = "the default configuration"


def run(args: argparse.Namespace) -> int:
    actions: dict[str, Callable[[argparse.Namespace, Registry], int]] = {
        "validate": _validate,
        "show": _show,
        "convert": _convert,
        "diff": _diff,
    }
    try:
        own = in_tree_with_legacy(FeatureGates(args.kubernetes_version))
        return actions[args.action](args, plugin_loading.registry(args.plugin, own=own))
    except (ConfigError, PluginError) as error:
        print_error(error)
        return BAD_INPUT


def _validate(args: argparse.Namespace, registry: Registry) -> int:
    out = console()
    status = 0
    for name in args.files:
        try:
            reading = _read(name, registry)
        except ConfigError as error:
            print_error(error)
            status = BAD_INPUT
        else:
            out.print(f"{escape(name)}: [good]valid[/good] {reading.version.title}")
    return status


def _show(args: argparse.Namespace, registry: Registry) -> int:
    shown = effective(_configuration(args.file, registry))
    if args.output == "text":
        config_text.print_effective(shown, console())
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
    config_text.print_differences(found, before, after, console())
    return DIFFERENT if found else 0


def _configuration(name: str | None, registry: Registry) -> Configuration:
    return default(registry) if name is None else _read(name, registry).configuration


def _read(name: str, registry: Registry) -> Reading:
    """Read a configuration, and print its warnings to stderr."""
    text = sys.stdin.read() if name == _STDIN else text_of(name)
    reading = read(text, registry, source=name, versions=VERSIONS)
    _warn(name, reading.configuration.warnings)
    return reading


def _warn(name: str, warnings: Iterable[Problem]) -> None:
    for warning in warnings:
        print_error(f"warning: {name}: {warning}")


def _dump(value: Any, output: str) -> None:
    if output == "json":
        print(msgspec.json.format(msgspec.json.encode(value)).decode())
    else:
        print(yaml.safe_dump(value, sort_keys=False, allow_unicode=True, width=100), end="")

"""The options of `podium config` and `podium plugin`."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Final

from podium.cli.arguments.options import (
    add_kubernetes_version,
    add_name,
    add_plugin,
    add_state_file,
)
from podium.cli.arguments.parser import Subparsers

SCHEDULER: Final = "http://127.0.0.1:10251"  # of `podium scheduler --plain-http-port=10251`

_CONFIG_EXAMPLES = """examples:
  podium config validate scheduler.yaml policy.cfg
  podium config show                                  the default configuration
  podium config show scheduler.yaml -o json
  podium config convert old.yaml > new.yaml           v1beta3 and older, or a Policy, as v1
  podium config diff scheduler.yaml                   how it differs from the default
  podium config diff old.yaml new.yaml
  podium config show scheduler.yaml --plugin rack.py  with your own plugin
  podium config show --kubernetes-version 1.36        as an older release has it
"""
_PLUGIN_EXAMPLES = {
    "new": """\
  podium plugin new EmptiestRack                  write emptiest_rack.py and its test
""",
    "list": """\
  podium plugin list                              every plugin, and where it runs by default
  podium plugin list --plugin rack.py --config scheduler.yaml
""",
    "stats": """\
  podium plugin stats                             what plugins cost in the cluster of podium up
  podium plugin stats --server http://127.0.0.1:10251
""",
}


def add_config(subparsers: Subparsers) -> None:
    parser = subparsers.add_parser(
        "config",
        help="check, show, convert and compare configurations",
        description="Work with KubeSchedulerConfiguration files of every version from v1alpha1 to "
        "v1, with legacy Policy files, and with ConfigMaps that hold a policy.cfg. A file named - "
        "is standard input. The exit status is 0 on success, 1 when diff finds differences, 2 when "
        "a file cannot be used.",
        epilog=_CONFIG_EXAMPLES,
    )
    commands = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    validate = _add_config_action(commands, "validate", "report every mistake in a file")
    validate.add_argument("files", nargs="+", metavar="FILE")
    show = _add_config_action(commands, "show", "print the effective plugins, arguments and fields")
    show.add_argument("file", nargs="?", metavar="FILE", help="without it: the default")
    show.add_argument(
        "-o",
        "--output",
        choices=("text", "json", "yaml"),
        default="text",
        help="output format (default: text)",
    )
    convert = _add_config_action(commands, "convert", "write a file of any version as v1")
    convert.add_argument("file", metavar="FILE")
    convert.add_argument("--to", choices=("v1",), default="v1", help="the version to write")
    diff = _add_config_action(commands, "diff", "show how two files differ in effect")
    diff.add_argument("before", metavar="A", help="its side is marked with a minus")
    diff.add_argument(
        "after",
        nargs="?",
        metavar="B",
        help="its side is marked with a plus; without B, A is compared with the default "
        "configuration and gets the plus",
    )


def _add_config_action(commands: Subparsers, name: str, summary: str) -> argparse.ArgumentParser:
    parser = _add_action(commands, name, summary, _CONFIG_EXAMPLES)
    add_plugin(parser)
    add_kubernetes_version(parser)
    return parser


def add_plugin_command(subparsers: Subparsers) -> None:
    parser = subparsers.add_parser(
        "plugin",
        help="start your own plugin, list plugins, see what they cost",
        description="Plugins are Python classes or functions; docs/plugins/writing.md shows how "
        "to write one.",
        epilog=_plugin_examples(*_PLUGIN_EXAMPLES),
    )
    commands = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    new = _add_plugin_action(commands, "new", "write a working plugin, with its test")
    new.add_argument("name", metavar="NAME", help="such as EmptiestRack")
    shown = _add_plugin_action(commands, "list", "show which plugins there are and where they run")
    shown.add_argument("--config", metavar="FILE", type=Path, help="default: no file")
    add_plugin(shown)
    stats = _add_plugin_action(commands, "stats", "show what the plugins of a scheduler cost")
    stats.add_argument(
        "--server",
        metavar="URL",
        help=f"where it serves plain HTTP (default: that of podium up, else {SCHEDULER})",
    )
    add_name(stats)
    add_state_file(stats)
    for each in (shown, stats):
        each.add_argument(
            "-o",
            "--output",
            choices=("text", "json"),
            default="text",
            help="output format (default: text)",
        )


def _add_plugin_action(commands: Subparsers, name: str, summary: str) -> argparse.ArgumentParser:
    return _add_action(commands, name, summary, _plugin_examples(name))


def _plugin_examples(*actions: str) -> str:
    return "examples:\n" + "".join(_PLUGIN_EXAMPLES[action] for action in actions)


def _add_action(
    commands: Subparsers, name: str, summary: str, examples: str
) -> argparse.ArgumentParser:
    description = f"{summary[0].upper()}{summary[1:]}."
    return commands.add_parser(name, help=summary, description=description, epilog=examples)

"""Configurations, and the differences between two of them, as text for `podium config`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from typing import Any

from rich.console import Console
from rich.markup import escape

from podium.cli.terminal import aligned
from podium.config.diff import Difference

_GAP = "  "
_NOT_SET = "(not set)"


def print_effective(view: Mapping[str, Any], console: Console) -> None:
    fields = {name: value for name, value in view.items() if name not in ("profiles", "extenders")}
    _print_columns([(name, _text(value)) for name, value in _flat(fields)], console)
    for profile in view["profiles"]:
        console.print()
        _print_profile(profile, console)
    for number, extender in enumerate(view["extenders"]):
        console.print(f"\n[heading]extender {number}[/heading]")
        _print_columns([(name, _text(value)) for name, value in extender.items()], console)


def _print_profile(profile: Mapping[str, Any], console: Console) -> None:
    console.print(f"[heading]profile {escape(profile['schedulerName'])}[/heading]")
    if profile["percentageOfNodesToScore"] is not None:
        console.print(f"percentageOfNodesToScore{_GAP}{profile['percentageOfNodesToScore']}")
    _print_columns([("POINT", "PLUGIN", "WEIGHT", "FROM"), *_plugins(profile["plugins"])], console)
    if profile["args"]:
        console.print("\nARGUMENTS")
        rows = [
            (name, field, _text(value))
            for name, args in profile["args"].items()
            for field, value in args.items()
        ]
        _print_columns(_without_repeats(rows), console)


def _plugins(points: Mapping[str, Sequence[Mapping[str, Any]]]) -> list[tuple[str, ...]]:
    rows = [
        (point, plugin["name"], str(plugin.get("weight", "")), _origin(plugin))
        for point, plugins in points.items()
        for plugin in plugins
    ]
    return list(_without_repeats(rows))


def _origin(plugin: Mapping[str, Any]) -> str:
    return f"{plugin['from']}, not in podium" if plugin.get("absent") else str(plugin["from"])


def _without_repeats(rows: Iterable[tuple[str, ...]]) -> Iterator[tuple[str, ...]]:
    """Leave out the first cell where it is the same as in the row above."""
    last = None
    for first, *rest in rows:
        yield ("" if first == last else first, *rest)
        last = first


def _print_columns(rows: Iterable[tuple[str, ...]], console: Console) -> None:
    for line in aligned(list(rows)):
        console.print(line)


def _flat(fields: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in fields.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{path}{name}.")
        else:
            yield f"{path}{name}", value


def _text(value: Any) -> str:
    if value is None:
        return _NOT_SET
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def print_differences(
    found: Sequence[Difference], before: str, after: str, console: Console
) -> None:
    """Print what only one side has: ``before`` with a minus, ``after`` with a plus."""
    if found:
        console.print(f"[bad]--- {escape(before)}[/bad]\n[good]+++ {escape(after)}[/good]")
    for each in found:
        console.print(f"[heading]{escape(each.path)}[/heading]")
        names = [side for side in (each.before, each.after) if isinstance(side, list)]
        if names and all(isinstance(item, str) for side in names for item in side):
            _print_lists(each.before or [], each.after or [], console)
        else:
            _print_line("-", _text(each.before), console)
            _print_line("+", _text(each.after), console)


def _print_lists(before: list[str], after: list[str], console: Console) -> None:
    for name in before:
        if name not in after:
            _print_line("-", name, console)
    for name in after:
        if name not in before:
            _print_line("+", name, console)
    for name in moved([n for n in before if n in after], [n for n in after if n in before]):
        _print_line("-", _with_position(name, before), console)
        _print_line("+", _with_position(name, after), console)


def moved(before: list[str], after: list[str]) -> list[str]:
    """Return a short list of names that have to move to turn one order into the other."""
    matches = SequenceMatcher(None, before, after, autojunk=False).get_matching_blocks()
    stayed = {name for match in matches for name in before[match.a : match.a + match.size]}
    return [name for name in after if name not in stayed]


def _with_position(name: str, names: list[str]) -> str:
    index = names.index(name)
    return f"{name}, after {names[index - 1]}" if index else f"{name}, first"


def _print_line(sign: str, text: str, console: Console) -> None:
    style = "bad" if sign == "-" else "good"
    console.print(f"  [{style}]{sign} {escape(text)}[/{style}]")

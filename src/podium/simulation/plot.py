"""Draws a cluster before and after a scenario, or under two variants, as SVG."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from podium.pictures import framed, text
from podium.simulation.compare import Comparison
from podium.simulation.figures import FULLNESS_STEPS, Figures
from podium.simulation.report import Report

_WIDTH: Final = 900
_MARGIN: Final = 20
_TOP: Final = 84
_LINE: Final = 18
_BAR: Final = 13
_NAMES: Final = 200  # the room for names to the left of bars
_HALF: Final = (_WIDTH - 3 * _MARGIN) // 2
_COLUMNS: Final = 150  # the height of the tallest column
_MOST_DOMAINS: Final = 12
_SHOWN: Final = ("cpu", "memory")

States = tuple[Figures, ...]  # one or two


def draw_report(report: Report) -> str:
    """Return a picture of the cluster before and after."""
    title = "; then ".join(report.steps)
    if report.before == report.after:  # questions that change nothing
        return _draw(title, ("now",), (report.after,))
    return _draw(title, ("before", "after"), (report.before, report.after))


def draw_comparison(comparison: Comparison) -> str:
    """Return a picture of both outcomes."""
    first, second = comparison.first, comparison.second
    title = f"{first.name} against {second.name}"
    return _draw(title, (first.name, second.name), (first.figures, second.figures))


def _draw(title: str, names: Sequence[str], states: States) -> str:
    bars = list(_bars_of_resources(states))
    zones = list(_bars_of_domains(states))
    left = _bar_panel("share of each resource", bars, _MARGIN)
    right = _bar_panel(f"by {states[-1].topology.rpartition('/')[2]}", zones, 2 * _MARGIN + _HALF)
    rows = max(len(bars), len(zones), 1)
    below = _TOP + _LINE + rows * (2 * _BAR + 12) + 2 * _MARGIN
    height = below + _COLUMNS + 4 * _LINE
    parts = [
        text(_MARGIN, 30, _shortened(title, 95), "text", "font-size='17' font-weight='600'"),
        *_legend(names),
        *left,
        *(right if zones else ()),
        *_histogram(states, below),
    ]
    return framed((_WIDTH, height), title, parts)


Bar = tuple[str, list[float]]  # a name, and the share in each state


def _bars_of_resources(states: States) -> Iterator[Bar]:
    used = [each.resource for one in states for each in one.resources if each.requested]
    names = list(dict.fromkeys(used))
    for name in names:
        yield f"{name} requested", [one.use_of(name).share for one in states]
    for name in (name for name in names if name in _SHOWN):
        yield f"{name} free but unusable", [one.use_of(name).fragmented for one in states]


def _bars_of_domains(states: States) -> Iterator[Bar]:
    by_name = [{each.domain: each for each in one.domains} for one in states]
    domains = sorted(set().union(*by_name))
    if len(domains) > _MOST_DOMAINS:
        return
    for domain in domains:
        for name in _SHOWN:
            shares = [one[domain].share_of(name) if domain in one else 0.0 for one in by_name]
            yield f"{domain} {name}", shares


def _bar_panel(title: str, bars: Sequence[Bar], x: int) -> Iterator[str]:
    yield text(x, _TOP, title, "faint", "font-size='14'")
    room = _HALF - _NAMES - 60
    for number, (name, shares) in enumerate(bars):
        y = _TOP + _LINE + number * (2 * _BAR + 12)
        yield text(x, y + 18, _shortened(name, 28), "text", "font-size='13'")
        for series, share in enumerate(shares):
            length, top = max(share, 0.0) * room, y + series * _BAR
            yield (
                f"<rect x='{x + _NAMES}' y='{top}' width='{length:.1f}' height='{_BAR - 2}' rx='2'"
                f" class='{_colour(series)}'/>"
            )
            label = f"{100 * share:.1f} %"
            yield text(x + _NAMES + length + 6, top + 10, label, "text", "font-size='11'")


def _histogram(states: States, top: int) -> Iterator[str]:
    """Draw how many nodes are how full, in columns beside each other."""
    title = "nodes by how full they are (the fuller of cpu and memory)"
    yield text(_MARGIN, top, title, "faint", "font-size='14'")
    most = max(max(each.fullness, default=0) for each in states) or 1
    width = (_WIDTH - 2 * _MARGIN) / FULLNESS_STEPS
    base = top + _LINE + _COLUMNS
    for step in range(FULLNESS_STEPS):
        x = _MARGIN + step * width
        for series, figures in enumerate(states):
            count = figures.fullness[step]
            height = count / most * (_COLUMNS - _LINE)
            left = x + 4 + series * (width - 8) / 2
            yield (
                f"<rect x='{left:.1f}' y='{base - height:.1f}' width='{(width - 12) / 2:.1f}'"
                f" height='{height:.1f}' rx='2' class='{_colour(series)}'/>"
            )
            if count:
                yield text(left, base - height - 4, f"{count:,}", "text", "font-size='11'")
        edge = 100 // FULLNESS_STEPS
        name = f"{step * edge}-{(step + 1) * edge} %"
        yield text(x + 4, base + 16, name, "faint", "font-size='12'")


def _legend(names: Sequence[str]) -> Iterator[str]:
    x = _MARGIN
    for number, name in enumerate(names):
        shown = _shortened(name, 45)
        yield f"<rect x='{x}' y='44' width='14' height='14' rx='2' class='{_colour(number)}'/>"
        yield text(x + 21, 56, shown, "text", "font-size='14'")
        x += 50 + 8 * len(shown)


def _colour(number: int) -> str:
    return f"series{(1, 0)[number]}"  # grey before, blue after


def _shortened(name: str, most: int) -> str:
    return name if len(name) <= most else f"{name[: most - 1]}…"

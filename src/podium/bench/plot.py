"""Bar charts of benchmarks as SVG: a group of bars for each workload, a bar for each scheduler.

`podium bench --plot` and the pictures of the documentation use it. It needs no other library.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from podium.bench.compare import Comparison
from podium.pictures import LIGHT, Theme, framed, text

_WIDTH: Final = 820
_MARGIN: Final = 16
_LABEL_WIDTH: Final = 100  # beside the longest bar
_BAR, _NAME, _GAP = 20, 24, 12  # the heights of a bar, of a group's name, of the space below it
_TOP: Final = 74
_LINE: Final = 18
_CAPTION_CHARACTERS: Final = 118


@dataclass(frozen=True, slots=True)
class Panel:
    """One measure: its values by group and then by series; ``None`` where there is none."""

    title: str
    values: Sequence[Sequence[float | None]]
    digits: int = 0

    @property
    def longest(self) -> float:
        return max((value or 0.0 for row in self.values for value in row), default=0.0) or 1.0


@dataclass(frozen=True, slots=True)
class Chart:
    """Panels beside each other with the same groups; the first series is the one compared."""

    title: str
    caption: str
    series: Sequence[str]
    groups: Sequence[str]
    panels: Sequence[Panel]


def comparison_chart(comparisons: Sequence[Comparison], title: str, caption: str) -> Chart:
    """Return a chart of pods per second and CPU time."""
    medians = [[one.median for one in each.schedulers] for each in comparisons]
    rates = [[None if one is None else one.pods_per_second for one in row] for row in medians]
    cpu = [[None if one is None else one.scheduler_cpu_seconds for one in row] for row in medians]
    return Chart(
        title=title,
        caption=caption,
        series=[one.scheduler for one in comparisons[0].schedulers],
        groups=[each.name for each in comparisons],
        panels=[Panel("pods per second", rates), Panel("CPU seconds", cpu, digits=1)],
    )


def draw(chart: Chart, theme: Theme | None = None) -> str:
    """Return the chart as SVG, in one theme or in the one that its viewer prefers."""
    caption = textwrap.wrap(chart.caption, _CAPTION_CHARACTERS)
    bottom = _top(chart) + len(chart.groups) * _group_height(chart)
    height = bottom + _LINE * len(caption) + _MARGIN // 2
    parts = [text(_MARGIN, 28, chart.title, "text", "font-size='17' font-weight='600'")]
    parts += _legend(chart.series)
    parts += _groups(chart)
    parts += [
        text(_MARGIN, bottom + 10 + _LINE * number, line, "faint", "font-size='13'")
        for number, line in enumerate(caption)
    ]
    return framed((_WIDTH, height), _summary(chart), parts, theme)


def _group_height(chart: Chart) -> int:
    return _NAME + _BAR * len(chart.series) + _GAP


def _legend(series: Sequence[str]) -> Iterator[str]:
    x = _MARGIN
    for number, name in enumerate(series):
        yield f"<rect x='{x}' y='44' width='14' height='14' rx='2' class='{_colour(number)}'/>"
        yield text(x + 21, 56, name, "text", "font-size='14'")
        x += 50 + 8 * len(name)


def _top(chart: Chart) -> int:
    """Return where the groups begin: panels beside each other have titles above them."""
    return _TOP + (_NAME if len(chart.panels) > 1 else 0)


def _groups(chart: Chart) -> Iterator[str]:
    width = (_WIDTH - _MARGIN) // len(chart.panels)
    top, height = _top(chart), _group_height(chart)
    for number, name in enumerate(chart.groups):
        yield text(_MARGIN, top + number * height + 15, name, "text", "font-size='14'")
    for column, panel in enumerate(chart.panels):
        x = _MARGIN + column * width
        scale = (width - _MARGIN - _LABEL_WIDTH) / panel.longest
        if len(chart.panels) > 1:
            yield text(x, top - 10, panel.title, "faint", "font-size='14'")
        for number, values in enumerate(panel.values):
            yield from _bars(panel, values, (x, top + number * height + _NAME), scale)


def _bars(
    panel: Panel, values: Sequence[float | None], at: tuple[int, int], scale: float
) -> Iterator[str]:
    x, y = at
    for number, value in enumerate(values):
        length = (value or 0.0) * scale
        yield (
            f"<rect x='{x}' y='{y}' width='{length:.1f}' height='{_BAR - 2}' rx='2'"
            f" class='{_colour(number)}'/>"
        )
        label = _label(values, number, panel.digits)
        yield text(x + length + 7, y + 14, label, "text", "font-size='14'")
        y += _BAR


def _label(values: Sequence[float | None], number: int, digits: int) -> str:
    """Return the value; that of the first series with its ratio to the second."""
    value = values[number]
    if value is None:
        return "no figure"
    other = values[1] if number == 0 and len(values) > 1 else None
    return f"{value:,.{digits}f}" + (f" ({_ratio(value / other)})" if other else "")


def _ratio(ratio: float) -> str:
    return f"{ratio:.1f}x" if ratio >= 1 else f"{ratio:.2f}x"


def _colour(number: int) -> str:
    return f"series{number % len(LIGHT.series)}"


def _summary(chart: Chart) -> str:
    rows = [
        f"{group} {panel.title}: "
        + " against ".join(_label([value], 0, panel.digits) for value in values)
        for panel in chart.panels
        for group, values in zip(chart.groups, panel.values, strict=True)
    ]
    return f"{chart.title} ({' against '.join(chart.series)}): {'; '.join(rows)}"

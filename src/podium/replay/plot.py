"""Draws replays over time as SVG: a panel for each measure, a line for each configuration."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from podium.pictures import BACKGROUND, LIGHT, Theme, framed, text
from podium.replay.result import Result, Sample

_WIDTH: Final = 900
_MARGIN: Final = 16
_TOP: Final = 78
_PANEL: Final = 150  # the height of a panel, with its title and its times
_PLOT: Final = 92
_AXIS: Final = 52  # the room for numbers to the left of a panel
_MOST_RESOURCES: Final = 3
_MOST_NAMES: Final = 60  # characters; longer names of configurations are cut

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Curve:
    """One configuration: the mean over its seeds, and the least and the most of them."""

    times: Floats
    mean: Floats
    least: Floats
    most: Floats


@dataclass(frozen=True, slots=True)
class Panel:
    title: str
    unit: str
    curves: Sequence[Curve]

    @property
    def top(self) -> float:
        """The highest number of the axis."""
        return _round_up(max(float(curve.most.max(initial=0.0)) for curve in self.curves))


def draw(results: Sequence[Result], *, for_png: bool = False) -> str:
    """Return all replays as one picture.

    As SVG it follows the viewer's preference for light or dark; a PNG is light.
    """
    by_name: dict[str, list[Result]] = {}
    for result in results:
        by_name.setdefault(result.configuration, []).append(result)
    panels = list(_panels(list(by_name.values())))
    end = max(result.figures.seconds for result in results) or 1.0
    parts = [
        text(
            _MARGIN, 28, f"Replay of {results[0].trace}", "text", "font-size='17' font-weight='600'"
        )
    ]
    parts += _legend(list(by_name))
    for number, panel in enumerate(panels):
        x = _MARGIN + (number % 2) * (_WIDTH // 2)
        parts += _draw_panel(panel, (x, _TOP + (number // 2) * _PANEL), end)
    height = _TOP + math.ceil(len(panels) / 2) * _PANEL + _MARGIN // 2
    if for_png:
        return framed((_WIDTH, height), _summary(by_name), [BACKGROUND, *parts], LIGHT, _css)
    return framed((_WIDTH, height), _summary(by_name), parts, css=_css)


def _css(theme: Theme) -> str:
    strokes = "".join(
        f".line{number}{{stroke:{colour}}}" for number, colour in enumerate(theme.series)
    )
    return f"{theme.css()}{strokes}.grid{{stroke:{theme.faint};stroke-opacity:.35}}"


def _summary(by_name: dict[str, list[Result]]) -> str:
    lines = []
    for name, results in by_name.items():
        figures = results[0].figures
        lines.append(
            f"{name}: {figures.bound} of {figures.arrivals} pods bound, "
            f"mean wait {figures.wait.mean:g} s, {figures.evictions} evictions"
        )
    return "; ".join(lines)


# --- what is drawn -------------------------------------------------------------------------------


def _panels(groups: Sequence[Sequence[Result]]) -> Iterator[Panel]:
    def panel(title: str, unit: str, value: Callable[[Sample], float]) -> Panel:
        return Panel(title, unit, [_curve(group, value) for group in groups])

    yield panel("pods that wait", "", lambda sample: sample.pending)
    yield panel("wait of the pods bound meanwhile, mean", "s", lambda sample: sample.wait)
    for name in _resources(groups[0][0]):
        yield panel(f"{name} used", "%", _percent_of("used", name))
        yield panel(f"{name} free but unusable", "%", _percent_of("fragmentation", name))
    yield panel("pods that run", "", lambda sample: sample.running)
    yield panel("evictions so far", "", lambda sample: sample.evictions)


def _percent_of(part: str, name: str) -> Callable[[Sample], float]:
    return lambda sample: 100 * float(getattr(sample, part).get(name, 0.0))


def _resources(result: Result) -> list[str]:
    """Return the resources that are worth a panel: extended ones before cpu and memory."""
    names = list(result.figures.used)
    extended = [name for name in names if "/" in name]
    return [*extended, *(name for name in names if name not in extended)][:_MOST_RESOURCES]


def _curve(results: Sequence[Result], value: Callable[[Sample], float]) -> Curve:
    longest = max(results, key=lambda result: result.figures.seconds)
    times = np.array([sample.time for sample in longest.samples] or [0.0])
    rows = np.array(
        [
            np.interp(
                times,
                [sample.time for sample in result.samples] or [0.0],
                [value(sample) for sample in result.samples] or [0.0],
            )
            for result in results
        ]
    )
    return Curve(times, rows.mean(axis=0), rows.min(axis=0), rows.max(axis=0))


# --- how it is drawn -----------------------------------------------------------------------------


def _legend(names: Sequence[str]) -> Iterator[str]:
    x: float = _MARGIN
    for number, name in enumerate(names):
        shown = name if len(name) <= _MOST_NAMES else f"…{name[1 - _MOST_NAMES :]}"
        yield f"<rect x='{x}' y='44' width='14' height='14' rx='2' class='{_fill(number)}'/>"
        yield text(x + 21, 56, shown, "text", "font-size='14'")
        x += 50 + 8 * len(shown)


def _draw_panel(panel: Panel, at: tuple[int, int], end: float) -> Iterator[str]:
    left, top = at[0] + _AXIS, at[1]
    width, bottom = _WIDTH // 2 - _AXIS - 2 * _MARGIN, top + 18 + _PLOT
    yield text(left, top + 8, panel.title, "text", "font-size='13'")
    for part in (0.0, 0.5, 1.0):
        y = bottom - part * _PLOT
        yield f"<line x1='{left}' x2='{left + width}' y1='{y:.1f}' y2='{y:.1f}' class='grid'/>"
        label = f"{_number(part * panel.top)}{panel.unit and ' ' + panel.unit}"
        yield text(left - 6, y + 4, label, "faint", "font-size='11' text-anchor='end'")
    for moment in _ticks(end):
        x = left + width * moment / end
        yield text(
            x, bottom + 15, _time(moment, end), "faint", "font-size='11' text-anchor='middle'"
        )
    scale = width / end, _PLOT / panel.top
    for number, curve in enumerate(panel.curves):
        yield from _draw_curve(curve, number, (left, bottom), scale)


def _draw_curve(
    curve: Curve, number: int, origin: tuple[float, float], scale: tuple[float, float]
) -> Iterator[str]:
    if not np.array_equal(curve.least, curve.most):
        there = _points(curve.times, curve.most, origin, scale)
        back = _points(curve.times[::-1], curve.least[::-1], origin, scale)
        yield f"<polygon points='{there} {back}' class='{_fill(number)}' fill-opacity='.2'/>"
    points = _points(curve.times, curve.mean, origin, scale)
    yield (
        f"<polyline points='{points}' class='line{_colour(number)}' fill='none'"
        " stroke-width='1.5' stroke-linejoin='round'/>"
    )


def _points(
    times: Floats, values: Floats, origin: tuple[float, float], scale: tuple[float, float]
) -> str:
    x, y = origin[0] + times * scale[0], np.round(origin[1] - values * scale[1], 1)
    is_flat = np.zeros(len(y), np.bool_)
    is_flat[1:-1] = (y[1:-1] == y[:-2]) & (y[1:-1] == y[2:])  # points that change nothing
    pairs = zip(x[~is_flat].tolist(), y[~is_flat].tolist(), strict=True)
    return " ".join(f"{left:.1f},{top:g}" for left, top in pairs)


def _fill(number: int) -> str:
    return f"series{_colour(number)}"


def _colour(number: int) -> int:
    """Return the number of a colour in the theme; grey, which is for bars, comes last."""
    order: list[int] = [0, *range(2, len(LIGHT.series)), 1]
    return order[number % len(order)]


def _round_up(value: float) -> float:
    """Return the next number that reads well on an axis; at least 1."""
    if value <= 1:
        return 1.0
    power = 10.0 ** math.floor(math.log10(value))
    return next(power * step for step in (1, 1.5, 2, 3, 4, 5, 6, 8, 10) if power * step >= value)


def _number(value: float) -> str:
    return f"{value:,.0f}" if value == int(value) else f"{value:,.1f}"


_UNITS: Final = ((86_400.0, "d"), (3_600.0, "h"), (60.0, "min"), (1.0, "s"))


def _unit(end: float) -> tuple[float, str]:
    return next((unit for unit in _UNITS if end >= 2 * unit[0]), _UNITS[-1])


def _ticks(end: float) -> list[float]:
    seconds = _unit(end)[0]
    step = _round_up(max(end / seconds / 4, 1.0)) * seconds if end >= 2 else end / 2
    return [step * number for number in range(int(end / step) + 1)]


def _time(moment: float, end: float) -> str:
    seconds, name = _unit(end)
    return f"{moment / seconds:g} {name}"

"""A film of a terminal as one SVG: the screens follow one another by a CSS animation.

Each distinct line is drawn once, and each screen is a list of lines. Programs that do not animate,
and readers who prefer no motion, see the last screen.
"""

from __future__ import annotations

from html import escape
from itertools import groupby
from typing import NamedTuple

CELL, LINE, SIZE, MARGIN, BAR = 8.4, 18, 14, 14, 34  # pixels
BLOCKS = " ▁▂▃▄▅▆▇█"
FONT = 'ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace'
HOLD_SECONDS = 6.0  # how long the last screen stays


class Theme(NamedTuple):
    """Colours by name; ``text`` is the usual one."""

    background: str
    text: str
    colours: dict[str, str]


# Blue and yellow are told apart by everyone; what is red or green has a sign of its own.
LIGHT = Theme(
    "#f6f8fa",
    "#1f2328",
    {"red": "#b3202c", "green": "#1a7f37", "brown": "#9a6700", "blue": "#0b5cad",
     "cyan": "#14788c", "magenta": "#7d3fb0", "brightblack": "#636c76"},
)  # fmt: skip
DARK = Theme(
    "#0d1117",
    "#e6edf3",
    {"red": "#ff7b72", "green": "#56d364", "brown": "#e3b341", "blue": "#58a6ff",
     "cyan": "#56d4dd", "magenta": "#d2a8ff", "brightblack": "#8b949e"},
)  # fmt: skip


class Cell(NamedTuple):
    """A character with its colour."""

    data: str
    colour: str
    is_bold: bool


Row = tuple[Cell, ...]
Screen = tuple[Row, ...]


class Frame(NamedTuple):
    """A screen, and the second from which on it is shown."""

    at: float
    screen: Screen


def film(frames: list[Frame], title: str, theme: Theme) -> str:
    """Return the SVG. All screens have the same size."""
    columns, lines = len(frames[-1].screen[0]), len(frames[-1].screen)
    width, height = round(columns * CELL + 2 * MARGIN), lines * LINE + 2 * MARGIN + BAR
    rows = {row: number for number, row in enumerate(dict.fromkeys(_all_rows(frames)))}
    drawn = "\n".join(f'<g id="r{number}">{_row(row)}</g>' for row, number in rows.items())
    screens = "\n".join(_screen(frame, n, lines, rows) for n, frame in enumerate(frames))
    return f"""\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img">
<title>{escape(title)}</title>
<style>
text {{ font: {SIZE}px {FONT}; fill: {theme.text}; white-space: pre; }}
.b {{ font-weight: bold; }}
.window {{ fill: {theme.background}; stroke: #8b949e; stroke-opacity: 0.4; }}
{_colours(theme)}
{_animation(frames, lines)}
</style>
<defs><clipPath id="window"><rect width="{columns * CELL:g}" height="{lines * LINE}"/></clipPath>
{drawn}</defs>
<rect class="window" width="{width}" height="{height}" rx="8"/>
<text x="{width / 2:g}" y="22" text-anchor="middle" class="brightblack">{escape(title)}</text>
<g transform="translate({MARGIN}, {BAR + MARGIN / 2:g})" clip-path="url(#window)"><g class="film">
{screens}
</g></g>
</svg>
"""


def _all_rows(frames: list[Frame]) -> list[Row]:
    return [row for frame in frames for row in frame.screen if _is_inked(row)]


def _is_inked(row: Row) -> bool:
    return any(cell.data != " " for cell in row)


def _screen(frame: Frame, number: int, lines: int, rows: dict[Row, int]) -> str:
    top = number * lines * LINE
    uses = [
        f'<use href="#r{rows[row]}" y="{top + n * LINE}"/>'
        for n, row in enumerate(frame.screen)
        if _is_inked(row)
    ]
    return "".join(uses)


def _row(row: Row) -> str:
    """Draw a line: texts cell by cell, so that columns stay aligned in every font."""
    pieces, at = [], 0
    for key, cells in groupby(row, key=lambda c: (c.colour, c.is_bold, c.data in BLOCKS[1:])):
        run = "".join(cell.data for cell in cells)
        pieces.append(_blocks(at, run, key) if key[2] else _text(at, run, key))
        at += len(run)
    return "".join(pieces)


def _text(at: int, run: str, key: tuple[str, bool, bool]) -> str:
    inked = run.strip()
    if not inked:
        return ""
    start = at + len(run) - len(run.lstrip())
    classes = " ".join(filter(None, [key[0], "b" if key[1] else ""]))
    wanted = f' class="{classes}"' if classes else ""
    return (
        f'<text x="{start * CELL:g}" y="{SIZE}" textLength="{len(inked) * CELL:g}"'
        f"{wanted}>{escape(inked)}</text>"
    )


def _blocks(at: int, run: str, key: tuple[str, bool, bool]) -> str:
    """Draw block characters as rectangles: fonts differ in how they draw them."""
    path = ""
    for number, each in enumerate(run, at):
        height = BLOCKS.index(each) * (LINE - 4) / 8
        path += f"M{number * CELL:.1f} {LINE - 2}h{CELL:g}v-{height:g}h-{CELL:g}z"
    return f'<path class="{key[0] or "text"}" d="{path}"/>'


def _colours(theme: Theme) -> str:
    named = {"text": theme.text, **theme.colours}
    return "\n".join(f".{name} {{ fill: {value}; }}" for name, value in named.items())


def _animation(frames: list[Frame], lines: int) -> str:
    seconds = frames[-1].at + HOLD_SECONDS
    height = lines * LINE
    steps = "\n".join(
        f"{frame.at / seconds * 100:.3f}% {{ transform: translateY(-{n * height}px); }}"
        for n, frame in enumerate(frames)
    )
    last = (len(frames) - 1) * height
    return f"""\
.film {{ transform: translateY(-{last}px); animation: film {seconds:.1f}s step-end infinite; }}
@keyframes film {{
{steps}
100% {{ transform: translateY(-{last}px); }}
}}
@media (prefers-reduced-motion: reduce) {{ .film {{ animation: none; }} }}"""

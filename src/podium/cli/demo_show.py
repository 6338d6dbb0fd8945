"""What `podium demo` shows: a live heat map of nodes above the story; plain lines in a pipe."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from typing import Final

from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from podium.cli.terminal import BAD, GOOD, HEADING, LEVEL, WARNING
from podium.dashboard.node_map import CORDONED
from podium.dashboard.values import NodeMap, Overview

_LEVELS: Final = "▁▂▃▄▅▆▇█"
_EMPTY, _CORDONED, _GONE = "·", "–", "×"
_FULL: Final = 850  # a node is shown as full from this share on, in thousandths
_WIDE: Final = 2  # width of a tile in cells, if there is room
_TITLES: Final = 20  # width of the column of chapter titles, in cells
_LEAST_ROOM: Final = 20


class HeatMap:
    """Every node as a tile, by zone. A node that is gone keeps its place."""

    def __init__(self) -> None:
        self._zones: dict[str, dict[str, Text]] = {}

    def look(self, nodes: NodeMap) -> None:
        for tiles in self._zones.values():
            for name in tiles:
                tiles[name] = Text(_GONE, BAD)
        cpu = nodes.columns.get("cpu", [0] * len(nodes.names))
        for name, zone, share, flags in zip(
            nodes.names, nodes.zones, cpu, nodes.flags, strict=True
        ):
            self._zones.setdefault(zone, {})[name] = tile(share, flags)

    def lines(self, width: int) -> Iterator[Text]:
        """Return a line or more for each zone: as many tiles as fit."""
        names = max(map(len, self._zones), default=0)
        most = max(map(len, self._zones.values()), default=0)
        room = width - names - 2
        wide = _WIDE if most * (_WIDE + 1) <= room else 1
        fitting = max(room // (wide + 1), 1)
        for zone in sorted(self._zones):
            tiles = [_widened(each, wide) for each in self._zones[zone].values()]
            for start in range(0, len(tiles), fitting):
                line = Text(f"{zone if not start else '':<{names}}  ")
                yield line.append_text(Text(" ").join(tiles[start : start + fitting]))


def _widened(tile: Text, wide: int) -> Text:
    """Repeat a level, so that it looks like a tile; other signs stay single."""
    is_level = str(tile) in _LEVELS
    return Text(str(tile) * wide if is_level else str(tile).center(wide), tile.style)


def tile(share: int, flags: int) -> Text:
    """Return a node as one character, whose height is the share of its cpu that is requested."""
    if share <= 0:
        return Text(_CORDONED if flags & CORDONED else _EMPTY, "note")
    level = min(share * len(_LEVELS) // 1000, len(_LEVELS) - 1)
    return Text(_LEVELS[level], WARNING if share >= _FULL else LEVEL)


def legend() -> Text:
    return Text.assemble(
        ("▁", LEVEL), " to ", ("█", WARNING), " cpu  ",
        (_EMPTY, "note"), " empty  ", (_CORDONED, "note"), " cordoned  ", (_GONE, BAD), " gone",
    )  # fmt: skip


class Stage:
    """``with Stage(console) as stage:`` shows chapters: each begins, and ends with a result."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._live = Live(console=console, auto_refresh=False, transient=True)
        self._map = HeatMap()
        self._overview: Overview | None = None
        self._told: list[tuple[str, Text]] = []
        self._title = ""
        self._drawn: list[Text] = []

    @property
    def is_terminal(self) -> bool:
        return self._console.is_terminal

    def __enter__(self) -> Stage:
        if self.is_terminal:
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Leave the whole story on the terminal."""
        if self.is_terminal:
            self._live.stop()
            self._console.print(Group(*self._picture(), *self._story()))

    def begin(self, title: str) -> None:
        self._title = title
        self._draw()

    def end(self, result: str) -> None:
        self._tell(Text(result))

    def end_with_choice(self, choices: Sequence[str], chosen: str) -> None:
        """Tell all choices, a line each, with a mark at the chosen one."""
        for number, choice in enumerate(choices):
            sign, style = ("→ ", GOOD) if choice == chosen else ("  ", "")
            self._tell(Text(sign + choice, style), "" if number else self._title)

    def _tell(self, result: Text, title: str | None = None) -> None:
        title = self._title if title is None else title
        self._title = ""
        self._told.append((title, result))
        if not self.is_terminal:
            self._console.print(f"{title:<{_TITLES}}{result}", markup=False)
        self._draw()

    def look(self, overview: Overview, nodes: NodeMap) -> None:
        self._overview = overview
        self._map.look(nodes)
        self._draw()

    # --- drawing ---------------------------------------------------------------------------------

    def _draw(self) -> None:
        if not self.is_terminal:
            return
        picture, story = list(self._picture()), list(self._story())
        room = max(self._console.height - len(picture) - 1, 1)
        drawn = [*picture, *story[-room:]]
        if drawn != self._drawn:
            self._drawn = drawn
            self._live.update(Group(*drawn), refresh=True)

    def _picture(self) -> Iterator[Text]:
        yield from self._map.lines(self._console.width)
        line = Text()
        if self._overview is not None:
            found = self._overview
            line.append(f"{found.pods:>3} pods, {found.pending:>2} pending", HEADING)
            line.append(f", {found.bound_per_second:>3.0f} pods/s   ")
        line.append_text(legend())
        line.truncate(self._console.width, overflow="ellipsis")
        yield line
        yield Text()

    def _story(self) -> Iterator[Text]:
        for title, result in self._told:
            yield from self._chapter(title, result)
        if self._title:
            yield Text(f"  {self._title} …", HEADING)

    def _chapter(self, title: str, result: Text) -> Iterator[Text]:
        room = max(self._console.width - _TITLES - 2, _LEAST_ROOM)
        text = str(result)
        indent = " " * (len(text) - len(text.lstrip(" →")))
        sign = ("✓ ", GOOD) if title else ("  ", "")
        for piece in textwrap.wrap(text, room, subsequent_indent=indent):
            yield Text.assemble(sign, (f"{title:<{_TITLES}}", HEADING), (piece, result.style))
            sign, title = ("  ", ""), ""

"""The screen of `podium top`: what is shown, what is chosen, and what each key does.

It knows neither a terminal nor a scheduler: looks, answers and keys come in, lines come out.
"""

from __future__ import annotations

import textwrap
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from rich.text import Text

from podium.cli import keyboard as key
from podium.cli.dashboard_client import Look
from podium.cli.numbers import counted
from podium.cli.terminal import GOOD, HEADING, WARNING
from podium.cli.top_lines import (
    REASON,
    NodeLine,
    Row,
    fullest_nodes,
    lanes,
    milliseconds,
    node_rows,
    one_line,
    pending_rows,
    spark,
    trouble,
)

PENDING, NODES = "pending", "nodes"
LEAST_WIDTH: Final = 20
_RATES: Final = 30
_CHOSEN: Final = "reverse"
_LESS: Final = 60  # lines are shortened on terminals with fewer cells

HELP: Final = """\
up, down, k, j      choose a row
page up, page down  a screen further
home, end           first, last row
tab                 from pending pods to nodes and back
enter, right        open a reason; explain a pod or a node
escape, left        close
r                   ask again
?                   these keys
q, Ctrl-C           leave"""


class Question(NamedTuple):
    """A pod or node to explain."""

    kind: str
    name: str


class Leave(NamedTuple):
    """The user wants to go."""


@dataclass(slots=True)
class _Page:
    """Text that covers the lists: an answer, or the keys."""

    title: str
    lines: Sequence[str]
    question: Question | None = None
    top: int = 0  # the first line that is shown


class Screen:
    """Holds the last look and what the user has chosen.

    A chosen row is kept by what it is about, so that it stays chosen when rows come and go.
    """

    def __init__(self) -> None:
        self._look: Look | None = None
        self._nodes: list[NodeLine] = []
        self._absent = ""  # why the scheduler does not answer
        self._rates: deque[float] = deque(maxlen=_RATES)
        self._pane = PENDING
        self._chosen: dict[str, tuple[str, str]] = {}
        self._places = {PENDING: 0, NODES: 0}
        self._opened: frozenset[str] = frozenset()
        self._page: _Page | None = None
        self._height = 24

    # --- what comes in ---------------------------------------------------------------------------

    def update(self, look: Look) -> None:
        self._look, self._absent = look, ""
        self._nodes = fullest_nodes(look.map)
        self._rates.append(look.overview.bound_per_second)

    def lose(self, why: str) -> None:
        """Say that the scheduler does not answer; what was seen last stays."""
        self._absent = one_line(why)
        self._rates.clear()

    def answer(self, question: Question, lines: Sequence[str]) -> None:
        """Show an answer, unless the user is elsewhere by now."""
        if self._page is not None and self._page.question == question:
            self._page = _Page(self._page.title, lines, question)

    def press(self, pressed: str) -> Question | Leave | None:
        """React to a key; return what is to be done about it."""
        if self._page is not None:
            return self._press_on_page(self._page, pressed)
        if pressed == "q":
            return Leave()
        if pressed == "?":
            self._page = _Page("keys", HELP.splitlines())
        elif pressed == key.TAB:
            self._pane = NODES if self._pane == PENDING else PENDING
        elif pressed in (key.ENTER, key.RIGHT):
            return self._open()
        elif pressed in (key.ESCAPE, key.LEFT, key.BACKSPACE):
            self._opened = frozenset()
        else:
            self._move(_step(pressed, self._height))
        return None

    def _press_on_page(self, page: _Page, pressed: str) -> Question | None:
        if pressed in ("q", "?", key.ESCAPE, key.LEFT, key.BACKSPACE):
            self._page = None
        elif pressed == "r" and page.question is not None:
            self._page = _Page(page.title, ["asking …"], page.question)
            return page.question
        else:
            page.top += _step(pressed, self._height)
        return None

    def _open(self) -> Question | None:
        rows = self._rows(self._pane, 80)
        if not rows:
            return None
        row = rows[self._place(self._pane, rows)]
        if row.kind == REASON:
            self._opened ^= {row.name}
            return None
        question = Question(row.kind, row.name)
        self._page = _Page(f"{row.kind} {one_line(row.name)}", ["asking …"], question)
        return question

    def _move(self, step: int) -> None:
        rows = self._rows(self._pane, 80)
        if step and rows:
            place = max(0, min(self._place(self._pane, rows) + step, len(rows) - 1))
            self._choose(self._pane, rows, place)

    def _choose(self, pane: str, rows: Sequence[Row], place: int) -> None:
        self._places[pane] = place
        self._chosen[pane] = rows[place].kind, rows[place].name

    def _place(self, pane: str, rows: Sequence[Row]) -> int:
        """Return where the chosen row is now; if it has gone, the one in its place."""
        place = max(0, min(self._places[pane], len(rows) - 1))
        known = self._chosen.get(pane)
        here = (rows[place].kind, rows[place].name)
        if known in (None, here):
            return place
        found = [n for n, row in enumerate(rows) if (row.kind, row.name) == known]
        return found[0] if found else place

    def _rows(self, pane: str, width: int) -> list[Row]:
        if self._look is None:
            return []
        if pane == PENDING:
            return pending_rows(self._look.pending, self._opened, width)
        return node_rows(self._nodes, width)

    # --- what comes out --------------------------------------------------------------------------

    def lines(self, width: int, height: int) -> list[Text]:
        """Return the screen: at most ``height`` lines of at most ``width`` cells."""
        self._height = height
        width = max(width, LEAST_WIDTH)
        head = self._head(width)
        room = max(height - len(head) - 1, 1)
        body = self._page_lines(self._page, width, room) if self._page else self._lists(width, room)
        body += [Text()] * (room - len(body))
        found = [*head, *body[:room], self._foot()]
        for line in found:
            line.truncate(width, overflow="ellipsis")
        return found[:height]

    def _head(self, width: int) -> list[Text]:
        look = self._look
        if look is None:
            return [Text("podium top", HEADING), Text(self._absent or "asking …", WARNING), Text()]
        overview = look.overview
        title = Text.assemble(("podium top", HEADING), f"  {overview.at[11:19]}  ")
        title.append(f"{one_line(overview.server)}, Kubernetes {overview.release}", "note")
        return [title, self._rate(look, width), _queue(look, width), self._state(look), Text()]

    def _rate(self, look: Look, width: int) -> Text:
        overview = look.overview
        line = Text(f"{counted(overview.nodes, 'node')}  {counted(overview.pods, 'pod')}  ")
        line.append(f"{overview.bound_per_second:,.1f} pods/s ", HEADING)
        if width >= _LESS:
            line.append(f"{spark(self._rates):<{_RATES}}"[: width - len(line)].rstrip())
        bind = overview.time_to_bind
        if bind.pods:
            line.append(f"  to bind: half {milliseconds(bind.p50)}, 99% {milliseconds(bind.p99)}")
        return line

    def _state(self, look: Look) -> Text:
        if self._absent:
            return Text(f"trying again, shown is the last answer: {self._absent}", WARNING)
        problem = trouble(look.overview)
        return Text(problem, WARNING) if problem else Text("scheduling", GOOD)

    def _lists(self, width: int, room: int) -> list[Text]:
        if self._look is None:
            return []
        pending, nodes = (self._rows(pane, width) for pane in (PENDING, NODES))
        most = max(room - 3, 2)  # without titles and the line between
        share = max(most - len(nodes), most // 2)
        above = min(max(len(pending), 1), share)
        title = f"Pending pods by reason: {self._look.pending.total:,}"
        found = [self._title(PENDING, title)]
        found += self._list(PENDING, pending, above, "no pod waits")
        found += [Text(), self._title(NODES, "Fullest nodes")]
        return found + self._list(NODES, nodes, most - above, "the cluster has no nodes")

    def _title(self, pane: str, text: str) -> Text:
        return Text(text, HEADING if pane == self._pane else "note")

    def _list(self, pane: str, rows: Sequence[Row], room: int, without: str) -> list[Text]:
        if not rows:
            return [Text(without, "note")]
        place = self._place(pane, rows)
        self._choose(pane, rows, place)
        top = max(0, min(place - room // 2, len(rows) - room))
        found = [row.text.copy() for row in rows[top : top + room]]
        if pane == self._pane and 0 <= place - top < len(found):
            found[place - top].stylize(_CHOSEN)
        return found

    def _page_lines(self, page: _Page, width: int, room: int) -> list[Text]:
        lines = [part for line in page.lines for part in _wrapped(line, width)]
        page.top = max(0, min(page.top, len(lines) - (room - 1)))
        shown = lines[page.top : page.top + room - 1]
        return [Text(page.title, HEADING), *(Text(line, _style(line)) for line in shown)]

    def _foot(self) -> Text:
        if self._page is not None:
            return Text("up, down: scroll   escape: back   ?: keys", "note")
        return Text(
            "up, down: choose   enter: explain   tab: other list   ?: keys   q: leave", "note"
        )


def _queue(look: Look, width: int) -> Text:
    """Return the lanes of the queue; without the empty ones if there is no room for all."""
    parts = lanes(look.overview)
    line = _lanes(parts)
    return line if line.cell_len <= width else _lanes([each for each in parts if each[1]])


def _lanes(parts: Sequence[tuple[str, int]]) -> Text:
    line = Text("queue")
    for name, count in parts:
        line.append(f"  {name} ", "note")
        line.append(f"{count:,}", HEADING if count else "")
    return line if parts else line.append("  empty", "note")


def _step(pressed: str, height: int) -> int:
    """Return by how many rows a key moves."""
    page, far = max(height // 2, 1), 1 << 30
    steps = {
        key.UP: -1, "k": -1, key.DOWN: 1, "j": 1,
        key.PAGE_UP: -page, key.PAGE_DOWN: page, " ": page, key.HOME: -far, key.END: far,
    }  # fmt: skip
    return steps.get(pressed, 0)


def _style(line: str) -> str:
    """Return the style of a line of an explanation: its titles end with a colon."""
    return HEADING if line.endswith(":") and not line.startswith(" ") else ""


def _wrapped(line: str, width: int) -> list[str]:
    line = one_line(line)
    indent = " " * (len(line) - len(line.lstrip()) + 2)
    return textwrap.wrap(line, width, subsequent_indent=indent, break_on_hyphens=False) or [""]

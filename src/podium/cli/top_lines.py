"""The lines of `podium top`: rows of reasons, pods and nodes that fit into a width."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from rich.cells import cell_len, set_cell_size
from rich.text import Text

from podium.cli.messages import visible
from podium.cli.terminal import BAD, WARNING
from podium.dashboard.node_map import CORDONED, TAINTED
from podium.dashboard.values import NodeMap, Overview, PendingBoard, PendingGroup

REASON, POD, NODE = "reason", "pod", "node"
MOST_NODES: Final = 200  # only the fullest nodes are listed

_BAR: Final = 10
_EIGHTHS: Final = " ▏▎▍▌▋▊▉█"
_LEVELS: Final = "▁▂▃▄▅▆▇█"
_FULL: Final = 900  # a node counts as full from this share on, in thousandths


@dataclass(frozen=True, slots=True)
class Row:
    """A row that can be chosen. ``kind`` and ``name`` say what it is about."""

    kind: str
    name: str
    text: Text


def one_line(text: str) -> str:
    """Return text from the cluster so that it stays on its line, whatever it contains."""
    return visible(text).replace("\n", "␊").replace("\t", " ")


def fitted(text: str, width: int) -> str:
    """Return the text in exactly this many cells; what is cut off is marked."""
    text = one_line(text)
    if cell_len(text) > width > 0:
        return set_cell_size(text, width - 1) + "…"
    return set_cell_size(text, max(width, 0))


# --- pending pods --------------------------------------------------------------------------------


def pending_rows(board: PendingBoard, opened: frozenset[str], width: int) -> list[Row]:
    """Return a row for each reason; below opened ones their pods."""
    rows: list[Row] = []
    for group in board.groups:
        is_open = _key(group) in opened
        rows.append(Row(REASON, _key(group), _reason(group, is_open, width)))
        if is_open:
            rows += _pods(group, width)
    return rows


def _key(group: PendingGroup) -> str:
    """Return what tells a group from others. Several may have the same code, such as Refused."""
    return "\n".join((group.code, group.plugin, group.text, *group.also))


def _reason(group: PendingGroup, is_open: bool, width: int) -> Text:
    sign = "▾" if is_open else "▸"
    line = Text(f"{sign} {group.count:>6}  ")
    code = one_line(group.code)
    line.append(code, WARNING)
    line.append(f"  {one_line(group.text)}")
    line.truncate(width, overflow="ellipsis")
    return line


def _pods(group: PendingGroup, width: int) -> Iterator[Row]:
    for pod in group.pods:
        tries = "1 attempt" if pod.attempts == 1 else f"{pod.attempts} attempts"
        priority = f", priority {pod.priority}" if pod.priority else ""
        line = Text(f"    {one_line(pod.pod)}  ")
        line.append(f"{pod.queue}, {tries}{priority}, since {pod.since[11:19]}", "note")
        line.truncate(width, overflow="ellipsis")
        yield Row(POD, pod.pod, line)
    if group.count > len(group.pods):
        more = Text(f"    and {group.count - len(group.pods):,} more", "note")
        more.truncate(width, overflow="ellipsis")
        yield Row(REASON, _key(group), more)


# --- nodes ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class NodeLine:
    """How full a node is. Shares are in thousandths; ``fullest`` names the largest one."""

    name: str
    zone: str
    shares: dict[str, int]
    fullest: str
    pods: int
    flags: int

    @property
    def share(self) -> int:
        return self.shares.get(self.fullest, 0)

    @property
    def marks(self) -> str:
        named = ((CORDONED, "cordoned"), (TAINTED, "tainted"))
        return ", ".join(name for flag, name in named if self.flags & flag)


def fullest_nodes(nodes: NodeMap, most: int = MOST_NODES) -> list[NodeLine]:
    """Return the nodes with the highest share of any resource, the fullest first."""
    shares = list(zip(*nodes.columns.values(), strict=True))
    highest = [max(each) for each in shares] or [0] * len(nodes.names)
    order = sorted(range(len(nodes.names)), key=lambda i: (-highest[i], nodes.names[i]))
    measures = list(nodes.columns)
    return [
        NodeLine(
            name=nodes.names[i],
            zone=nodes.zones[i],
            shares=dict(zip(measures, shares[i], strict=True)),
            fullest=measures[shares[i].index(highest[i])],
            pods=nodes.pods[i],
            flags=nodes.flags[i],
        )
        for i in order[:most]
    ]


def node_rows(nodes: Sequence[NodeLine], width: int) -> list[Row]:
    """Return a row for each node; a narrow terminal shows fewer columns."""
    names = min(max((cell_len(one_line(each.name)) for each in nodes), default=0), width // 3)
    zones = min(max((cell_len(one_line(each.zone)) for each in nodes), default=0), 16)
    return [Row(NODE, each.name, _node(each, (names, zones), width)) for each in nodes]


def _node(node: NodeLine, widths: tuple[int, int], width: int) -> Text:
    names, zones = widths
    line = Text(f"{fitted(node.name, names)}  ")
    if width >= 70 and zones:
        line.append(f"{fitted(node.zone, zones)}  ", "note")
    if width >= 50:
        line.append(bar(node.share), WARNING if node.share >= _FULL else "")
        line.append(" ")
    line.append(f"{_measure(node.fullest)} {percent(node.share)}")
    others = [name for name in ("cpu", "memory") if name in node.shares and name != node.fullest]
    for name in others[:1] if width >= 60 else ():
        line.append(f"  {fitted(name, 6)} {percent(node.shares[name])}", "note")
    line.append(f"  {node.pods:>4} {'pod ' if node.pods == 1 else 'pods'}")
    if node.marks:
        line.append(f"  {node.marks}", BAD)
    line.truncate(width, overflow="ellipsis")
    return line


def _measure(name: str) -> str:
    """Return the name of a measure in a few cells: without the domain of a resource."""
    return fitted(name.removeprefix("devices of ").rpartition("/")[2], 8)


def percent(thousandths: int) -> str:
    return "   –" if thousandths < 0 else f"{thousandths / 10:>3.0f}%"


def bar(thousandths: int, width: int = _BAR) -> str:
    """Return a bar of this many cells: an eighth of a cell is its smallest step."""
    eighths = round(max(0, min(thousandths, 1000)) * width * 8 / 1000)
    whole, rest = divmod(eighths, 8)
    return ("█" * whole + (_EIGHTHS[rest] if rest else "")).ljust(width, "·")


# --- the overview --------------------------------------------------------------------------------


def spark(rates: Iterable[float]) -> str:
    """Return rates as a row of small columns; the highest one is full."""
    known = list(rates)
    top = max(known, default=0.0) or 1.0
    return "".join(_LEVELS[round(rate / top * (len(_LEVELS) - 1))] for rate in known)


def lanes(overview: Overview) -> list[tuple[str, int]]:
    """Return how many pods are in each part of the queue."""
    found = overview.lanes
    return [
        ("active", found.active),
        ("backoff", found.backoff),
        ("unschedulable", found.unschedulable),
        ("gated", found.gated),
        *([("without group", found.incomplete)] if found.incomplete else []),
        ("in flight", found.in_flight),
        ("waiting", found.waiting),
    ]


def milliseconds(seconds: float) -> str:
    return f"{seconds * 1000:.0f} ms" if seconds < 1 else f"{seconds:.1f} s"


def trouble(overview: Overview) -> str:
    """Return why the scheduler may not be trusted now; "" if all is well."""
    health = overview.health
    if health.trouble:
        return f"what is shown may be out of date: {one_line(health.trouble)}"
    if not health.synced:
        return "the scheduler is still reading the cluster"
    return "" if health.leading else "on standby: another scheduler leads"

"""What `podium demo` shows: how many pods are placed or pending, and single decisions."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from rich.console import Console
from rich.live import Live
from rich.table import Table
from rich.text import Text

from podium.api.objects import Pod
from podium.cycle.record import Record

_INDENT = 4  # characters


@dataclass(slots=True)
class Progress:
    """How many pods are placed and pending; ``reasons`` counts the pending ones by reason."""

    placed: set[str] = field(default_factory=set)  # keys of pods
    pending: set[str] = field(default_factory=set)
    reasons: Counter[str] = field(default_factory=Counter)
    undecided: int = 0  # pods that were not attempted yet

    @classmethod
    def of(cls, pods: Iterable[Pod]) -> Progress:
        found = cls()
        for pod in pods:
            found._add(pod)
        return found

    def _add(self, pod: Pod) -> None:
        why = why_pending(pod)
        if pod.node_name:
            self.placed.add(pod.key)
        elif why:
            self.pending.add(pod.key)
            self.reasons[why] += 1
        else:
            self.undecided += 1

    @property
    def seen(self) -> int:
        return len(self.placed) + len(self.pending) + self.undecided

    @property
    def is_settled(self) -> bool:
        return not self.undecided


def why_pending(pod: Pod) -> str:
    """Return why nodes refused the pod, without the sentence about preemption; "" if unknown."""
    for condition in pod.status.conditions:
        if condition.type == "PodScheduled" and condition.status == "False":
            return condition.message.split(". ")[0].rstrip(".")
    return ""


Row = tuple[int, str]


def rows(progress: Progress, seconds: float) -> list[Row]:
    """Return a number of pods and its description per line."""
    rate = len(progress.placed) / seconds if seconds else 0.0
    made = [(len(progress.placed), f"pods landed, {rate:.0f} per second")]
    made += [(count, f"wait: {why}") for why, count in progress.reasons.most_common()]
    if progress.undecided:
        made.append((progress.undecided, "are next"))
    return made


class Display:
    """Redraws the progress on a terminal; elsewhere prints the result at the end."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._live = Live(console=console, auto_refresh=False) if console.is_terminal else None
        self._rows: list[Row] = []

    def __enter__(self) -> Display:
        if self._live is not None:
            self._live.start()
        return self

    def show(self, progress: Progress, seconds: float) -> None:
        self._rows = rows(progress, seconds)
        if self._live is not None:
            self._live.update(_table(self._rows), refresh=True)

    def __exit__(self, *_: object) -> None:
        if self._live is not None:
            self._live.stop()
            return
        for count, what in self._rows:  # no wrapping in a pipe
            self._console.print(f"{count:>4}  {what}", markup=False)


def _table(shown: Iterable[Row]) -> Table:
    made = Table(show_header=False, box=None, pad_edge=False)
    made.add_column(justify="right", min_width=4)
    for count, what in shown:
        made.add_row(str(count), Text(what))
    return made


def examples(progress: Progress, records: Iterable[Record]) -> Iterator[tuple[str, Record]]:
    """Yield a decision about a placed pod, if possible a scored one, and a pending pod."""
    known = list(records)[::-1]
    placed = [record for record in known if record.node and record.pod in progress.placed]
    pending = [record for record in known if record.pod in progress.pending]
    placed.sort(key=lambda record: not record.best)
    if placed:
        yield "why a pod landed where it did", placed[0]
    if pending:
        yield "why a pod waits", pending[0]


def print_record(text: str, console: Console) -> None:
    """Print a decision; on a terminal, long lines are wrapped with more indentation."""
    for line in text.splitlines():
        indent = " " * (len(line) - len(line.lstrip()) + _INDENT)
        lines = textwrap.wrap(
            line,
            console.width,
            subsequent_indent=indent,
            break_long_words=False,
            break_on_hyphens=False,
        )
        console.print("\n".join(lines) if console.is_terminal else line, markup=False)


def record_text(record: Record, weights: Mapping[str, int]) -> str:
    """Describe a decision in a few lines; ``weights`` are those of its profile."""
    attempt = f"attempt {record.attempt}, {record.seconds.get('cycle', 0) * 1000:.2f} ms"
    lines = [f"pod {record.pod} ({attempt})"]
    if record.node:
        lines.append(f"  -> {record.node}: {record.feasible} of {record.nodes} nodes were feasible")
        lines += [
            f"     {best.name}: {best.total} = {_sum(best.scores, weights)}" for best in record.best
        ]
        if record.tied > 1:
            lines.append(f"     {record.tied} nodes shared the highest total")
    else:
        lines.append(f"  {record.message}")
    for (plugin, reason), count in sorted(record.rejected.items(), key=lambda item: -item[1]):
        lines.append(f"     {plugin} refused {count}: {reason}")
    return "\n".join(lines)


def _sum(scores: Mapping[str, int], weights: Mapping[str, int]) -> str:
    """Show a total as scores times weights; scores of extenders have no weight."""
    parts = []
    for name, score in scores.items():
        weight = weights.get(name, 1)
        if score and weight:
            parts.append(f"{name} {score}" if weight == 1 else f"{name} {score} x {weight}")
    return " + ".join(parts) or "0"

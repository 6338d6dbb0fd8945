"""How `podium demo` shows what happens: the pods so far, and single decisions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from rich.table import Table

from podium.api.objects import Pod
from podium.cycle.record import Record


@dataclass(slots=True)
class Progress:
    """Where the pods are; ``reasons`` counts those that wait by why."""

    placed: set[str] = field(default_factory=set)  # keys
    waiting: set[str] = field(default_factory=set)
    reasons: Counter[str] = field(default_factory=Counter)
    untold: int = 0  # pods about which nothing was decided yet

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
            self.waiting.add(pod.key)
            self.reasons[why] += 1
        else:
            self.untold += 1

    @property
    def seen(self) -> int:
        return len(self.placed) + len(self.waiting) + self.untold

    @property
    def is_settled(self) -> bool:
        return not self.untold


def why_pending(pod: Pod) -> str:
    """The reasons of the nodes; what preemption says comes after the first sentence."""
    for condition in pod.status.conditions:
        if condition.type == "PodScheduled" and condition.status == "False":
            return condition.message.split(". ")[0].rstrip(".")
    return ""


def table(progress: Progress, seconds: float) -> Table:
    """One line per thing to know."""
    made = Table(show_header=False, box=None, pad_edge=False)
    rate = len(progress.placed) / seconds if seconds else 0.0
    made.add_row(f"{len(progress.placed)}", f"pods landed, {rate:.0f} per second")
    for why, count in progress.reasons.most_common():
        made.add_row(f"{count}", f"wait: {why}")
    if progress.untold:
        made.add_row(f"{progress.untold}", "are next")
    return made


def examples(progress: Progress, records: Iterable[Record]) -> Iterator[tuple[str, Record]]:
    """The latest decision about a pod that landed, preferably a scored one, and one that waits."""
    known = list(records)[::-1]
    placed = [record for record in known if record.node and record.pod in progress.placed]
    waiting = [record for record in known if record.pod in progress.waiting]
    placed.sort(key=lambda record: not record.best)
    if placed:
        yield "why a pod landed where it did", placed[0]
    if waiting:
        yield "why a pod waits", waiting[0]


def record_text(record: Record) -> str:
    """A decision in a few lines."""
    attempt = f"attempt {record.attempt}, {record.seconds.get('cycle', 0) * 1000:.2f} ms"
    lines = [f"pod {record.pod} ({attempt})"]
    if record.node:
        lines.append(f"  -> {record.node}: {record.feasible} of {record.nodes} nodes were feasible")
        lines += [
            f"     {best.name}: {best.total} = {_shares(best.scores)}" for best in record.best
        ]
        if record.tied > 1:
            lines.append(f"     {record.tied} nodes shared the highest total")
    else:
        lines.append(f"  {record.message}")
    for (plugin, reason), count in sorted(record.rejected.items(), key=lambda item: -item[1]):
        lines.append(f"     {plugin} refused {count}: {reason}")
    return "\n".join(lines)


def _shares(scores: dict[str, int]) -> str:
    return ", ".join(f"{name} {score}" for name, score in scores.items() if score)

"""What `podium simulate` prints for people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from rich.text import Text

from podium.cli import terminal
from podium.cli.numbers import counted, percent
from podium.cli.terminal import BAD, GOOD, HEADING, WARNING
from podium.simulation.compare import Comparison, Outcome
from podium.simulation.figures import Figures
from podium.simulation.report import Report
from podium.simulation.results import FitResult

_MOST_LINES: Final = 10  # pods that a section lists; -o csv prints all
_SHOWN: Final = ("cpu", "memory")


def print_report(report: Report) -> None:
    out = terminal.console()
    _warn(report.notes)
    out.print(Text("; then ".join(report.steps), HEADING))
    for each in report.fit:
        _print_fit(each)
    for title, rows, style in _sections(report):
        _section(title, rows, style)
    if report.before == report.after:  # the steps have changed nothing, as with fit
        _print_figures(("", report.after))
    else:
        _print_figures(("before", report.before), ("after", report.after))
    _print_verdict(report)


def _sections(report: Report) -> Iterator[tuple[str, list[tuple[str, str]], str]]:
    """Yield what happened to pods: a title, each pod with a text, and a style."""
    yield "placed", [(one.pod, one.node) for one in report.placed], ""
    yield "moved", [(one.pod, f"{one.source} -> {one.target}") for one in report.moves], ""
    evicted = [(one.pod, f"from {one.node}, for {one.preemptor}") for one in report.victims]
    yield "evicted", evicted, WARNING
    blocked = [(one.pod, f"on {one.node}: {', '.join(one.budgets)}") for one in report.blocked]
    yield "blocked by budgets", blocked, BAD
    yield (
        "lost, nothing replaces them",
        [(one.pod, f"was on {one.node}") for one in report.gone],
        BAD,
    )
    yield "no node", [(one.pod, one.reason) for one in report.unplaced], BAD
    yield "pending before, and still", [(one.pod, one.reason) for one in report.waiting], ""


def _print_verdict(report: Report) -> None:
    out = terminal.console()
    problems = [
        (len(report.unplaced), "without a node"),
        (len(report.blocked), "blocked by budgets"),
    ]
    found = [f"{_pods(count)} {what}" for count, what in problems if count]
    found += [f"no more {each.pod} fit" for each in report.fit if not each.fits]
    verdicts = [f"does not fit: {', '.join(found)}"] if found else []
    if report.gone:
        verdicts.append(f"lost: {_pods(len(report.gone))} that nothing replaces")
    out.print(Text.assemble("\n", ("; ".join(verdicts) or "everything fits", _style(verdicts))))


def _style(verdicts: list[str]) -> str:
    return BAD if verdicts else GOOD


def _print_fit(fit: FitResult) -> None:
    out = terminal.console()
    least = "" if fit.is_complete else "at least "
    on = f" on {counted(len(fit.nodes), 'node')}" if fit.nodes else ""
    out.print(Text(f"\n{least}{fit.count:,} more {fit.pod} fit{on}", GOOD if fit.fits else BAD))
    if fit.fits and fit.runs_out:
        out.print(f"  runs out first: {fit.runs_out}")
    _section("room", [(one.node, f"{one.pods:,}") for one in fit.nodes])
    why = "why no more fit" if fit.fits else "why none fits"
    _section(why, [(counted(one.nodes, "node"), one.reason) for one in fit.limits])


def print_comparison(comparison: Comparison) -> None:
    out = terminal.console()
    first, second = comparison.first, comparison.second
    _warn(comparison.notes)
    out.print(Text(f"{first.name} against {second.name}", HEADING))
    rows = [
        ["", first.name, second.name],
        ["placed", *(f"{one.placed:,}" for one in (first, second))],
        ["without a node", *(f"{len(one.unplaced):,}" for one in (first, second))],
        ["evicted", *(f"{len(one.victims):,}" for one in (first, second))],
    ]
    for line in terminal.aligned(rows, right={1, 2}):
        out.print(line)
    same = len(first.nodes) - len(comparison.differences)
    have = "has" if same == 1 else "have"
    out.print(f"\n{same:,} of {_pods(len(first.nodes))} {have} the same node in both")
    differing = [
        (each.pod, f"{each.first or 'none'} / {each.second or 'none'}")
        for each in comparison.differences
    ]
    _section("different nodes", differing)
    for one in (first, second):
        _section(f"no node with {one.name}", [(each.pod, each.reason) for each in one.unplaced])
    _print_figures((first.name, first.figures), (second.name, second.figures))
    _print_worse(comparison, second)


def _print_worse(comparison: Comparison, second: Outcome) -> None:
    out = terminal.console()
    first, worse = comparison.first.name, _pods(len(comparison.worse))
    text = f"{second.name} places every pod that {first} places"
    if not comparison.fits:
        text = f"{second.name} leaves {worse} pending that {first} places"
    out.print(Text.assemble("\n", (text, GOOD if comparison.fits else BAD)))


def _print_figures(*named: tuple[str, Figures]) -> None:
    out = terminal.console()
    heading = ["", *(name for name, _ in named)]
    rows = [heading] if any(heading) else []
    rows += _figure_rows([figures for _, figures in named])
    out.print("\ncluster", style=HEADING)
    for line in terminal.aligned([[f"  {row[0]}", *row[1:]] for row in rows], right={1, 2}):
        out.print(line)


def _figure_rows(states: Sequence[Figures]) -> Iterator[list[str]]:
    last = states[-1]
    yield ["nodes that take pods", *(f"{one.nodes:,}" for one in states)]
    if any(one.cordoned for one in states):
        yield ["nodes that are cordoned", *(f"{one.cordoned:,}" for one in states)]
    yield ["pods on them", *(f"{one.pods:,}" for one in states)]
    used = (each.resource for each in last.resources if each.requested)
    names = list(dict.fromkeys((*_SHOWN, *used)))
    for name in names:
        yield [f"{name} requested", *(percent(one.use_of(name).share) for one in states)]
    for name in (name for name in names if name != "pods"):
        shares = [one.use_of(name).fragmented for one in states]
        if any(shares):
            yield [f"{name} free but unusable", *map(percent, shares)]
    if len(last.domains) > 1:
        label = last.topology.rpartition("/")[2]
        for name in _SHOWN:
            texts = (percent(one.imbalance(name)) for one in states)
            yield [f"{name}, fullest minus emptiest {label}", *texts]


def _section(title: str, rows: Sequence[tuple[str, str]], style: str = "") -> None:
    if not rows:
        return
    out = terminal.console()
    out.print(Text.assemble("\n", (f"{title}", HEADING), f"  {len(rows):,}"))
    shown = [[Text(f"  {name}", style), Text(text)] for name, text in rows[:_MOST_LINES]]
    for line in terminal.aligned(shown):
        out.print(line)
    if len(rows) > _MOST_LINES:
        out.print(f"  and {len(rows) - _MOST_LINES:,} more: -o csv lists all", style="note")


def _warn(notes: Sequence[str]) -> None:
    errors = terminal.console(stderr=True)
    for note in notes:
        errors.print(Text.assemble(("note", WARNING), f": {note}"))


def _pods(count: int) -> str:
    return counted(count, "pod")

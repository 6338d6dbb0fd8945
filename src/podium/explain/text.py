"""Explanations as lines of plain text, without colours and without wrapping."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from podium.explain.values import (
    Explanation,
    Fix,
    NodeExplanation,
    NodeVerdict,
    ScoreTable,
    Shortfall,
    Step,
)

_INDENT = "  "


def pod_lines(explanation: Explanation) -> list[str]:
    """Return what a reader wants first: the sentence, then the evidence, then what would help."""
    return [explanation.sentence, *_sections(explanation)]


def node_lines(explanation: NodeExplanation) -> list[str]:
    """Return the sentence about a node, its room, its pods and the pending pods."""
    lines = [explanation.sentence]
    lines += section(
        "Room",
        (
            f"{room.resource}: {room.free} free of {room.allocatable} ({room.percent:.0f} % taken)"
            for room in explanation.room
        ),
    )
    lines += section("Pods", (_pod_on_node(pod.pod, pod.owner) for pod in explanation.pods))
    lines += section("Nominated", explanation.nominated)
    lines += section("Pending pods", (pod.text for pod in explanation.pending))
    return lines + section("Notes", explanation.notes)


def _sections(explanation: Explanation) -> Iterator[str]:
    yield from section("Nodes", map(_step, explanation.funnel))
    yield from section("Waits for", (each.text for each in explanation.waits_for))
    yield from section(
        "Nearest misses",
        (
            line
            for miss in explanation.near_misses
            for line in (f"{miss.node}: {miss.text}", *_holders(miss.shortfalls))
        ),
    )
    yield from section("What would help", map(_fix, explanation.fixes))
    if explanation.preemption is not None:
        yield from section("Preemption", [explanation.preemption.text])
    if explanation.scores is not None:
        yield from section("Scores", _scores(explanation.scores))
    for verdict in explanation.verdicts:
        yield from section(f"Node {verdict.node}", _verdict(verdict))
    yield from section("Tried again when", (wake.text for wake in explanation.wakes))
    yield from section("Notes", explanation.notes)


def section(title: str, lines: Iterable[str]) -> list[str]:
    """Return an empty line, a title and its indented lines; nothing if there are no lines."""
    found = [f"{_INDENT}{line}" for line in lines]
    return ["", f"{title}:", *found] if found else []


def _step(step: Step) -> str:
    return f"{step.before} -> {step.after} {step.text}"


def _holders(shortfalls: Iterable[Shortfall]) -> Iterator[str]:
    for shortfall in shortfalls:
        for holder in shortfall.holders:
            amount = f" has {holder.amount}" if holder.amount else ""
            yield f"{_INDENT}{_pod_on_node(holder.pod, holder.owner)}{amount}"


def _pod_on_node(pod: str, owner: str) -> str:
    return f"{pod} ({owner})" if owner else pod


def _fix(fix: Fix) -> str:
    return f"{fix.text}: then it goes to {fix.node}" if fix.node else fix.text


def _scores(table: ScoreTable) -> Iterator[str]:
    yield table.text
    for node in table.nodes:
        parts = ", ".join(
            f"{each.plugin} {each.normalized} x {each.weight}"
            for each in node.scores
            if each.weighted
        )
        yield f"{node.rank}. {node.node}: {node.total}" + (f" = {parts}" if parts else "")


def _verdict(verdict: NodeVerdict) -> Iterator[str]:
    yield verdict.text
    for each in verdict.verdicts:
        if each.shortfall is not None:
            yield f"{each.plugin}: {each.shortfall.text}"

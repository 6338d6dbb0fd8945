"""Indexes of an Indexed job: which pod has which, and the text of those that are done."""

from __future__ import annotations

from collections.abc import Iterable

from podium.apiserver.controllers.pods import PodView

_INDEX = "batch.kubernetes.io/job-completion-index"
FAILURES = "batch.kubernetes.io/job-index-failure-count"


def index_of(pod: PodView) -> int | None:
    text = (pod.metadata.annotations or {}).get(_INDEX, "")
    return int(text) if text.isdigit() else None


def failures_of(pod: PodView) -> int:
    """How often its index had failed before this pod was made."""
    text = (pod.metadata.annotations or {}).get(FAILURES, "")
    return int(text) if text.isdigit() else 0


def parse_indexes(text: str) -> set[int]:
    """``"1,3-5"`` as numbers."""
    found: set[int] = set()
    for part in filter(None, text.split(",")):
        first, _, last = part.partition("-")
        found.update(range(int(first), int(last or first) + 1))
    return found


def format_indexes(indexes: Iterable[int]) -> str:
    """Numbers as ``"1,3-5"``; two in a row are written one by one, as upstream does."""
    runs: list[list[int]] = []
    for index in sorted(indexes):
        if runs and runs[-1][1] == index - 1:
            runs[-1][1] = index
        else:
            runs.append([index, index])
    return ",".join(_run(first, last) for first, last in runs)


def _run(first: int, last: int) -> str:
    if first == last:
        return str(first)
    return f"{first}{',' if last == first + 1 else '-'}{last}"

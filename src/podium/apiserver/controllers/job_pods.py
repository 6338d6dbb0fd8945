"""Pods of a job: which index each has, and what a failed one means under the failure policy."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from podium.apiserver.controllers.pods import PodView
from podium.apiserver.statuses import Json

_INDEX = "batch.kubernetes.io/job-completion-index"
FAILURES = "batch.kubernetes.io/job-index-failure-count"
COUNT, IGNORE, FAIL_INDEX, FAIL_JOB = "Count", "Ignore", "FailIndex", "FailJob"


class Verdict(NamedTuple):
    """What to do about a failed pod, and why."""

    action: str = COUNT
    message: str = ""


def judge(pod: Json, policy: Json) -> Verdict:
    """Return the verdict of the first rule that matches; without one the failure counts."""
    for index, rule in enumerate(policy.get("rules") or []):
        why = _exit_code(pod, rule.get("onExitCodes")) or _condition(
            pod, rule.get("onPodConditions")
        )
        if why:
            action = str(rule.get("action"))
            return Verdict(action, f"{why} matching {action} rule at index {index}")
    return Verdict()


def _exit_code(pod: Json, wanted: Json | None) -> str:
    if not wanted:
        return ""
    values, only = wanted.get("values") or [], wanted.get("containerName")
    is_in = wanted.get("operator") == "In"
    for name, code in _exits(pod):
        if code and only in (None, name) and (code in values) == is_in:
            return f"Container {name} for pod {_key(pod)} failed with exit code {code}"
    return ""


def _exits(pod: Json) -> Iterator[tuple[str, int]]:
    status = pod.get("status") or {}
    for group in ("containerStatuses", "initContainerStatuses"):
        for one in status.get(group) or []:
            ended = (one.get("state") or {}).get("terminated")
            if ended:
                yield one.get("name", ""), ended.get("exitCode", 0)


def _condition(pod: Json, patterns: list[Json] | None) -> str:
    there = {(one["type"], one["status"]) for one in pod["status"].get("conditions") or []}
    for pattern in patterns or []:
        if (pattern["type"], pattern.get("status", "True")) in there:
            return f"Pod {_key(pod)} has condition {pattern['type']}"
    return ""


def _key(pod: Json) -> str:
    return f"{pod['metadata']['namespace']}/{pod['metadata']['name']}"


def index_of(pod: PodView) -> int | None:
    text = (pod.metadata.annotations or {}).get(_INDEX, "")
    return int(text) if text.isdigit() else None


def failures_of(pod: PodView) -> int:
    """Return how often the pod's index had failed before the pod was created."""
    text = (pod.metadata.annotations or {}).get(FAILURES, "")
    return int(text) if text.isdigit() else 0


def parse_indexes(text: str) -> set[int]:
    """Parse ``"1,3-5"`` into numbers."""
    found: set[int] = set()
    for part in filter(None, text.split(",")):
        first, _, last = part.partition("-")
        found.update(range(int(first), int(last or first) + 1))
    return found


def format_indexes(indexes: Iterable[int]) -> str:
    """Format numbers as ``"1,3-5"``; two in a row are listed one by one, as upstream does."""
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

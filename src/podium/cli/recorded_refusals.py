"""Lets what the running scheduler did with a pod count more than what is worked out here.

A pod that the scheduler keeps rejecting may seem to fit when its decision is worked out again: the
scheduler can have plugins that are not loaded here, and it knows what its plugins remember.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Final

from msgspec.structs import replace

from podium.api.objects import Pod
from podium.cli import record_text
from podium.explain import Explanation
from podium.explain.values import PodVerdict, State
from podium.framework.profile import Profile
from podium.live import answer_values as values

_CAN_BE_WRONG: Final = ("placeable", "waiting")
# The queue keeps such pods until an event wakes them: nothing that matters to their plugins has
# changed since the last attempt.
_AT_REST: Final = ("unschedulable", "gated", "incomplete")
_GATED: Final = ("gated", "incomplete")
_ERROR: Final = "SchedulerError"  # the reason in the condition of a pod whose attempt failed


def heeding_records(
    explanation: Explanation,
    pod: Pod,
    records: values.PodRecords | None,
    plugins: Collection[str],
) -> Explanation:
    """Return the explanation, or what the records say if they contradict it and are right.

    ``plugins`` are those that took part in working the decision out again.
    """
    if records is None or explanation.state not in _CAN_BE_WRONG:
        return explanation
    missing = sorted(_blamed(records) - set(plugins))
    if not (_is_current(records) or missing or _has_failed(pod, records)):
        return explanation
    return replace(
        explanation,
        state=_state(pod, records),
        sentence=_sentence(pod, records),
        node="",
        message=_message(pod, records),
        scores=None,
        waits_for=(),
        notes=(*explanation.notes, *_notes(explanation, missing)),
    )


def plugin_names(profiles: Mapping[str, Profile], name: str) -> set[str]:
    """Return the plugins of the profile with this name."""
    found = profiles.get(name)
    return set() if found is None else {one.name for some in found.plugins.values() for one in some}


def missing_plugins(
    queue: values.QueueRecords, profiles: Mapping[str, Profile], asked: Iterable[PodVerdict]
) -> list[str]:
    """Return notes about pods that would fit on a node, and that other plugins reject.

    ``profiles`` are those with which it was worked out which of the asked pods fit.
    """
    fitting = {each.pod for each in asked if each.fits}
    rejecting: dict[str, int] = {}
    for pod in queue.pods:
        if pod.pod in fitting:
            for name in {*pod.rejected_by, pod.gated_by} - plugin_names(profiles, pod.profile):
                rejecting[name] = rejecting.get(name, 0) + bool(name)
    return [
        f"the scheduler's plugin {name} rejects {count} of the pods that would fit, and is not "
        "loaded here: give its file with --plugin"
        for name, count in sorted(rejecting.items())
        if name
    ]


def _is_current(records: values.PodRecords) -> bool:
    """Whether the pod was refused, and nothing has woken it since."""
    return records.state in _AT_REST and bool(_blamed(records) or records.state in _GATED)


def _blamed(records: values.PodRecords) -> set[str]:
    """Return the plugins that refused the pod in its last attempt, or hold it back."""
    queued = records.queued
    named = {queued.gated_by, *queued.rejected_by} if queued is not None else set()
    if records.attempts and not records.attempts[-1].node:
        named |= {each.plugin for each in records.attempts[-1].refusals}
    return named - {""}


def _has_failed(pod: Pod, records: values.PodRecords) -> bool:
    """Whether the last attempt ended in an error instead of an answer."""
    tried = records.queued is not None and records.queued.attempts > 0
    return tried and any(
        each.type == "PodScheduled" and each.reason == _ERROR for each in pod.status.conditions
    )


def _state(pod: Pod, records: values.PodRecords) -> State:
    if records.state in _GATED:
        return "gated"
    return "failed" if _has_failed(pod, records) else "pending"


def _message(pod: Pod, records: values.PodRecords) -> str:
    """Return the scheduler's own message: that of the last attempt, or of the pod's condition."""
    last = records.attempts[-1] if records.attempts else None
    if last is not None and last.message and not last.node:
        return last.message
    said = (each.message for each in pod.status.conditions if each.type == "PodScheduled")
    return next(said, "")


def _sentence(pod: Pod, records: values.PodRecords) -> str:
    message = _message(pod, records)
    text = f": {message.removesuffix('.')}" if message else ""
    if records.state in _GATED:
        held = record_text.pod_sentence(records).removesuffix(".")
        return f"{held}{text.replace(':', '; its last attempt ended with:', 1)}."
    if _has_failed(pod, records):
        return f"{pod.key} is pending, because its last attempt failed{text}."
    blamed = sorted(_blamed(records))
    by = f" {', '.join(blamed)} rejected it" if blamed else " its last attempt was rejected"
    return f"{pod.key} is pending:{by}{text.replace(': ', ' (', 1)}{')' if text else ''}."


def _notes(explanation: Explanation, missing: list[str]) -> Iterator[str]:
    if missing:
        yield (
            f"what would help cannot be worked out here without {', '.join(missing)}, "
            "which the scheduler has: give the file with --plugin"
        )
    yield f"the scheduler's records count more than this, worked out here: {explanation.sentence}"

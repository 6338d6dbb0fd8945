"""The pending board: which pods wait, grouped by the reasons that keep them off nodes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

from podium.api.objects import Pod
from podium.api.times import micro_time_text
from podium.dashboard.values import PendingBoard, PendingGroup, PendingPod, ReasonCount
from podium.explain.reasons import NO_NODES, REFUSED, Meaning, meaning_of
from podium.framework.queued_pod import QueuedPod
from podium.queue.group_inspection import INCOMPLETE
from podium.queue.inspection import Place

MOST_SHOWN: Final = 50  # pods of each group
# What plugins say at PreEnqueue; the queue does not keep their messages.
_WHEN_GATED: Final = {
    "Coscheduling": "its group failed recently",
    "DefaultPreemption": "waiting for the preemption",
    "GangScheduling": "to appear in scheduling queue",
    "SchedulingGates": "waiting for scheduling gates",
}
_OF_GROUPS: Final = frozenset({"GangScheduling"})
WITHOUT_GROUP: Final = meaning_of("GangScheduling", 'pod group "')
UNTRIED: Final = Meaning("", "", "NotTriedYet", "has not been tried yet")
_REASON: Final = re.compile(r"(?:^|, )(\d+) (.+?)(?=, \d+ |\. |\.$|$)")
# What PostFilter has added: about what preemption tried, not about why the pod was rejected.
_ADDED: Final = re.compile(r" preemption: |\. \d+/\d+ nodes are available: ")
_POD: Final = re.compile(r"^Pod \S+/\S+ ")  # pods with the same reason belong together


@dataclass(frozen=True, slots=True)
class Waiting:
    """A pod in the queue, with what decides about its group."""

    queued: QueuedPod
    place: Place


@dataclass(slots=True)
class _Group:
    meaning: Meaning
    also: tuple[str, ...]
    pods: list[Waiting] = field(default_factory=list)
    messages: Counter[str] = field(default_factory=Counter)


def waiting_pods(
    pods: Iterable[QueuedPod], place_of: Callable[[QueuedPod], Place]
) -> list[Waiting]:
    """Return pods of the queue with where they are; call this on the scheduler's thread."""
    return [Waiting(queued, place_of(queued)) for queued in pods]


def board(waiting: Sequence[Waiting]) -> PendingBoard:
    """Return the pods by reason, the most frequent one first."""
    groups = sorted(_groups(waiting), key=lambda each: (-len(each.pods), each.meaning.code))
    return PendingBoard(total=len(waiting), groups=tuple(map(_shown, groups)))


def reasons(refused: Iterable[Waiting]) -> tuple[ReasonCount, ...]:
    """Return how many pods wait for each reason, the most frequent one first."""
    counts = Counter(_meanings(each)[0] for each in refused)
    return tuple(
        ReasonCount(code=each.code, plugin=each.plugin, text=each.text, pods=pods)
        for each, pods in counts.most_common()
    )


def _groups(waiting: Iterable[Waiting]) -> Iterable[_Group]:
    """Put pods together that meet the same reasons; the first one refuses most nodes."""
    groups: dict[tuple[Meaning, frozenset[str]], _Group] = {}
    for each in waiting:
        main, *others = _meanings(each)
        also = frozenset(other.code for other in others)
        group = groups.setdefault((main, also), _Group(main, tuple(sorted(also - {main.code}))))
        group.pods.append(each)
        message = message_of(each.queued.pod)
        if message:
            group.messages[message] += 1
    return groups.values()


def _shown(group: _Group) -> PendingGroup:
    first = sorted(group.pods, key=lambda each: (-each.queued.info.priority, _since(each)))
    messages = group.messages.most_common(1)
    return PendingGroup(
        code=group.meaning.code,
        plugin=group.meaning.plugin,
        text=group.meaning.text,
        about="pod" if group.meaning is UNTRIED or group.meaning.is_about_pod else "node",
        count=len(group.pods),
        oldest=micro_time_text(min(map(_since, group.pods))),
        message=messages[0][0] if messages else "",
        also=group.also,
        pods=tuple(map(_pod, first[:MOST_SHOWN])),
    )


def _since(waiting: Waiting) -> float:
    queued = waiting.queued
    return queued.timestamp if queued.first_queued is None else queued.first_queued


def _pod(waiting: Waiting) -> PendingPod:
    queued = waiting.queued
    return PendingPod(
        pod=queued.key,
        queue=waiting.place.queue,
        since=micro_time_text(_since(waiting)),
        attempts=queued.attempts,
        priority=queued.info.priority,
    )


# --- what a pod waits for -------------------------------------------------------------------------


def message_of(pod: Pod) -> str:
    """Return what the scheduler last wrote about the pod, into its condition."""
    found = (each.message for each in pod.status.conditions if each.type == "PodScheduled")
    return next(found, "")


def _meanings(waiting: Waiting) -> tuple[Meaning, ...]:
    """Return why a pod waits: the reason of most nodes first."""
    queued, place = waiting.queued, waiting.place
    if place.queue == INCOMPLETE:
        return (WITHOUT_GROUP,)
    if place.gated_by:
        return (_gated(place.gated_by),)
    message = message_of(queued.pod)
    if not queued.rejectors and not message:
        return (UNTRIED,)
    # A member of a group that failed before this one was tried has the message of its group.
    is_untried_member = queued.pod.group_key and not queued.rejectors
    return meanings_of(message, _OF_GROUPS if is_untried_member else queued.rejectors)


@lru_cache(64)
def _gated(plugin: str) -> Meaning:
    """Return what it means that a plugin refuses a pod at PreEnqueue."""
    if plugin in _WHEN_GATED:
        return meaning_of(plugin, _WHEN_GATED[plugin])
    return Meaning(plugin, "", REFUSED, f"is held back by {plugin} and not tried")


@lru_cache(4096)
def meanings_of(message: str, plugins: frozenset[str]) -> tuple[Meaning, ...]:
    """Return the reasons in a message such as ``0/5 nodes are available: 3 Insufficient cpu.``

    ``plugins`` are those that rejected the pod.
    """
    if "no nodes available" in message:
        return (meaning_of("", message),)
    start = _ADDED.split(message.partition("nodes are available: ")[2])[0]
    counted: Counter[Meaning] = Counter()
    for number, reason in _REASON.findall(start):
        counted[_meaning(reason, plugins)] += int(number)
    if counted:
        return tuple(meaning for meaning, _ in counted.most_common())
    return (_meaning(_POD.sub("", start or message).rstrip("."), plugins),)


def _meaning(reason: str, plugins: frozenset[str]) -> Meaning:
    found = [(meaning_of(plugin, reason), plugin) for plugin in sorted(plugins)]
    known = [each for each in found if each[0].code not in (REFUSED, NO_NODES)]
    # A meaning without a pattern covers every message, also those of other plugins.
    for meaning, plugin in sorted(known, key=lambda each: not each[0].pattern):
        return meaning._replace(plugin=plugin, pattern="")
    plugin = next(iter(sorted(plugins)), "")
    return Meaning(plugin, "", REFUSED, f"is refused by {plugin or 'a plugin'}: {reason}"[:300])

"""The records of a running scheduler as lines of text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from podium import durations
from podium.api.times import parse_time
from podium.explain.text import section
from podium.live import answer_values as values

MOST_BRIEF: Final = 3
_NANOSECONDS: Final = 1_000_000_000


def pod_sentence(records: values.PodRecords) -> str:
    """Return what the records say about a pod, in one sentence."""
    last = records.attempts[-1] if records.attempts else None
    match records.state:
        case "placed" | "ended" if last is not None and last.node == records.node:
            return f"{records.pod} is on {records.node}: {_why_there(last)}."
        case "placed" | "ended":
            return f"{records.pod} is {'on ' if records.node else ''}{records.node or 'ended'}."
        case "waiting":
            return f"{records.pod} has {records.node} and waits for {_waits_for(records)}."
        case "binding":
            return f"{records.pod} is being bound to {records.node}."
        case "in flight":
            return f"{records.pod} is being tried just now."
        case "not ours":
            return f"{records.pod} names another scheduler."
        case "incomplete":
            return f"{records.pod} belongs to a PodGroup that does not exist, and is not tried."
        case "gated":
            gate = records.queued.gated_by if records.queued is not None else ""
            return f"{records.pod} is held back by {gate} and is not tried."
    if last is not None and last.message:
        return f"{records.pod} is {_called(records.state)}: {last.message}"
    return f"{records.pod} is {_called(records.state)}."


def _called(state: str) -> str:
    waiting = {"active": "next to be tried", "backoff": "pending", "unschedulable": "pending"}
    return waiting.get(state, state)


def _waits_for(records: values.PodRecords) -> str:
    plugins = records.waiting.plugins if records.waiting is not None else ()
    return f"permission of {', '.join(plugins)}" if plugins else "permission"


def _why_there(attempt: values.Attempt) -> str:
    if attempt.feasible == 1:
        return f"it was the only one of {attempt.nodes} nodes that fits"
    fits = f"{attempt.feasible} of {attempt.nodes} nodes fit"
    if attempt.tied > 1:
        return f"{fits}, {attempt.tied} share the highest total, and a hash decided among them"
    return f"{fits}, and it has the highest total"


def queue_lines(records: values.PodRecords, now: float, *, with_events: bool = False) -> list[str]:
    """Return where the pod waits, since when, and if asked for, the events that would move it."""
    lines: list[str] = []
    if records.queued is not None:
        lines += section("Queue", _queued(records.queued, now))
        if with_events:
            lines += section("Tried again when", _waking(records.queued))
    if records.nominated_node:
        lines += section("Nominated", [f"preemption makes room on {records.nominated_node}"])
    return lines


def _queued(queued: values.QueuedPodState, now: float) -> Iterator[str]:
    yield f"{queued.queue} since {_ago(queued.since, now)}, {_tried(queued.attempts)}"
    if queued.gated_by:
        yield f"held back by {queued.gated_by}"
    elif queued.rejected_by:
        yield f"rejected by {', '.join(queued.rejected_by)}"
    if queued.backoff_until and _seconds(queued.backoff_until) > now:
        yield f"backs off for another {_length(_seconds(queued.backoff_until) - now)}"
    if queued.retried_at and not queued.gated_by:
        yield f"without any event it is tried again in {_length(_seconds(queued.retried_at) - now)}"


def _tried(attempts: int) -> str:
    match attempts:
        case 0:
            return "not tried yet"
        case 1:
            return "tried once"
    return f"tried {attempts} times"


def _waking(queued: values.QueuedPodState) -> Iterator[str]:
    for each in queued.woken_by:
        events = ", ".join(each.events)
        yield f"{each.plugin}: {events}" if events else f"{each.plugin} names no event"


def brief_lines(attempts: Sequence[values.Attempt]) -> list[str]:
    """Return a line for each of the last attempts, the latest first."""
    latest = list(reversed(attempts[-MOST_BRIEF:]))
    older = len(attempts) - len(latest)
    more = [f"and {older} before; --attempt N shows one in full"] if older else []
    return section("Attempts", [*map(_brief, latest), *more])


def _brief(attempt: values.Attempt) -> str:
    end = f"{attempt.node} was chosen" if attempt.node else attempt.message
    return f"{attempt.attempt} at {attempt.at[11:19]}: {end}"


def attempt_lines(attempts: Iterable[values.Attempt]) -> list[str]:
    """Return each attempt in full, the latest first."""
    lines: list[str] = []
    for attempt in reversed(list(attempts)):
        lines += section(f"Attempt {attempt.attempt} at {attempt.at}", _attempt(attempt))
    return lines


def _attempt(attempt: values.Attempt) -> Iterator[str]:
    fits = f"{attempt.feasible} of {attempt.nodes} nodes fit"
    among = f" by a hash among {attempt.tied} with the highest total" if attempt.tied > 1 else ""
    chosen = f"{fits}; {attempt.node} was chosen{among}"
    yield chosen if attempt.node else f"{fits}: {attempt.message}"
    for refusal in sorted(attempt.refusals, key=lambda each: -each.nodes):
        yield f"{refusal.plugin} refused {refusal.nodes}: {refusal.reason}"
    for score in attempt.best:
        yield f"{score.node}: {score.total} = {_sum(score)}"
    if attempt.victims:
        yield f"preemption evicts on {attempt.nominated_node}: {', '.join(attempt.victims)}"
    if attempt.on_node is not None:
        yield on_node_line(attempt.on_node, attempt.node)
    if not attempt.detailed:
        yield "verdicts and scores of single nodes were not recorded in this attempt"


def _sum(score: values.NodeScore) -> str:
    parts = [_part(each) for each in score.scores if each.normalized and each.weight]
    return " + ".join(parts) or "0"


def _part(score: values.PluginScore) -> str:
    text = f"{score.plugin} {score.normalized}"
    if score.weight != 1:
        text += f" x {score.weight}"
    return text if score.raw == score.normalized else f"{text} (raw {score.raw})"


def on_node_line(found: values.OnNode, chosen: str) -> str:
    """Return what an attempt said about one node."""
    match found.verdict:
        case "chosen":
            return f"{found.node} was chosen"
        case "refused":
            return f"{found.node} was refused by {found.plugin}: {', '.join(found.reasons)}"
        case "feasible" if found.score is not None:
            behind = f", {found.behind} less than {chosen}" if found.behind else f", as {chosen}"
            total = f"{found.score.total} = {_sum(found.score)}"
            return f"{found.node} fits; rank {found.rank}: {total}{behind}"
        case "feasible":
            return f"{found.node} fits"
        case "not considered":
            return f"{found.node} fits, but the nominated node was taken without looking further"
        case "not examined":
            return f"{found.node} was not examined"
        case "no such node":
            return f"{found.node} was not there"
    return f"what was said about {found.node} was not recorded in this attempt"


def node_record_lines(records: values.NodeRecords) -> list[str]:
    """Return what the remembered attempts say about a node."""
    about = f"{records.detailed} of {records.attempts} remembered attempts know about this node"
    refused = (
        f"{each.plugin} refused it in {each.attempts}: {each.reason}" for each in records.refusals
    )
    return [
        *section("Records", [about, *refused] if records.attempts else []),
        *section("Placed here lately", records.placed),
    ]


def queue_overview(records: values.QueueRecords, now: float) -> list[str]:
    """Return the whole queue: how many pods wait where, and the first ones."""
    counts = (
        f"{records.active} active, {records.backoff} backing off, "
        f"{records.unschedulable} unschedulable, {records.gated} gated"
    )
    if records.incomplete:
        counts += f", {records.incomplete} without their PodGroup"
    lines = [f"{counts}; {records.in_flight} being tried or bound."]
    for name, title in _QUEUES.items():
        pods = [each for each in records.pods if each.queue == name]
        total: int = getattr(records, name)
        more = [f"and {total - len(pods)} more"] if total > len(pods) else []
        lines += section(title, [*(_overview(each, now) for each in pods), *more])
    waiting = (f"{each.pod} on {each.node}: {', '.join(each.plugins)}" for each in records.waiting)
    lines += section("Waiting for permission", waiting)
    return lines + section("Groups", (_group(each, now) for each in records.groups))


def _group(group: values.GroupState, now: float) -> str:
    """Return a group in a line: how much of it is placed, and what it waits for."""
    parts = [f"{group.placed} of {group.size} pods placed"]
    parts.append(f"needs {group.wanted} at once" if group.wanted else "there is no such PodGroup")
    if group.wanted > group.size:
        parts.append(f"waits for {group.wanted - group.size} more")
    queued = group.queued
    if queued is not None and group.wanted:
        parts += [queued.queue, _tried(queued.attempts)]
        if queued.backoff_until and _seconds(queued.backoff_until) > now:
            parts.append(f"backs off for another {_length(_seconds(queued.backoff_until) - now)}")
    if group.message:
        parts.append(group.message)
    return f"{group.group}: {', '.join(parts)}"


_QUEUES: Final = {
    "active": "Active, next to be tried",
    "backoff": "Backing off",
    "unschedulable": "Unschedulable, waiting for an event",
    "gated": "Gated",
}


def _overview(queued: values.QueuedPodState, now: float) -> str:
    parts = [f"since {_ago(queued.since, now)}", _tried(queued.attempts)]
    if queued.gated_by:
        parts.append(f"held back by {queued.gated_by}")
    elif queued.rejected_by:
        parts.append(f"rejected by {', '.join(queued.rejected_by)}")
    if queued.priority:
        parts.append(f"priority {queued.priority}")
    return f"{queued.pod}: {', '.join(parts)}"


def _seconds(time: str) -> float:
    return parse_time(time) / _NANOSECONDS


def _ago(time: str, now: float) -> str:
    return f"{time[11:19]} ({_length(now - _seconds(time))} ago)"


def _length(seconds: float) -> str:
    return durations.format(float(max(0, round(seconds))))

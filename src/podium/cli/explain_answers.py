"""The answers of `podium explain`: out of the scheduler's records, and worked out again."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Protocol

import msgspec

from podium.api.objects import Pod
from podium.cli import record_text
from podium.cli.explain_sources import Target
from podium.cli.manifests import read_pod
from podium.errors import Forbidden, NotRecorded, PodiumError, Unreachable
from podium.explain.text import section
from podium.live import answer_values as values
from podium.serve.sources import Source

if TYPE_CHECKING:
    from podium.explain import Explanation, NodeExplanation

_SETTLED: Final = ("placed", "ended", "binding")  # states in which the records suffice
_MOST_QUEUED: Final = 1000  # pods of each part of the queue that are compared with the pending ones
_PENDING: Final = ("pending", "gated", "waiting", "nominated", "failed")


class Answer(Protocol):
    """An answer and where it comes from."""

    @property
    def source(self) -> Source: ...
    @property
    def is_pending(self) -> bool: ...
    def plain(self) -> Any: ...
    def lines(self, now: float) -> list[str]: ...


# --- pods ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class PodAnswer:
    """An answer about a pod: worked out again, from records, or both."""

    source: Source
    explanation: Explanation | None = None
    records: values.PodRecords | None = None

    @property
    def is_pending(self) -> bool:
        if self.explanation is not None:
            return self.explanation.state in _PENDING
        return self.records is not None and self.records.state not in _SETTLED

    def plain(self) -> Any:
        return {
            "source": self.source,
            "explanation": self.explanation,
            "records": self.records,
        }

    def lines(self, now: float) -> list[str]:
        records = self.records
        if self.explanation is not None:
            first, *rest = self.explanation.lines()
            queue = [] if records is None else record_text.queue_lines(records, now)
            attempts = [] if records is None else record_text.brief_lines(records.attempts)
            return [first, *queue, *rest, *attempts]
        assert records is not None
        return [
            record_text.pod_sentence(records),
            *record_text.queue_lines(records, now, with_events=True),
            *record_text.attempt_lines(records.attempts[-1:]),
            *section("Notes", records.notes),
        ]


def explain_pod(target: Target, args: argparse.Namespace) -> PodAnswer:
    if args.filename is not None:
        return _explain_manifest(target, args)
    key = args.name if "/" in args.name else f"{target.namespace}/{args.name}"
    records = _records(target, key, args)
    if args.attempt is not None:
        if records is None:
            raise PodiumError("no podium scheduler runs here, so no attempt is recorded")
        return PodAnswer(target.source(None), None, records)
    if records is not None and (_says_all(records) or not target.can_read):
        return PodAnswer(target.source(None), None, records)
    return _recomputed(target, key, args, records)


def _records(target: Target, key: str, args: argparse.Namespace) -> values.PodRecords | None:
    """Return what the scheduler remembers; None without one, or if the pod is not known there."""
    if target.client is None:
        return None
    try:
        node = args.node[0] if args.node else ""
        return target.client.pod(key, node=node, attempt=args.attempt)
    except NotRecorded:
        if args.attempt is not None or not target.can_read:
            raise
        return None


def _says_all(records: values.PodRecords) -> bool:
    """Whether the record is enough: the pod has a node, and the record has scores."""
    last = records.attempts[-1] if records.attempts else None
    return records.state in _SETTLED and last is not None and last.detailed


def _recomputed(
    target: Target, key: str, args: argparse.Namespace, records: values.PodRecords | None
) -> PodAnswer:
    try:
        taken = target.to_simulate()
    except (Forbidden, Unreachable) as error:
        if records is None:
            raise
        target.notes.append(f"what would help cannot be worked out: {error}")
        return PodAnswer(target.source(None), None, records)
    from podium.cli.recorded_refusals import heeding_records, plugin_names  # slow to load
    from podium.serve import operations

    simulation = target.simulate(taken)
    explanation = operations.explain_existing(simulation, key, args.node)
    plugins = plugin_names(simulation.core.profiles, explanation.profile)
    explanation = heeding_records(explanation, simulation.pods[key], records, plugins)
    source = target.source(simulation.taken, uses_records=records is not None)
    return PodAnswer(source, explanation, records)


def _explain_manifest(target: Target, args: argparse.Namespace) -> PodAnswer:
    from podium.serve import operations

    manifest = read_pod(args.filename)
    metadata = dict(manifest.get("metadata") or {})
    if args.namespace or "namespace" not in metadata:
        metadata["namespace"] = target.namespace
    simulation = target.simulate(target.to_simulate())
    found = operations.explain_manifest(simulation, {**manifest, "metadata": metadata}, args.node)
    return PodAnswer(target.source(simulation.taken, uses_records=False), found)


# --- nodes ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class NodeAnswer:
    """An answer about a node."""

    source: Source
    explanation: NodeExplanation | None
    records: values.NodeRecords | None

    is_pending = False

    def plain(self) -> Any:
        return {
            "source": self.source,
            "explanation": self.explanation,
            "records": self.records,
        }

    def lines(self, now: float) -> list[str]:
        found = self.explanation
        lines = [f"node {self.records.node if self.records else ''}"]
        lines = found.lines() if found is not None else lines
        return lines + (record_text.node_record_lines(self.records) if self.records else [])


def explain_node(target: Target, args: argparse.Namespace) -> NodeAnswer:
    from podium.cli.recorded_refusals import missing_plugins
    from podium.serve import operations

    records = target.client.node(args.name) if target.client is not None else None
    if not target.can_read:
        return NodeAnswer(target.source(None), None, records)
    simulation = target.simulate(target.to_simulate())
    found = operations.explain_one_node(simulation, args.name)
    if target.client is not None:
        queue = target.client.queue(_MOST_QUEUED)
        target.notes += missing_plugins(queue, simulation.core.profiles, found.pending)
    return NodeAnswer(target.source(simulation.taken), found, records)


# --- the queue -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class QueueAnswer:
    """The queue of the running scheduler."""

    source: Source
    records: values.QueueRecords

    is_pending = False

    def plain(self) -> Any:
        return {"source": self.source, "records": self.records}

    def lines(self, now: float) -> list[str]:
        return record_text.queue_overview(self.records, now)


class PendingPod(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A pod without a node, as the API shows it: ``message`` is what its scheduler last said."""

    pod: str
    priority: int
    since: str
    gates: tuple[str, ...] = ()
    message: str = ""


@dataclass(frozen=True, slots=True)
class PendingPods:
    """The pods without a node of a cluster whose queue cannot be seen."""

    source: Source
    pods: tuple[PendingPod, ...]
    total: int

    is_pending = False

    def plain(self) -> Any:
        return {"source": self.source, "total": self.total, "pods": self.pods}

    def lines(self, now: float) -> list[str]:
        head = f"{self.total} pods have no node." if self.total != 1 else "1 pod has no node."
        more = [f"and {self.total - len(self.pods)} more"] if self.total > len(self.pods) else []
        return [head, *section("Highest priority first", [*map(_line, self.pods), *more])]


def _line(pod: PendingPod) -> str:
    gates = f"gated by {', '.join(pod.gates)}" if pod.gates else ""
    why = gates or pod.message or "not tried yet"
    priority = f", priority {pod.priority}" if pod.priority else ""
    since = f"since {pod.since}" if pod.since else "since a time that is not known"
    return f"{pod.pod}: {since}{priority}: {why}"


def explain_queue(target: Target, args: argparse.Namespace) -> QueueAnswer | PendingPods:
    if target.client is not None:
        return QueueAnswer(target.source(None), target.client.queue(args.limit))
    simulation = target.simulate(target.to_simulate())
    pending = sorted(simulation.pending.values(), key=_order)
    source = target.source(simulation.taken)
    source = msgspec.structs.replace(
        source,
        notes=("the queue of that scheduler cannot be seen from outside", *source.notes),
    )
    return PendingPods(source, tuple(map(_pending_pod, pending[: args.limit])), len(pending))


def _order(pod: Pod) -> tuple[int, str, str]:
    return -pod.priority, pod.metadata.creation_timestamp, pod.key


def _pending_pod(pod: Pod) -> PendingPod:
    messages = [each.message for each in pod.status.conditions if each.type == "PodScheduled"]
    return PendingPod(
        pod=pod.key,
        priority=pod.priority,
        since=pod.metadata.creation_timestamp,
        gates=tuple(gate.name for gate in pod.spec.scheduling_gates),
        message=messages[0] if messages else "",
    )

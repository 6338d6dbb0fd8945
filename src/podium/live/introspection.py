"""What the running scheduler knows about a pod, a node and its queue.

The ``look_at`` methods read what changes. They run on the scheduler's thread and are short. Each
returns a function that makes the answer out of records, which do not change, so it runs anywhere.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from podium.api.objects import Pod
from podium.api.times import micro_time_text
from podium.config.explicit import explicit
from podium.config.model import Configuration
from podium.cycle.detail import NodeVerdict, ScoredNode
from podium.cycle.record import Record
from podium.cycle.services import Services
from podium.framework.profile import Profile
from podium.framework.waiting_pods import WaitingPod
from podium.live import answer_values as values
from podium.live import group_records
from podium.queue.inspection import PodInQueue
from podium.queue.scheduling_queue import SchedulingQueue

MOST_PLACED: Final = 20


class Known(Protocol):
    """The objects that informers know; for any thread."""

    def pod(self, key: str) -> Pod | None: ...
    def pods(self) -> Iterable[Pod]: ...
    def custom(self, name: str) -> group_records.Lister | None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Introspection:
    """Reads the parts of a running scheduler; ``server`` is the API server it schedules for."""

    services: Services
    queue: SchedulingQueue
    known: Known
    profiles: Mapping[str, Profile]
    server: str
    release: str
    configured: Callable[[], Configuration]

    def identity(self) -> values.Identity:
        oldest = next(iter(self.services.records), None)
        return values.Identity(
            server=self.server,
            profiles=tuple(self.profiles),
            release=self.release,
            records=len(self.services.records),
            oldest="" if oldest is None else _time(oldest.at),
        )

    def configuration(self) -> values.RunningConfiguration:
        """Return the profiles that decide now, spelled out."""
        present = self.configured()
        extenders = tuple(each.url_prefix for each in present.extenders)
        return values.RunningConfiguration(content=explicit(present), extenders=extenders)

    # --- pods ------------------------------------------------------------------------------------

    def look_at_pod(self, key: str, on_node: str = "") -> Callable[[], values.PodRecords] | None:
        """Return how to answer about a pod; ``None`` if the pod is unknown.

        With ``on_node`` every attempt also says what it knew about that node.
        """
        pod, records = self.known.pod(key), self.services.records.of_pod(key)
        if pod is None and not records:
            return None
        uid = pod.uid if pod is not None else records[-1].uid
        queued, waiting = self.queue.inspection.of_pod(key), self.services.waiting_pods.get(uid)
        held = None if waiting is None else self._waiting(waiting)
        state, node = self._state(pod, queued, held)
        nominated = self.services.nominator.node_of(uid) or ""
        weights = {name: profile.weights for name, profile in self.profiles.items()}

        def answer() -> values.PodRecords:
            own = [record for record in records if record.uid == uid]
            return values.PodRecords(
                pod=key,
                uid=uid,
                state=state,
                node=node,
                nominated_node=nominated,
                queued=None if queued is None else _queued(queued),
                waiting=held,
                attempts=tuple(_attempt(each, weights, on_node) for each in own),
                notes=tuple(_notes(pod, queued, own, len(records) - len(own))),
            )

        return answer

    def _state(
        self, pod: Pod | None, queued: PodInQueue | None, held: values.WaitingPodState | None
    ) -> tuple[str, str]:
        """Return the state of a pod, and its node if it has one."""
        if queued is not None:
            return queued.queue, ""
        if pod is None:
            return "gone", ""
        if held is not None:
            return "waiting", held.node
        if pod.node_name:
            return ("ended" if pod.has_ended else "placed"), pod.node_name
        if self.services.cluster.is_assumed(pod.uid):
            return "binding", self._node_of(pod.uid)
        if pod.scheduler_name not in self.profiles:
            return "not ours", ""
        if pod.is_terminating or pod.has_ended:
            return "ended", ""
        return "in flight", ""

    def _node_of(self, uid: str) -> str:
        cluster = self.services.cluster
        info = cluster.pods.get(uid)
        return "" if info is None else cluster.table.names[info.row]

    def _waiting(self, waiting: WaitingPod) -> values.WaitingPodState:
        plugins, pod = tuple(sorted(waiting.pending_plugins)), waiting.pod
        return values.WaitingPodState(pod=pod.key, node=self._node_of(pod.uid), plugins=plugins)

    def names_in(self, namespace: str, most: int) -> list[str]:
        """Return names of pods to compare a mistyped one with; none if there are too many.

        It may be called from any thread.
        """
        names = [pod.name for pod in self.known.pods() if pod.namespace == namespace]
        return names if len(names) <= most else []

    # --- the queue and nodes ---------------------------------------------------------------------

    def look_at_queue(self, limit: int) -> Callable[[], values.QueueRecords]:
        """Return how to answer about the queue, with at most this many pods of each sub-queue."""
        counts, first = self.queue.pending(), self.queue.inspection.first(limit)
        held = list(self.services.waiting_pods)
        waiting = tuple(map(self._waiting, held))
        nodes = [(each.pod, state.node) for each, state in zip(held, waiting, strict=True)]
        lister = self.known.custom(group_records.RESOURCE)
        groups = group_records.look(self.queue, nodes, lister, limit)
        in_flight = self.queue.in_flight_events()["PodPopped"] + counts.returning
        return lambda: values.QueueRecords(
            active=counts.active,
            backoff=counts.backoff,
            unschedulable=counts.unschedulable,
            gated=counts.gated,
            incomplete=counts.incomplete,
            in_flight=in_flight,
            waiting=waiting[:limit],
            pods=tuple(map(_queued, first)),
            groups=tuple(groups.answer(self.known.pods(), _queued)),
            limit=limit,
        )

    def look_at_node(self, name: str) -> Callable[[], values.NodeRecords] | None:
        """Return how to answer about a node; ``None`` if there is no such node."""
        if self.services.cluster.node(name) is None:
            return None
        records = list(self.services.records)
        nominated = tuple(info.pod.key for info in self.services.nominator.on(name))
        return lambda: _node_records(name, records, nominated)

    def node_names(self) -> list[str]:
        table = self.services.cluster.table
        return [table.names[row] for row in table.live_rows().tolist()]


# --- answers out of records ----------------------------------------------------------------------


def _notes(
    pod: Pod | None, queued: PodInQueue | None, own: Sequence[Record], others: int
) -> Iterable[str]:
    tried = queued.attempts if queued is not None else max((r.attempt for r in own), default=0)
    if len(own) < tried:
        yield f"{len(own)} of {tried} attempts are still remembered"
    if others:
        left_out = "1 attempt" if others == 1 else f"{others} attempts"
        yield f"left out: {left_out} of an earlier pod with this name"
    if pod is None:
        yield "the pod is gone; its attempts are still remembered"


def _attempt(
    record: Record, weights: Mapping[str, Mapping[str, int]], on_node: str
) -> values.Attempt:
    own = weights.get(record.profile, {})
    return values.Attempt(
        attempt=record.attempt,
        at=_time(record.at),
        profile=record.profile,
        nodes=record.nodes,
        feasible=record.feasible,
        node=record.node,
        message=record.message,
        tied=record.tied,
        refusals=tuple(
            values.Refusal(plugin=plugin, reason=reason, nodes=nodes)
            for (plugin, reason), nodes in record.rejected.items()
        ),
        best=tuple(_score(scored, own) for scored in record.best),
        nominated_node=record.nominated,
        victims=record.victims,
        seconds=round(record.seconds.get("cycle", 0.0), 6),
        detailed=record.detail is not None,
        on_node=_on_node(record, on_node, own) if on_node else None,
    )


def _on_node(record: Record, name: str, weights: Mapping[str, int]) -> values.OnNode:
    detail = record.detail  # read once: the scheduler's thread may drop it
    if detail is None:
        return values.OnNode(node=name, verdict="not recorded")
    found = detail.of_node(name)
    if found is None:
        return values.OnNode(node=name, verdict="no such node")
    behind = 0
    if found.scored is not None and record.node:
        chosen = detail.of_node(record.node)
        if chosen is not None and chosen.scored is not None:
            behind = chosen.scored.total - found.scored.total
    return values.OnNode(
        node=name,
        verdict=_verdict(record, name, found),
        plugin=found.status.plugin,
        reasons=tuple(found.status.reasons),
        score=None if found.scored is None else _score(found.scored, weights),
        rank=found.rank,
        behind=behind,
    )


def _verdict(record: Record, name: str, found: NodeVerdict) -> str:
    if name == record.node:
        return "chosen"
    if found.is_feasible:
        return "feasible"
    if found.status.ok:
        return "not considered"
    return "refused" if found.status.reasons else "not examined"


def _score(scored: ScoredNode, weights: Mapping[str, int]) -> values.NodeScore:
    return values.NodeScore(
        node=scored.name,
        total=scored.total,
        scores=tuple(
            values.PluginScore(
                plugin=plugin,
                raw=scored.raw.get(plugin, score),
                normalized=score,
                weight=weights.get(plugin, 1),
            )
            for plugin, score in scored.scores.items()
        ),
    )


def _node_records(
    name: str, records: Sequence[Record], nominated: tuple[str, ...]
) -> values.NodeRecords:
    refused: Counter[tuple[str, str]] = Counter()
    detailed = 0
    for record in records:
        detail = record.detail
        found = None if detail is None else detail.of_node(name)
        if found is None:
            continue
        detailed += 1
        refused.update((found.status.plugin, reason) for reason in found.status.reasons)
    placed = [record.pod for record in reversed(records) if record.node == name]
    return values.NodeRecords(
        node=name,
        placed=tuple(placed[:MOST_PLACED]),
        nominated=nominated,
        refusals=tuple(
            values.NodeRefusal(plugin=plugin, reason=reason, attempts=attempts)
            for (plugin, reason), attempts in refused.most_common()
        ),
        attempts=len(records),
        detailed=detailed,
    )


def _queued(queued: PodInQueue) -> values.QueuedPodState:
    woken = (queued.waking_events or {}).items()
    return values.QueuedPodState(
        pod=queued.pod,
        queue=queued.queue,
        since=_time(queued.since),
        attempts=queued.attempts,
        profile=queued.profile,
        priority=queued.priority,
        first_queued=_time(queued.first_queued),
        backoff_until=_time(queued.backoff_until),
        retried_at=_time(queued.retried_at),
        gated_by=queued.gated_by,
        rejected_by=queued.rejected_by,
        pending_plugins=queued.pending_plugins,
        woken_by=tuple(values.Waking(plugin=name, events=events) for name, events in woken),
        group=queued.group,
    )


def _time(seconds: float | None) -> str:
    return "" if seconds is None else micro_time_text(seconds)

"""What the dashboard shows about one scheduler, as plain values. It knows nothing of HTTP.

Each method makes one short call on the scheduler's thread. What takes longer is done in a third
thread: that of the server answers health probes.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from time import perf_counter, thread_time
from typing import Any, Final, NamedTuple, TypeVar

from msgspec.structs import replace

from podium.api.times import micro_time_text
from podium.clock import Clock
from podium.dashboard import board, sampling
from podium.dashboard.node_map import MapTracker, label_column, version_of
from podium.dashboard.overview import Rates, Trend, decision
from podium.dashboard.sampling import Sample
from podium.dashboard.values import (
    Found,
    Health,
    LabelColumn,
    MapChange,
    NodeMap,
    Overview,
    PendingBoard,
    ReasonCount,
    TimeToBind,
)
from podium.live import answer_values as records
from podium.live.asking import Asking
from podium.live.endpoints import Shown
from podium.live.running import RunningScheduler

T = TypeVar("T")

REASON_SECONDS: Final = 2.0
REST: Final = 200  # what takes t seconds of CPU time is done again after this many times t
MOST_FOUND: Final = 12


class Look(NamedTuple):
    """The present state. ``change`` has what differs from the look before.

    ``is_other_map`` says that the nodes are others than before, so that no change can be given.
    """

    overview: Overview
    change: MapChange | None
    is_other_map: bool
    is_same: bool


class Follower:
    """Somebody who looks again and again, and wants to know what has changed since."""

    def __init__(self) -> None:
        self.map = MapTracker()
        self.last: Overview | None = None


class Desk:
    """Reads one scheduler; use it on one event loop."""

    def __init__(self, shown: Shown, running: RunningScheduler, asking: Asking) -> None:
        self._running = running
        self._shown = shown
        self._asking = asking
        self._clock: Clock = shown.clock
        self._trend = Trend(shown.metrics.sli_seconds.declared.buckets)
        self._reasons: tuple[ReasonCount, ...] = ()
        self._reasons_due = 0.0

    # --- the present state -----------------------------------------------------------------------

    async def look(self, follower: Follower) -> Look:
        """Take a sample, and say what has changed since this follower last looked."""
        started = perf_counter()
        sample = await self._asking.ask(partial(sampling.take, self._running))
        lag = perf_counter() - started
        version = follower.map.version
        change = follower.map.look(sample.nodes)
        rates = self._trend.add(self._clock.now(), sampling.count(self._shown.metrics))
        await self._count_reasons(sample)
        overview = self._overview(sample, rates, lag)
        before, follower.last = follower.last, overview
        is_other = version != follower.map.version
        is_same = change is None and not is_other and _is_same(before, overview)
        return Look(overview, change, is_other, is_same)

    def _overview(self, sample: Sample, rates: Rates, lag: float) -> Overview:
        knows, watching = self._running.introspection, self._running.watching
        return Overview(
            at=micro_time_text(sample.at),
            server=knows.server,
            release=knows.release,
            profiles=tuple(knows.profiles),
            nodes=len(sample.nodes.rows),
            pods=sample.pods,
            lanes=sample.lanes,
            pending=sample.lanes.pending,
            bound_per_second=rates.bound,
            attempts_per_second=rates.attempts,
            bound=sampling.count(self._shown.metrics).bound,
            time_to_bind=rates.time_to_bind,
            reasons=self._reasons,
            decisions=tuple(map(decision, sample.recent)),
            health=Health(
                leading=self._shown.is_leading(),
                synced=watching.has_synced,
                trouble=watching.failing() or "",
                lag=round(lag, 4),
            ),
            map_version=version_of(sample.nodes),
        )

    async def _count_reasons(self, sample: Sample) -> None:
        """Count the reasons again, but not all the time.

        What the scheduler says about a pod arrives later than its attempt, by the watch: so they
        are counted as long as pods wait, even if nothing else has changed.
        """
        if sample.lanes.pending == sample.lanes.active:
            self._reasons = ()
            return
        if perf_counter() < self._reasons_due:
            return
        # Active pods are left out: they are about to be tried, and there can be very many.
        queue = self._running.scheduler.queue.inspection
        refused, listing = await self._asking.ask(
            lambda: _timed(lambda: board.waiting_pods(queue.refused(), queue.place_of))
        )
        self._reasons, counting = await asyncio.to_thread(_timed, lambda: board.reasons(refused))
        rest = max(REASON_SECONDS, REST * (listing + counting))
        self._reasons_due = perf_counter() + rest

    async def _waiting(self) -> list[board.Waiting]:
        queue = self._running.scheduler.queue
        return await self._asking.ask(
            lambda: board.waiting_pods(queue.pods(), queue.inspection.place_of)
        )

    async def node_map(self) -> NodeMap:
        """Return the whole map."""
        tracker = MapTracker()
        tracker.look((await self._asking.ask(partial(sampling.take, self._running))).nodes)
        return tracker.whole()

    async def labels(self, key: str) -> LabelColumn:
        """Return a label of all nodes, in the order of the map."""
        running = self._running
        sample, nodes = await self._asking.ask(
            lambda: (sampling.take(running), sampling.node_objects(running))
        )
        return await asyncio.to_thread(label_column, version_of(sample.nodes), key, nodes)

    # --- pods, nodes and the queue ---------------------------------------------------------------

    async def pending(self) -> PendingBoard:
        """Return the pending pods by reason."""
        return await asyncio.to_thread(board.board, await self._waiting())

    async def queue(self, limit: int) -> records.QueueRecords:
        """Return what ``podium explain queue`` shows."""
        knows = self._running.introspection
        return await asyncio.to_thread(await self._asking.ask(partial(knows.look_at_queue, limit)))

    async def pod(self, key: str, on_node: str = "") -> records.PodRecords | None:
        """Return what the scheduler remembers about a pod; ``None`` if it never heard of it."""
        knows = self._running.introspection
        answer = await self._asking.ask(partial(knows.look_at_pod, key, on_node))
        return None if answer is None else await asyncio.to_thread(answer)

    async def node(self, name: str) -> records.NodeRecords | None:
        """Return what the scheduler remembers about a node; ``None`` if there is none."""
        answer = await self._asking.ask(partial(self._running.introspection.look_at_node, name))
        return None if answer is None else await asyncio.to_thread(answer)

    async def configuration(self) -> records.RunningConfiguration:
        """Return the profiles that decide now."""
        return await self._asking.ask(self._running.introspection.configuration)

    def costs(self) -> Mapping[str, Any]:
        """Return what each plugin has cost so far, as ``podium plugin stats`` shows it."""
        return self._shown.plugins()

    async def find(self, text: str) -> Found:
        """Return pods and nodes whose names contain a text."""
        wanted = text.strip().lower()
        if not wanted:
            return Found()
        return await asyncio.to_thread(self._found, wanted)

    def _found(self, wanted: str) -> Found:
        watching = self._running.watching
        return Found(
            pods=_containing(wanted, (pod.key for pod in watching.pods())),
            nodes=_containing(wanted, (node.name for node in watching.nodes())),
        )


def _containing(wanted: str, names: Iterable[str]) -> tuple[str, ...]:
    """Return the first names that contain a text, the shortest of them first."""
    found = [name for name in names if wanted in name.lower()]
    return tuple(sorted(found, key=lambda name: (len(name), name))[:MOST_FOUND])


def _timed(work: Callable[[], T]) -> tuple[T, float]:
    """Return a result and the CPU time that it took: on a busy machine all else is waiting."""
    started = thread_time()
    return work(), thread_time() - started


def _is_same(before: Overview | None, now: Overview) -> bool:
    """Whether nothing has changed but the time."""
    return before is not None and _timeless(before) == _timeless(now)


def _timeless(overview: Overview) -> Overview:
    health = replace(overview.health, lag=0.0)
    return replace(overview, at="", health=health, time_to_bind=TimeToBind())

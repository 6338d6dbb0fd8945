"""All extenders of a scheduler, asked by upstream's rules: in order, or all at once for scores.

``extended.py`` asks them in a cycle, ``live/binding.py`` when a pod is bound.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Mapping
from operator import index
from typing import Final, NamedTuple

import numpy as np

from podium.api.objects import Pod
from podium.errors import ExtenderError
from podium.framework.answers import AttemptFailed
from podium.framework.extender import EXTENDER, Extender, Filtered
from podium.framework.preemption import Candidates
from podium.framework.status import SUCCESS, Status, text_of
from podium.logs import get_logger
from podium.state.cluster import ClusterState
from podium.state.resource_columns import int64
from podium.state.rows import Rows

log = get_logger(__name__)

SCALE: Final = 10  # extenders score from 0 to 10, plugins from 0 to 100


class Narrowed(NamedTuple):
    """The nodes that extenders leave, and the statuses of others by node name."""

    nodes: Rows
    statuses: Mapping[str, Status]


class Extenders:
    """All extenders of a scheduler, which its profiles share. Ignorable ones come last."""

    def __init__(self, extenders: Iterable[Extender] = (), parallelism: int = 16) -> None:
        self.all = tuple(sorted(extenders, key=lambda extender: extender.is_ignorable))
        for each in self.all:
            if each.is_binder and type(each).bind is Extender.bind:
                what = f"extender {each.name} says that it binds pods, and has no bind"
                raise ExtenderError(f"{what}: write one, or leave is_binder out")
        self.judge = any(each.is_filter or each.is_prioritizer for each in self.all)
        # Each has its own: a pod that is to be scored does not queue behind bindings that hang.
        self._prioritizing = asyncio.Semaphore(parallelism)
        self._binding = asyncio.Semaphore(parallelism)

    def __len__(self) -> int:
        return len(self.all)

    def interested(self, pod: Pod) -> Iterator[Extender]:
        return (extender for extender in self.all if extender.is_interested(pod))

    # --- in a cycle ------------------------------------------------------------------------------

    async def filter(self, pod: Pod, nodes: Rows) -> Narrowed:
        """Ask one after another, each about what the one before has left."""
        statuses: dict[str, Status] = {}
        for extender in self.interested(pod):
            if not extender.is_filter:
                continue
            if not len(nodes):
                break
            try:
                answer = await extender.filter(pod, nodes)
                left = _left(extender, answer, nodes)
                statuses |= _statuses(answer, nodes)
            except Exception as fault:
                if not extender.is_ignorable:
                    raise AttemptFailed(_error(extender, "Filter", pod, fault)) from fault
                _skip(extender, "Filter", pod, fault)
                continue
            nodes = left
        return Narrowed(nodes, statuses)

    async def prioritize(self, pod: Pod, nodes: Rows) -> dict[str, int]:
        """Ask all at once what to add to the totals; nodes without a score are left out."""
        asked = [self._scores(extender, pod, nodes) for extender in self.interested(pod)]
        total: dict[str, int] = {}
        for scores in await asyncio.gather(*asked):
            for name, score in scores.items():
                total[name] = int64(total.get(name, 0) + score)
        return total

    async def _scores(self, extender: Extender, pod: Pod, nodes: Rows) -> dict[str, int]:
        """Return the scores of one extender; none when it fails, so that the others decide."""
        try:
            async with self._prioritizing:
                scores = await extender.prioritize(pod, nodes)
            factor = extender.weight * SCALE
            return {name: int64(index(score) * factor) for name, score in scores.items()}
        except Exception as fault:
            _skip(extender, "Prioritize", pod, fault)
            return {}

    async def process_preemption(
        self, pod: Pod, candidates: Candidates, cluster: ClusterState
    ) -> Candidates:
        """Ask one after another; ``ExtenderError`` when one fails that may not be ignored."""
        for extender in self.interested(pod):
            if not extender.supports_preemption:
                continue
            try:
                left = await extender.process_preemption(pod, candidates, cluster.view)
                candidates = _with_victims(extender, left)
            except Exception as fault:
                if not extender.is_ignorable:
                    raise _as_extender_error(extender, "ProcessPreemption", pod, fault) from fault
                _skip(extender, "ProcessPreemption", pod, fault)
            if not candidates:
                break
        return candidates

    # --- binding ---------------------------------------------------------------------------------

    async def bind(self, pod: Pod, node_name: str) -> Status | None:
        """Bind through the first extender that binds such pods; ``None`` when none has done it."""
        for extender in self.interested(pod):
            if not extender.is_binder:
                continue
            try:
                async with self._binding:
                    await extender.bind(pod, node_name)
            except Exception as fault:
                if not extender.is_ignorable:
                    return _error(extender, "Bind", pod, fault)
                _skip(extender, "Bind", pod, fault)
                continue
            return SUCCESS
        return None

    async def close(self) -> None:
        for extender in self.all:
            try:
                await extender.close()
            except Exception:
                log.error("extender failed to close", extender=extender.name)


def _left(extender: Extender, answer: Filtered, nodes: Rows) -> Rows:
    passed, names = set(answer.names), nodes.names
    unknown = passed.difference(names)
    if unknown:
        first = next(name for name in answer.names if name in unknown)
        raise ExtenderError(
            f'extender "{extender.name}" claims a filtered node "{first}" which is not found in '
            "the input node list"
        )
    if len(passed) == len(names):
        return nodes
    passes = np.fromiter((name in passed for name in names), np.bool_, len(names))
    return Rows(nodes.cluster, nodes.index[passes])


def _statuses(answer: Filtered, nodes: Rows) -> dict[str, Status]:
    """Return statuses of nodes that were asked about; unresolvable wins over failed."""
    if not answer.failed and not answer.unresolvable:
        return {}
    asked = set(nodes.names)
    told = {name: Status.unschedulable(why) for name, why in answer.failed.items()}
    told |= {name: Status.unresolvable(why) for name, why in answer.unresolvable.items()}
    return {name: status.by(EXTENDER) for name, status in told.items() if name in asked}


def _with_victims(extender: Extender, candidates: Candidates) -> Candidates:
    """Leave out nodes without victims, or raise: it is not known what to evict there."""
    empty = [candidate.node for candidate in candidates if not candidate.victims]
    if not empty:
        return candidates
    if not extender.is_ignorable:
        raise ExtenderError(f'expected at least one victim pod on node "{empty[0]}"')
    log.v(2, "Ignoring node without victims", extender=extender.name, node=empty[0])
    return [candidate for candidate in candidates if candidate.victims]


def _error(extender: Extender, call: str, pod: Pod, fault: Exception) -> Status:
    return Status.error(_as_extender_error(extender, call, pod, fault))


def _as_extender_error(extender: Extender, call: str, pod: Pod, fault: Exception) -> ExtenderError:
    if isinstance(fault, ExtenderError):
        return fault
    # Not a refusal but a bug, in code that runs in this process: show where.
    log.error("extender failed", extender=extender.name, call=call, pod=pod.key)
    return ExtenderError(text_of(fault))


def _skip(extender: Extender, call: str, pod: Pod, fault: Exception) -> None:
    why = str(_as_extender_error(extender, call, pod, fault))
    log.warning("extender skipped", extender=extender.name, call=call, pod=pod.key, why=why)

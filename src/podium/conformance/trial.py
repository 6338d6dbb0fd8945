"""One attempt next to its recording: verdicts, absent plugins, and what comparisons share.

A plugin that podium does not have is *absent*. What it decided in a recording cannot be computed,
so it is taken from the recording and left out of the comparison.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from podium.api.objects import Pod
from podium.conformance.cases import AttemptResult, Verdict
from podium.conformance.core import Core, profile_config
from podium.conformance.outcome import Comparison
from podium.cycle.cycle import Cycle
from podium.cycle.found import Found
from podium.framework.points import Point
from podium.framework.profile import Profile, subset
from podium.framework.queued_pod import QueuedPod
from podium.framework.status import Code, Status
from podium.state.rows import Rows

SUCCESS = Code.SUCCESS.value
ERROR = Code.ERROR.value


def recorded(verdict: Verdict) -> dict[str, Any]:
    """Return a recorded verdict in the form that is compared and printed."""
    return _form(verdict.code, verdict.plugin, verdict.reasons)


def ours(status: Status) -> dict[str, Any]:
    """Return a status of podium in the form that is compared and printed."""
    return _form(status.code.value, status.plugin, status.reasons)


def _form(code: str, plugin: str, reasons: tuple[str, ...]) -> dict[str, Any]:
    # Reasons are sorted, because some have no fixed order upstream.
    parts = {"code": code, "plugin": plugin, "reasons": sorted(reasons)}
    return {key: value for key, value in parts.items() if value}


def status_of(verdict: Verdict) -> Status:
    """Return the status that was recorded as this verdict."""
    return Status(Code(verdict.code), verdict.reasons, verdict.plugin)


class AbsentPlugins:
    """The plugins that the profile of a pod should have and podium does not.

    Each is assumed to look at every pod and node at its extension points, so that what is left out
    never depends on the result of a comparison.
    """

    def __init__(self, core: Core, pod: Pod) -> None:
        wanted = profile_config(core, pod)
        self._absent = wanted.absent
        self._order = wanted.order_with_absent

    def __contains__(self, plugin: str) -> bool:
        return plugin in self._absent

    def __iter__(self) -> Iterator[str]:
        return iter(self._absent)

    def at(self, point: Point) -> frozenset[str]:
        return frozenset(name for name, points in self._absent.items() if point in points)

    def runs_before(self, point: Point, first: str, second: str) -> bool:
        order = self._order[point]
        return order.index(first) < order.index(second)


@dataclass(frozen=True, slots=True)
class Trial:
    """One attempt of a pod on a core, with the recorded result that it is compared with."""

    core: Core
    pod: Pod
    expect: AttemptResult
    absent: AbsentPlugins
    compare: Comparison

    @property
    def profile(self) -> Profile:
        return self.core.profiles[self.pod.scheduler_name]

    def start(self) -> Cycle:
        return self.core.cycle(QueuedPod.of(self.pod))

    def trusted(self) -> dict[str, Verdict]:
        """Return the recorded refusals by absent plugins; they are taken over, not compared."""
        narrowed = bool(self.absent.at(Point.PRE_FILTER))
        return {
            name: verdict
            for name, verdict in (self.expect.filter or {}).items()
            if verdict.plugin in self.absent
            or (narrowed and verdict.code != SUCCESS and not verdict.plugin)
        }

    def feasible(self, found: Found) -> Rows:
        """Return the feasible nodes without those that absent plugins refused."""
        return without(found.feasible, self.trusted())


def without(nodes: Rows, names: Collection[str]) -> Rows:
    """Return the nodes except those with these names; the same view if there are none."""
    kept = [at for at, name in enumerate(nodes.names) if name not in names]
    if len(kept) == len(nodes):
        return nodes
    return subset(nodes, np.array(kept, np.intp))

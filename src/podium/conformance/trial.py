"""One attempt beside its recording: what all its comparisons share."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from podium.api.objects import Pod
from podium.conformance.absence import Absence
from podium.conformance.cases import AttemptResult, Verdict
from podium.conformance.core import Core
from podium.conformance.outcome import Comparison
from podium.conformance.verdicts import SUCCESS
from podium.cycle.cycle import Cycle
from podium.cycle.found import Found
from podium.framework.plugin import Point
from podium.framework.profile import Profile, subset
from podium.framework.queued_pod import QueuedPod
from podium.state.rows import Rows


@dataclass(frozen=True, slots=True)
class Trial:
    core: Core
    pod: Pod
    expect: AttemptResult
    absence: Absence
    compare: Comparison

    @property
    def profile(self) -> Profile:
        return self.core.profiles[self.pod.scheduler_name]

    def start(self) -> Cycle:
        return self.core.cycle(QueuedPod.of(self.pod))

    def given(self) -> dict[str, Verdict]:
        """The nodes that a plugin that is not built yet refused: there the recording's word stands.

        All else is computed and compared.
        """
        narrowed = bool(self.absence.at(Point.PRE_FILTER))
        return {
            name: verdict
            for name, verdict in (self.expect.filter or {}).items()
            if verdict.plugin in self.absence
            or (narrowed and verdict.code != SUCCESS and not verdict.plugin)
        }

    def feasible(self, found: Found) -> Rows:
        """What is feasible when the given refusals are taken into account."""
        return without(found.feasible, self.given())


def without(nodes: Rows, names: Collection[str]) -> Rows:
    """The nodes but for those with these names; the same view when none is among them."""
    standing = [at for at, name in enumerate(nodes.names) if name not in names]
    if len(standing) == len(nodes):
        return nodes
    return subset(nodes, np.array(standing, np.intp))

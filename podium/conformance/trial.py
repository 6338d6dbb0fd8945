"""One attempt beside its recording: what all its comparisons share."""

from __future__ import annotations

from dataclasses import dataclass

from podium.api.objects import Pod
from podium.conformance.cases import AttemptResult
from podium.conformance.core import Core
from podium.conformance.outcome import Comparison
from podium.cycle.cycle import Cycle
from podium.framework.profile import Profile
from podium.framework.queued_pod import QueuedPod


@dataclass(frozen=True, slots=True)
class Trial:
    core: Core
    pod: Pod
    expect: AttemptResult
    compare: Comparison

    @property
    def profile(self) -> Profile:
        return self.core.profiles[self.pod.scheduler_name]

    def start(self) -> Cycle:
        return self.core.cycle(QueuedPod.of(self.pod))

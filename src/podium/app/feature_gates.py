"""What the release and feature gates choose: each once, by building a different object."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from podium.api.meta import ApiObject
from podium.api.objects import DeviceTaintRule
from podium.client.api_client import ApiClient, SingleTryBindings
from podium.client.resources import BETA_TAINT_RULES, Resource
from podium.clock import Clock
from podium.config.feature_gates import NO_CHOICE, FeatureGates
from podium.live.binding import Binder, QuietBinder
from podium.queue.options import QueueOptions
from podium.queue.patient_queue import PatientQueue
from podium.queue.scheduling_queue import SchedulingQueue
from podium.release import V1_37

LONGEST_UNSCHEDULABLE: Final = QueueOptions().max_in_unschedulable


@dataclass(frozen=True, slots=True)
class LiveOptions:
    """Options of a running scheduler that no configuration has."""

    gates: FeatureGates = NO_CHOICE
    max_in_unschedulable: float = LONGEST_UNSCHEDULABLE
    clock: Clock | None = None  # the time of the cluster, if it differs from the connection's

    @property
    def queue(self) -> type[SchedulingQueue]:
        is_eager = self.gates.enabled("SchedulerPopFromBackoffQ")
        return SchedulingQueue if is_eager else PatientQueue

    @property
    def binder(self) -> type[Binder]:
        announces = self.gates.enabled("NominatedNodeNameForExpectation")
        return Binder if announces else QuietBinder

    @property
    def client(self) -> type[ApiClient]:
        return ApiClient if self.gates.release >= V1_37 else SingleTryBindings

    @property
    def resources_by_kind(self) -> Mapping[type[ApiObject], Resource[Any]]:
        """The kinds that the release serves in another version than the latest one does."""
        if self.gates.release >= V1_37:
            return {}
        return {DeviceTaintRule: BETA_TAINT_RULES}

    @property
    def is_election_coordinated(self) -> bool:
        """Whether the API server chooses the leader among candidates."""
        return self.gates.enabled("CoordinatedLeaderElection")

    @property
    def dispatches_calls(self) -> bool:
        """Whether bindings and statuses of pods go through a queue of calls."""
        return self.gates.enabled("SchedulerAsyncAPICalls")

    @property
    def evicts_in_cycle(self) -> bool:
        """Whether a preemption evicts its victims before the scheduling cycle ends."""
        return not self.gates.enabled("SchedulerAsyncPreemption")

    @property
    def streams_lists(self) -> bool:
        """Whether informers ask the API server to stream lists."""
        return self.gates.enabled("WatchListClient")

    @property
    def reuses(self) -> bool:
        """Whether results of equal pods are kept and reused."""
        return self.gates.enabled("OpportunisticBatching")


USUAL: Final = LiveOptions()

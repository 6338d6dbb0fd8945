"""What the release and feature gates choose: each once, by building a different object."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from podium.api.meta import ApiObject
from podium.api.objects import DeviceTaintRule
from podium.client.resources import (
    BETA_TAINT_RULES,
    COMPOSITE_POD_GROUPS,
    POD_GROUPS,
    Resource,
)
from podium.clock import Clock
from podium.config.feature_gates import NO_CHOICE, FeatureGates
from podium.cycle.group_rules import PolicyRule, policy_of_first, policy_of_group
from podium.live.attempt import Tracer
from podium.live.binding import Binder, QuietBinder
from podium.live.event_handlers import EventHandlers
from podium.live.group_event_handlers import GroupEventHandlers
from podium.metrics import GroupMetrics, PlacementMetrics
from podium.queue.group_queue import GroupQueue, PatientGroupQueue
from podium.queue.options import LONGEST_UNSCHEDULABLE
from podium.queue.patient_queue import PatientQueue
from podium.queue.scheduling_queue import SchedulingQueue
from podium.release import V1_37
from podium.state.cluster import ClusterState
from podium.state.grouped_cluster import CompositeClusterState, GroupedClusterState

if TYPE_CHECKING:
    from podium.client.api_client import ApiClient

PREEMPTION_POLICY: Final = "PodGroupPreemptionPolicy"


@dataclass(frozen=True, slots=True)
class LiveOptions:
    """Options of a running scheduler that no configuration has."""

    gates: FeatureGates = NO_CHOICE
    max_in_unschedulable: float = LONGEST_UNSCHEDULABLE
    clock: Clock | None = None  # the time of the cluster, if it differs from the connection's
    tracer: Tracer | None = None
    seed: int | None = None  # decides among nodes with equal scores; None: another in each run

    @property
    def has_groups(self) -> bool:
        """Whether pods of a PodGroup are scheduled together."""
        return self.gates.enabled("GenericWorkload")

    @property
    def has_composites(self) -> bool:
        """Whether groups may belong to groups."""
        return self.gates.enabled("CompositePodGroup")

    @property
    def group_metrics(self) -> type[GroupMetrics]:
        has_placements = self.gates.enabled("TopologyAwareWorkloadScheduling")
        return PlacementMetrics if has_placements else GroupMetrics

    @property
    def policy_rule(self) -> PolicyRule:
        """Return which preemption policy the pods of a group must have."""
        return policy_of_group if self.gates.enabled(PREEMPTION_POLICY) else policy_of_first

    @property
    def queue(self) -> type[SchedulingQueue]:
        is_eager = self.gates.enabled("SchedulerPopFromBackoffQ")
        if self.has_groups:
            return GroupQueue if is_eager else PatientGroupQueue
        return SchedulingQueue if is_eager else PatientQueue

    @property
    def cluster(self) -> type[ClusterState]:
        if self.has_composites:
            return CompositeClusterState
        return GroupedClusterState if self.has_groups else ClusterState

    @property
    def watched(self) -> tuple[str, ...]:
        """Return the kinds that are watched even if no plugin asks for them, by event name."""
        groups = (POD_GROUPS.event_name,) if self.has_groups else ()
        return (*groups, COMPOSITE_POD_GROUPS.event_name) if self.has_composites else groups

    @property
    def handlers(self) -> type[EventHandlers]:
        return GroupEventHandlers if self.has_groups else EventHandlers

    @property
    def binder(self) -> type[Binder]:
        announces = self.gates.enabled("NominatedNodeNameForExpectation")
        return Binder if announces else QuietBinder

    @property
    def client(self) -> type[ApiClient]:
        from podium.client.api_client import ApiClient, SingleTryBindings  # slow to load

        return ApiClient if self.gates.release >= V1_37 else SingleTryBindings

    @property
    def resources_by_kind(self) -> Mapping[type[ApiObject], Resource[Any]]:
        """Return the kinds that the release serves in another version than the latest one does."""
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

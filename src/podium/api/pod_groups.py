"""PodGroups of scheduling.k8s.io/v1beta1: pods that are scheduled together.

CompositePodGroups of scheduling.k8s.io/v1alpha3 are groups of groups. Each group names its parent.
"""

from typing import ClassVar

from podium.api.meta import ApiObject, Condition, HashedValue, Int64, Value
from podium.api.pods import Pod

POD_GROUP = "podgroup"
COMPOSITE_POD_GROUP = "compositepodgroup"
INITIALLY_SCHEDULED = "PodGroupInitiallyScheduled"
COSCHEDULING_LABEL = "scheduling.x-k8s.io/pod-group"  # names the group of a pod to Coscheduling
NEVER = "Never"
PREEMPT_LOWER_PRIORITY = "PreemptLowerPriority"


class BasicSchedulingPolicy(HashedValue, frozen=True, gc=False):
    """Members are scheduled one by one, in one cycle."""


class GangSchedulingPolicy(HashedValue, frozen=True, gc=False):
    """At least ``min_count`` members are scheduled, or none."""

    min_count: Int64 = 0

    @property
    def least(self) -> int:
        return self.min_count


class PodGroupSchedulingPolicy(HashedValue, frozen=True, gc=False):
    basic: BasicSchedulingPolicy | None = None
    gang: GangSchedulingPolicy | None = None


class TopologyConstraint(HashedValue, frozen=True, gc=False):
    key: str = ""


class PodGroupSchedulingConstraints(HashedValue, frozen=True, gc=False):
    topology: tuple[TopologyConstraint, ...] = ()


class DisruptionModeSingle(HashedValue, frozen=True, gc=False):
    """Members can be evicted one by one."""


class DisruptionModeAll(HashedValue, frozen=True, gc=False):
    """All members are evicted, or none."""


class DisruptionMode(HashedValue, frozen=True, gc=False):
    single: DisruptionModeSingle | None = None
    all: DisruptionModeAll | None = None


class PodGroupResourceClaim(HashedValue, frozen=True, gc=False):
    """A claim of the whole group: an existing one, or one that is made from a template."""

    name: str = ""
    resource_claim_name: str | None = None
    resource_claim_template_name: str | None = None


class PodGroupResourceClaimStatus(HashedValue, frozen=True, gc=False):
    name: str = ""
    resource_claim_name: str | None = None


class CompositeGangSchedulingPolicy(HashedValue, frozen=True, gc=False):
    """At least ``min_group_count`` child groups are scheduled, or none."""

    min_group_count: Int64 = 0

    @property
    def least(self) -> int:
        return self.min_group_count


class CompositePodGroupSchedulingPolicy(HashedValue, frozen=True, gc=False):
    basic: BasicSchedulingPolicy | None = None
    gang: CompositeGangSchedulingPolicy | None = None


class SchedulingGroupSpec(Value, frozen=True, gc=False):
    """What a group of pods and a group of groups have in common."""

    parent_composite_pod_group_name: str | None = None
    scheduling_constraints: PodGroupSchedulingConstraints | None = None
    disruption_mode: DisruptionMode | None = None
    priority: Int64 | None = None
    priority_class_name: str = ""
    preemption_policy: str | None = None
    scheduling_policy: PodGroupSchedulingPolicy | CompositePodGroupSchedulingPolicy = (
        PodGroupSchedulingPolicy()
    )


class PodGroupSpec(SchedulingGroupSpec, frozen=True, gc=False):
    scheduling_policy: PodGroupSchedulingPolicy = PodGroupSchedulingPolicy()
    resource_claims: tuple[PodGroupResourceClaim, ...] = ()


class CompositePodGroupSpec(SchedulingGroupSpec, frozen=True, gc=False):
    scheduling_policy: CompositePodGroupSchedulingPolicy = CompositePodGroupSchedulingPolicy()


class PodGroupStatus(Value, frozen=True, gc=False):
    conditions: tuple[Condition, ...] = ()
    resource_claim_statuses: tuple[PodGroupResourceClaimStatus, ...] = ()


class SchedulingGroup(ApiObject, frozen=True, gc=False):
    """A PodGroup or a CompositePodGroup."""

    entity_type: ClassVar[str]  # how messages, logs and metrics name the kind

    spec: SchedulingGroupSpec = SchedulingGroupSpec()

    @property
    def entity_key(self) -> str:
        """Return the key with the type: groups of both kinds may have the same name."""
        return f"{self.entity_type}/{self.key}"

    @property
    def is_gang(self) -> bool:
        return self.spec.scheduling_policy.gang is not None

    @property
    def min_count(self) -> int:
        """Return how many members must be scheduled at once: pods, or groups of a composite group.

        It is 1 for a group that is not a gang.
        """
        gang = self.spec.scheduling_policy.gang
        return 1 if gang is None else gang.least

    @property
    def parent_key(self) -> str:
        """The entity key of the group that this one belongs to; empty if it names none."""
        name = self.spec.parent_composite_pod_group_name
        return "" if name is None else f"{COMPOSITE_POD_GROUP}/{self.namespace}/{name}"

    @property
    def topology_key(self) -> str:
        """The label that all nodes of the members must share; empty without a constraint."""
        constraints = self.spec.scheduling_constraints
        return constraints.topology[0].key if constraints and constraints.topology else ""

    @property
    def priority(self) -> int:
        return self.spec.priority or 0

    @property
    def preemption_policy(self) -> str:
        """The group's own policy, which counts with the gate PodGroupPreemptionPolicy only."""
        return self.spec.preemption_policy or PREEMPT_LOWER_PRIORITY

    @property
    def is_evicted_whole(self) -> bool:
        mode = self.spec.disruption_mode
        return mode is not None and mode.all is not None


class PodGroup(SchedulingGroup, frozen=True, gc=False):
    entity_type: ClassVar[str] = POD_GROUP

    spec: PodGroupSpec = PodGroupSpec()
    status: PodGroupStatus = PodGroupStatus()


class CompositePodGroup(SchedulingGroup, frozen=True, gc=False):
    """A group whose members are groups. The scheduler does not write its status."""

    entity_type: ClassVar[str] = COMPOSITE_POD_GROUP

    spec: CompositePodGroupSpec = CompositePodGroupSpec()


def coscheduling_group_key(pod: Pod) -> str:
    """Return ``namespace/name`` of the Coscheduling group that the pod names; empty if none."""
    name = pod.labels.get(COSCHEDULING_LABEL, "")
    return f"{pod.namespace}/{name}" if name else ""

"""Services, the controllers behind pods, budgets and priorities; leases and events."""

from msgspec import field

from podium.api.meta import ApiObject, Condition, Int64, LabelSelector, ObjectReference, Value


class ServiceSpec(Value, frozen=True, gc=False):
    """A ``selector`` of None differs from ``{}``: a service without a selector has no pods."""

    selector: dict[str, str] | None = None


class Service(ApiObject, frozen=True, gc=False):
    spec: ServiceSpec = ServiceSpec()


class ReplicationControllerSpec(Value, frozen=True, gc=False):
    selector: dict[str, str] = field(default_factory=dict)
    replicas: Int64 | None = None


class ReplicationController(ApiObject, frozen=True, gc=False):
    spec: ReplicationControllerSpec = ReplicationControllerSpec()


class WorkloadSpec(Value, frozen=True, gc=False):
    """The fields of a ReplicaSet or a StatefulSet that scheduling reads."""

    selector: LabelSelector | None = None
    replicas: Int64 | None = None


class ReplicaSet(ApiObject, frozen=True, gc=False):
    spec: WorkloadSpec = WorkloadSpec()


class StatefulSet(ApiObject, frozen=True, gc=False):
    spec: WorkloadSpec = WorkloadSpec()


class PodDisruptionBudgetSpec(Value, frozen=True, gc=False):
    min_available: Int64 | str | None = None
    max_unavailable: Int64 | str | None = None
    selector: LabelSelector | None = None
    unhealthy_pod_eviction_policy: str = ""


class PodDisruptionBudgetStatus(Value, frozen=True, gc=False):
    observed_generation: Int64 = 0
    disrupted_pods: dict[str, str] = field(default_factory=dict)
    disruptions_allowed: Int64 = 0
    current_healthy: Int64 = 0
    desired_healthy: Int64 = 0
    expected_pods: Int64 = 0
    conditions: tuple[Condition, ...] = ()


class PodDisruptionBudget(ApiObject, frozen=True, gc=False):
    spec: PodDisruptionBudgetSpec = PodDisruptionBudgetSpec()
    status: PodDisruptionBudgetStatus = PodDisruptionBudgetStatus()


class PriorityClass(ApiObject, frozen=True, gc=False):
    value: Int64 = 0
    global_default: bool = False
    preemption_policy: str = ""
    description: str = ""


class LeaseSpec(Value, frozen=True, gc=False):
    holder_identity: str = ""
    lease_duration_seconds: Int64 = 0
    acquire_time: str = ""
    renew_time: str = ""
    lease_transitions: Int64 = 0
    strategy: str = ""
    preferred_holder: str = ""


class Lease(ApiObject, frozen=True, gc=False):
    spec: LeaseSpec = LeaseSpec()


class LeaseCandidateSpec(Value, frozen=True, gc=False):
    lease_name: str = ""
    ping_time: str = ""
    renew_time: str = ""
    binary_version: str = ""
    emulation_version: str = ""
    strategy: str = ""


class LeaseCandidate(ApiObject, frozen=True, gc=False):
    """A process that would like to hold a lease, for coordinated leader election."""

    spec: LeaseCandidateSpec = LeaseCandidateSpec()


class EventSeries(Value, frozen=True, gc=False):
    count: Int64 = 0
    last_observed_time: str = ""


class EventSource(Value, frozen=True, gc=False):
    component: str = ""
    host: str = ""


class Event(ApiObject, frozen=True, gc=False):
    """An event of events.k8s.io/v1 (regarding, note) or of core (involvedObject, message)."""

    type: str = ""
    reason: str = ""
    action: str = ""
    event_time: str = ""
    series: EventSeries | None = None
    related: ObjectReference | None = None
    regarding: ObjectReference | None = None
    note: str = ""
    reporting_controller: str = ""
    reporting_instance: str = ""
    involved_object: ObjectReference | None = None
    message: str = ""
    reporting_component: str = ""
    source: EventSource | None = None
    first_timestamp: str = ""
    last_timestamp: str = ""
    count: Int64 = 0

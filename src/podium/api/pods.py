"""Pods: the fields of their spec and status that scheduling reads."""

from typing import Self

from msgspec import field
from msgspec.structs import replace

from podium.api.affinity import Affinity, Toleration, TopologySpreadConstraint
from podium.api.meta import Condition, HashedValue, Int64, RawObject, ResourceList, Value
from podium.api.volumes import Volume

DEFAULT_SCHEDULER = "default-scheduler"
ENDED = ("Succeeded", "Failed")  # phases
JOB_TRACKING = "batch.kubernetes.io/job-tracking"  # the finalizer of pods that are counted


class ResourceClaimReference(HashedValue, frozen=True, gc=False):
    name: str = ""
    request: str = ""


class ResourceRequirements(Value, frozen=True, gc=False):
    requests: ResourceList = field(default_factory=dict)
    limits: ResourceList = field(default_factory=dict)
    claims: tuple[ResourceClaimReference, ...] = ()


class ContainerPort(HashedValue, frozen=True, gc=False):
    name: str = ""
    container_port: Int64 = 0
    host_port: Int64 = 0
    host_ip: str = field(default="", name="hostIP")
    protocol: str = ""


class ContainerRestartRuleOnExitCodes(HashedValue, frozen=True, gc=False):
    operator: str = ""
    values: tuple[int, ...] = ()


class ContainerRestartRule(HashedValue, frozen=True, gc=False):
    action: str = ""
    exit_codes: ContainerRestartRuleOnExitCodes | None = None


class VolumeMount(HashedValue, frozen=True, gc=False):
    """What the scheduler reads of a mount. The options are new in 1.37."""

    bind_mount_options: tuple[str, ...] = ()


class Container(Value, frozen=True, gc=False):
    """An init container that restarts ``Always`` is a sidecar."""

    name: str = ""
    image: str = ""
    ports: tuple[ContainerPort, ...] = ()
    resources: ResourceRequirements = ResourceRequirements()
    restart_policy: str = ""
    restart_policy_rules: tuple[ContainerRestartRule, ...] = ()
    volume_mounts: tuple[VolumeMount, ...] = ()

    @property
    def is_sidecar(self) -> bool:
        """Whether this init container keeps running; only meaningful for init containers."""
        return self.restart_policy == "Always"


class PodSchedulingGate(HashedValue, frozen=True, gc=False):
    name: str = ""


class PodResourceClaim(HashedValue, frozen=True, gc=False):
    name: str = ""
    resource_claim_name: str | None = None
    resource_claim_template_name: str | None = None


class PodSchedulingGroup(HashedValue, frozen=True, gc=False):
    pod_group_name: str = ""


class PodSpec(Value, frozen=True, gc=False):
    node_name: str = ""
    scheduler_name: str = ""
    containers: tuple[Container, ...] = ()
    init_containers: tuple[Container, ...] = ()
    ephemeral_containers: tuple[Container, ...] = ()
    volumes: tuple[Volume, ...] = ()
    node_selector: dict[str, str] = field(default_factory=dict)
    affinity: Affinity | None = None
    tolerations: tuple[Toleration, ...] = ()
    topology_spread_constraints: tuple[TopologySpreadConstraint, ...] = ()
    scheduling_gates: tuple[PodSchedulingGate, ...] = ()
    scheduling_group: PodSchedulingGroup | None = None
    resource_claims: tuple[PodResourceClaim, ...] = ()
    resources: ResourceRequirements | None = None
    overhead: ResourceList = field(default_factory=dict)
    runtime_class_name: str = ""
    priority: Int64 | None = None
    priority_class_name: str = ""
    preemption_policy: str = ""
    host_network: bool = False
    host_users: bool | None = None
    restart_policy: str = ""
    service_account_name: str = ""
    termination_grace_period_seconds: Int64 | None = None


class ContainerStatus(Value, frozen=True, gc=False):
    name: str = ""
    ready: bool = False
    restart_count: Int64 = 0
    image: str = ""
    image_id: str = field(default="", name="imageID")
    resources: ResourceRequirements | None = None
    allocated_resources: ResourceList = field(default_factory=dict)


class PodResourceClaimStatus(HashedValue, frozen=True, gc=False):
    name: str = ""
    resource_claim_name: str | None = None


class ContainerExtendedResourceRequest(HashedValue, frozen=True, gc=False):
    container_name: str = ""
    resource_name: str = ""
    request_name: str = ""


class PodExtendedResourceClaimStatus(HashedValue, frozen=True, gc=False):
    request_mappings: tuple[ContainerExtendedResourceRequest, ...] = ()
    resource_claim_name: str = ""


class PodStatus(Value, frozen=True, gc=False):
    phase: str = ""
    reason: str = ""
    message: str = ""
    nominated_node_name: str = ""
    start_time: str = ""
    conditions: tuple[Condition, ...] = ()
    container_statuses: tuple[ContainerStatus, ...] = ()
    init_container_statuses: tuple[ContainerStatus, ...] = ()
    resources: ResourceRequirements | None = None
    allocated_resources: ResourceList = field(default_factory=dict)
    resource_claim_statuses: tuple[PodResourceClaimStatus, ...] = ()
    extended_resource_claim_status: PodExtendedResourceClaimStatus | None = None


class Pod(RawObject, frozen=True, gc=False):
    spec: PodSpec = PodSpec()
    status: PodStatus = PodStatus()

    @property
    def node_name(self) -> str:
        return self.spec.node_name

    @property
    def priority(self) -> int:
        return self.spec.priority or 0

    @property
    def nominated_node_name(self) -> str:
        return self.status.nominated_node_name

    @property
    def scheduler_name(self) -> str:
        return self.spec.scheduler_name or DEFAULT_SCHEDULER

    @property
    def has_ended(self) -> bool:
        """Whether its containers have stopped for good, so that it holds no resources any more."""
        return self.status.phase in ENDED

    @property
    def group_key(self) -> str:
        """Return the key of the PodGroup that this pod is a member of; empty if there is none."""
        group = self.spec.scheduling_group
        return "" if group is None else f"{self.metadata.namespace}/{group.pod_group_name}"

    def bound_to(self, node_name: str) -> Self:
        """Return the pod as the API shows it once it is bound."""
        return replace(self, spec=replace(self.spec, node_name=node_name))

    def nominated_to(self, node_name: str) -> Self:
        """Return the pod as the API shows it with this nomination; ``""`` removes it."""
        return replace(self, status=replace(self.status, nominated_node_name=node_name))

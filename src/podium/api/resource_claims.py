"""Resource claims: what a pod asks for, what it got, and who may use it.

``pods.py`` has how a pod refers to its claims, ``devices.py`` what there is to claim.
"""

from collections.abc import Iterator
from typing import Final

from msgspec import field

from podium.api.affinity import NodeSelector, Toleration
from podium.api.devices import DeviceSelector, OpaqueDeviceConfiguration
from podium.api.meta import (
    ApiObject,
    Condition,
    HashedValue,
    Int64,
    ObjectMeta,
    ResourceList,
    Value,
)
from podium.api.pod_groups import PodGroup
from podium.api.pods import Pod

EXACT_COUNT: Final = "ExactCount"
ALL: Final = "All"
# Keeps an allocated claim until its devices are free.
FINALIZER: Final = "resource.kubernetes.io/delete-protection"
# Names the entry of a pod's spec that a claim was made for from a template.
POD_CLAIM: Final = "resource.kubernetes.io/pod-claim-name"
# How many pods and other objects may use one claim at the same time.
MAX_RESERVED_FOR: Final = 256
SCHEDULING_GROUP: Final = "scheduling.k8s.io"

# Tolerations of device taints have the fields of a pod's tolerations.
DeviceToleration = Toleration


class CapacityRequirements(Value, frozen=True, gc=False):
    requests: ResourceList = field(default_factory=dict)


class ExactDeviceRequest(Value, frozen=True, gc=False):
    device_class_name: str = ""
    selectors: tuple[DeviceSelector, ...] = ()
    allocation_mode: str = ""
    count: Int64 = 0
    admin_access: bool | None = None
    tolerations: tuple[DeviceToleration, ...] = ()
    capacity: CapacityRequirements | None = None
    derived_attributes: tuple[object, ...] = ()  # alpha in 1.37: only to refuse them


class DeviceSubRequest(Value, frozen=True, gc=False):
    """One of several alternatives, the most wanted one first."""

    name: str = ""
    device_class_name: str = ""
    selectors: tuple[DeviceSelector, ...] = ()
    allocation_mode: str = ""
    count: Int64 = 0
    tolerations: tuple[DeviceToleration, ...] = ()
    capacity: CapacityRequirements | None = None
    derived_attributes: tuple[object, ...] = ()


class DeviceRequest(Value, frozen=True, gc=False):
    """A request has one of ``exactly`` and ``first_available``."""

    name: str = ""
    exactly: ExactDeviceRequest | None = None
    first_available: tuple[DeviceSubRequest, ...] = ()


class DeviceConstraint(HashedValue, frozen=True, gc=False):
    """What the devices of some requests (all, if none is named) must have in common."""

    requests: tuple[str, ...] = ()
    match_attribute: str | None = None
    distinct_attribute: str | None = None


class DeviceClaimConfiguration(Value, frozen=True, gc=False):
    requests: tuple[str, ...] = ()
    opaque: OpaqueDeviceConfiguration | None = None


class DeviceClaim(Value, frozen=True, gc=False):
    requests: tuple[DeviceRequest, ...] = ()
    constraints: tuple[DeviceConstraint, ...] = ()
    config: tuple[DeviceClaimConfiguration, ...] = ()


class ResourceClaimSpec(Value, frozen=True, gc=False):
    devices: DeviceClaim = DeviceClaim()


class DeviceRequestAllocationResult(Value, frozen=True, gc=False):
    """One allocated device, or one share of a device that several claims use."""

    request: str = ""
    driver: str = ""
    pool: str = ""
    device: str = ""
    admin_access: bool | None = None
    tolerations: tuple[DeviceToleration, ...] = ()
    binding_conditions: tuple[str, ...] = ()
    binding_failure_conditions: tuple[str, ...] = ()
    share_id: str | None = field(default=None, name="shareID")
    consumed_capacity: ResourceList = field(default_factory=dict)
    skip_node_operations: tuple[str, ...] = ()


class DeviceAllocationConfiguration(Value, frozen=True, gc=False):
    """A configuration that drivers get; ``source`` is FromClass or FromClaim."""

    source: str = ""
    requests: tuple[str, ...] = ()
    opaque: OpaqueDeviceConfiguration | None = None


class DeviceAllocationResult(Value, frozen=True, gc=False):
    results: tuple[DeviceRequestAllocationResult, ...] = ()
    config: tuple[DeviceAllocationConfiguration, ...] = ()


class AllocationResult(Value, frozen=True, gc=False):
    """``node_selector`` of None means that the devices can be used on every node."""

    devices: DeviceAllocationResult = DeviceAllocationResult()
    node_selector: NodeSelector | None = None
    allocation_timestamp: str = ""


class ResourceClaimConsumerReference(HashedValue, frozen=True, gc=False):
    api_group: str = ""
    resource: str = ""
    name: str = ""
    uid: str = ""


class AllocatedDeviceStatus(Value, frozen=True, gc=False):
    """What a driver reports about one allocated device."""

    driver: str = ""
    pool: str = ""
    device: str = ""
    share_id: str | None = field(default=None, name="shareID")
    conditions: tuple[Condition, ...] = ()
    data: object = None
    network_data: object = None


class ResourceClaimStatus(Value, frozen=True, gc=False):
    allocation: AllocationResult | None = None
    reserved_for: tuple[ResourceClaimConsumerReference, ...] = ()
    devices: tuple[AllocatedDeviceStatus, ...] = ()


class ResourceClaim(ApiObject, frozen=True, gc=False):
    spec: ResourceClaimSpec = ResourceClaimSpec()
    status: ResourceClaimStatus = ResourceClaimStatus()

    def is_reserved_for(self, uid: str) -> bool:
        """Whether the pod or other object with this uid may use the claim."""
        return any(consumer.uid == uid for consumer in self.status.reserved_for)

    def is_reserved_for_group(self, name: str) -> bool:
        """Whether all pods of the PodGroup of this name may use the claim."""
        group = SCHEDULING_GROUP, "podgroups", name
        users = self.status.reserved_for
        return any((user.api_group, user.resource, user.name) == group for user in users)

    def is_made_for_group(self, name: str) -> bool:
        """Whether the PodGroup of this name is its controller, in any version."""
        owner = self.controller
        if owner is None or (owner.kind, owner.name) != ("PodGroup", name):
            return False
        return owner.api_version.startswith(f"{SCHEDULING_GROUP}/")

    def is_made_for(self, uid: str) -> bool:
        """Whether the pod with this uid is its controller."""
        controller = self.controller
        return controller is not None and controller.uid == uid


def claim_keys(pod: Pod) -> Iterator[str]:
    """Yield the keys of the claims that the pod names, or that were made for it."""
    named = [entry.resource_claim_name for entry in pod.spec.resource_claims]
    made = [status.resource_claim_name for status in pod.status.resource_claim_statuses]
    return (f"{pod.namespace}/{name}" for name in (*named, *made) if name)


def consumer(pod: Pod) -> ResourceClaimConsumerReference:
    """Return how a claim says that it is reserved for the pod."""
    return ResourceClaimConsumerReference(resource="pods", name=pod.name, uid=pod.uid)


def group_consumer(group: PodGroup) -> ResourceClaimConsumerReference:
    """Return how a claim says that it is reserved for all pods of a group."""
    return ResourceClaimConsumerReference(
        api_group=SCHEDULING_GROUP, resource="podgroups", name=group.name, uid=group.uid
    )


class ResourceClaimTemplateSpec(Value, frozen=True, gc=False):
    metadata: ObjectMeta = ObjectMeta()
    spec: ResourceClaimSpec = ResourceClaimSpec()


class ResourceClaimTemplate(ApiObject, frozen=True, gc=False):
    spec: ResourceClaimTemplateSpec = ResourceClaimTemplateSpec()

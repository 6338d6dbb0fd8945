"""Nodes and namespaces, and the labels of nodes that Kubernetes gives a meaning."""

from typing import Final

from msgspec import field

from podium.api.affinity import Taint
from podium.api.meta import ApiObject, Condition, HashedValue, Int64, RawObject, ResourceList, Value

HOSTNAME: Final = "kubernetes.io/hostname"
ZONE: Final = "topology.kubernetes.io/zone"
REGION: Final = "topology.kubernetes.io/region"
BETA_ZONE: Final = "failure-domain.beta.kubernetes.io/zone"
BETA_REGION: Final = "failure-domain.beta.kubernetes.io/region"


class PodPreemptionPolicy(Value, frozen=True, gc=False):
    disable_resize_preemption: bool | None = None


class NodeSpec(Value, frozen=True, gc=False):
    unschedulable: bool = False
    taints: tuple[Taint, ...] = ()
    provider_id: str = field(default="", name="providerID")
    pod_preemption_policy: PodPreemptionPolicy | None = None  # since 1.37


class ContainerImage(HashedValue, frozen=True, gc=False):
    names: tuple[str, ...] = ()
    size_bytes: Int64 = 0


class AttachedVolume(HashedValue, frozen=True, gc=False):
    name: str = ""
    device_path: str = ""


class NodeStatus(Value, frozen=True, gc=False):
    capacity: ResourceList = field(default_factory=dict)
    allocatable: ResourceList = field(default_factory=dict)
    conditions: tuple[Condition, ...] = ()
    images: tuple[ContainerImage, ...] = ()
    volumes_in_use: tuple[str, ...] = ()
    volumes_attached: tuple[AttachedVolume, ...] = ()
    declared_features: tuple[str, ...] = ()


class Node(RawObject, frozen=True, gc=False):
    spec: NodeSpec = NodeSpec()
    status: NodeStatus = NodeStatus()


class NamespaceStatus(Value, frozen=True, gc=False):
    phase: str = ""


class Namespace(ApiObject, frozen=True, gc=False):
    status: NamespaceStatus = NamespaceStatus()

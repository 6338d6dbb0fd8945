"""The kinds that the scheduler reads: where they are served, how they are decoded, and what podium
cannot do without them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Final, Generic, TypeVar, cast
from urllib.parse import quote

import msgspec

from podium.api.codec import UNREADABLE
from podium.api.meta import ApiObject, KeptJson, RawObject
from podium.api.objects import (
    CompositePodGroup,
    CSIDriver,
    CSINode,
    CSIStorageCapacity,
    DeviceClass,
    DeviceTaintRule,
    Lease,
    LeaseCandidate,
    Namespace,
    Node,
    PersistentVolume,
    PersistentVolumeClaim,
    Pod,
    PodDisruptionBudget,
    PodGroup,
    PriorityClass,
    ReplicaSet,
    ReplicationController,
    ResourceClaim,
    ResourceClaimTemplate,
    ResourceSlice,
    Service,
    StatefulSet,
    StorageClass,
    VolumeAttachment,
    decode,
)
from podium.errors import InvalidObject, PodiumError, Problem

T = TypeVar("T")
K = TypeVar("K", bound=ApiObject)

# The JSON of an object and the object as it is known so far: a decoder may build on the latter.
Decode = Callable[[bytes, T | None], T]


@dataclass(frozen=True, slots=True)
class Resource(Generic[T]):
    """One kind as the API serves it, and which of its objects podium reads."""

    kind: str
    plural: str
    decode: Decode[T]
    group: str = ""
    version: str = "v1"
    namespace: str = ""  # only the objects of this one, if it is given
    field_selector: str = ""
    label_selector: str = ""
    needed: bool = False  # without it nothing can be scheduled
    without: str = ""  # what podium cannot do when it may not read this kind
    struct: type[T] | None = None  # what ``decode`` makes of any object, if it does nothing else

    @property
    def name(self) -> str:
        """Return the name in messages, such as ``replicasets.apps``."""
        return f"{self.plural}.{self.group}" if self.group else self.plural

    @property
    def api_version(self) -> str:
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def event_name(self) -> str:
        """Return the name that plugins use for its events, such as ``storage.k8s.io/CSINode``."""
        return f"{self.group}/{self.kind}" if self.group else self.kind

    @property
    def path(self) -> str:
        """The path that lists the objects."""
        if self.namespace:
            return self.path_in(self.namespace)
        return f"{self._root}/{self.plural}"

    def query(self, query: str) -> str:
        """Return the path that lists the objects, with this query."""
        selectors = {"fieldSelector": self.field_selector, "labelSelector": self.label_selector}
        chosen = (f"{name}={quote(text, safe='')}" for name, text in selectors.items() if text)
        return f"{self.path}?{'&'.join(filter(None, (*chosen, query)))}"

    def path_of(self, key: str, subresource: str = "") -> str:
        """Return the path of one object; its key is ``namespace/name``, or just a name."""
        namespace, _, name = key.rpartition("/")
        within = f"/namespaces/{namespace}" if namespace else ""
        rest = f"/{subresource}" if subresource else ""
        return f"{self._root}{within}/{self.plural}/{name}{rest}"

    def path_in(self, namespace: str) -> str:
        """Return the path where objects of a namespace are created."""
        return f"{self._root}/namespaces/{namespace}/{self.plural}"

    @property
    def _root(self) -> str:
        return f"/apis/{self.group}/{self.version}" if self.group else f"/api/{self.version}"


def typed(kind: type[K]) -> Decode[K]:
    """Return a decoder of JSON into this struct.

    It does not validate: the API server has done that, and it would cost six times as much (46 µs
    a pod against 7).
    """
    fast = msgspec.json.Decoder(kind).decode

    def decode_typed(raw: bytes, known: K | None) -> K:
        try:
            return fast(raw)
        except UNREADABLE:
            return decode(kind, raw)  # accepts nulls, and explains what is wrong

    return decode_typed


def decode_plain(raw: bytes, known: dict[str, Any] | None) -> dict[str, Any]:
    try:
        return cast(dict[str, Any], msgspec.json.decode(raw))
    except UNREADABLE as error:
        raise InvalidObject("object", "", [Problem("", str(error))]) from error


def _served(kind: type[K], plural: str, group: str = "", *, without: str = "") -> Resource[K]:
    return Resource(kind.__name__, plural, typed(kind), group, without=without, struct=kind)


PODS: Final = Resource(
    "Pod",
    "pods",
    typed(Pod),
    # A pod that has ended takes no room: for the scheduler it is deleted.
    field_selector="status.phase!=Succeeded,status.phase!=Failed",
    needed=True,
    struct=Pod,
)
NODES: Final = Resource("Node", "nodes", typed(Node), needed=True, struct=Node)
VOLUMES: Final = _served(
    PersistentVolume, "persistentvolumes", without="scheduling of pods with persistent volumes"
)
CLAIMS: Final = _served(
    PersistentVolumeClaim,
    "persistentvolumeclaims",
    without="scheduling of pods with persistent volume claims",
)
RESOURCE_CLAIMS: Final = _served(
    ResourceClaim,
    "resourceclaims",
    "resource.k8s.io",
    without="scheduling of pods with resource claims",
)
_TAINT_RULES: Final = _served(
    DeviceTaintRule,
    "devicetaintrules",
    "resource.k8s.io",
    without="taints that DeviceTaintRules give to devices",
)
# Kubernetes 1.36 serves them in this version, and only if it is enabled.
BETA_TAINT_RULES: Final = replace(_TAINT_RULES, version="v1beta2")
POD_GROUPS: Final = replace(
    _served(
        PodGroup,
        "podgroups",
        "scheduling.k8s.io",
        without="scheduling of pods that belong to a pod group",
    ),
    version="v1beta1",
)
COMPOSITE_POD_GROUPS: Final = replace(
    _served(
        CompositePodGroup,
        "compositepodgroups",
        "scheduling.k8s.io",
        without="scheduling of pods whose pod group belongs to a composite pod group",
    ),
    version="v1alpha3",
)
LEASES: Final = _served(Lease, "leases", "coordination.k8s.io")
LEASE_CANDIDATES: Final = Resource(
    "LeaseCandidate",
    "leasecandidates",
    typed(LeaseCandidate),
    "coordination.k8s.io",
    "v1beta1",
    struct=LeaseCandidate,
)

_STORAGE: Final = "storage.k8s.io"
_DEVICES: Final = "resource.k8s.io"
_ALL: Final[tuple[Resource[Any], ...]] = (
    PODS,
    NODES,
    VOLUMES,
    CLAIMS,
    LEASES,
    _served(Namespace, "namespaces", without="namespaceSelector of pod affinity"),
    _served(Service, "services", without="default spreading of the pods of a service"),
    _served(
        ReplicationController,
        "replicationcontrollers",
        without="default spreading of the pods of a replication controller",
    ),
    _served(
        ReplicaSet,
        "replicasets",
        "apps",
        without="default spreading of the pods of a replica set",
    ),
    _served(
        StatefulSet,
        "statefulsets",
        "apps",
        without="default spreading of the pods of a stateful set",
    ),
    _served(
        PodDisruptionBudget,
        "poddisruptionbudgets",
        "policy",
        without="respect for disruption budgets in preemption",
    ),
    _served(
        StorageClass,
        "storageclasses",
        _STORAGE,
        without="scheduling of pods with claims that are not bound yet",
    ),
    _served(CSINode, "csinodes", _STORAGE, without="limits on the volumes of a node"),
    _served(
        CSIDriver,
        "csidrivers",
        _STORAGE,
        without="storage capacity tracking, and refusing nodes that lack a required CSI driver",
    ),
    _served(
        CSIStorageCapacity,
        "csistoragecapacities",
        _STORAGE,
        without="storage capacity tracking",
    ),
    _served(
        VolumeAttachment,
        "volumeattachments",
        _STORAGE,
        without="counting volumes that are attached without a pod",
    ),
    _served(
        DeviceClass,
        "deviceclasses",
        _DEVICES,
        without="extended resources that a device class provides",
    ),
    RESOURCE_CLAIMS,
    _TAINT_RULES,
    POD_GROUPS,
    COMPOSITE_POD_GROUPS,
    _served(PriorityClass, "priorityclasses", "scheduling.k8s.io"),
    _served(ResourceClaimTemplate, "resourceclaimtemplates", _DEVICES),
    _served(
        ResourceSlice,
        "resourceslices",
        _DEVICES,
        without="scheduling of pods with resource claims that are not allocated yet",
    ),
)
_BY_KIND: Final = {resource.kind: resource for resource in _ALL}


def resource_of(kind: type[K]) -> Resource[K]:
    """Return the resource of this kind; raise ``LookupError`` if the API does not have it."""
    return _BY_KIND[kind.__name__]


def custom_resource(name: str) -> Resource[dict[str, Any]]:
    """Return the resource with a full name such as ``foos.v1.example.com``.

    Its objects stay plain dicts. The name says where the kind is served, so the server need not be
    asked, and a kind that is installed later is found then.
    """
    plural, _, rest = name.partition(".")
    version, _, group = rest.partition(".")
    if not (plural and version and group):
        raise PodiumError(f'"{name}" is not the name of a kind; write it as foos.v1.example.com')
    return Resource(
        plural,
        plural,
        decode_plain,
        group,
        version,
        without="waking pods whose plugins wait for it",
    )


def altered(resource: Resource[T], change: Callable[[T], T]) -> Resource[T]:
    """Return the resource with a decoder that changes each object."""

    def decode_and_change(raw: bytes, known: T | None) -> T:
        return change(resource.decode(raw, known))

    return replace(resource, decode=decode_and_change, struct=None)


R = TypeVar("R", bound=RawObject)

_MEMBERS = msgspec.json.Decoder(dict[str, msgspec.Raw])


def keeping_json(
    resource: Resource[R], wanted: Callable[[R], bool] = lambda _: True
) -> Resource[R]:
    """Return the resource with a decoder that keeps the JSON of objects that are ``wanted``.

    It is for schedulers with extenders: those get whole objects.
    """

    def decode_and_keep(raw: bytes, known: R | None) -> R:
        decoded = resource.decode(raw, known)
        if not wanted(decoded):
            return decoded
        return msgspec.structs.replace(decoded, _raw=KeptJson(_trimmed(raw)))

    return replace(resource, decode=decode_and_keep, struct=None)


def _trimmed(raw: bytes) -> bytes:
    """Remove kind and version, which lists leave out, and managedFields, which nothing reads."""
    members = _MEMBERS.decode(raw)
    metadata = _MEMBERS.decode(members["metadata"])
    metadata.pop("managedFields", None)
    members["metadata"] = msgspec.Raw(msgspec.json.encode(metadata))
    members.pop("kind", None)
    members.pop("apiVersion", None)
    return msgspec.json.encode(members)

"""Builds a core for each case and fills it with the objects of the case."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Protocol, TypeVar

import msgspec
from msgspec import Raw

from podium.api.meta import ApiObject
from podium.api.objects import (
    CSIDriver,
    CSINode,
    CSIStorageCapacity,
    DeviceClass,
    DeviceTaintRule,
    Namespace,
    Node,
    PersistentVolume,
    PersistentVolumeClaim,
    Pod,
    PodDisruptionBudget,
    ReplicaSet,
    ReplicationController,
    ResourceClaim,
    ResourceSlice,
    Service,
    StatefulSet,
    StorageClass,
    VolumeAttachment,
    decode,
)
from podium.config.load import default, from_value
from podium.config.model import Configuration
from podium.config.model import Profile as ProfileConfig
from podium.conformance.cases import Cluster
from podium.cycle.offline import OfflineCore
from podium.errors import InvalidObject, Problem
from podium.framework.event_rules import EventRules, event_rules
from podium.framework.events import POD_KINDS
from podium.framework.registry import Registry
from podium.legacy import VERSIONS
from podium.state.pod_info import PodInfo

T = TypeVar("T", bound=ApiObject)

# The kinds that podium reads, by their key in recordings, and by their name in events.
KINDS: Mapping[str, type[ApiObject]] = {
    "nodes": Node,
    "pods": Pod,
    "namespaces": Namespace,
    "services": Service,
    "replicationcontrollers": ReplicationController,
    "replicasets": ReplicaSet,
    "statefulsets": StatefulSet,
    "pvs": PersistentVolume,
    "pvcs": PersistentVolumeClaim,
    "storageclasses": StorageClass,
    "csinodes": CSINode,
    "csidrivers": CSIDriver,
    "csistoragecapacities": CSIStorageCapacity,
    "volumeattachments": VolumeAttachment,
    "pdbs": PodDisruptionBudget,
    "deviceclasses": DeviceClass,
    "resourceclaims": ResourceClaim,
    "resourceslices": ResourceSlice,
    "devicetaintrules": DeviceTaintRule,
}
RESOURCES: Mapping[str, type[ApiObject]] = {
    **{kind.__name__: kind for kind in KINDS.values()},
    **dict.fromkeys(POD_KINDS, Pod),
}


class Core(OfflineCore, Protocol):
    """A core with its configuration, which names the plugins it should have."""

    @property
    def configuration(self) -> Configuration: ...


class CoreBuilder:
    """Builds cores; equal configurations are read only once."""

    def __init__(self, registry: Registry, build: Callable[[Configuration], Core]) -> None:
        self._registry = registry
        self._build = build
        self._configurations: dict[bytes, Configuration] = {}

    @property
    def events(self) -> EventRules:
        """Return the names and registrations of events in the release that the cores behave as."""
        return event_rules(self._registry.release)

    def core(self, config: Mapping[str, Any] | None) -> Core:
        return self._build(self._configuration(config))

    def filled(self, config: Mapping[str, Any] | None, cluster: Cluster) -> Core:
        """Build a core with these objects; kinds that podium does not read are left out."""
        core = self.core(config)
        for obj in objects_of(cluster):
            feed(core, obj)
        return core

    def _configuration(self, config: Mapping[str, Any] | None) -> Configuration:
        key = msgspec.json.encode(config, order="sorted")
        found = self._configurations.get(key)
        if found is None:
            found = (
                default(self._registry)
                if config is None
                else from_value(config, self._registry, versions=VERSIONS)
            )
            self._configurations[key] = found
        return found


def unknown_kinds(cluster: Cluster) -> list[str]:
    """Return the kinds of objects in a recorded cluster that podium does not read."""
    return [kind for kind in cluster if kind not in KINDS]


def resource_kind(resource: str) -> type[ApiObject] | None:
    """Return the kind of an event's resource, such as ``storage.k8s.io/CSINode``."""
    return RESOURCES.get(resource.rpartition("/")[2])


def parse(kind: type[T], raw: Raw) -> T:
    return decode(kind, bytes(raw))


def check_profile(core: Core, pod: Pod) -> None:
    """Raise unless one of the core's profiles schedules this pod."""
    if pod.scheduler_name not in core.profiles:
        reason = f'no profile is named "{pod.scheduler_name}"'
        raise InvalidObject("Pod", pod.key, [Problem("spec.schedulerName", reason)])


def feed(core: Core, obj: ApiObject) -> None:
    """Add or update one object, as a watch event would."""
    if isinstance(obj, Node):
        core.cluster.set_node(obj)
    elif not isinstance(obj, Pod):
        core.cluster.set_object(obj)
    elif obj.has_ended:
        return  # the scheduler does not watch it
    elif obj.node_name:
        core.cluster.add_pod(obj)
    elif obj.scheduler_name in core.profiles:  # nominations of other schedulers do not count
        core.nominator.add(PodInfo(obj, core.cluster.request_rule))


def profile_config(core: Core, pod: Pod) -> ProfileConfig:
    """Return the configured profile that schedules this pod, with its absent plugins."""
    profiles = core.configuration.profiles
    return next(found for found in profiles if found.scheduler_name == pod.scheduler_name)


def objects_of(cluster: Cluster) -> Iterator[ApiObject]:
    """Yield the objects of the kinds that podium reads."""
    for key, kind in KINDS.items():
        for raw in cluster.get(key, ()):
            yield parse(kind, raw)

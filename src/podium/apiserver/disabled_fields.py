"""Fields that a server knows and drops, since their feature gate is off.

Whoever wrote such a field owns it nevertheless, as in a real server.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from podium.apiserver.kinds.api_kind import ApiKind
from podium.apiserver.schemas import ANYTHING, Schema
from podium.apiserver.statuses import Json
from podium.release import V1_36, V1_37, Release

# The fields to drop, by the names of their types.
DISABLED: Mapping[Release, Mapping[str, tuple[str, ...]]] = {
    V1_36: {
        "core.v1.PodSpec": ("schedulingGroup",),
        "resource.v1.Device": ("nodeAllocatableResourceMappings",),
        "resource.v1.DeviceAttribute": ("bools", "ints", "strings", "versions"),
        "storage.v1.CSIDriverSpec": ("preventPodSchedulingIfMissing",),
    },
    V1_37: {
        "batch.v1.JobSpec": ("scheduling",),
        "core.v1.ClusterTrustBundleProjection": ("user",),
        "core.v1.ConfigMapVolumeSource": ("defaultUser",),
        "core.v1.DownwardAPIVolumeFile": ("user",),
        "core.v1.DownwardAPIVolumeSource": ("defaultUser",),
        "core.v1.EmptyDirVolumeSource": ("mode",),
        "core.v1.GRPCAction": ("mode",),
        "core.v1.HTTPGetAction": ("protocol",),
        "core.v1.KeyToPath": ("user",),
        "core.v1.NodeSpec": ("podPreemptionPolicy",),
        "core.v1.PersistentVolumeClaimStatus": ("healthStatus",),
        "core.v1.PodCertificateProjection": ("user",),
        "core.v1.PodSpec": ("evictionResponders", "schedulingGroup"),
        "core.v1.PodStatus": ("volumeHealth",),
        "core.v1.ProjectedVolumeSource": ("defaultUser",),
        "core.v1.SecretVolumeSource": ("defaultUser",),
        "core.v1.ServiceAccountTokenProjection": ("user",),
        "core.v1.VolumeMount": ("bindMountOptions",),
        "resource.v1.Device": ("nodeAllocatableResources",),
        "resource.v1.DeviceAttribute": ("bools", "ints", "strings", "versions"),
        "resource.v1.DeviceCounterConsumption": ("compatibilityGroups",),
        "resource.v1.DeviceRequestAllocationResult": ("skipNodeOperations",),
        "resource.v1.DeviceSubRequest": ("derivedAttributes",),
        "resource.v1.ExactDeviceRequest": ("derivedAttributes",),
        "resource.v1.ResourceSliceSpec": ("partitionTypeAttribute", "skipNodeOperations"),
        "storage.v1.CSINodeStatus": ("storageHealth",),
    },
}

# The gates of fields that `podium up` can turn on.
GATES: Mapping[tuple[str, str], str] = {
    ("core.v1.PodSpec", "schedulingGroup"): "GenericWorkload",
    ("batch.v1.JobSpec", "scheduling"): "WorkloadWithJob",
}

# Where such fields are inside an object, without the indices of lists; None is a field to drop.
# In a tree of a map there is only _ANY_KEY.
_ANY_KEY = "*"
Tree = dict[str, "Tree | None"]


def drop_disabled(kind: ApiKind, obj: Json) -> None:
    """Remove these fields from an object of a built-in kind, in place."""
    _prune(obj, _tree(kind))


def _prune(value: Any, tree: Tree) -> None:
    if isinstance(value, list):
        for one in value:
            _prune(one, tree)
    elif isinstance(value, dict) and _ANY_KEY in tree:
        for one in value.values():
            _prune(one, tree[_ANY_KEY] or {})
    elif isinstance(value, dict):
        for name, below in tree.items():
            if name not in value:
                continue
            if below is None:
                del value[name]
            else:
                _prune(value[name], below)


@cache
def _tree(kind: ApiKind) -> Tree:
    disabled = {
        name: tuple(field for field in fields if GATES.get((name, field)) not in kind.features)
        for name, fields in DISABLED[kind.release].items()
    }
    return _below(kind.schema, disabled, ())


def _below(schema: Schema, fields: Mapping[str, tuple[str, ...]], inside: tuple[str, ...]) -> Tree:
    """Return the tree of a type. Types inside themselves, such as JSON schemas, are left out."""
    if schema.items is not None:
        return _below(schema.items, fields, inside)
    if schema.additional is not None and schema.additional is not ANYTHING:
        below = _below(schema.additional, fields, inside)
        return {_ANY_KEY: below} if below else {}
    if schema.name and schema.name in inside:
        return {}
    dropped = fields.get(schema.name.removeprefix("io.k8s.api."), ())
    found: Tree = dict.fromkeys(dropped)
    for name, one in schema.properties.items():
        if name not in dropped and (below := _below(one, fields, (*inside, schema.name))):
            found[name] = below
    return found

"""The nodes and pods that an operation creates, and the objects that belong to them.

A node may have a CSINode. A pod may have its own volume claim, bound to its own volume, and
resource claims that are made from templates. It may be pinned to a node.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast

import msgspec

from podium.api.affinity import REQUIRED
from podium.api.claims import BIND_COMPLETED
from podium.api.meta import ObjectMeta
from podium.api.objects import (
    ApiObject,
    CSINode,
    Node,
    PersistentVolume,
    PersistentVolumeClaim,
    Pod,
    ResourceClaim,
    decode,
)
from podium.api.storage import CSINodeDriver, CSINodeSpec, VolumeNodeResources
from podium.bench.claims import claim_for, template_entries
from podium.bench.ops import CreateNodes, CreatePods
from podium.bench.templates import Fields, Template, Templates, uid

T = TypeVar("T")
# Creates an object that belongs to a pod, given as JSON.
Put = Callable[[type[ApiObject], bytes], None]

_IDENTITY_BY_SOURCE = {  # the field that identifies a volume of this kind
    "csi": "volumeHandle",
    "awsElasticBlockStore": "volumeID",
    "azureDisk": "diskName",
    "cinder": "volumeID",
    "gcePersistentDisk": "pdName",
}
_MIGRATED_PLUGINS = "storage.alpha.kubernetes.io/migrated-plugins"


def prepared(node: Node, op: CreateNodes, index: int) -> Node:
    """Return the node with the labels and amounts that the operation's strategies set."""
    replace = msgspec.structs.replace
    labels = {}
    if op.label_node_prepare_strategy is not None:
        values = op.label_node_prepare_strategy.values
        labels[op.label_node_prepare_strategy.label_key] = values[index % len(values)]
    if op.unique_node_label_strategy is not None:
        labels[op.unique_node_label_strategy.label_key] = f"value-{node.name}"
    if labels:
        metadata = replace(node.metadata, labels=node.labels | labels)
        node = replace(node, metadata=metadata)
    if op.node_allocatable_strategy is not None:
        amounts = op.node_allocatable_strategy.node_allocatable
        status = replace(node.status, allocatable=node.status.allocatable | amounts)
        node = replace(node, status=status)
    return node


def csi_node(node_name: str, op: CreateNodes) -> CSINode | None:
    """Return the CSINode that a kubelet would create, if the operation gives drivers to nodes."""
    strategy = op.node_allocatable_strategy
    if strategy is None or not (strategy.csi_node_allocatable or strategy.migrated_plugins):
        return None
    drivers = tuple(
        CSINodeDriver(name=driver, node_id=node_name, allocatable=VolumeNodeResources(limit.count))
        for driver, limit in strategy.csi_node_allocatable.items()
    )
    migrated = ",".join(strategy.migrated_plugins)
    annotations = {_MIGRATED_PLUGINS: migrated} if migrated else {}
    metadata = ObjectMeta(name=node_name, annotations=annotations)
    return CSINode(metadata=metadata, spec=CSINodeSpec(drivers))


@dataclass(frozen=True, slots=True)
class PodContext:
    """The objects that exist when pods are made.

    Volume claims of a namespace are numbered on from ``first_claim``. Resource claims are made from
    ``claim_templates`` (by key); without them, it is left to a controller.
    """

    node_names: Sequence[str] = ()
    first_claim: int = 0
    claim_templates: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


class PodMaker:
    """Makes the pods of one operation; objects that belong to a pod are created before it."""

    def __init__(
        self, op: CreatePods, templates: Templates, put: Put, context: PodContext | None = None
    ) -> None:
        context = context or PodContext()
        self.template = templates.get(op.pod_template_path, Pod, op.template_params, op.count)
        self.namespace = op.namespace
        self._put = put
        self._pins = itertools.cycle(context.node_names) if op.pin_in_turn else None
        self._storage = _storage_templates(op, templates)
        self._first_claim = context.first_claim
        self._batch_size = op.signature_batch_size
        entries = template_entries(self.template.part("spec"))
        keys = ((entry, f"{op.namespace}/{name}") for entry, name in entries)
        known = context.claim_templates
        self._claims = [(entry, known[key]) for entry, key in keys if key in known]

    def build(self, serial: int, index: int) -> Pod:
        """Return a new pod; it shares everything but its own fields with the other pods."""
        own = self._own(serial, index)
        if not own:
            return cast(Pod, self.template.build(serial, self.namespace, index=index))
        return decode(Pod, self.template.json(serial, self.namespace, own, index=index))

    def json(self, serial: int, index: int) -> bytes:
        """Return a new pod as the JSON that a watch would deliver."""
        return self.template.json(serial, self.namespace, self._own(serial, index), index=index)

    def _own(self, serial: int, index: int) -> Fields:
        """Return the fields in which this pod differs from the others, by part."""
        own: dict[str, dict[str, Any]] = {}
        spec = self._own_spec(serial, index)
        if spec:
            own["spec"] = spec
        if self._batch_size:
            signature = {"signature": f"signature-label-{index // self._batch_size}"}
            own["metadata"] = {"labels": (self.template.metadata.get("labels") or {}) | signature}
        if self._claims:
            own["status"] = {"resourceClaimStatuses": list(self._own_claims(serial, index))}
        return own

    def _own_claims(self, serial: int, index: int) -> Iterator[dict[str, str]]:
        """Create the claims that the pod has templates for; yield how its status names them."""
        name = self.template.name(serial, index)
        pod = {"metadata": {"name": name, "namespace": self.namespace, "uid": uid(serial)}}
        for entry, template in self._claims:
            claim = claim_for(pod, entry, template)
            claim["metadata"]["uid"] = f"{entry}-of-{uid(serial)}"
            self._put(ResourceClaim, msgspec.json.encode(claim))
            yield {"name": entry, "resourceClaimName": claim["metadata"]["name"]}

    def _own_spec(self, serial: int, index: int) -> dict[str, Any]:
        own: dict[str, Any] = {}
        spec = self.template.part("spec")
        if self._storage is not None:
            number = self._first_claim + index
            volume, claim = bound_pair(*self._storage, serial, self.namespace, number)
            self._put(PersistentVolume, volume)
            self._put(PersistentVolumeClaim, claim)
            mounted = {
                "name": "own",
                "persistentVolumeClaim": {"claimName": _claim_name(number)},
            }
            own["volumes"] = [*(spec.get("volumes") or ()), mounted]
        if self._pins is not None:
            own["affinity"] = (spec.get("affinity") or {}) | pinned_to(next(self._pins))
        return own


def bound_pair(
    volume: Template, claim: Template, serial: int, namespace: str, number: int
) -> tuple[bytes, bytes]:
    """Return a volume and a claim that are bound to each other, as JSON.

    Their names are those of scheduler_perf, because other templates may refer to them.
    """
    names = f"{namespace}-vol-{number}", _claim_name(number)
    bound = {"status": {"phase": "Bound"}}
    annotations = (claim.metadata.get("annotations") or {}) | {BIND_COMPLETED: "yes"}
    of_claim: Fields = bound | {
        "metadata": {"name": names[1], "annotations": annotations},
        "spec": {"volumeName": names[0]},
    }
    reference = {
        "kind": "PersistentVolumeClaim",
        "apiVersion": "v1",
        "namespace": namespace,
        "name": names[1],
        "uid": uid(serial),
    }
    of_volume: Fields = bound | {
        "metadata": {"name": names[0]},
        "spec": _identified(volume, names[0]) | {"claimRef": reference},
    }
    return volume.json(serial, "", of_volume), claim.json(serial, namespace, of_claim)


def _claim_name(number: int) -> str:
    return f"pvc-{number}"


def pinned_to(node_name: str) -> dict[str, Any]:
    """Return the affinity that a DaemonSet gives its pod for this node."""
    field = {"key": "metadata.name", "operator": "In", "values": [node_name]}
    required = {"nodeSelectorTerms": [{"matchFields": [field]}]}
    return {"nodeAffinity": {REQUIRED: required}}


def in_turn(counts: Sequence[tuple[T, int]]) -> Iterator[T]:
    """Yield each thing as often as its count says, one of each in turn."""
    for number in range(max((count for _, count in counts), default=0)):
        yield from (thing for thing, count in counts if number < count)


def _storage_templates(op: CreatePods, templates: Templates) -> tuple[Template, Template] | None:
    if not op.persistent_volume_template_path:
        return None
    return (
        templates.get(op.persistent_volume_template_path, PersistentVolume),
        templates.get(op.persistent_volume_claim_template_path, PersistentVolumeClaim),
    )


def _identified(volume: Template, name: str) -> dict[str, Any]:
    """Return the volume's source with its own identity; pods that share one would compete."""
    spec = volume.part("spec")
    return {
        source: spec[source] | {field: name}
        for source, field in _IDENTITY_BY_SOURCE.items()
        if spec.get(source) is not None
    }

"""The pods of an operation, and the objects that each of them brings along.

A pod may have a claim of its own, bound to a volume of its own, and a node it is pinned to.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar, cast

from podium.api.affinity import REQUIRED
from podium.api.claims import BIND_COMPLETED
from podium.api.objects import ApiObject, PersistentVolume, PersistentVolumeClaim, Pod, decode
from podium.bench.ops import CreatePods
from podium.bench.templates import Fields, Template, Templates, uid

T = TypeVar("T")
# Takes an object that a pod brings along, as JSON.
Put = Callable[[type[ApiObject], bytes], None]

_IDENTITY_BY_SOURCE = {  # which field tells one volume of a kind from the next
    "csi": "volumeHandle",
    "awsElasticBlockStore": "volumeID",
    "azureDisk": "diskName",
    "cinder": "volumeID",
    "gcePersistentDisk": "pdName",
}


class PodMaker:
    """Makes the pods of one operation; what a pod brings along is there before the pod."""

    def __init__(
        self,
        op: CreatePods,
        templates: Templates,
        put: Put,
        node_names: Sequence[str],
    ) -> None:
        self.template = templates.get(op.pod_template_path, Pod)
        self.namespace = op.namespace
        self._put = put
        self._pins = itertools.cycle(node_names) if op.pin_in_turn else None
        self._storage = _storage_templates(op, templates)

    def build(self, serial: int) -> Pod:
        """One more pod; what no pod has of its own is shared by all."""
        own = self._own(serial)
        if not own:
            return cast(Pod, self.template.build(serial, self.namespace))
        return decode(Pod, self.template.json(serial, self.namespace, {"spec": own}))

    def json(self, serial: int) -> bytes:
        """One more pod as a watch would deliver it."""
        own = self._own(serial)
        return self.template.json(serial, self.namespace, {"spec": own} if own else None)

    def _own(self, serial: int) -> dict[str, Any]:
        """What of the spec this pod has for itself."""
        own: dict[str, Any] = {}
        spec = self.template.part("spec")
        if self._storage is not None:
            volume, claim = bound_pair(*self._storage, serial, self.namespace)
            self._put(PersistentVolume, volume)
            self._put(PersistentVolumeClaim, claim)
            source = {"claimName": self._storage[1].name(serial)}
            mounted = {"name": "own", "persistentVolumeClaim": source}
            own["volumes"] = [*(spec.get("volumes") or ()), mounted]
        if self._pins is not None:
            own["affinity"] = (spec.get("affinity") or {}) | pinned_to(next(self._pins))
        return own


def bound_pair(
    volume: Template, claim: Template, serial: int, namespace: str
) -> tuple[bytes, bytes]:
    """A volume and a claim that are bound to one another, as JSON."""
    bound = {"status": {"phase": "Bound"}}
    annotations = (claim.metadata.get("annotations") or {}) | {BIND_COMPLETED: "yes"}
    of_claim: Fields = bound | {
        "metadata": {"annotations": annotations},
        "spec": {"volumeName": volume.name(serial)},
    }
    reference = {
        "kind": "PersistentVolumeClaim",
        "apiVersion": "v1",
        "namespace": namespace,
        "name": claim.name(serial),
        "uid": uid(serial),
    }
    of_volume: Fields = bound | {"spec": _identified(volume, serial) | {"claimRef": reference}}
    return volume.json(serial, "", of_volume), claim.json(serial, namespace, of_claim)


def pinned_to(node_name: str) -> dict[str, Any]:
    """The affinity that a DaemonSet gives its pod for this node."""
    field = {"key": "metadata.name", "operator": "In", "values": [node_name]}
    required = {"nodeSelectorTerms": [{"matchFields": [field]}]}
    return {"nodeAffinity": {REQUIRED: required}}


def in_turn(counts: Sequence[tuple[T, int]]) -> Iterator[T]:
    """Each thing as often as its count says, one of each in turn while it lasts."""
    for number in range(max((count for _, count in counts), default=0)):
        yield from (thing for thing, count in counts if number < count)


def _storage_templates(op: CreatePods, templates: Templates) -> tuple[Template, Template] | None:
    if not op.persistent_volume_template_path:
        return None
    return (
        templates.get(op.persistent_volume_template_path, PersistentVolume),
        templates.get(op.persistent_volume_claim_template_path, PersistentVolumeClaim),
    )


def _identified(volume: Template, serial: int) -> dict[str, Any]:
    """The volume's source, which is its own: pods that share one compete for it."""
    spec, name = volume.part("spec"), volume.name(serial)
    return {
        source: spec[source] | {field: name}
        for source, field in _IDENTITY_BY_SOURCE.items()
        if spec.get(source) is not None
    }

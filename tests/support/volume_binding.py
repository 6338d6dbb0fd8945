"""VolumeBinding on a small cluster, and a slow model of its Filter."""

from typing import Any

from podium import framework as fwk
from podium.api import quantity
from podium.api.claims import class_name
from podium.api.objects import (
    CSIDriver,
    CSIStorageCapacity,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
)
from podium.api.selectors import label_selector, node_selector
from podium.plugins.volume.binding import ScoringVolumeBinding, VolumeBinding
from podium.plugins.volume.binding.decision import NO_SPACE, NO_VOLUME, VOLUME_GONE, WRONG_NODE
from podium.testing.builders import node, pod
from podium.testing.handle import FakeHandle
from tests.support.storage import BOUND, HOST, SELECTED, ZONE, uses

NODES = {"a": "z1", "b": "z2", "c": ""}


def nodes() -> list[Any]:
    """a in z1, b in z2 and c nowhere; each with its hostname."""
    return [
        node(name, labels={HOST: name, **({ZONE: zone} if zone else {})})
        for name, zone in NODES.items()
    ]


class Trial:
    """``Trial(storage_class(), claim("data"), volume("pv")).verdicts("data")``."""

    def __init__(self, *objects: Any, **args: Any) -> None:
        self.handle = FakeHandle(*nodes(), *objects)
        self.cluster = self.handle.state
        kind = ScoringVolumeBinding if "shape" in args else VolumeBinding
        self.plugin = kind(kind.Args(**args), self.handle)
        self.handle.use(self.plugin)
        self.state = fwk.CycleState()

    def pre_filter(self, pod: Any) -> fwk.Status:
        answer = self.plugin.pre_filter(self.state, pod, self.handle.rows)
        assert answer is None or isinstance(answer, fwk.Status)
        return answer or fwk.SUCCESS

    def verdicts(self, *claims: str) -> dict[str, tuple[str, ...]]:
        """The reasons against each node, asked for one and for all; none for one that will do."""
        asking = pod("web", volumes=uses(*claims))
        status = self.pre_filter(asking)
        assert status.ok, status
        one_by_one = [self.plugin.filter(self.state, asking, each) for each in self.handle.rows]
        assert list(self.plugin.filter_all(self.state, asking, self.handle.rows)) == one_by_one
        return dict(zip(self.handle.rows.names, (s.reasons for s in one_by_one), strict=True))

    def feasible(self, *claims: str) -> str:
        """The names of the nodes that will do, in one word."""
        return "".join(name for name, reasons in self.verdicts(*claims).items() if not reasons)

    def reserve(self, node_name: str, *claims: str) -> fwk.Status:
        """Take the volumes for a pod called web, which is assumed on the node."""
        asking = pod("web", volumes=uses(*claims))
        self.state = fwk.CycleState()
        status = self.pre_filter(asking)
        assert status.ok or status.is_skip, status
        return self.plugin.reserve(self.state, asking, node_name) or fwk.SUCCESS


def reasons(cluster, names, node):
    """Why the claims with these names cannot be served on the node; no in-tree volumes."""
    claims = [cluster.objects(PersistentVolumeClaim).get(f"default/{n}") for n in names]
    found = [_bound_reason(cluster, [c for c in claims if BOUND in c.annotations], node)]
    found.append(_open_reason(cluster, [c for c in claims if BOUND not in c.annotations], node))
    order = (WRONG_NODE, NO_VOLUME, NO_SPACE, VOLUME_GONE)
    return tuple(reason for reason in order if reason in found)


def _bound_reason(cluster, claims, node):
    for claim in claims:
        volume = cluster.objects(PersistentVolume).get(claim.spec.volume_name)
        if volume is None:
            return VOLUME_GONE
        if not _is_on(volume, node):
            return WRONG_NODE
    return ""


def _open_reason(cluster, claims, node):
    if any(claim.annotations.get(SELECTED, node.name) != node.name for claim in claims):
        return NO_VOLUME
    to_provision = [claim for claim in claims if SELECTED in claim.annotations]
    taken = set()
    for claim in sorted(claims, key=_requested):
        if SELECTED in claim.annotations:
            continue
        volume = _match(cluster, claim, node, taken)
        if volume is None:
            to_provision.append(claim)
        else:
            taken.add(volume.name)
    for claim in to_provision:
        if reason := _provision_reason(cluster, claim, node):
            return reason
    return ""


def _match(cluster, claim, node, taken):
    fitting = []
    for volume in cluster.objects(PersistentVolume):
        ref = volume.spec.claim_ref
        if volume.name in taken or class_name(volume) != class_name(claim):
            continue
        if ref is not None and (ref.name != claim.name or ref.uid not in ("", claim.uid)):
            continue
        if _capacity(volume) < _requested(claim):
            continue
        if ref is not None:
            return volume if _is_on(volume, node) else None
        offers_all = set(claim.spec.access_modes) <= set(volume.spec.access_modes)
        if volume.status.phase == "Available" and _is_on(volume, node) and offers_all:
            fitting.append(volume)
    return min(fitting, key=_capacity, default=None)


def _provision_reason(cluster, claim, node):
    wanted = cluster.objects(StorageClass).get(class_name(claim))
    if wanted.provisioner == "kubernetes.io/no-provisioner":
        return NO_VOLUME
    terms = wanted.allowed_topologies
    allowed = [
        all(node.labels.get(each.key) in each.values for each in term.match_label_expressions)
        for term in terms
    ]
    if terms and not any(allowed):
        return NO_VOLUME
    driver = cluster.objects(CSIDriver).get(wanted.provisioner)
    if driver is None or not driver.spec.storage_capacity:
        return ""
    for pool in cluster.objects(CSIStorageCapacity):
        has_room = pool.capacity is not None and quantity.parse(pool.capacity) >= _requested(claim)
        is_near = label_selector(pool.node_topology).matches(node.labels)
        if pool.storage_class_name == wanted.name and has_room and is_near:
            return ""
    return NO_SPACE


def _is_on(volume, node):
    affinity = volume.spec.node_affinity
    return affinity is None or node_selector(affinity.required).matches(node.labels, "")


def _requested(claim):
    return quantity.parse(claim.spec.resources.requests["storage"])


def _capacity(volume):
    return quantity.parse(volume.spec.capacity["storage"])

"""Filter's rule once more, as plainly as it can be said: node by node, volume by volume."""

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
from podium.plugins.volume.binding.decision import NO_SPACE, NO_VOLUME, VOLUME_GONE, WRONG_NODE
from tests.support.claims import BOUND, SELECTED


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

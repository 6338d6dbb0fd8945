"""Which claim or volume of a pod keeps it off a node, and which pods are in the way."""

from __future__ import annotations

from collections.abc import Iterator

from podium.api import quantity
from podium.api.claims import claim_key, class_name, named_claims
from podium.api.disks import disks_of, storage_volumes
from podium.api.nodes import HOSTNAME
from podium.api.objects import PersistentVolume, PersistentVolumeClaim, StorageClass
from podium.errors import PodiumError
from podium.explain.amounts import MOST_HOLDERS, holder, listed
from podium.explain.case import Case
from podium.explain.shortfalls.nodes import requirement_text
from podium.explain.values import Shortfall
from podium.framework.status import Status
from podium.plugins.volume.binding.decision import NO_SPACE, VOLUME_GONE, WRONG_NODE
from podium.plugins.volume.binding.pod_claims import BoundVolume, PodClaims
from podium.plugins.volume.binding.provisioning import NO_PROVISIONER
from podium.plugins.volume.binding.reach import Reach, of_volume
from podium.plugins.volume.topology import is_inside, topologies_of
from podium.plugins.volume.volume_restrictions import count_rivals
from podium.state.pod_info import PodInfo

Pair = tuple[PersistentVolumeClaim, PersistentVolume | None]


def claims_of(case: Case) -> Iterator[PersistentVolumeClaim]:
    """Yield the claims of the pod that exist."""
    store = case.cluster.objects(PersistentVolumeClaim)
    for named in named_claims(case.pod):
        claim = store.get(claim_key(case.pod.namespace, named.name))
        if claim is not None:
            yield claim


def bound_pairs(case: Case) -> Iterator[Pair]:
    """Yield the bound claims of the pod, each with its volume; ``None`` if that is gone."""
    for claim in claims_of(case):
        if claim.spec.volume_name:
            yield claim, case.cluster.objects(PersistentVolume).get(claim.spec.volume_name)


# --- VolumeBinding --------------------------------------------------------------------------------


def unreachable(case: Case, status: Status, row: int) -> list[Shortfall]:
    found: list[Shortfall] = []
    for message in status.reasons:
        if message == WRONG_NODE:
            found += _wrong_node(case, message, row)
        elif message == VOLUME_GONE:
            found += _gone(case, message)
        else:
            found += _not_served(case, message)
    return found


def _wrong_node(case: Case, message: str, row: int) -> Iterator[Shortfall]:
    node = case.node(row)
    for claim, volume in bound_pairs(case):
        if volume is None or _is_usable(case, volume, row):
            continue
        needs = reach_text(of_volume(volume))
        yield Shortfall(
            "VolumeNodeAffinityConflict",
            "VolumeBinding",
            message,
            f"volume {volume.name} of claim {claim.name} can only be used where {needs}",
            {"claim": claim.key, "volume": volume.name, "requires": needs, "node": node.name},
        )


def _is_usable(case: Case, volume: PersistentVolume, row: int) -> bool:
    try:
        return BoundVolume.of(case.cluster.view, volume).is_usable_on(case.node(row))
    except PodiumError:  # an invalid volume: its error is the message of the status
        return True


def _gone(case: Case, message: str) -> Iterator[Shortfall]:
    for claim, volume in bound_pairs(case):
        if volume is None:
            name = claim.spec.volume_name
            text = f"claim {claim.name} is bound to volume {name}, which does not exist"
            details = {"claim": claim.key, "volume": name}
            yield Shortfall("VolumeNotFound", "VolumeBinding", message, text, details)


def _is_provisioned(case: Case, claim: PersistentVolumeClaim) -> bool:
    """Return whether a volume can be made for the claim on any node."""
    wanted = case.cluster.objects(StorageClass).get(class_name(claim))
    if wanted is None or wanted.provisioner in ("", NO_PROVISIONER):
        return False
    return not wanted.allowed_topologies


def _not_served(case: Case, message: str) -> Iterator[Shortfall]:
    claims = case.kept(PodClaims)
    waiting = () if claims is None else (*claims.selected, *claims.unmatched)
    if message != NO_SPACE:  # some volumes can be made there, and are not what is missing
        without = tuple(each for each in waiting if not _is_provisioned(case, each.claim))
        waiting = without or waiting
    for delayed in waiting:
        claim, size = delayed.claim, delayed.claim.spec.resources.requests.get("storage", "0")
        name = class_name(claim)
        if message == NO_SPACE:
            code, text = (
                "InsufficientStorage",
                f"storage class {name} has less than {size} left there for claim {claim.name}",
            )
        else:
            code, text = (
                "NoVolumeToBind",
                f"claim {claim.name} ({size} of class {name}) has no volume to use there",
            )
        details = {"claim": claim.key, "storageClass": name, "storage": quantity.canonical(size)}
        yield Shortfall(code, "VolumeBinding", message, text, details)


def reach_text(reach: Reach) -> str:
    """Return the demands on a node's labels in kubectl's notation."""
    parts = [",".join(map(requirement_text, part)) for part in reach.alternatives]
    return " or ".join(part or "any node" for part in parts) or "no node"


# --- VolumeZone -----------------------------------------------------------------------------------


def outside_zone(case: Case, status: Status, row: int) -> list[Shortfall]:
    labels, found = case.node(row).labels, []
    for claim, volume in bound_pairs(case):
        topologies = [] if volume is None else topologies_of(volume)
        for each in topologies:
            if volume is not None and not is_inside(labels, (each,)):
                zones = listed(sorted(each.values))
                text = f"volume {volume.name} of claim {claim.name} is in {each.key}={zones}"
                details = {
                    "claim": claim.key, "volume": volume.name, "key": each.key,
                    "values": sorted(each.values), "node": labels.get(each.key),
                }  # fmt: skip
                found.append(
                    Shortfall("VolumeZoneConflict", status.plugin, status.message, text, details)
                )
    return found


def labels_of_volumes(case: Case) -> dict[str, str]:
    """Return labels of a node that could use the pod's volumes, as far as labels decide that.

    They are none if no node is refused because of its place.
    """
    refused = frozenset() if case.verdicts is None else case.verdicts.refused.keys()
    labels: dict[str, str] = {}
    if not refused & {"VolumeBinding", "VolumeZone"}:
        return labels
    for claim in claims_of(case):
        volume = case.cluster.objects(PersistentVolume).get(claim.spec.volume_name)
        storage_class = case.cluster.objects(StorageClass).get(class_name(claim))
        if volume is not None:
            labels |= {each.key: min(each.values) for each in topologies_of(volume)}
            for part in of_volume(volume).alternatives[:1]:
                labels |= {each.key: each.values[0] for each in part if each.operator == "In"}
        elif storage_class is not None:
            for term in storage_class.allowed_topologies[:1]:
                labels |= {
                    each.key: each.values[0] for each in term.match_label_expressions if each.values
                }
    return {} if HOSTNAME in labels else labels


# --- VolumeRestrictions ---------------------------------------------------------------------------


def in_use(case: Case, status: Status, row: int) -> list[Shortfall]:
    rivals = disk_rivals(case, row) if "disk" in status.message else claim_rivals(case)
    if not rivals:
        return []
    code = "DiskConflict" if "disk" in status.message else "ClaimInUse"
    what = "the same disk" if code == "DiskConflict" else "its ReadWriteOncePod claim"
    text = f"{listed(info.key for info in rivals)} uses {what}"
    holders = tuple(map(holder, rivals[:MOST_HOLDERS]))
    return [Shortfall(code, status.plugin, status.message, text, {}, holders)]


def disk_rivals(case: Case, row: int) -> list[PodInfo]:
    """Return the pods on a node that use a disk of the pod."""
    disks = tuple(disks_of(storage_volumes(case.pod)))
    return [info for info in case.node(row).pods if count_rivals(disks, info.volumes)]


def claim_rivals(case: Case) -> list[PodInfo]:
    """Return the pods that use a ReadWriteOncePod claim of the pod."""
    alone = {each.key for each in claims_of(case) if "ReadWriteOncePod" in each.spec.access_modes}
    rows = {row for key in alone for row in case.cluster.storage.claims.users(key).items()}
    return [
        info
        for row in sorted(rows)
        for info in case.cluster.table.pods[row].values()
        if alone & {claim_key(info.pod.namespace, each.name) for each in named_claims(info.pod)}
    ]


# --- NodeVolumeLimits -----------------------------------------------------------------------------


def too_many(case: Case, status: Status, row: int) -> list[Shortfall]:
    if "max volume count" not in status.message:
        return []
    storage, pod = case.cluster.storage, case.pod
    found = []
    wanted: dict[str, int] = {}
    for volume in set(storage.claims.volumes_of(pod, storage_volumes(pod))):
        wanted[volume.driver] = wanted.get(volume.driver, 0) + 1
    for driver, count in sorted(wanted.items()):
        there, most = int(storage.attached.counts(driver)[row]), int(storage.limits(driver)[row])
        if there + count > most:
            text = f"it has {there} volumes of {driver} and can have {most}; the pod brings {count}"
            details = {"driver": driver, "volumes": there, "limit": most, "wanted": count}
            holders = tuple(holder(info) for info in case.node(row).pods if info.volumes)
            found.append(
                Shortfall(
                    "TooManyVolumes",
                    status.plugin,
                    status.message,
                    text,
                    details,
                    holders[:MOST_HOLDERS],
                )
            )
    return found

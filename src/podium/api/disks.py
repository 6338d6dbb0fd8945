"""The storage among a pod's volumes, and the disks that pods name directly."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator

from podium.api.objects import ISCSI, RBD, AWSElasticBlockStore, GCEPersistentDisk, Pod, Volume

Disk = GCEPersistentDisk | AWSElasticBlockStore | ISCSI | RBD


def storage_volumes(pod: Pod) -> tuple[Volume, ...]:
    """Return the claims and disks among the pod's volumes."""
    volumes = pod.spec.volumes
    return tuple([volume for volume in volumes if volume.is_storage]) if volumes else ()


def disks_of(volumes: Iterable[Volume]) -> Iterator[Disk]:
    for volume in volumes:
        for disk in (
            volume.gce_persistent_disk,
            volume.aws_elastic_block_store,
            volume.iscsi,
            volume.rbd,
        ):
            if disk is not None:
                yield disk


def disk_name(disk: Disk) -> Hashable:
    """Return what two disks that are the same have in common."""
    match disk:
        case GCEPersistentDisk():
            return ("gce", disk.pd_name)
        case AWSElasticBlockStore():
            return ("ebs", disk.volume_id)
        case ISCSI():
            return ("iscsi", disk.iqn)
        case RBD():
            return ("rbd", disk.pool, disk.image)

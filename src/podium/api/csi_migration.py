"""The CSI drivers and handles of in-tree volumes that were migrated to CSI."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit

from podium.api.nodes import BETA_ZONE, ZONE
from podium.api.storage import PersistentVolume
from podium.api.volumes import Volume, VolumeSources

_ZONES: Final = (BETA_ZONE, ZONE)
_EBS_ID: Final = re.compile(r"vol-[^/]*")


class VolumeId(NamedTuple):
    """Identifies a volume for limits: it counts once per node, however many pods use it."""

    driver: str
    handle: str


def migrated_driver(sources: VolumeSources) -> str | None:
    """Return the CSI driver that serves this in-tree volume now, if there is one."""
    plugin = _plugin_of(sources)
    return None if plugin is None else plugin.driver


def counted_driver(provisioner: str) -> str | None:
    """Return the driver whose limit applies to volumes of this provisioner."""
    plugin = _PLUGINS.get(provisioner)
    if plugin is None:
        return provisioner
    return None if plugin.handle is None else plugin.driver


def inline_id(volume: Volume) -> VolumeId | None:
    """Identify a volume written in a pod; ``None`` except for migrated in-tree volumes."""
    return _in_tree_id(volume, "")


def persistent_id(volume: PersistentVolume) -> VolumeId | None:
    """Identify a persistent volume; ``None`` if no CSI driver attaches it."""
    csi = volume.spec.csi
    if csi is not None:
        found: VolumeId | None = VolumeId(csi.driver, csi.volume_handle)
    else:
        zones = next((volume.labels[key] for key in _ZONES if volume.labels.get(key)), "")
        found = _in_tree_id(volume.spec, zones)
    return found if found and all(found) else None


def _plugin_of(sources: VolumeSources) -> _Plugin | None:
    return next((p for p in _PLUGINS.values() if p.source(sources) is not None), None)


def _in_tree_id(sources: VolumeSources, zones: str) -> VolumeId | None:
    plugin = _plugin_of(sources)
    if plugin is None or plugin.handle is None:
        return None
    handle = plugin.handle(plugin.source(sources), zones)
    return None if handle is None else VolumeId(plugin.driver, handle)


def _gce_handle(disk: Any, zones: str) -> str | None:
    """Return a handle with the disk's zone, its zones' region, or neither if unknown."""
    location: str | None = f"zones/{zones or 'UNSPECIFIED'}"
    if "__" in zones:
        parts = [zone.split("-") for zone in zones.split("__")]
        regions = {tuple(part[:2]) for part in parts}
        shared = len(regions) == 1 and all(len(part) == 3 for part in parts)
        location = f"regions/{'-'.join(regions.pop())}" if shared else None
    return location and f"projects/UNSPECIFIED/{location}/disks/{disk.pd_name}"


def _ebs_handle(disk: Any, zones: str) -> str | None:
    """Return ``vol-1`` for ``aws://zone/vol-1``; any other text unchanged."""
    if not disk.volume_id.startswith("aws://"):
        return str(disk.volume_id)
    try:
        bare = urlsplit(disk.volume_id).path.strip("/")
    except ValueError:
        return None
    return bare if _EBS_ID.fullmatch(bare) else None


def _azure_handle(disk: Any, zones: str) -> str | None:
    """Return the handle of a managed disk; the driver serves no others."""
    return disk.disk_uri if disk.kind.lower() in ("", "managed") else None


class _Plugin(NamedTuple):
    """An in-tree plugin; without ``handle`` no limit applies to its volumes."""

    driver: str
    source: Callable[[VolumeSources], Any]
    handle: Callable[[Any, str], str | None] | None = None


_PLUGINS: Final[Mapping[str, _Plugin]] = {
    "kubernetes.io/gce-pd": _Plugin(
        "pd.csi.storage.gke.io", lambda sources: sources.gce_persistent_disk, _gce_handle
    ),
    "kubernetes.io/aws-ebs": _Plugin(
        "ebs.csi.aws.com", lambda sources: sources.aws_elastic_block_store, _ebs_handle
    ),
    "kubernetes.io/azure-disk": _Plugin(
        "disk.csi.azure.com", lambda sources: sources.azure_disk, _azure_handle
    ),
    "kubernetes.io/azure-file": _Plugin("file.csi.azure.com", lambda sources: sources.azure_file),
    "kubernetes.io/cinder": _Plugin(
        "cinder.csi.openstack.org", lambda sources: sources.cinder, lambda disk, _: disk.volume_id
    ),
    "kubernetes.io/vsphere-volume": _Plugin(
        "csi.vsphere.vmware.com", lambda sources: sources.vsphere_volume
    ),
    "kubernetes.io/portworx-volume": _Plugin(
        "pxd.portworx.com", lambda sources: sources.portworx_volume, lambda disk, _: disk.volume_id
    ),
}

DRIVERS: Final[Mapping[str, str]] = {name: plugin.driver for name, plugin in _PLUGINS.items()}
"""In-tree plugins and the CSI drivers that serve their volumes now."""

"""VolumeAttachments, each resolved to the row of its node and to its CSI volume."""

from __future__ import annotations

from collections.abc import Iterable

from podium.api.csi_migration import VolumeId
from podium.api.objects import PersistentVolume, VolumeAttachment
from podium.state.attached_volumes import AttachedVolumes
from podium.state.node_table import NodeTable
from podium.state.objects import ObjectStore

_Attached = tuple[int, VolumeId]  # the row, and the volume that is attached there


class Attachments:
    """Keeps the attachments counted in ``AttachedVolumes`` while nodes and volumes change.

    Invariants: ``_counted`` has exactly those attachments whose node and volume are known, with
    what was added to ``attached`` for them. ``_by_node`` and ``_by_volume`` have the keys of all
    attachments, counted or not, by the names that they refer to.
    """

    def __init__(
        self,
        attached: AttachedVolumes,
        table: NodeTable,
        attachments: ObjectStore[VolumeAttachment],
        volumes: ObjectStore[PersistentVolume],
    ) -> None:
        self._attached = attached
        self._table = table
        self._attachments = attachments
        self._volumes = volumes
        self._counted: dict[str, _Attached] = {}  # by key of the attachment
        self._by_node: dict[str, dict[str, None]] = {}
        self._by_volume: dict[str, dict[str, None]] = {}

    def attachment_changed(
        self, old: VolumeAttachment | None, new: VolumeAttachment | None
    ) -> list[int]:
        """Take note of a new, changed or deleted attachment; return the rows that this changes."""
        for attachment, known in ((old, False), (new, True)):
            if attachment is not None:
                node, volume = attachment.spec.node_name, _volume_name(attachment)
                _update_index(self._by_node, node, attachment.key, known)
                _update_index(self._by_volume, volume, attachment.key, known)
        changed = new or old
        return self._resolve_again((changed.key,)) if changed is not None else []

    def node_changed(self, name: str) -> None:
        """Resolve the attachments of a node that joined or left."""
        self._resolve_again(self._by_node.get(name, ()))

    def volume_changed(self, name: str) -> list[int]:
        """Resolve the attachments of this volume again; return the rows that this changes."""
        return self._resolve_again(self._by_volume.get(name, ()))

    def _resolve_again(self, keys: Iterable[str]) -> list[int]:
        changed: list[int] = []
        for key in keys:
            before, after = self._counted.pop(key, None), self._resolve(key)
            if after is not None:
                self._counted[key] = after
            if before == after:
                continue
            for attached, amount in ((before, -1), (after, 1)):
                if attached is not None:
                    row, volume = attached
                    self._attached.attach(volume, row, amount)
                    changed.append(row)
        return changed

    def _resolve(self, key: str) -> _Attached | None:
        attachment = self._attachments.get(key)
        if attachment is None or not attachment.spec.attacher:
            return None
        row = self._table.live_row(attachment.spec.node_name)
        volume = self._volumes.get(_volume_name(attachment))
        if row is None or volume is None or volume.spec.csi is None:
            return None
        return row, VolumeId(attachment.spec.attacher, volume.spec.csi.volume_handle)


def _volume_name(attachment: VolumeAttachment) -> str:
    return attachment.spec.source.persistent_volume_name or ""


def _update_index(index: dict[str, dict[str, None]], name: str, key: str, known: bool) -> None:
    """Add the key under this name, or remove it if it is not known any more."""
    keys = index.setdefault(name, {})
    if known:
        keys[key] = None
    else:
        keys.pop(key, None)
    if not keys:
        del index[name]

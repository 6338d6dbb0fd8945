"""VolumeAttachments, each followed to the row of its node and to its volume."""

from __future__ import annotations

from collections.abc import Iterable

from podium.api.csi_migration import VolumeId
from podium.api.objects import PersistentVolume, VolumeAttachment
from podium.state.attached_volumes import AttachedVolumes
from podium.state.node_table import NodeTable
from podium.state.objects import Store

_Place = tuple[int, VolumeId]


class Attachments:
    """What each attachment counts as, kept up with nodes, volumes and attachments."""

    def __init__(
        self,
        attached: AttachedVolumes,
        table: NodeTable,
        attachments: Store[VolumeAttachment],
        volumes: Store[PersistentVolume],
    ) -> None:
        self._attached = attached
        self._table = table
        self._attachments = attachments
        self._volumes = volumes
        self._places: dict[str, _Place] = {}  # what is counted, by attachment
        self._by_node: dict[str, dict[str, None]] = {}
        self._by_volume: dict[str, dict[str, None]] = {}

    def attachment_changed(
        self, old: VolumeAttachment | None, new: VolumeAttachment | None
    ) -> list[int]:
        """Follow it anew; returns the rows where that makes a difference."""
        for attachment, known in ((old, False), (new, True)):
            if attachment is not None:
                node, volume = attachment.spec.node_name, _volume_name(attachment)
                _file(self._by_node, node, attachment.key, known)
                _file(self._by_volume, volume, attachment.key, known)
        changed = new or old
        return self._follow_again((changed.key,)) if changed is not None else []

    def node_changed(self, name: str) -> None:
        """The node came or went."""
        self._follow_again(self._by_node.get(name, ()))

    def volume_changed(self, name: str) -> list[int]:
        return self._follow_again(self._by_volume.get(name, ()))

    def _follow_again(self, keys: Iterable[str]) -> list[int]:
        changed: list[int] = []
        for key in keys:
            before, after = self._places.pop(key, None), self._follow(key)
            if after is not None:
                self._places[key] = after
            if before == after:
                continue
            for place, amount in ((before, -1), (after, 1)):
                if place is not None:
                    row, volume = place
                    self._attached.attach(volume, row, amount)
                    changed.append(row)
        return changed

    def _follow(self, key: str) -> _Place | None:
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


def _file(index: dict[str, dict[str, None]], name: str, key: str, known: bool) -> None:
    """Enter the key under this name, or take it out."""
    keys = index.setdefault(name, {})
    if known:
        keys[key] = None
    else:
        keys.pop(key, None)
    if not keys:
        del index[name]

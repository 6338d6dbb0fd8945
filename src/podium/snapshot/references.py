"""Find references in a snapshot to objects that it does not hold."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

import msgspec

from podium.api.codec import UNREADABLE, decode
from podium.api.meta import ApiObject
from podium.api.objects import PersistentVolumeClaim, Pod
from podium.snapshot.kinds import KINDS
from podium.snapshot.model import Snapshot

_SHOWN: Final = 3
_OWNERS: Final = {each.kind for each in KINDS}
_DECODE: Final = msgspec.json.Decoder(ApiObject).decode


def dangling_references(snapshot: Snapshot) -> list[str]:
    """Return a line for each kind of reference that leads nowhere.

    Such a reference need not be a mistake: a pod may wait for a claim that does not exist yet.
    """
    pods = [decode(Pod, raw) for raw in snapshot.of_kind("Pod")]
    names = {kind: _names(snapshot, kind) for kind in ("Node", "PersistentVolumeClaim")}
    volumes = _names(snapshot, "PersistentVolume")
    claims = [
        decode(PersistentVolumeClaim, raw) for raw in snapshot.of_kind("PersistentVolumeClaim")
    ]
    found = {
        "pods on nodes that are not there, which take no room": (
            pod.key for pod in pods if _is_lost(pod, names["Node"])
        ),
        "pods nominated for nodes that are not there": (
            pod.key for pod in pods if _is_absent(pod.status.nominated_node_name, names["Node"])
        ),
        "pods with persistent volume claims that are not there": (
            pod.key for pod in pods if _uses_absent_claim(pod, names["PersistentVolumeClaim"])
        ),
        "pods owned by objects that are not there": _orphans(snapshot, pods),
        "persistent volume claims bound to volumes that are not there": (
            claim.key for claim in claims if _is_absent(claim.spec.volume_name, volumes)
        ),
    }
    return [line for what, keys in found.items() if (line := _line(what, list(keys)))]


def _names(snapshot: Snapshot, kind: str) -> set[str]:
    return {_object(raw).key for raw in snapshot.of_kind(kind)}


def _object(raw: bytes) -> ApiObject:
    try:
        return _DECODE(raw)
    except UNREADABLE:
        return decode(ApiObject, raw)  # accepts nulls, and explains what is wrong


def _is_absent(name: str, names: set[str]) -> bool:
    return bool(name) and name not in names


def _is_lost(pod: Pod, nodes: set[str]) -> bool:
    return not pod.has_ended and _is_absent(pod.spec.node_name, nodes)


def _uses_absent_claim(pod: Pod, claims: set[str]) -> bool:
    return any(
        volume.persistent_volume_claim is not None
        and f"{pod.namespace}/{volume.persistent_volume_claim.claim_name}" not in claims
        for volume in pod.spec.volumes
    )


def _orphans(snapshot: Snapshot, pods: Iterable[Pod]) -> Iterator[str]:
    uids = {
        _object(raw).uid
        for name, found in snapshot.objects.items()
        if name.kind != "Pod"
        for raw in found
    }
    for pod in pods:
        owner = pod.controller
        if owner is not None and owner.kind in _OWNERS and owner.uid not in uids:
            yield pod.key


def _line(what: str, keys: list[str]) -> str:
    if not keys:
        return ""
    rest = f" and {len(keys) - _SHOWN:,} more" if len(keys) > _SHOWN else ""
    return f"{what}: {len(keys):,} ({', '.join(keys[:_SHOWN])}{rest})"

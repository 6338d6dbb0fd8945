"""A client for shells without a cluster: it accepts all writes and finds no objects."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from podium.api.meta import ApiObject
from podium.api.objects import (
    Condition,
    ObjectReference,
    PersistentVolume,
    PersistentVolumeClaim,
    Pod,
)
from podium.errors import NotFound

T = TypeVar("T", bound=ApiObject)


class OfflineClient:
    """Remembers the pods that were to be deleted, and accepts everything else."""

    def __init__(self) -> None:
        self.deleted: list[Pod] = []

    async def bind(self, pod: Pod, node_name: str) -> None:
        """The pod is assumed on its node, and that is all."""

    async def delete_pod(self, pod: Pod) -> None:
        self.deleted.append(pod)

    async def patch_pod_condition(self, pod: Pod, condition: Condition) -> None:
        """There is no status to write to."""

    async def clear_nominated_node_name(self, pod: Pod) -> None:
        """There is no status to write to."""

    async def bind_volume(
        self, volume: PersistentVolume, claim: ObjectReference, annotations: Mapping[str, str]
    ) -> PersistentVolume:
        return volume

    async def annotate_claim(
        self, claim: PersistentVolumeClaim, annotations: Mapping[str, str]
    ) -> PersistentVolumeClaim:
        return claim

    async def read(self, kind: type[T], key: str) -> T:
        raise NotFound(f'{kind.__name__.lower()} "{key}" not found')

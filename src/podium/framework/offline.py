"""A client for shells without a cluster: it accepts all writes and finds no objects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

import msgspec

from podium.api.meta import ApiObject
from podium.api.objects import (
    Condition,
    ObjectReference,
    PersistentVolume,
    PersistentVolumeClaim,
    Pod,
    PodExtendedResourceClaimStatus,
    ResourceClaim,
    ResourceClaimStatus,
)
from podium.errors import NotFound

T = TypeVar("T", bound=ApiObject)


class OfflineClient:
    """Accepts everything. It remembers which pods and claims were to be deleted or deallocated."""

    def __init__(self) -> None:
        self.deleted: list[Pod] = []
        self.deallocated: list[ResourceClaim] = []
        self.created_claims: list[ResourceClaim] = []
        self.deleted_claims: list[ResourceClaim] = []

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

    async def set_finalizers(
        self, claim: ResourceClaim, finalizers: Sequence[str]
    ) -> ResourceClaim:
        metadata = msgspec.structs.replace(claim.metadata, finalizers=tuple(finalizers))
        return msgspec.structs.replace(claim, metadata=metadata)

    async def patch_claim_status(
        self, claim: ResourceClaim, status: Mapping[str, object]
    ) -> ResourceClaim:
        if claim.status.allocation is not None and status.get("allocation", claim) is None:
            self.deallocated.append(claim)
        return msgspec.structs.replace(claim, status=patched(claim.status, status))

    async def remove_consumer(self, claim: ResourceClaim, uid: str) -> ResourceClaim:
        left = [consumer for consumer in claim.status.reserved_for if consumer.uid != uid]
        return await self.patch_claim_status(claim, {"reservedFor": left})

    async def create_claim(self, claim: ResourceClaim) -> ResourceClaim:
        name = f"{claim.metadata.generate_name}{len(self.created_claims)}"
        metadata = msgspec.structs.replace(claim.metadata, name=name, uid=f"uid-{name}")
        created = msgspec.structs.replace(claim, metadata=metadata)
        self.created_claims.append(created)
        return created

    async def delete_claim(self, claim: ResourceClaim) -> None:
        self.deleted_claims.append(claim)

    async def set_extended_claim(self, pod: Pod, status: PodExtendedResourceClaimStatus) -> None:
        """There is no status to write to."""

    async def read(self, kind: type[T], key: str) -> T:
        raise NotFound(f'{kind.__name__.lower()} "{key}" not found')


def patched(status: ResourceClaimStatus, changes: Mapping[str, object]) -> ResourceClaimStatus:
    """Return the status of a claim with these fields; ``None`` removes one."""
    fields = {**msgspec.to_builtins(status), **changes}
    left = {name: value for name, value in fields.items() if value is not None}
    return msgspec.convert(msgspec.to_builtins(left), ResourceClaimStatus)

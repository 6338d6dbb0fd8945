"""What the scheduler writes in a simulation: each write changes the simulated objects.

It answers as an API server would, one turn of the event loop later: what waits for two answers
comes after what waits for one, as on a network. A bound pod is running at once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol, TypeVar

from msgspec.structs import replace

from podium.api.meta import ApiObject
from podium.api.objects import (
    Condition,
    ObjectReference,
    PersistentVolume,
    PersistentVolumeClaim,
    Pod,
    PodExtendedResourceClaimStatus,
    PodGroup,
    ResourceClaim,
)
from podium.api.times import time_text
from podium.clock import Clock, give_way
from podium.errors import NotFound
from podium.framework.offline import patched
from podium.simulation.kinds import kind_of

T = TypeVar("T", bound=ApiObject)


class Objects(Protocol):
    """The simulated cluster as the client sees it."""

    @property
    def clock(self) -> Clock: ...
    def find(self, kind: str, key: str) -> ApiObject | None: ...
    def put(self, obj: T) -> T: ...
    def delete(self, kind: str, key: str) -> None: ...


class LocalClient:
    """Implements what plugins and the binding cycle ask of the API; ``cluster`` is set later."""

    cluster: Objects

    # --- pods ------------------------------------------------------------------------------------

    async def bind(self, pod: Pod, node_name: str) -> None:
        await give_way()
        known = self._current(pod)
        status = replace(known.status, phase="Running", start_time=self._now())
        self.cluster.put(replace(known.bound_to(node_name), status=status))

    async def delete_pod(self, pod: Pod) -> None:
        await give_way()
        known = self._current(pod)
        if known.is_terminating:
            return
        grace = known.spec.termination_grace_period_seconds
        grace = 30 if grace is None else grace
        meta = replace(
            known.metadata, deletion_timestamp=self._now(grace), deletion_grace_period_seconds=grace
        )
        self.cluster.put(replace(known, metadata=meta))

    async def patch_pod_condition(self, pod: Pod, condition: Condition) -> None:
        await give_way()
        self._change_status(pod, lambda known: _with_condition(known, condition))

    async def clear_nominated_node_name(self, pod: Pod) -> None:
        await give_way()
        self._change_status(pod, lambda known: known.nominated_to(""))

    async def patch_pod_status(
        self, pod: Pod, condition: Condition | None, nominated_node_name: str | None
    ) -> None:
        await give_way()

        def change(known: Pod) -> Pod:
            if nominated_node_name is not None:
                known = known.nominated_to(nominated_node_name)
            return known if condition is None else _with_condition(known, condition)

        self._change_status(pod, change)

    async def set_extended_claim(self, pod: Pod, status: PodExtendedResourceClaimStatus) -> None:
        await give_way()
        self._change_status(
            pod,
            lambda known: replace(
                known, status=replace(known.status, extended_resource_claim_status=status)
            ),
        )

    # --- pod groups ------------------------------------------------------------------------------

    async def patch_group_condition(self, group: PodGroup, condition: Condition) -> None:
        await give_way()
        known = self.cluster.find(kind_of(group), group.key)
        if isinstance(known, PodGroup) and known.uid == group.uid:
            others = [each for each in known.status.conditions if each.type != condition.type]
            stamped = replace(condition, last_transition_time=self._now())
            status = replace(known.status, conditions=(*others, stamped))
            self.cluster.put(replace(known, status=status))

    # --- volumes ---------------------------------------------------------------------------------

    async def bind_volume(
        self, volume: PersistentVolume, claim: ObjectReference, annotations: Mapping[str, str]
    ) -> PersistentVolume:
        await give_way()
        known = self._current(volume)
        metadata = replace(known.metadata, annotations={**known.annotations, **annotations})
        spec = replace(known.spec, claim_ref=claim)
        return self.cluster.put(replace(known, metadata=metadata, spec=spec))

    async def annotate_claim(
        self, claim: PersistentVolumeClaim, annotations: Mapping[str, str]
    ) -> PersistentVolumeClaim:
        await give_way()
        known = self._current(claim)
        metadata = replace(known.metadata, annotations={**known.annotations, **annotations})
        return self.cluster.put(replace(known, metadata=metadata))

    # --- resource claims -------------------------------------------------------------------------

    async def set_finalizers(
        self, claim: ResourceClaim, finalizers: Sequence[str]
    ) -> ResourceClaim:
        await give_way()
        known = self._current(claim)
        metadata = replace(known.metadata, finalizers=tuple(finalizers))
        return self.cluster.put(replace(known, metadata=metadata))

    async def patch_claim_status(
        self, claim: ResourceClaim, status: Mapping[str, object]
    ) -> ResourceClaim:
        await give_way()
        known = self._current(claim)
        return self.cluster.put(replace(known, status=patched(known.status, status)))

    async def remove_consumer(self, claim: ResourceClaim, uid: str) -> ResourceClaim:
        await give_way()
        known = self._current(claim)
        left = tuple(each for each in known.status.reserved_for if each.uid != uid)
        return self.cluster.put(replace(known, status=replace(known.status, reserved_for=left)))

    async def create_claim(self, claim: ResourceClaim) -> ResourceClaim:
        await give_way()
        prefix, namespace = claim.metadata.generate_name, claim.namespace
        number = 0
        while self.cluster.find(kind_of(claim), f"{namespace}/{prefix}{number}") is not None:
            number += 1
        name = f"{prefix}{number}"
        uid = f"{namespace}/{name}"  # unique in a simulation, and the same in every run
        return self.cluster.put(
            replace(claim, metadata=replace(claim.metadata, name=name, uid=uid))
        )

    async def delete_claim(self, claim: ResourceClaim) -> None:
        await give_way()
        self._current(claim)
        self.cluster.delete(kind_of(claim), claim.key)

    async def read(self, kind: type[T], key: str) -> T:
        await give_way()
        found = self.cluster.find(kind_of(kind()), key)
        if found is None:
            raise NotFound(f'{kind.__name__.lower()} "{key}" not found', 404)
        return found  # type: ignore[return-value]  # found by its kind

    # --- inside ----------------------------------------------------------------------------------

    def _current(self, obj: T) -> T:
        known = self.cluster.find(kind_of(obj), obj.key)
        if known is None or known.uid != obj.uid:
            raise NotFound(f'{type(obj).__name__.lower()} "{obj.key}" not found', 404)
        return known  # type: ignore[return-value]  # found by its kind

    def _change_status(self, pod: Pod, change: Callable[[Pod], Pod]) -> None:
        known = self._current(pod)
        changed = change(known)
        if changed != known:  # as an API server, which writes no equal version
            self.cluster.put(changed)

    def _now(self, later: float = 0.0) -> str:
        return time_text(self.cluster.clock.now() + later)


def _with_condition(pod: Pod, condition: Condition) -> Pod:
    others = tuple(each for each in pod.status.conditions if each.type != condition.type)
    return replace(pod, status=replace(pod.status, conditions=(*others, condition)))

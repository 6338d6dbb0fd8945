"""The status of PodGroups: their phase, and how many of their pods run or have ended."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Final

from podium.api.objects import Pod, parse_time
from podium.api.pod_groups import COSCHEDULING_LABEL, coscheduling_group_key
from podium.client.api_client import ApiClient
from podium.client.informer import Informer
from podium.client.resources import PODS, Resource, custom_resource
from podium.clock import Clock
from podium.errors import InvalidTime
from podium.scheduler_plugins.coscheduling.pod_groups import RESOURCE, Members
from podium.status_controllers.reconciler import Reconciler

GROUPS: Final = RESOURCE
FINAL: Final = ("Finished", "Failed")
# A group that began to be scheduled this long after it was created is left alone.
LONGEST_SECONDS: Final = 48 * 3600
COUNTED: Final = {"running": "Running", "succeeded": "Succeeded", "failed": "Failed"}


def group_pods() -> Resource[Pod]:
    """Return the pods of all groups, also those that have ended, which the scheduler ignores."""
    return replace(PODS, field_selector="", label_selector=COSCHEDULING_LABEL, needed=False)


class PodGroupStatuses(Reconciler):
    """Follows groups and their pods."""

    kind = custom_resource(GROUPS)

    def __init__(
        self,
        groups: Informer[dict[str, Any]],
        pods: Informer[Pod],
        client: ApiClient,
        clock: Clock,
    ) -> None:
        super().__init__(client, clock)
        self._groups = groups
        self._pods = pods
        self._members = Members()

    async def run(self) -> None:
        self._pods.subscribe(self._on_pod)
        watching = asyncio.ensure_future(self._pods.run())
        try:
            await self._pods.wait_synced()  # until then every group would seem to have no pods
            self._groups.subscribe(self._on_group)
            await super().run()
        finally:
            watching.cancel()

    def _on_pod(self, old: Pod | None, new: Pod | None) -> None:
        self._members.on_pod(old, new)
        for pod in (old, new):
            if pod is not None and (key := coscheduling_group_key(pod)):
                self.look_at(key)

    def _on_group(self, old: dict[str, Any] | None, new: dict[str, Any] | None) -> None:
        if new is not None:
            self.look_at(f"{new['metadata'].get('namespace')}/{new['metadata']['name']}")

    def status(self, key: str) -> Mapping[str, Any]:
        group = self._groups.get(key)
        return {} if group is None else changed_status(group, list(self._members.of(key)))


def changed_status(group: Mapping[str, Any], pods: list[Pod]) -> dict[str, Any]:
    """Return what of the status has to change; a group takes one step at a time."""
    status = group.get("status") or {}
    phase = status.get("phase") or ""
    if phase in FINAL or _is_too_old(group, status):
        return {}
    minimum = (group.get("spec") or {}).get("minMember") or 0
    if not phase:
        wanted: dict[str, Any] = {"phase": "Pending"}
    elif phase == "Pending":
        wanted = _scheduling(pods) if len(pods) >= minimum else {}
    else:
        wanted = _counted(pods, minimum)
    return {name: value for name, value in wanted.items() if status.get(name) != value}


def _scheduling(pods: list[Pod]) -> dict[str, Any]:
    owners = _owners(pods[0]) if pods else ""
    return {"phase": "Scheduling", **({"occupiedBy": owners} if owners else {})}


def _owners(pod: Pod) -> str:
    names = (f"{pod.namespace}/{owner.name}" for owner in pod.metadata.owner_references)
    return ",".join(sorted(names))


def _counted(pods: Iterable[Pod], minimum: int) -> dict[str, Any]:
    """Return the counts, and the phase that follows; a count of 0 is left out."""
    phases = Counter(pod.status.phase for pod in pods)
    counts = {name: phases[phase] or None for name, phase in COUNTED.items()}
    running, succeeded, failed = (phases[phase] for phase in COUNTED.values())
    if phases.total() < minimum:
        phase = "Pending"
    elif succeeded >= minimum:
        phase = "Finished"
    elif failed and failed + running + succeeded >= minimum:
        phase = "Failed"
    else:
        phase = "Running" if succeeded + running >= minimum else "Scheduling"
    return {**counts, "phase": phase}


def _is_too_old(group: Mapping[str, Any], status: Mapping[str, Any]) -> bool:
    """Return whether scheduling began two days after the group was created, in vain."""
    start, created = status.get("scheduleStartTime"), group["metadata"].get("creationTimestamp")
    if not start or not created or status.get("running"):
        return False
    try:
        late = parse_time(start) - parse_time(created) > LONGEST_SECONDS * 10**9
    except InvalidTime:
        return False
    return late and status.get("phase") in ("Scheduling", "Pending")

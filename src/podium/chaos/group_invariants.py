"""What must hold for gangs and quotas, judged by the objects of the API server alone."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import ClassVar, Final

from podium.apiserver.api import Api
from podium.chaos.gangs import (
    LABELLED_RESOURCE,
    NATIVE_RESOURCE,
    QUOTA_RESOURCE,
    gang_of,
    minimum_of,
)
from podium.chaos.invariants import ALLOWED, Invariants, Json, World, cpu_milli, milli

_STATUSES: Final = r"/apis/scheduling[^/]+/v1\w+/namespaces/[^/]+/(podgroups|elasticquotas)/[^/]+"
QUOTA_RULE: Final = "no quota is exceeded"


class GroupInvariants(Invariants):
    """Invariants that include the quota of each bound pod."""

    allowed: ClassVar[tuple[re.Pattern[str], ...]] = (
        *ALLOWED,
        re.compile(f"PATCH {_STATUSES}/status"),
    )

    def _broken_by(self, pod: Json) -> Iterator[tuple[str, str]]:
        yield from super()._broken_by(pod)
        world, namespace = GroupWorld(self._api), pod["metadata"]["namespace"]
        if namespace in world.limits and (why := world.over_quota(namespace, 0)):
            yield QUOTA_RULE, f"{pod['metadata']['name']}: {why}"


class GroupWorld(World):
    """A world that counts places. Pods of a gang are equal, so this tells exactly whether they fit.

    ``limits`` are min and max of the cpu of each quota by namespace.
    """

    def __init__(self, api: Api) -> None:
        super().__init__(api)
        self._groups = {
            resource: {_key(group): group for group in api.store.objects(resource)}
            for resource in (NATIVE_RESOURCE, LABELLED_RESOURCE)
        }
        self.limits = {
            quota["metadata"]["namespace"]: (
                milli(quota["spec"]["min"]["cpu"]),
                milli(quota["spec"]["max"]["cpu"]),
            )
            for quota in api.store.objects(QUOTA_RESOURCE)
        }
        self._used_by: Counter[str] = Counter()
        for pod in self.placed:
            self._used_by[pod["metadata"]["namespace"]] += cpu_milli(pod)

    def over_quota(self, namespace: str, more: int) -> str:
        """Return what would be exceeded with so much more cpu; empty if nothing would."""
        limit = self.limits.get(namespace)
        if limit is None:
            return ""
        used = self._used_by[namespace] + more
        if used > limit[1]:
            return f"{namespace} uses {used}m of {limit[1]}m"
        promised = sum(low for low, _ in self.limits.values())
        all_used = sum(self._used_by[each] for each in self.limits) + more
        return f"all quotas use {all_used}m of {promised}m" if all_used > promised else ""

    def schedulable(self) -> list[str]:
        return [*self.single_pods_that_fit(), *self._gangs_that_fit()]

    def single_pods_that_fit(self) -> list[str]:
        """Return the pending pods without a gang that would fit somewhere now."""
        singles = (pod for pod in self.pending if gang_of(pod) is None)
        return [pod["metadata"]["name"] for pod in singles if self._fits([pod], 1)]

    def _gangs_that_fit(self) -> Iterator[str]:
        """Yield the gangs that have waiting pods, and room for those that they need."""
        waiting, placed = defaultdict(list), Counter(map(gang_of, self.placed))
        for pod in self.pending:
            if gang := gang_of(pod):
                waiting[gang].append(pod)
        for gang, pods in waiting.items():
            group = self._groups[gang[0]].get(gang[1])
            if group is None or any(pod["spec"].get("schedulingGates") for pod in pods):
                continue
            missing = max(1, minimum_of(group) - placed[gang])
            if len(pods) >= missing and self._fits(pods, missing):
                yield gang[1]

    def _fits(self, pods: list[Json], count: int) -> bool:
        """Return whether there is room for so many of these pods, which are equal."""
        cpu, names = cpu_milli(pods[0]), {_key(pod) for pod in pods}
        nominated, ahead = self._nominated_before(pods[0], names)
        namespace = pods[0]["metadata"]["namespace"]
        if self.over_quota(namespace, count * cpu + ahead):
            return False
        free = (self.free(node) - nominated[node] for node in self.open_nodes())
        return sum(max(0, each) // cpu for each in free) >= count

    def _nominated_before(self, pod: Json, besides: set[str]) -> tuple[Counter[str], int]:
        """Return the cpu that others are nominated to, by node and in namespaces with a quota."""
        nominated: Counter[str] = Counter()
        in_quotas = 0
        for other in self.pending:
            node = other.get("status", {}).get("nominatedNodeName")
            if node and _key(other) not in besides:
                in_quotas += cpu_milli(other) * (other["metadata"]["namespace"] in self.limits)
                if _priority(other) >= _priority(pod):
                    nominated[node] += cpu_milli(other)
        return nominated, in_quotas


def _key(obj: Json) -> str:
    return f"{obj['metadata']['namespace']}/{obj['metadata']['name']}"


def _priority(pod: Json) -> int:
    return int(pod["spec"].get("priority") or 0)

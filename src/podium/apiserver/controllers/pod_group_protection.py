"""PodGroup protection: a deleted group stays as long as pods that have not ended belong to it.

An admission puts the finalizer on every new group; this controller removes it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from podium.apiserver.controllers.cluster import Cluster
from podium.apiserver.controllers.pods import PodView
from podium.apiserver.controllers.runner import Change, Mapper, itself
from podium.apiserver.kinds.groups import PROTECTION
from podium.apiserver.store import Key

GROUPS: Final = "podgroups.scheduling.k8s.io"


class PodGroupProtection:
    name = "pod-group-protection"

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster

    @property
    def watches(self) -> Mapping[str, Mapper]:
        return {GROUPS: itself, "pods": _groups_left}

    def reconcile(self, key: Key) -> float | None:
        group = self._cluster.find(GROUPS, key)
        if group is None or "deletionTimestamp" not in group["metadata"]:
            return None
        finalizers = group["metadata"].get("finalizers") or []
        if PROTECTION in finalizers and not self._is_used(key):
            group["metadata"]["finalizers"] = [one for one in finalizers if one != PROTECTION]
            self._cluster.put(GROUPS, group)
        return None

    def _is_used(self, key: Key) -> bool:
        pods = self._cluster.pods.inside(key[0])
        return any(pod.group_name == key[1] and not pod.is_finished for pod in pods)


def _groups_left(change: Change) -> Iterator[Key]:
    """Return the group of a pod that has ended or is gone."""
    pod: PodView = change.pod
    if pod.group_name and (change.is_gone or pod.is_finished):
        yield (pod.metadata.namespace, pod.group_name)

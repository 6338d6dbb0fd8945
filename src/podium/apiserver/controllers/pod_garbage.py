"""Pods whose node is gone: nobody can stop them any more, so they are deleted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from podium.apiserver.controllers.cluster import Cluster
from podium.apiserver.controllers.runner import Change, Mapper
from podium.apiserver.store import Key

_PATIENCE = 40.0  # seconds; a node may be registered again


class PodGarbageController:
    name = "pod-garbage"

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._missed: dict[str, float] = {}  # nodes that pods name, and since when they are gone

    @property
    def watches(self) -> Mapping[str, Mapper]:
        return {"nodes": _removed, "pods": self._homeless}

    def _homeless(self, change: Change) -> Iterator[Key]:
        node = change.pod.spec.node_name
        if change.is_gone or not node or (change.old_pod and change.old_pod.spec.node_name):
            return
        if self._cluster.store.find("nodes", ("", node)) is None:
            yield ("", node)

    def reconcile(self, key: Key) -> float | None:
        name, now = key[1], self._cluster.clock.now()
        if self._cluster.store.find("nodes", key) is not None:
            self._missed.pop(name, None)
            return None
        left = self._missed.setdefault(name, now) + _PATIENCE - now
        if left > 0:
            return left
        del self._missed[name]
        for pod in self._cluster.pods.on_node(name):
            self._cluster.delete_at_once("pods", pod.key)
        return None


def _removed(change: Change) -> Iterator[Key]:
    if change.is_gone or change.is_new:
        yield change.key

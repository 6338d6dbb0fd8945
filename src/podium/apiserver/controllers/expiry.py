"""What is deleted after some time: events, and pods whose node is gone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from podium.apiserver.controllers.cluster import Cluster
from podium.apiserver.controllers.pods import seconds
from podium.apiserver.controllers.runner import Change, Mapper, itself
from podium.apiserver.statuses import Json
from podium.apiserver.store import Key

_EVENT_SECONDS = 3600.0
_POD_SECONDS = 40.0  # a node may be registered again


class EventExpiry:
    """Delete events an hour after they were last seen."""

    name = "event-expiry"

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster

    @property
    def watches(self) -> Mapping[str, Mapper]:
        return {"events": itself}

    def reconcile(self, key: Key) -> float | None:
        event = self._cluster.find("events", key)
        if event is None:
            return None
        left = last_seen(event) + _EVENT_SECONDS - self._cluster.clock.now()
        if left > 0:
            return left
        self._cluster.delete("events", key)
        return None


def last_seen(event: Json) -> float:
    series = (event.get("series") or {}).get("lastObservedTime")
    meta = event["metadata"]
    text = series or event.get("lastTimestamp") or meta["creationTimestamp"]
    return seconds(text)


class PodGarbageController:
    """Delete pods whose node is gone: nothing else can stop them."""

    name = "pod-garbage"

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._missing_since: dict[
            str, float
        ] = {}  # nodes that pods are bound to, and when they were found missing

    @property
    def watches(self) -> Mapping[str, Mapper]:
        return {"nodes": _removed, "pods": self._on_pod}

    def _on_pod(self, change: Change) -> Iterator[Key]:
        node = change.pod.spec.node_name
        if change.pod.metadata.uid in self._cluster.restored:
            return  # its node may not have been copied
        if change.is_gone or not node or (change.old_pod and change.old_pod.spec.node_name):
            return
        if self._cluster.store.find("nodes", ("", node)) is None:
            yield ("", node)

    def reconcile(self, key: Key) -> float | None:
        name, now = key[1], self._cluster.clock.now()
        if self._cluster.store.find("nodes", key) is not None:
            self._missing_since.pop(name, None)
            return None
        left = self._missing_since.setdefault(name, now) + _POD_SECONDS - now
        if left > 0:
            return left
        del self._missing_since[name]
        for pod in self._cluster.pods.on_node(name):
            self._cluster.delete_at_once("pods", pod.key)
        return None


def _removed(change: Change) -> Iterator[Key]:
    if change.is_gone or change.is_new:
        yield change.key

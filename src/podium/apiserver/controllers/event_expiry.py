"""Events are news: they go an hour after they were last seen."""

from __future__ import annotations

from collections.abc import Mapping

from podium.apiserver.controllers.cluster import Cluster
from podium.apiserver.controllers.pods import seconds
from podium.apiserver.controllers.runner import Mapper, itself
from podium.apiserver.statuses import Json
from podium.apiserver.store import Key

_SECONDS = 3600.0


class EventExpiry:
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
        left = last_seen(event) + _SECONDS - self._cluster.clock.now()
        if left > 0:
            return left
        self._cluster.delete("events", key)
        return None


def last_seen(event: Json) -> float:
    series = (event.get("series") or {}).get("lastObservedTime")
    meta = event["metadata"]
    text = series or event.get("lastTimestamp") or meta["creationTimestamp"]
    return seconds(text)

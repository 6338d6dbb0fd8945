"""What controllers and kubelets work with: the API in this process, and an index of the pods.

A controller reads and writes within one turn of the event loop, so that nothing changes in between.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable

from podium.api.times import time_text
from podium.apiserver.api import Api, Call
from podium.apiserver.controllers.pods import PodIndex
from podium.apiserver.deletion import DeleteOptions
from podium.apiserver.kinds.api_kind import ApiKind
from podium.apiserver.statuses import Json
from podium.apiserver.store import Deletion, Key

_AT_ONCE = Deletion()


class Cluster:
    """The API of this process, as a client without HTTP."""

    def __init__(self, api: Api) -> None:
        self.api = api
        self.store = api.store
        self.clock = api.store.clock
        self.pods = PodIndex(api.store)
        self.restored: set[str] = set()  # uids of objects that come from another cluster
        self._kinds: dict[str, ApiKind] = {}
        self._event_numbers = itertools.count()

    @property
    def now(self) -> str:
        return time_text(self.clock.now())

    def find(self, resource: str, key: Key) -> Json | None:
        item = self.store.find(resource, key)
        return item.decode() if item else None

    def create(self, resource: str, obj: Json) -> Json:
        """Create an object, with defaults, admission and validation."""
        namespace = obj["metadata"].get("namespace", "")
        return self.api.create(self._kind(resource), namespace, obj, Call()).decode()

    def modify(self, resource: str, key: Key, change: Callable[[Json], Json]) -> Json:
        """Change an object except for its status, with all checks."""
        return self.api.modify(self._kind(resource), key, change, Call()).decode()

    def put(self, resource: str, obj: Json) -> Json:
        """Write an object without checks: for fields that only the server sets."""
        return self.store.update(resource, obj).decode()

    def set_status(self, resource: str, key: Key, status: Json) -> None:
        """Replace the status if it differs."""
        item = self.store.find(resource, key)
        if item is None:
            return
        obj = item.decode()
        if obj.get("status") != status:
            obj["status"] = status
            self.store.update(resource, obj)

    def delete(self, resource: str, key: Key) -> None:
        """Delete an object with the default grace period and propagation of its kind."""
        if self.store.find(resource, key) is not None:
            self.api.delete(self._kind(resource), key, DeleteOptions())

    def delete_at_once(self, resource: str, key: Key) -> None:
        self.store.delete(resource, key, _AT_ONCE)

    def record_event(
        self, about: Json, reason: str, message: str, *, type_: str = "Normal"
    ) -> None:
        """Record an event about the object ``about``."""
        meta = about["metadata"]
        namespace = meta.get("namespace") or "default"
        around = self.find("namespaces", ("", namespace))
        if around is None or "deletionTimestamp" in around["metadata"]:
            return
        number = next(self._event_numbers)
        stamp = int(self.clock.now() * 1e6)
        event: Json = {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {
                "name": f"{meta['name'][:200]}.{stamp:x}{number:x}",
                "namespace": namespace,
            },
            "involvedObject": reference(about),
            "reason": reason,
            "message": message,
            "type": type_,
            "count": 1,
            "firstTimestamp": self.now,
            "lastTimestamp": self.now,
            "source": {"component": "podium"},
            "reportingComponent": "podium",
            "reportingInstance": "",
        }
        self.store.create("events", event)

    def _kind(self, resource: str) -> ApiKind:
        kind = self._kinds.get(resource)
        if kind is None:
            kind = self._kinds[resource] = self.api.kind(resource)
        return kind


def reference(obj: Json) -> Json:
    meta = obj["metadata"]
    found = {"apiVersion": obj["apiVersion"], "kind": obj["kind"], "name": meta["name"]}
    for name in ("namespace", "uid", "resourceVersion"):
        if name in meta:
            found[name] = meta[name]
    return found

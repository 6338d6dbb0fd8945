"""Namespace deletion: first everything inside is deleted, then the namespace."""

from __future__ import annotations

from collections.abc import Mapping

from podium.apiserver.controllers.cluster import Cluster
from podium.apiserver.controllers.runner import Mapper, itself
from podium.apiserver.statuses import Json
from podium.apiserver.store import Key

_LOOK_AGAIN = 1.0  # seconds between two looks at what is left


class NamespaceController:
    name = "namespace"

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster

    @property
    def watches(self) -> Mapping[str, Mapper]:
        return {"namespaces": itself}

    def reconcile(self, key: Key) -> float | None:
        namespace = self._cluster.find("namespaces", key)
        if namespace is None or "deletionTimestamp" not in namespace["metadata"]:
            return None
        self._empty(key[1])
        if self._is_empty(key[1]):
            self._release(namespace)
            return None
        return _LOOK_AGAIN

    def _resources(self) -> list[str]:
        kinds = self._cluster.api.kinds
        return [kind.storage for kind in kinds if kind.namespaced and "list" in kind.verbs]

    def _empty(self, name: str) -> None:
        for resource in self._resources():
            for item in self._cluster.store.list(resource, name).items:
                if "deletionTimestamp" not in item.decode()["metadata"]:
                    self._cluster.delete(resource, item.key)

    def _is_empty(self, name: str) -> bool:
        return not any(self._cluster.store.list(one, name).items for one in self._resources())

    def _release(self, namespace: Json) -> None:
        spec = namespace.get("spec") or {}
        others = [one for one in spec.get("finalizers") or [] if one != "kubernetes"]
        namespace["spec"] = {**spec, "finalizers": others}
        self._cluster.put("namespaces", namespace)

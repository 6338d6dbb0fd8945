"""A new cluster: its parts, and the namespaces, priority classes and accounts it starts with."""

from __future__ import annotations

from podium.apiserver.api import Api, Call
from podium.apiserver.crds import CustomKinds
from podium.apiserver.garbage import GarbageCollector
from podium.apiserver.statuses import Json
from podium.apiserver.store import ObjectStore
from podium.clock import Clock
from podium.release import LATEST, Release

NAMESPACES = ("default", "kube-node-lease", "kube-public", "kube-system")
_CRITICAL = 2_000_000_000
_CLASSES = {"system-cluster-critical": _CRITICAL, "system-node-critical": _CRITICAL + 1000}


def new_api(
    clock: Clock,
    *,
    history: int = 8192,
    seed: int | None = None,
    release: Release = LATEST,
    features: frozenset[str] = frozenset(),
) -> Api:
    """Return an API with a new store, garbage collection, custom kinds and the initial objects.

    ``features`` are the feature gates that are turned on.
    """
    api = Api(ObjectStore(clock, history=history, seed=seed), release, features)
    GarbageCollector(api.store, api.kinds)
    CustomKinds(api.store, api.kinds)
    for name in NAMESPACES:
        _create(api, "namespaces", "", {"metadata": {"name": name}})
        _create(api, "serviceaccounts", name, {"metadata": {"name": "default"}})
    for name, value in _CLASSES.items():
        about = f"Used for system critical pods that must run in the cluster ({value})."
        body = {"metadata": {"name": name}, "value": value, "description": about}
        _create(api, "priorityclasses.scheduling.k8s.io", "", body)
    _create(api, "services", "default", _KUBERNETES)
    return api


_KUBERNETES: Json = {
    "metadata": {
        "name": "kubernetes",
        "labels": {"component": "apiserver", "provider": "kubernetes"},
    },
    "spec": {
        "clusterIP": "10.96.0.1",
        "clusterIPs": ["10.96.0.1"],
        "ports": [{"name": "https", "port": 443, "targetPort": 6443}],
    },
}


def _create(api: Api, resource: str, namespace: str, obj: Json) -> None:
    api.create(api.kind(resource), namespace, obj, Call(manager="kube-apiserver"))

"""Generic ephemeral volumes: creates a claim for each, owned by its pod."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from podium.apiserver.controllers.cluster import Cluster
from podium.apiserver.controllers.owners import controller_of, owner_reference
from podium.apiserver.controllers.runner import Change, Keys, Mapper
from podium.apiserver.statuses import Json
from podium.apiserver.store import Key

CLAIMS = "persistentvolumeclaims"


class EphemeralVolumeController:
    name = "ephemeral-volume"

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster

    @property
    def watches(self) -> Mapping[str, Mapper]:
        return {"pods": _on_pod, CLAIMS: self._on_claim}

    def _on_claim(self, change: Change) -> Keys:
        """Yield the pod of a deleted claim: it needs a new claim, or waited for the name."""
        if not change.is_gone:
            return ()
        namespace, name = change.key
        pods = self._cluster.pods.inside(namespace)
        return [pod.key for pod in pods if name.startswith(f"{pod.name}-")]

    def reconcile(self, key: Key) -> float | None:
        pod = self._cluster.find("pods", key)
        if pod is None or "deletionTimestamp" in pod["metadata"]:
            return None
        for volume in _ephemeral(pod):
            self._claim(pod, volume)
        return None

    def _claim(self, pod: Json, volume: Json) -> None:
        wanted = claim_for(pod, volume)
        name = wanted["metadata"]["name"]
        found = self._cluster.find(CLAIMS, (pod["metadata"]["namespace"], name))
        if found is None:
            self._cluster.create(CLAIMS, wanted)
            return
        owner = controller_of(found)
        if owner is None or owner["uid"] != pod["metadata"]["uid"]:
            of = f"{pod['metadata']['namespace']}/{pod['metadata']['name']}"
            claim = f"{pod['metadata']['namespace']}/{name}"
            message = (
                f"ephemeral volume {volume['name']}: PVC {claim} was not created for pod {of} "
                "(pod is not owner)"
            )
            self._cluster.record_event(pod, "FailedBinding", message, type_="Warning")


def _on_pod(change: Change) -> Keys:
    return [change.key] if change.is_new and any(_ephemeral(change.obj)) else ()


def _ephemeral(pod: Json) -> Iterator[Json]:
    return (one for one in pod["spec"].get("volumes") or [] if one.get("ephemeral"))


def claim_for(pod: Json, volume: Json) -> Json:
    template = volume["ephemeral"].get("volumeClaimTemplate") or {}
    given = template.get("metadata") or {}
    meta: Json = {name: dict(given[name]) for name in ("labels", "annotations") if given.get(name)}
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {
            **meta,
            "name": f"{pod['metadata']['name']}-{volume['name']}",
            "namespace": pod["metadata"]["namespace"],
            "ownerReferences": [owner_reference(pod)],
        },
        "spec": dict(template.get("spec") or {}),
    }

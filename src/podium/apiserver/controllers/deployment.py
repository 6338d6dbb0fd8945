"""Deployment: one ReplicaSet per template, and rolling updates from old sets to the new one.

`rollout.py` decides how many pods each set should have; this module writes it.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping

from podium.apiserver.controllers.cluster import Cluster
from podium.apiserver.controllers.deployment_status import REVISION, status_of
from podium.apiserver.controllers.owners import controller_of, owner_reference, selector_of
from podium.apiserver.controllers.rollout import Size, next_sizes, surge_and_unavailable
from podium.apiserver.controllers.runner import Change, Mapper, itself
from podium.apiserver.controllers.templates import hash_of, set_label
from podium.apiserver.statuses import ALREADY_EXISTS, Json, Refusal
from podium.apiserver.store import Key

DEPLOYMENTS, SETS = "deployments.apps", "replicasets.apps"
HASH = "pod-template-hash"
_NOT_COPIED = (
    "kubectl.kubernetes.io/last-applied-configuration",
    "deployment.kubernetes.io/revision",
    "deployment.kubernetes.io/revision-history",
    "deployment.kubernetes.io/desired-replicas",
    "deployment.kubernetes.io/max-replicas",
    "deprecated.deployment.rollback.to",
)


class DeploymentController:
    name = "deployment"

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster

    @property
    def watches(self) -> Mapping[str, Mapper]:
        return {DEPLOYMENTS: itself, SETS: _owners, "pods": self._on_pod}

    def _on_pod(self, change: Change) -> Iterator[Key]:
        """Yield the deployment of a deleted pod: Recreate waits until the last old pod is gone."""
        owner = change.pod.controller
        if change.is_gone and owner is not None and owner.kind == "ReplicaSet":
            found = self._cluster.find(SETS, (change.key[0], owner.name))
            above = controller_of(found) if found else None
            if above is not None and above["kind"] == "Deployment":
                yield (change.key[0], above["name"])

    def reconcile(self, key: Key) -> float | None:
        deployment = self._cluster.find(DEPLOYMENTS, key)
        if deployment is None:
            return None
        sets = self._sets(deployment)
        new = next((one for one in sets if same_template(deployment, one)), None)
        if "deletionTimestamp" not in deployment["metadata"]:
            if not deployment["spec"].get("paused"):
                new = self._newest(deployment, sets, new)
            self._resize(deployment, self._sets(deployment), new)
            self._forget_old(deployment, new)
        deployment = self._cluster.find(DEPLOYMENTS, key) or deployment
        status, again = status_of(
            deployment, self._sets(deployment), _name(new), self._cluster.clock.now()
        )
        self._cluster.set_status(DEPLOYMENTS, key, status)
        return again

    def _sets(self, deployment: Json) -> list[Json]:
        """Return the sets that a deployment controls, oldest first, after adopting orphans."""
        meta, selector = deployment["metadata"], selector_of(deployment)
        found = []
        for item in self._cluster.store.list(SETS, meta["namespace"]).items:
            one = item.decode()
            owner = controller_of(one)
            if owner is None and selector.matches(one["metadata"].get("labels") or {}):
                one["metadata"]["ownerReferences"] = [owner_reference(deployment)]
                found.append(self._cluster.put(SETS, one))
            elif owner is not None and owner["uid"] == meta["uid"]:
                found.append(one)
        return sorted(found, key=_by_age)

    def _newest(self, deployment: Json, sets: list[Json], new: Json | None) -> Json:
        """Return the set of the present template, created if missing, with the latest revision."""
        others = [one for one in sets if new is None or _name(one) != _name(new)]
        revision = str(max((_revision(one) for one in others), default=0) + 1)
        if new is None:
            new = self._create_set(deployment, revision)
        elif _revision(new) < int(revision):
            new["metadata"].setdefault("annotations", {})[REVISION] = revision
            new = self._cluster.put(SETS, new)
        else:
            revision = str(_revision(new))
        annotations = deployment["metadata"].get("annotations") or {}
        if annotations.get(REVISION) != revision:
            deployment["metadata"]["annotations"] = {**annotations, REVISION: revision}
            deployment["metadata"].pop("resourceVersion", None)
            self._cluster.put(DEPLOYMENTS, deployment)
        return new

    def _create_set(self, deployment: Json, revision: str) -> Json:
        return self._create_or_rename(deployment, new_set(deployment, revision))

    def _create_or_rename(self, deployment: Json, wanted: Json) -> Json:
        try:
            return self._cluster.create(SETS, wanted)
        except Refusal as error:
            if (
                error.reason == ALREADY_EXISTS
            ):  # the name is taken by another object: use another hash
                status = deployment.get("status") or {}
                count = status.get("collisionCount", 0) + 1
                meta = deployment["metadata"]
                key = (meta["namespace"], meta["name"])
                self._cluster.set_status(DEPLOYMENTS, key, {**status, "collisionCount": count})
            raise

    def _resize(self, deployment: Json, sets: list[Json], new: Json | None) -> None:
        wanted = deployment["spec"].get("replicas", 1)
        surge, _ = surge_and_unavailable(deployment["spec"])
        sizes = [self._size(one, _name(new)) for one in sets]
        marks = {
            "deployment.kubernetes.io/desired-replicas": str(wanted),
            "deployment.kubernetes.io/max-replicas": str(wanted + surge),
        }
        for one, size in zip(sets, next_sizes(deployment["spec"], sizes), strict=True):
            before = one["spec"].get("replicas", 1)
            annotations = one["metadata"].get("annotations") or {}
            if size == before and marks.items() <= annotations.items():
                continue
            if size == 0 and before == 0 and _name(one) != _name(new):
                continue  # old sets keep their annotations
            self._write_size(one, size, marks)
            if size != before:
                verb = "up" if size > before else "down"
                message = f"Scaled {verb} replica set {_name(one)} from {before} to {size}"
                self._cluster.record_event(deployment, "ScalingReplicaSet", message)

    def _size(self, one: Json, newest: str) -> Size:
        pods = self._cluster.pods.owned_by(one["metadata"]["uid"])
        return Size(
            replicas=one["spec"].get("replicas", 1),
            existing=sum(not pod.is_finished for pod in pods),
            available=(one.get("status") or {}).get("availableReplicas", 0),
            is_new=_name(one) == newest,
        )

    def _write_size(self, one: Json, size: int, marks: dict[str, str]) -> None:
        def change(obj: Json) -> Json:
            obj["spec"]["replicas"] = size
            obj["metadata"]["annotations"] = {**(obj["metadata"].get("annotations") or {}), **marks}
            return obj

        self._cluster.modify(SETS, (one["metadata"]["namespace"], _name(one)), change)

    def _forget_old(self, deployment: Json, new: Json | None) -> None:
        """Delete the oldest empty sets beyond the revision history limit."""
        empty = [
            one
            for one in self._sets(deployment)
            if _name(one) != _name(new)
            and not one["spec"].get("replicas")
            and not (one.get("status") or {}).get("replicas")
            and "deletionTimestamp" not in one["metadata"]
        ]
        limit = deployment["spec"].get("revisionHistoryLimit", 10)
        for one in sorted(empty, key=_revision)[: max(0, len(empty) - limit)]:
            self._cluster.delete(SETS, (one["metadata"]["namespace"], _name(one)))


def new_set(deployment: Json, revision: str) -> Json:
    """Return the ReplicaSet of the present template, without pods."""
    meta, spec = deployment["metadata"], deployment["spec"]
    template = copy.deepcopy(spec["template"])
    text = hash_of(template, (deployment.get("status") or {}).get("collisionCount", 0))
    set_label(template, HASH, text)
    selector = copy.deepcopy(spec["selector"])
    selector["matchLabels"] = {**(selector.get("matchLabels") or {}), HASH: text}
    annotations = meta.get("annotations") or {}
    copied = {key: value for key, value in annotations.items() if key not in _NOT_COPIED}
    wanted: Json = {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {
            "name": f"{meta['name']}-{text}",
            "namespace": meta["namespace"],
            "labels": dict(template["metadata"]["labels"]),
            "annotations": {**copied, REVISION: revision},
            "ownerReferences": [owner_reference(deployment)],
        },
        "spec": {"replicas": 0, "selector": selector, "template": template},
    }
    if spec.get("minReadySeconds"):
        wanted["spec"]["minReadySeconds"] = spec["minReadySeconds"]
    return wanted


def same_template(deployment: Json, one: Json) -> bool:
    """Return whether a set has the deployment's template, apart from the hash label."""
    template = copy.deepcopy(one["spec"]["template"])
    labels = (template.get("metadata") or {}).get("labels") or {}
    labels.pop(HASH, None)
    wanted = copy.deepcopy(deployment["spec"]["template"])
    for side in (template, wanted):
        meta = side.get("metadata") or {}
        side["metadata"] = {name: value for name, value in meta.items() if value}
    return bool(template == wanted)


def _owners(change: Change) -> Iterator[Key]:
    for one in filter(None, (change.obj, change.old)):
        owner = controller_of(one)
        if owner is not None and owner["kind"] == "Deployment":
            yield (change.key[0], owner["name"])


def _name(one: Json | None) -> str:
    return str(one["metadata"]["name"]) if one else ""


def _by_age(one: Json) -> tuple[str, str]:
    return (one["metadata"]["creationTimestamp"], _name(one))


def _revision(one: Json) -> int:
    text = (one["metadata"].get("annotations") or {}).get(REVISION, "0")
    return int(text) if text.isdigit() else 0

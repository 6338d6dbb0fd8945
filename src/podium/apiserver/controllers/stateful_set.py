"""StatefulSet: pods with stable names and claims, started and stopped in order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from podium.apiserver.controllers.cluster import Cluster
from podium.apiserver.controllers.owners import claim_pods, owner_reference, pods_or_orphans_of
from podium.apiserver.controllers.pods import PodView
from podium.apiserver.controllers.replica_set import count_pods
from podium.apiserver.controllers.revisions import (
    HASH,
    Revision,
    current_revision,
    revisions_of,
)
from podium.apiserver.controllers.runner import Mapper, itself
from podium.apiserver.controllers.templates import pod_from, set_label
from podium.apiserver.statuses import Json
from podium.apiserver.store import Key

SETS, CLAIMS = "statefulsets.apps", "persistentvolumeclaims"
_POLICY = "persistentVolumeClaimRetentionPolicy"


@dataclass(slots=True)
class _Plan:
    """A set at one moment: what it should have, and what it has."""

    owner: Json
    pods: dict[int, PodView]  # by ordinal
    update: Revision
    current: Revision

    @property
    def ordinals(self) -> range:
        start = (self.owner["spec"].get("ordinals") or {}).get("start", 0)
        return range(start, start + self.owner["spec"].get("replicas", 1))

    @property
    def in_order(self) -> bool:
        return bool(self.owner["spec"].get("podManagementPolicy") != "Parallel")

    @property
    def partition(self) -> int:
        return _partition(self.owner["spec"])

    def revision_for(self, ordinal: int) -> Revision:
        """Return the revision of a new pod; below the partition it is the current one."""
        below = ordinal < self.ordinals.start + self.partition
        on_delete = (self.owner["spec"].get("updateStrategy") or {}).get("type") == "OnDelete"
        return self.current if below and not on_delete else self.update


class StatefulSetController:
    name = "statefulset"

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster

    @property
    def watches(self) -> Mapping[str, Mapper]:
        return {SETS: itself, "pods": pods_or_orphans_of(self._cluster, SETS, "StatefulSet")}

    def reconcile(self, key: Key) -> float | None:
        owner = self._cluster.find(SETS, key)
        if owner is None:
            return None
        plan = self._plan(owner)
        if "deletionTimestamp" not in owner["metadata"]:
            self._act(plan)
        return self._report(owner, plan.update, plan.current)

    def _plan(self, owner: Json) -> _Plan:
        update = current_revision(self._cluster, owner)
        name = (owner.get("status") or {}).get("currentRevision", "")
        known = {one.name: one for one in revisions_of(self._cluster, owner)}
        return _Plan(owner, self._pods(owner), update, known.get(name, update))

    def _pods(self, owner: Json) -> dict[int, PodView]:
        pods = claim_pods(self._cluster, SETS, owner)
        numbered = ((ordinal_of(owner, pod.name), pod) for pod in pods)
        return {ordinal: pod for ordinal, pod in numbered if ordinal is not None}

    def _act(self, plan: _Plan) -> None:
        """Create missing pods, then delete surplus ones, then update.

        In order: from the lowest ordinal up when creating, from the highest down otherwise, one
        step at a time.
        """
        self._own_claims(plan)
        for ordinal in plan.ordinals:
            pod = plan.pods.get(ordinal)
            if pod is None:
                self._create(plan, ordinal)
            elif pod.is_finished and not pod.is_deleting:
                self._cluster.delete("pods", pod.key)
            if plan.in_order and not is_settled(pod):
                return
        above = sorted(set(plan.pods) - set(plan.ordinals), reverse=True)
        for ordinal in above:
            self._delete(plan, plan.pods[ordinal])
            if plan.in_order:
                return
        self._update(plan)

    def _update(self, plan: _Plan) -> None:
        if (plan.owner["spec"].get("updateStrategy") or {}).get("type") == "OnDelete":
            return
        for ordinal in reversed(plan.ordinals[plan.partition :]):
            pod = plan.pods.get(ordinal)
            if pod is not None and pod.labels.get(HASH) != plan.update.name:
                self._delete(plan, pod)
                return
            if not is_settled(pod):
                return

    def _create(self, plan: _Plan, ordinal: int) -> None:
        owner, revision = plan.owner, plan.revision_for(ordinal)
        self._create_claims(owner, ordinal)
        pod = new_pod(owner, ordinal, revision)
        self._cluster.create("pods", pod)
        message = (
            f"create Pod {pod['metadata']['name']} in StatefulSet "
            f"{owner['metadata']['name']} successful"
        )
        self._cluster.record_event(owner, "SuccessfulCreate", message)

    def _delete(self, plan: _Plan, pod: PodView) -> None:
        if pod.is_deleting:
            return
        self._cluster.delete("pods", pod.key)
        name = plan.owner["metadata"]["name"]
        message = f"delete Pod {pod.name} in StatefulSet {name} successful"
        self._cluster.record_event(plan.owner, "SuccessfulDelete", message)

    def _create_claims(self, owner: Json, ordinal: int) -> None:
        namespace = owner["metadata"]["namespace"]
        for claim in new_claims(owner, ordinal):
            if self._cluster.store.find(CLAIMS, (namespace, claim["metadata"]["name"])) is None:
                self._cluster.create(CLAIMS, claim)

    def _own_claims(self, plan: _Plan) -> None:
        """Set the owners of claims as the retention policy asks."""
        namespace = plan.owner["metadata"]["namespace"]
        for template in plan.owner["spec"].get("volumeClaimTemplates") or []:
            for ordinal, pod in plan.pods.items():
                name = _claim_name(plan.owner, template, ordinal)
                claim = self._cluster.find(CLAIMS, (namespace, name))
                if claim is None or "deletionTimestamp" in claim["metadata"]:
                    continue
                surplus = None if ordinal in plan.ordinals else pod
                ours = {("StatefulSet", plan.owner["metadata"]["name"]), ("Pod", pod.name)}
                owned = _with_owners(claim, ours, _owners_of_claim(plan.owner, surplus))
                if owned != claim:
                    self._cluster.put(CLAIMS, owned)

    def _report(self, owner: Json, update: Revision, current: Revision) -> float | None:
        meta, spec = owner["metadata"], owner["spec"]
        pods = list(self._pods(owner).values())
        found = count_pods(pods, spec.get("minReadySeconds", 0), self._cluster.clock.now())
        updated = sum(pod.labels.get(HASH) == update.name and pod.is_active for pod in pods)
        done = updated == len(pods) == spec.get("replicas", 1) == found.ready
        if done and not _partition(spec):
            current = update
        counts = {
            "readyReplicas": found.ready,
            "currentReplicas": sum(pod.labels.get(HASH) == current.name for pod in pods),
            "updatedReplicas": updated,
        }
        status: Json = {name: value for name, value in counts.items() if value}
        status |= {
            "replicas": len(pods),
            "availableReplicas": found.available,
            "observedGeneration": meta.get("generation", 0),
            "currentRevision": current.name,
            "updateRevision": update.name,
            "collisionCount": 0,
        }
        self._cluster.set_status(SETS, (meta["namespace"], meta["name"]), status)
        return found.next_available


def _partition(spec: Json) -> int:
    return int(((spec.get("updateStrategy") or {}).get("rollingUpdate") or {}).get("partition", 0))


def is_settled(pod: PodView | None) -> bool:
    """Return whether the next pod in order may follow this one."""
    return pod is not None and pod.is_active and pod.ready is not None


def ordinal_of(owner: Json, name: str) -> int | None:
    prefix, _, number = name.rpartition("-")
    if prefix != owner["metadata"]["name"] or not number.isdigit() or str(int(number)) != number:
        return None
    return int(number)


def new_pod(owner: Json, ordinal: int, revision: Revision) -> Json:
    name = f"{owner['metadata']['name']}-{ordinal}"
    pod = pod_from(owner, revision.template)
    pod["metadata"]["name"] = name
    set_label(pod, HASH, revision.name)  # upstream uses the name here, not the hash
    set_label(pod, "statefulset.kubernetes.io/pod-name", name)
    set_label(pod, "apps.kubernetes.io/pod-index", str(ordinal))
    spec = pod["spec"]
    spec["hostname"] = name
    if owner["spec"].get("serviceName"):
        spec["subdomain"] = owner["spec"]["serviceName"]
    claims = owner["spec"].get("volumeClaimTemplates") or []
    names = {claim["metadata"]["name"]: _claim_name(owner, claim, ordinal) for claim in claims}
    kept = [one for one in spec.get("volumes") or [] if one["name"] not in names]
    volumes = [
        {"name": volume, "persistentVolumeClaim": {"claimName": claim}}
        for volume, claim in names.items()
    ]
    if volumes or kept:
        spec["volumes"] = [*volumes, *kept]
    return pod


def new_claims(owner: Json, ordinal: int) -> list[Json]:
    """Return the claims of a pod of the set, as the templates describe them."""
    templates = owner["spec"].get("volumeClaimTemplates") or []
    return [_new_claim(owner, each, _claim_name(owner, each, ordinal)) for each in templates]


def _claim_name(owner: Json, claim: Json, ordinal: int) -> str:
    return f"{claim['metadata']['name']}-{owner['metadata']['name']}-{ordinal}"


def _new_claim(owner: Json, template: Json, name: str) -> Json:
    meta = template["metadata"]
    labels = (owner["spec"].get("selector") or {}).get("matchLabels") or {}
    found: Json = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {
            "name": name,
            "namespace": owner["metadata"]["namespace"],
            "labels": {**(meta.get("labels") or {}), **labels},
        },
        "spec": template["spec"],
    }
    if meta.get("annotations"):
        found["metadata"]["annotations"] = meta["annotations"]
    if owners := _owners_of_claim(owner, None):
        found["metadata"]["ownerReferences"] = owners
    return found


def _owners_of_claim(owner: Json, surplus: PodView | None) -> list[Json]:
    """Return the owners whose deletion deletes a claim.

    ``surplus`` is the claim's pod if the set has become too small for it.
    """
    policy = owner["spec"].get(_POLICY) or {}
    if surplus is not None and policy.get("whenScaled") == "Delete":
        meta = {"name": surplus.name, "uid": surplus.metadata.uid}
        return [owner_reference({"apiVersion": "v1", "kind": "Pod", "metadata": meta})]
    return [owner_reference(owner)] if policy.get("whenDeleted") == "Delete" else []


def _with_owners(claim: Json, ours: set[tuple[str, str]], owners: list[Json]) -> Json:
    """Return the claim with these owners in place of those that are in ``ours``."""
    meta = dict(claim["metadata"])
    listed = meta.pop("ownerReferences", None) or []
    others = [one for one in listed if (one["kind"], one["name"]) not in ours]
    if owners or others:
        meta["ownerReferences"] = [*others, *owners]
    return {**claim, "metadata": meta}

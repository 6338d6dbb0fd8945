"""Claims and volumes: binding, simulated provisioning, and reclaiming of released volumes."""

from __future__ import annotations

from collections.abc import Mapping

from podium.api.claims import BIND_COMPLETED
from podium.apiserver.controllers.cluster import Cluster
from podium.apiserver.controllers.runner import Change, Keys, Mapper, itself
from podium.apiserver.controllers.volume_matching import (
    best_volume,
    default_class,
    is_wanted_by,
    provisioned,
)
from podium.apiserver.statuses import Json
from podium.apiserver.store import Key

CLAIMS, VOLUMES = "persistentvolumeclaims", "persistentvolumes"
CLASSES = "storageclasses.storage.k8s.io"
SELECTED_NODE = "volume.kubernetes.io/selected-node"
_BY_CONTROLLER = "pv.kubernetes.io/bound-by-controller"
_PROVISIONERS = (
    "volume.beta.kubernetes.io/storage-provisioner",
    "volume.kubernetes.io/storage-provisioner",
)
_NO_PROVISIONER = "kubernetes.io/no-provisioner"


class ClaimController:
    """Binds claims to the volume reserved for them, to a matching one, or to a new one."""

    name = "persistentvolumeclaim"

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster

    @property
    def watches(self) -> Mapping[str, Mapper]:
        return {CLAIMS: itself, VOLUMES: self._on_volume, CLASSES: self._on_class}

    def _on_volume(self, change: Change) -> Keys:
        ref = change.obj["spec"].get("claimRef")
        if ref:
            return [(ref.get("namespace", ""), ref.get("name", ""))]
        return () if change.is_gone else self._pending()

    def _on_class(self, change: Change) -> Keys:
        return self._pending() if change.is_new else ()

    def _pending(self) -> Keys:
        return [
            item.key
            for item in self._cluster.store.list(CLAIMS).items
            if not item.decode()["spec"].get("volumeName")
        ]

    def reconcile(self, key: Key) -> float | None:
        claim = self._cluster.find(CLAIMS, key)
        if claim is None or "deletionTimestamp" in claim["metadata"]:
            return None
        if claim["spec"].get("volumeName"):
            self._follow_volume(claim)
        else:
            self._find_volume(self._with_class(claim))
        return None

    def _follow_volume(self, claim: Json) -> None:
        """Bind a claim to the volume that it names, or mark it as lost."""
        volume = self._cluster.find(VOLUMES, ("", claim["spec"]["volumeName"]))
        bound = BIND_COMPLETED in (claim["metadata"].get("annotations") or {})
        if volume is not None and (
            is_wanted_by(volume, claim) or not volume["spec"].get("claimRef")
        ):
            self._bind(claim, volume)
        elif bound:
            self._set_phase(claim, "Lost")

    def _with_class(self, claim: Json) -> Json:
        """Give a claim without a class the default one, as soon as there is one."""
        if claim["spec"].get("storageClassName") is not None:
            return claim
        found = default_class(self._cluster.store.objects(CLASSES))
        if found is None:
            return claim
        claim["spec"]["storageClassName"] = found["metadata"]["name"]
        return self._cluster.put(CLAIMS, claim)

    def _find_volume(self, claim: Json) -> None:
        class_ = self._cluster.find(CLASSES, ("", claim["spec"].get("storageClassName") or ""))
        annotations = claim["metadata"].get("annotations") or {}
        waits = (class_ or {}).get("volumeBindingMode") == "WaitForFirstConsumer"
        node = annotations.get(SELECTED_NODE, "")
        volumes = self._cluster.store.objects(VOLUMES)
        volume = best_volume(claim, volumes, only_reserved=waits)
        if volume is not None:
            self._bind(claim, volume)
        elif waits and not node:
            message = "waiting for first consumer to be created before binding"
            self._record_once(claim, "WaitForFirstConsumer", message)
        elif class_ is not None and class_["provisioner"] != _NO_PROVISIONER:
            self._provision(claim, class_, self._cluster.find("nodes", ("", node)))

    def _record_once(self, claim: Json, reason: str, message: str) -> None:
        events = self._cluster.store.objects("events", claim["metadata"]["namespace"])
        uid = claim["metadata"]["uid"]
        if not any(e["reason"] == reason and e["involvedObject"].get("uid") == uid for e in events):
            self._cluster.record_event(claim, reason, message)

    def _provision(self, claim: Json, class_: Json, node: Json | None) -> None:
        annotations = claim["metadata"].get("annotations") or {}
        marks = dict.fromkeys(_PROVISIONERS, class_["provisioner"])
        claim["metadata"]["annotations"] = {**annotations, **marks}
        claim = self._cluster.put(CLAIMS, claim)
        wanted = provisioned(claim, class_, node)
        wanted["spec"]["claimRef"] = claim_reference(claim)
        volume = self._cluster.find(VOLUMES, ("", wanted["metadata"]["name"]))
        if volume is None:
            volume = self._cluster.create(VOLUMES, wanted)
        name = volume["metadata"]["name"]
        self._cluster.record_event(
            claim, "ProvisioningSucceeded", f"Successfully provisioned volume {name}"
        )
        self._bind(claim, volume)

    def _bind(self, claim: Json, volume: Json) -> None:
        """Bind both sides. The volume comes first, so that no other claim can take it."""
        self._bind_volume(claim, volume)
        name = volume["metadata"]["name"]
        if claim["spec"].get("volumeName") != name:
            claim["spec"]["volumeName"] = name
            _annotate(claim, _BY_CONTROLLER)
        _annotate(claim, BIND_COMPLETED)
        claim["status"] = {
            "phase": "Bound",
            "accessModes": list(volume["spec"].get("accessModes") or []),
            "capacity": dict(volume["spec"].get("capacity") or {}),
        }
        self._cluster.put(CLAIMS, claim)

    def _bind_volume(self, claim: Json, volume: Json) -> None:
        ref = volume["spec"].get("claimRef") or {}
        if not ref:
            _annotate(volume, _BY_CONTROLLER)
        if ref.get("uid") != claim["metadata"]["uid"]:
            volume["spec"]["claimRef"] = claim_reference(claim)
        volume["status"] = {**(volume.get("status") or {}), "phase": "Bound"}
        if "lastPhaseTransitionTime" not in volume["status"] or not ref:
            volume["status"]["lastPhaseTransitionTime"] = self._cluster.now
        self._cluster.put(VOLUMES, volume)

    def _set_phase(self, claim: Json, phase: str) -> None:
        key = (claim["metadata"]["namespace"], claim["metadata"]["name"])
        self._cluster.set_status(CLAIMS, key, {**(claim.get("status") or {}), "phase": phase})


class VolumeController:
    """Sets the phase of volumes; deletes or keeps one whose claim is gone."""

    name = "persistentvolume"

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster

    @property
    def watches(self) -> Mapping[str, Mapper]:
        return {VOLUMES: itself, CLAIMS: self._on_claim}

    def _on_claim(self, change: Change) -> Keys:
        name = change.obj["spec"].get("volumeName")
        return [("", name)] if name and change.is_gone else ()

    def reconcile(self, key: Key) -> float | None:
        volume = self._cluster.find(VOLUMES, key)
        if volume is None or "deletionTimestamp" in volume["metadata"]:
            return None
        ref = volume["spec"].get("claimRef") or {}
        if not ref.get("uid"):
            self._set_phase(volume, "Available")
            return None
        claim = self._cluster.find(CLAIMS, (ref.get("namespace", ""), ref.get("name", "")))
        if claim is None or claim["metadata"]["uid"] != ref["uid"]:
            self._release(volume)
        return None

    def _release(self, volume: Json) -> None:
        if volume["spec"].get("persistentVolumeReclaimPolicy") == "Delete":
            self._cluster.delete(VOLUMES, ("", volume["metadata"]["name"]))
        else:
            self._set_phase(volume, "Released")

    def _set_phase(self, volume: Json, phase: str) -> None:
        status = volume.get("status") or {}
        if status.get("phase") != phase:
            status = {**status, "phase": phase, "lastPhaseTransitionTime": self._cluster.now}
            self._cluster.set_status(VOLUMES, ("", volume["metadata"]["name"]), status)


def claim_reference(claim: Json) -> Json:
    meta = claim["metadata"]
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "namespace": meta["namespace"],
        "name": meta["name"],
        "uid": meta["uid"],
        "resourceVersion": meta["resourceVersion"],
    }


def _annotate(obj: Json, key: str) -> None:
    annotations = obj["metadata"].get("annotations") or {}
    obj["metadata"]["annotations"] = {**annotations, key: "yes"}

"""Which volume a claim gets: pure functions of claims, volumes and classes as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from podium.api import quantity
from podium.api.nodes import ZONE
from podium.apiserver.controllers.owners import compile_selector
from podium.apiserver.controllers.templates import storage_of
from podium.apiserver.statuses import Json

DEFAULT_CLASS = "storageclass.kubernetes.io/is-default-class"


def is_wanted_by(volume: Json, claim: Json) -> bool:
    """Return whether a volume is reserved for this claim."""
    ref = (volume.get("spec") or {}).get("claimRef") or {}
    meta = claim["metadata"]
    same = (ref.get("namespace"), ref.get("name")) == (meta["namespace"], meta["name"])
    return same and ref.get("uid") in (None, "", meta["uid"])


def best_volume(claim: Json, volumes: Iterable[Json], *, only_reserved: bool) -> Json | None:
    """Return the volume reserved for the claim, or the smallest that fits, if any."""
    candidates = []
    for volume in volumes:
        if "deletionTimestamp" in volume["metadata"]:
            continue
        if is_wanted_by(volume, claim):
            return volume
        if not volume["spec"].get("claimRef") and fits(claim, volume):
            candidates.append(volume)
    if only_reserved or not candidates:
        return None
    return min(candidates, key=lambda one: (capacity_of(one), one["metadata"]["name"]))


def fits(claim: Json, volume: Json) -> bool:
    wanted, offered = claim["spec"], volume["spec"]
    if (wanted.get("storageClassName") or "") != (offered.get("storageClassName") or ""):
        return False
    if wanted.get("volumeMode", "Filesystem") != offered.get("volumeMode", "Filesystem"):
        return False
    if not set(wanted.get("accessModes") or []) <= set(offered.get("accessModes") or []):
        return False
    if wanted.get("selector") is not None:
        labels = volume["metadata"].get("labels") or {}
        if not compile_selector(wanted["selector"]).matches(labels):
            return False
    return capacity_of(volume) >= storage_of(wanted)


def capacity_of(volume: Json) -> int:
    return quantity.parse((volume["spec"].get("capacity") or {}).get("storage", 0))


def default_class(classes: Sequence[Json]) -> Json | None:
    """Return the newest class that is marked as the default."""
    marked = [
        one
        for one in classes
        if (one["metadata"].get("annotations") or {}).get(DEFAULT_CLASS) == "true"
    ]
    return max(marked, key=_age, default=None)


def _age(obj: Json) -> tuple[str, str]:
    return (obj["metadata"]["creationTimestamp"], obj["metadata"]["name"])


def provisioned(claim: Json, class_: Json, node: Json | None) -> Json:
    """Return a new volume for a claim, as a simulated driver creates it for a node if given."""
    meta, spec = claim["metadata"], claim["spec"]
    name = f"pvc-{meta['uid']}"
    made: Json = {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {
            "name": name,
            "annotations": {"pv.kubernetes.io/provisioned-by": class_["provisioner"]},
        },
        "spec": {
            "capacity": {"storage": spec["resources"]["requests"]["storage"]},
            "accessModes": list(spec["accessModes"]),
            "volumeMode": spec.get("volumeMode", "Filesystem"),
            "persistentVolumeReclaimPolicy": class_.get("reclaimPolicy", "Delete"),
            "storageClassName": class_["metadata"]["name"],
            "csi": {"driver": class_["provisioner"], "volumeHandle": name},
        },
    }
    if class_.get("mountOptions"):
        made["spec"]["mountOptions"] = list(class_["mountOptions"])
    if terms := _topology(class_, node):
        made["spec"]["nodeAffinity"] = {"required": {"nodeSelectorTerms": terms}}
    return made


def _topology(class_: Json, node: Json | None) -> list[Json]:
    """Return where a new volume can be used: at the node if given, within what the class allows."""
    labels = ((node or {}).get("metadata") or {}).get("labels") or {}
    allowed = class_.get("allowedTopologies") or []
    for term in allowed:
        pairs = {
            one["key"]: list(one.get("values") or [])
            for one in term.get("matchLabelExpressions") or []
        }
        if node is None:  # no pod waits for it: take the first topology
            return [_term({key: values[:1] for key, values in pairs.items()})]
        if pairs and all(labels.get(key) in values for key, values in pairs.items()):
            return [_term({key: [labels[key]] for key in pairs})]
    if node is not None and ZONE in labels:
        return [_term({ZONE: [labels[ZONE]]})]
    return []


def _term(pairs: dict[str, list[str]]) -> Json:
    return {
        "matchExpressions": [
            {"key": key, "operator": "In", "values": values} for key, values in pairs.items()
        ]
    }

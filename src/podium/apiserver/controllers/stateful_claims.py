"""Claims of a StatefulSet: their names, and who takes them along: the set, its pod, or nobody."""

from __future__ import annotations

from podium.apiserver.controllers.owners import owner_reference
from podium.apiserver.controllers.pods import PodView
from podium.apiserver.statuses import Json

POLICY = "persistentVolumeClaimRetentionPolicy"


def claim_name(owner: Json, claim: Json, ordinal: int) -> str:
    return f"{claim['metadata']['name']}-{owner['metadata']['name']}-{ordinal}"


def new_claim(owner: Json, template: Json, name: str) -> Json:
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
    if owners := owners_of_claim(owner, None):
        found["metadata"]["ownerReferences"] = owners
    return found


def owners_of_claim(owner: Json, surplus: PodView | None) -> list[Json]:
    """Whose end is a claim's end, too; ``surplus`` is its pod when the set has become too small
    for it."""
    policy = owner["spec"].get(POLICY) or {}
    if surplus is not None and policy.get("whenScaled") == "Delete":
        meta = {"name": surplus.name, "uid": surplus.metadata.uid}
        return [owner_reference({"apiVersion": "v1", "kind": "Pod", "metadata": meta})]
    return [owner_reference(owner)] if policy.get("whenDeleted") == "Delete" else []


def with_owners(claim: Json, ours: set[tuple[str, str]], owners: list[Json]) -> Json:
    """The claim with these owners; of those it has, the kinds and names in ``ours`` go."""
    meta = dict(claim["metadata"])
    listed = meta.pop("ownerReferences", None) or []
    others = [one for one in listed if (one["kind"], one["name"]) not in ours]
    if owners or others:
        meta["ownerReferences"] = [*others, *owners]
    return {**claim, "metadata": meta}

"""Resource claims of pod groups, with the feature gate DRAWorkloadResourceClaims.

`GroupClaimsController` makes the claims of groups from templates. The other two are those of pods:
a member uses the claims of its group, and a claim stays reserved while its group exists.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from podium.api.resource_claims import POD_CLAIM, SCHEDULING_GROUP
from podium.apiserver.controllers.cluster import Cluster
from podium.apiserver.controllers.owners import controller_of
from podium.apiserver.controllers.pods import PodClaim, PodView
from podium.apiserver.controllers.resource_claims import (
    CLAIMS,
    TEMPLATES,
    PodClaimsController,
    ResourceClaimController,
    claim_of_owner,
)
from podium.apiserver.controllers.runner import Change, Keys, Mapper, itself
from podium.apiserver.statuses import Json, Refusal
from podium.apiserver.store import Key

GROUPS: Final = "podgroups.scheduling.k8s.io"
API_VERSION: Final = f"{SCHEDULING_GROUP}/v1beta1"


class GroupClaimsController:
    """Creates the claims of pod groups from templates, and names them in the group's status."""

    name = "resource-claims-of-groups"

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster

    @property
    def watches(self) -> Mapping[str, Mapper]:
        return {GROUPS: itself, CLAIMS: _owning_group_key, TEMPLATES: self._on_template}

    def _on_template(self, change: Change) -> Keys:
        namespace, name = change.key
        return [
            (namespace, group["metadata"]["name"])
            for group in self._cluster.store.objects(GROUPS, namespace)
            if any(one.get("resourceClaimTemplateName") == name for one in entries_of(group))
        ]

    def reconcile(self, key: Key) -> float | None:
        group = self._cluster.find(GROUPS, key)
        if group is None or "deletionTimestamp" in group["metadata"]:
            return None
        names: dict[str, str] = {}
        for entry in entries_of(group):
            template = entry.get("resourceClaimTemplateName")
            if template is None or group_claim(self._cluster, group, entry["name"]) is not None:
                continue
            made = self._find_made(group, entry["name"])
            if made is None:
                made = self._create(group, entry["name"], template)
            if made is None:
                return None  # until the template is created
            names[entry["name"]] = made["metadata"]["name"]
        if names:
            self._publish(key, names)
        return None

    def _find_made(self, group: Json, entry: str) -> Json | None:
        """Return a claim that was created for the group before its status said so."""
        for claim in self._cluster.store.objects(CLAIMS, group["metadata"]["namespace"]):
            notes = claim["metadata"].get("annotations") or {}
            if is_made_for(group, claim) and notes.get(POD_CLAIM) == entry:
                return claim
        return None

    def _create(self, group: Json, entry: str, template: str) -> Json | None:
        meta = group["metadata"]
        found = self._cluster.find(TEMPLATES, (meta["namespace"], template))
        if found is None:
            missing = f'resourceclaimtemplate.resource.k8s.io "{template}" not found'
            self._report(group, entry, f'resource claim template "{template}": {missing}')
            return None
        owner = {"apiVersion": API_VERSION, "kind": "PodGroup"}
        owner |= {"name": meta["name"], "uid": meta["uid"]}
        claim = claim_of_owner(owner, meta["namespace"], entry, found)
        try:
            return self._cluster.create(CLAIMS, claim)
        except Refusal as refusal:
            self._report(group, entry, f"create ResourceClaim : {refusal}")
            raise

    def _report(self, group: Json, entry: str, problem: str) -> None:
        message = f"PodGroupResourceClaim {entry}: {problem}"
        self._cluster.record_event(group, "FailedResourceClaimCreation", message, type_="Warning")

    def _publish(self, key: Key, made: Mapping[str, str]) -> None:
        group = self._cluster.find(GROUPS, key)
        if group is None:
            return
        status = group.get("status") or {}
        names = {**_names_in(group), **made}
        listed = [{"name": one, "resourceClaimName": names[one]} for one in sorted(names)]
        self._cluster.set_status(GROUPS, key, {**status, "resourceClaimStatuses": listed})


class MemberClaimsController(PodClaimsController):
    """Gives members of a group its claims, where both define a claim in the same way."""

    @property
    def watches(self) -> Mapping[str, Mapper]:
        return {**super().watches, GROUPS: self._on_group}

    def _on_group(self, change: Change) -> Keys:
        namespace, name = change.key
        pods = self._cluster.pods.inside(namespace)
        return [pod.key for pod in pods if pod.group_name == name and pod.is_active]

    def _make(self, pod: PodView, entry: PodClaim) -> str | None:
        if not pod.group_name:
            return super()._make(pod, entry)
        group = self._group(pod)
        if group is None:  # whether the claim is the group's is not known yet
            return None
        if not defines(group, entry):
            return super()._make(pod, entry)
        if entry.resource_claim_template_name is None:
            return None
        claim = group_claim(self._cluster, group, entry.name)
        return None if claim is None else str(claim["metadata"]["name"])

    def _user(self, pod: PodView, entry: PodClaim) -> Json:
        group = self._group(pod)
        if group is None or not defines(group, entry):
            return super()._user(pod, entry)
        meta = group["metadata"]
        user = {"apiGroup": SCHEDULING_GROUP, "resource": "podgroups"}
        return {**user, "name": meta["name"], "uid": meta["uid"]}

    def _is_for(self, pod: PodView, entry: PodClaim, claim: Json) -> bool:
        group = self._group(pod)
        if group is not None and defines(group, entry):
            return is_made_for(group, claim)
        return super()._is_for(pod, entry, claim)

    def _group(self, pod: PodView) -> Json | None:
        name = pod.group_name
        return self._cluster.find(GROUPS, (pod.metadata.namespace, name)) if name else None


class SharedClaimController(ResourceClaimController):
    """Keeps a claim reserved for a group while the group exists."""

    @property
    def watches(self) -> Mapping[str, Mapper]:
        return {**super().watches, GROUPS: _claims_of_gone_group}

    def _still_uses(self, namespace: str, user: Json) -> bool:
        if (user.get("apiGroup"), user["resource"]) != (SCHEDULING_GROUP, "podgroups"):
            return super()._still_uses(namespace, user)
        group = self._cluster.find(GROUPS, (namespace, user["name"]))
        return group is not None and bool(group["metadata"]["uid"] == user["uid"])


def entries_of(group: Json) -> list[Json]:
    """Return the claims in the spec of a group."""
    found: list[Json] = group["spec"].get("resourceClaims") or []
    return found


def defines(group: Json, entry: PodClaim) -> bool:
    """Whether the group has the same claim as this entry of a pod."""
    wanted = entry.name, entry.resource_claim_name, entry.resource_claim_template_name
    return any(
        (one["name"], one.get("resourceClaimName"), one.get("resourceClaimTemplateName")) == wanted
        for one in entries_of(group)
    )


def group_claim(cluster: Cluster, group: Json, entry: str) -> Json | None:
    """Return the claim that was made for an entry of a group, if it is there."""
    name = _names_in(group).get(entry)
    claim = cluster.find(CLAIMS, (group["metadata"]["namespace"], name)) if name else None
    return claim if claim is not None and is_made_for(group, claim) else None


def is_made_for(group: Json, claim: Json) -> bool:
    owner = controller_of(claim)
    return owner is not None and bool(owner["uid"] == group["metadata"]["uid"])


def _names_in(group: Json) -> dict[str, str]:
    """Return the names of the claims in the status of a group, by their entries."""
    statuses = (group.get("status") or {}).get("resourceClaimStatuses") or []
    return {one["name"]: one["resourceClaimName"] for one in statuses if "resourceClaimName" in one}


def _owning_group_key(change: Change) -> Iterator[Key]:
    owner = controller_of(change.obj)
    if owner is not None and owner.get("kind") == "PodGroup":
        yield (change.key[0], owner["name"])


def _claims_of_gone_group(change: Change) -> Iterator[Key]:
    if change.is_gone:
        named = [one.get("resourceClaimName") for one in entries_of(change.obj)]
        for name in (*named, *_names_in(change.obj).values()):
            if name:
                yield (change.key[0], name)

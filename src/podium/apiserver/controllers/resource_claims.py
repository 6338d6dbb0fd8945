"""Resource claims: made from templates for pods, released and deleted when no pod uses them.

As in kube-controller-manager there are two sides. `PodClaimsController` looks at a pod: it creates
the claims that the pod lacks, and reserves allocated claims for a pod that was bound without a
scheduler. `ResourceClaimController` looks at a claim: it removes pods that are done, and frees the
devices after the last one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from podium.api.resource_claims import FINALIZER, MAX_RESERVED_FOR, POD_CLAIM
from podium.apiserver.controllers.cluster import Cluster
from podium.apiserver.controllers.owners import controller_of
from podium.apiserver.controllers.pods import PodClaim, PodView
from podium.apiserver.controllers.runner import Change, Keys, Mapper, itself
from podium.apiserver.statuses import Json, Refusal
from podium.apiserver.store import Key

CLAIMS = "resourceclaims.resource.k8s.io"
TEMPLATES = "resourceclaimtemplates.resource.k8s.io"
_LONGEST_PREFIX = 57  # a name of 63 characters with a hyphen and 5 random ones


class PodClaimsController:
    """Creates the claims of pods from templates.

    ``_users`` has the pods by what they wait for: the key of a claim with its resource, or that of
    a template. ``_made`` has the generated claims by the uid of their pod. Both are brought up to
    date by the watch, before any pod is looked at.
    """

    name = "resource-claims-of-pods"

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._users: dict[tuple[str, Key], dict[Key, None]] = {}
        self._made: dict[str, dict[Key, None]] = {}

    @property
    def watches(self) -> Mapping[str, Mapper]:
        return {CLAIMS: self._on_claim, TEMPLATES: self._on_template, "pods": self._on_pod}

    def _on_pod(self, change: Change) -> Keys:
        pod = change.pod
        if not pod.spec.resource_claims:
            return ()
        if change.old_pod is not None:
            self._forget_user(change.old_pod)
        if change.is_gone:
            self._forget_user(pod)
            return ()
        for needed in _needed(pod):
            self._users.setdefault(needed, {})[pod.key] = None
        return (pod.key,) if pod.is_active else ()

    def _forget_user(self, pod: PodView) -> None:
        for needed in _needed(pod):
            users = self._users.get(needed, {})
            users.pop(pod.key, None)
            if not users:
                self._users.pop(needed, None)

    def _on_claim(self, change: Change) -> Keys:
        owner = _owning_pod(change.obj)
        if owner is not None and change.is_gone:
            made = self._made.get(owner["uid"], {})
            made.pop(change.key, None)
            if not made:
                self._made.pop(owner["uid"], None)
        elif owner is not None:
            self._made.setdefault(owner["uid"], {})[change.key] = None
        return list(self._users.get((CLAIMS, change.key), ()))

    def _on_template(self, change: Change) -> Keys:
        return () if change.is_gone else list(self._users.get((TEMPLATES, change.key), ()))

    def reconcile(self, key: Key) -> float | None:
        pod = self._cluster.pods.get(key)
        if pod is None or not pod.is_active:  # the claims of a finished pod are deleted for good
            return None
        made = {}
        for entry in pod.spec.resource_claims or ():
            try:
                name = self._make(pod, entry)
            except _NoTemplate as missing:
                self._report(pod, entry, str(missing))
                return None  # until the template is created
            except Refusal as refusal:
                self._report(pod, entry, f"create ResourceClaim : {refusal}")
                raise
            if name:
                made[entry.name] = name
        if made:
            self._publish(key, made)
        if pod.spec.node_name:
            self._reserve_all(key)
        return None

    def _make(self, pod: PodView, entry: PodClaim) -> str | None:
        """Return the name of a claim that is new to the pod's status, if there is one."""
        template = entry.resource_claim_template_name
        known = claim_name(pod, entry)
        if template is None or known == "":
            return None
        if known is not None and self._is_made_for(pod, known):
            return None
        return self._find_made(pod, entry) or self._create(pod, entry, template)

    def _is_made_for(self, pod: PodView, name: str) -> bool:
        claim = self._cluster.find(CLAIMS, (pod.metadata.namespace, name))
        return claim is not None and is_for(pod, claim)

    def _find_made(self, pod: PodView, entry: PodClaim) -> str | None:
        """Return a claim that was created for the pod before its status said so."""
        for key in self._made.get(pod.metadata.uid, ()):
            claim = self._cluster.find(CLAIMS, key)
            notes = (claim or {}).get("metadata", {}).get("annotations") or {}
            if notes.get(POD_CLAIM) == entry.name:
                return key[1]
        return None

    def _create(self, pod: PodView, entry: PodClaim, template: str) -> str:
        found = self._cluster.find(TEMPLATES, (pod.metadata.namespace, template))
        if found is None:
            raise _NoTemplate(template)
        made = self._cluster.create(CLAIMS, claim_for(pod, entry.name, found))
        return str(made["metadata"]["name"])

    def _report(self, pod: PodView, entry: PodClaim, problem: str) -> None:
        about = self._cluster.store.get("pods", *pod.key)
        message = f"PodResourceClaim {entry.name}: {problem}"
        self._cluster.record_event(about, "FailedResourceClaimCreation", message, type_="Warning")

    def _publish(self, key: Key, made: Mapping[str, str]) -> None:
        """Add the names of generated claims to the pod's status."""
        status = self._cluster.store.get("pods", *key)["status"]
        there = status.get("resourceClaimStatuses") or []
        names = {
            one["name"]: one["resourceClaimName"] for one in there if "resourceClaimName" in one
        }
        listed = [
            {"name": name, "resourceClaimName": claim}
            for name, claim in sorted({**names, **made}.items())
        ]
        self._cluster.set_status("pods", key, {**status, "resourceClaimStatuses": listed})

    def _reserve_all(self, key: Key) -> None:
        pod = self._cluster.pods.get(key)
        if pod is None:
            return
        for entry in pod.spec.resource_claims or ():
            name = claim_name(pod, entry)
            claim = self._cluster.find(CLAIMS, (key[0], name)) if name else None
            if claim is None:
                continue
            if entry.resource_claim_template_name is None or self._is_for(pod, entry, claim):
                self._reserve(claim, self._user(pod, entry))

    def _user(self, pod: PodView, entry: PodClaim) -> Json:
        """Return for whom a claim of the pod is reserved."""
        return {"resource": "pods", "name": pod.name, "uid": pod.metadata.uid}

    def _is_for(self, pod: PodView, entry: PodClaim, claim: Json) -> bool:
        """Whether a claim was made for this entry of the pod."""
        return is_for(pod, claim)

    def _reserve(self, claim: Json, user: Json) -> None:
        status = claim.get("status") or {}
        users = status.get("reservedFor") or []
        is_reserved = any(one["uid"] == user["uid"] for one in users)
        if "allocation" not in status or is_reserved or len(users) >= MAX_RESERVED_FOR:
            return
        key = (claim["metadata"]["namespace"], claim["metadata"]["name"])
        self._cluster.set_status(CLAIMS, key, {**status, "reservedFor": [*users, user]})


class ResourceClaimController:
    """Removes pods that are done from claims; frees and deletes claims that nobody uses."""

    name = "resource-claims"

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster

    @property
    def watches(self) -> Mapping[str, Mapper]:
        return {CLAIMS: itself, "pods": _claims_of_done_pod}

    def reconcile(self, key: Key) -> float | None:
        claim = self._cluster.find(CLAIMS, key)
        if claim is None:
            return None
        status = claim.get("status") or {}
        before = status.get("reservedFor") or []
        users = [one for one in before if self._still_uses(key[0], one)]
        if len(users) < len(before):
            self._release(key, claim, users)
        elif not users and "deletionTimestamp" in claim["metadata"]:
            self._free(key, claim)
        if not users:
            self._delete_if_unneeded(key, claim)
        return None

    def _still_uses(self, namespace: str, user: Json) -> bool:
        """Whether a pod may still run with this claim; users of other kinds are left alone."""
        if user.get("apiGroup") or user["resource"] != "pods":
            return True
        pod = self._cluster.pods.get((namespace, user["name"]))
        return pod is not None and pod.metadata.uid == user["uid"] and not is_done(pod)

    def _release(self, key: Key, claim: Json, users: list[Json]) -> None:
        if users:
            self._cluster.set_status(CLAIMS, key, {**claim["status"], "reservedFor": users})
        elif FINALIZER in (claim["metadata"].get("finalizers") or []):
            self._free(key, claim)
        else:  # allocated by somebody other than a scheduler
            status = {name: one for name, one in claim["status"].items() if name != "reservedFor"}
            self._cluster.set_status(CLAIMS, key, status)

    def _free(self, key: Key, claim: Json) -> None:
        """Take the allocation away, and with it what kept the claim from being deleted."""
        if FINALIZER not in (claim["metadata"].get("finalizers") or []):
            return
        self._cluster.set_status(CLAIMS, key, {})
        self._cluster.modify(CLAIMS, key, _without_finalizer)

    def _delete_if_unneeded(self, key: Key, claim: Json) -> None:
        """Delete a generated claim whose pod will not run; the pod may stay for long."""
        owner = _owning_pod(claim)
        pod = self._cluster.pods.get((key[0], owner["name"])) if owner else None
        if owner and pod and (pod.metadata.uid != owner["uid"] or is_done(pod)):
            self._cluster.delete(CLAIMS, key)


class _NoTemplate(Exception):
    def __init__(self, name: str) -> None:
        missing = f'resourceclaimtemplate.resource.k8s.io "{name}" not found'
        super().__init__(f'resource claim template "{name}": {missing}')


def claim_name(pod: PodView, entry: PodClaim) -> str | None:
    """Return the claim behind an entry of the pod's spec.

    None: it was not made yet. Empty: the pod's status says that it is not needed.
    """
    if entry.resource_claim_name is not None:
        return entry.resource_claim_name
    for status in pod.status.resource_claim_statuses or ():
        if status.name == entry.name:
            return status.resource_claim_name or ""
    return None


def is_for(pod: PodView, claim: Json) -> bool:
    owner = _owning_pod(claim)
    return owner is not None and bool(owner["uid"] == pod.metadata.uid)


def is_done(pod: PodView) -> bool:
    """Whether no container of the pod runs, or ever will."""
    return pod.is_finished or (pod.is_deleting and not pod.spec.node_name)


def claim_for(pod: PodView, entry: str, template: Json) -> Json:
    """Return a new claim for an entry of a pod's spec, with a generated name."""
    meta = pod.metadata
    owner = {"apiVersion": "v1", "kind": "Pod", "name": meta.name, "uid": meta.uid}
    return claim_of_owner(owner, meta.namespace, entry, template)


def claim_of_owner(owner: Json, namespace: str, entry: str, template: Json) -> Json:
    """Return a new claim from a template that this object controls."""
    spec = template["spec"]
    given = spec.get("metadata") or {}
    labels = {"labels": dict(given["labels"])} if given.get("labels") else {}
    return {
        "apiVersion": template["apiVersion"],
        "kind": "ResourceClaim",
        "metadata": {
            "generateName": _name_prefix(owner["name"], entry),
            "namespace": namespace,
            "ownerReferences": [{**owner, "controller": True}],
            "annotations": {**(given.get("annotations") or {}), POD_CLAIM: entry},
            **labels,
        },
        "spec": spec["spec"],
    }


def _name_prefix(pod: str, entry: str) -> str:
    """Return the start of a claim's name. Of a long one both parts are cut in proportion."""
    prefix = f"{pod}-{entry}-"
    if len(prefix) <= _LONGEST_PREFIX:
        return prefix
    parts = (part[: len(part) * _LONGEST_PREFIX // len(prefix)] for part in (pod, entry))
    return "-".join(parts)


def _owning_pod(claim: Json) -> Json | None:
    owner = controller_of(claim)
    is_pod = owner is not None and (owner.get("apiVersion"), owner.get("kind")) == ("v1", "Pod")
    return owner if is_pod else None


def _needed(pod: PodView) -> Iterator[tuple[str, Key]]:
    """Yield the claims and templates that a pod names, directly or in its status."""
    namespace = pod.metadata.namespace
    for entry in pod.spec.resource_claims or ():
        if entry.resource_claim_template_name:
            yield TEMPLATES, (namespace, entry.resource_claim_template_name)
        if name := claim_name(pod, entry):
            yield CLAIMS, (namespace, name)


def claims_of(pod: PodView) -> Iterator[Key]:
    """Yield the claims of a pod, and the one that its extended resources got."""
    for resource, key in _needed(pod):
        if resource == CLAIMS:
            yield key
    if extended := pod.status.extended_resource_claim_status:
        yield (pod.metadata.namespace, extended.resource_claim_name)


def _claims_of_done_pod(change: Change) -> Keys:
    return claims_of(change.pod) if change.is_gone or is_done(change.pod) else ()


def _without_finalizer(claim: Json) -> Json:
    left = [one for one in claim["metadata"].get("finalizers") or [] if one != FINALIZER]
    return {**claim, "metadata": {**claim["metadata"], "finalizers": left}}

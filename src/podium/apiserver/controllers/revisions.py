"""ControllerRevisions: the templates that a StatefulSet or DaemonSet has had, by hash."""

from __future__ import annotations

import copy
from typing import NamedTuple

from podium.apiserver.controllers.cluster import Cluster
from podium.apiserver.controllers.owners import controller_of, owner_reference
from podium.apiserver.controllers.templates import hash_of
from podium.apiserver.statuses import Json

REVISIONS = "controllerrevisions.apps"
HASH = "controller-revision-hash"


class Revision(NamedTuple):
    """One template, past or present."""

    name: str
    hash: str
    number: int
    template: Json


def current_revision(cluster: Cluster, owner: Json) -> Revision:
    """Return the revision of the present template; create it or make it the latest."""
    known = revisions_of(cluster, owner)
    template = copy.deepcopy(owner["spec"]["template"])
    text = hash_of(template)
    latest = max((one.number for one in known), default=0)
    found = next((one for one in known if one.hash == text or _is_equal(one, template)), None)
    if found is not None and found.number == latest:
        return found
    namespace, name = owner["metadata"]["namespace"], f"{owner['metadata']['name']}-{text}"
    if found is not None:  # an old template is used again
        stored = cluster.store.get(REVISIONS, namespace, found.name)
        cluster.put(REVISIONS, {**stored, "revision": latest + 1})
        return found._replace(number=latest + 1)
    cluster.create(REVISIONS, _object(owner, name, text, latest + 1))
    _forget(cluster, owner, known)
    return Revision(name, text, latest + 1, template)


def _is_equal(revision: Revision, template: Json) -> bool:
    """Compare templates: other servers compute another hash, and write the zero of a time."""
    return _without_zeros(revision.template) == _without_zeros(template)


def _without_zeros(template: Json) -> Json:
    meta = template.get("metadata") or {}
    return {**template, "metadata": {key: meta[key] for key in meta if meta[key] is not None}}


def _object(owner: Json, name: str, text: str, number: int) -> Json:
    meta = owner["metadata"]
    labels = (owner["spec"]["template"].get("metadata") or {}).get("labels") or {}
    return {
        "apiVersion": "apps/v1",
        "kind": "ControllerRevision",
        "metadata": {
            "name": name,
            "namespace": meta["namespace"],
            "labels": {**labels, HASH: text},
            "ownerReferences": [owner_reference(owner)],
        },
        "data": {"spec": {"template": {**owner["spec"]["template"], "$patch": "replace"}}},
        "revision": number,
    }


def revisions_of(cluster: Cluster, owner: Json) -> list[Revision]:
    found = []
    for obj in cluster.store.objects(REVISIONS, owner["metadata"]["namespace"]):
        controller = controller_of(obj)
        if controller is not None and controller["uid"] == owner["metadata"]["uid"]:
            found.append(_read(obj))
    return sorted(found, key=lambda one: one.number)


def _read(obj: Json) -> Revision:
    template = dict(((obj.get("data") or {}).get("spec") or {}).get("template") or {})
    template.pop("$patch", None)
    meta = obj["metadata"]
    text = (meta.get("labels") or {}).get(HASH, "")
    return Revision(meta["name"], text, obj.get("revision", 0), template)


def _forget(cluster: Cluster, owner: Json, known: list[Revision]) -> None:
    """Delete the oldest revisions beyond the limit, except those that pods still use."""
    used = {pod.labels.get(HASH) for pod in cluster.pods.owned_by(owner["metadata"]["uid"])}
    idle = [one for one in known if not {one.hash, one.name} & used]
    limit = owner["spec"].get("revisionHistoryLimit", 10)
    for one in idle[: max(0, len(idle) - limit)]:
        cluster.delete(REVISIONS, (owner["metadata"]["namespace"], one.name))

"""Which object controls which pods: owner references, adoption and release of pods."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from podium.api.meta import LabelSelector
from podium.api.selectors import NOTHING, Selector, from_map, label_selector
from podium.apiserver.controllers.cluster import Cluster
from podium.apiserver.controllers.pods import PodView
from podium.apiserver.controllers.runner import Change, Keys
from podium.apiserver.statuses import Json
from podium.apiserver.store import Key
from podium.errors import InvalidSelector


def owner_reference(owner: Json) -> Json:
    meta = owner["metadata"]
    return {
        "apiVersion": owner["apiVersion"],
        "kind": owner["kind"],
        "name": meta["name"],
        "uid": meta["uid"],
        "controller": True,
        "blockOwnerDeletion": True,
    }


def controller_of(obj: Json) -> Json | None:
    owners = obj["metadata"].get("ownerReferences") or []
    return next((owner for owner in owners if owner.get("controller")), None)


def selector_of(obj: Json) -> Selector:
    """Return a workload's selector; one that cannot be parsed selects nothing."""
    return compile_selector((obj.get("spec") or {}).get("selector"))


def compile_selector(raw: Any) -> Selector:
    if not isinstance(raw, dict):
        return NOTHING
    try:
        if raw and not raw.keys() & {"matchLabels", "matchExpressions"}:
            return from_map(raw)  # the selector of a replication controller is a plain map
        return label_selector(msgspec.convert(raw, LabelSelector))
    except (InvalidSelector, msgspec.ValidationError):
        return NOTHING


def pods_of(kind: str) -> Callable[[Change], Keys]:
    """Return a mapper from a pod to the object of this kind that controls it, now or before."""

    def keys(change: Change) -> Iterator[Key]:
        for pod in filter(None, (change.pod, change.old_pod)):
            owner = pod.controller
            if owner is not None and owner.kind == kind:
                yield (pod.metadata.namespace, owner.name)

    return keys


def pods_or_orphans_of(cluster: Cluster, resource: str, kind: str) -> Callable[[Change], Keys]:
    """Like `pods_of`; an orphan is mapped to every object that may adopt it."""
    owned = pods_of(kind)

    def keys(change: Change) -> Iterator[Key]:
        yield from owned(change)
        if change.is_gone or change.pod.controller is not None or not change.pod.labels:
            return
        old = change.old_pod
        if old is not None and old.controller is None and old.labels == change.pod.labels:
            return  # it was an orphan before, with the same labels
        for item in cluster.store.list(resource, change.pod.metadata.namespace).items:
            yield item.key

    return keys


def claim_pods(cluster: Cluster, resource: str, owner: Json) -> list[PodView]:
    """Return the pods that an object controls, after adopting and releasing pods."""
    selector = selector_of(owner)
    uid, namespace = owner["metadata"]["uid"], owner["metadata"]["namespace"]
    kept = []
    for pod in cluster.pods.owned_by(uid):
        if selector.matches(pod.labels):
            kept.append(pod)
        elif not pod.is_deleting:
            _release(cluster, pod, uid)
    if "deletionTimestamp" in owner["metadata"]:
        return kept
    for pod in cluster.pods.orphans(namespace):
        if pod.is_active and selector.matches(pod.labels):
            _adopt(cluster, pod, owner)
            kept.append(pod)
    return kept


def _adopt(cluster: Cluster, pod: PodView, owner: Json) -> None:
    obj = cluster.store.get("pods", *pod.key)
    owners = obj["metadata"].get("ownerReferences") or []
    obj["metadata"]["ownerReferences"] = [*owners, owner_reference(owner)]
    cluster.put("pods", obj)


def _release(cluster: Cluster, pod: PodView, uid: str) -> None:
    obj = cluster.store.get("pods", *pod.key)
    owners = obj["metadata"].get("ownerReferences") or []
    obj["metadata"]["ownerReferences"] = [one for one in owners if one["uid"] != uid]
    cluster.put("pods", obj)

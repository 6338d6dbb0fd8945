"""Trials of fixes in a fork of a simulation: change something, schedule, look at the pod."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any

import msgspec

from podium import Simulation
from podium.api.meta import ApiObject
from podium.api.objects import encode
from podium.errors import InvalidObject

Json = dict[str, Any]
LONG = 400.0  # a pod that no event wakes is tried again after five minutes


class Trial(msgspec.Struct, frozen=True):
    """A change that is tried. ``pod`` is created anew; without it the pod stays as it is."""

    text: str
    pod: Json | None = None
    added: tuple[Json, ...] = ()
    removed: tuple[Json | str, ...] = ()
    cloned: str = ""  # the name of a node that one more is like
    simulation: Any = None  # in place of the one that was given


def places(simulation: Simulation, key: str, tried: Trial, *, directly: bool = False) -> bool:
    """Return whether the scheduler gives the pod a node after the change.

    ``directly``: it does not count if other pending pods evict pods meanwhile. A change that the
    API server refuses places nothing.
    """
    fork: Simulation = (tried.simulation or simulation).fork()
    if tried.pod is not None:
        fork.remove(key)
    fork.remove(*tried.removed)
    fork.add(*tried.added)
    if tried.cloned:
        fork.clone_node(tried.cloned)
    if tried.pod is not None:
        try:
            fork.add(tried.pod)
        except InvalidObject:
            return False
    victims = fork.schedule(LONG).victims
    pod = fork.pods[key]
    is_chain = directly and any(
        each.preemptor not in (key, f"podgroup/{pod.group_key}") for each in victims
    )
    return bool(pod.node_name) and not is_chain


def manifest(kind: str, obj: ApiObject) -> Json:
    versions = {
        "ResourceClaim": "resource.k8s.io/v1",
        "PodGroup": "scheduling.k8s.io/v1beta1",
    }
    plain: Json = msgspec.json.decode(encode(obj))
    return {"apiVersion": versions.get(kind, "v1"), "kind": kind, **plain}


def written(pod: ApiObject) -> Json:
    """Return a pod as a user would create it again."""
    found = manifest("Pod", pod)
    kept = ("name", "namespace", "labels", "annotations", "ownerReferences")
    found["metadata"] = {key: found["metadata"][key] for key in kept if key in found["metadata"]}
    found.pop("status", None)
    return found


def subsets(things: Sequence[Any], below: int) -> Iterator[tuple[Any, ...]]:
    """Yield all subsets with fewer than this many elements."""
    for size in range(below):
        yield from combinations(things, size)

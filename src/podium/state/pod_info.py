"""A pod as the columns see it: the object with everything derived from it once."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Final

from podium.api import resources
from podium.api.affinity_terms import NO_TERMS, AffinityTerms, affinity_terms, has_affinity
from podium.api.disks import storage_volumes
from podium.api.objects import Pod, validate
from podium.errors import InvalidQuantity
from podium.state.aspects import Aspect

if TYPE_CHECKING:
    from podium.state.pod_groups import Group

UNPLACED: Final = -1
_FEATURES_OF_A_POD = Aspect.RESOURCES | Aspect.PODS


class PodInfo:
    """One pod with its requests, priority and affinity terms.

    ``requests`` are what it takes on a node (its status included); ``non_zero`` are cpu and memory
    with the defaults that scoring assumes. ``aspects`` is what its coming or going changes there.
    """

    __slots__ = (
        "aspects",
        "columns",
        "group",
        "has_affinity",
        "non_zero",
        "pod",
        "ports",
        "priority",
        "requests",
        "row",
        "terms",
        "uid",
        "volumes",
    )

    def __init__(self, pod: Pod) -> None:
        self.pod = pod
        self.uid = pod.uid
        self.priority = pod.priority
        self.requests, self.non_zero = _requests(pod)
        self.has_affinity = has_affinity(pod)
        self.terms: AffinityTerms = affinity_terms(pod) if self.has_affinity else NO_TERMS
        self.ports = resources.host_ports(pod)
        self.volumes = storage_volumes(pod)
        self.aspects = (
            _FEATURES_OF_A_POD
            | (Aspect.AFFINITY if self.has_affinity else 0)
            | (Aspect.PORTS if self.ports else 0)
            | (Aspect.VOLUMES if self.volumes else 0)
        )
        self.columns: list[tuple[int, int]] = []
        self.group: Group | None = None
        self.row = UNPLACED

    def counts_like(self, other: PodInfo) -> bool:
        """Whether no column and no count can tell the two apart."""
        mine, its = self.pod, other.pod
        return (
            self.priority == other.priority
            and self.requests == other.requests
            and self.non_zero == other.non_zero
            and self.terms == other.terms
            and self.has_affinity == other.has_affinity
            and self.ports == other.ports
            and self.volumes == other.volumes
            and mine.labels == its.labels
            and mine.namespace == its.namespace
            and mine.is_terminating == its.is_terminating
        )

    @property
    def key(self) -> str:
        return self.pod.key

    def __repr__(self) -> str:
        return f"PodInfo({self.pod.key})"


_EQUAL: dict[Hashable, resources.Requests] = {}
_MOST_KEPT: Final = 4096


def _requests(pod: Pod) -> resources.Requests:
    """What the pod takes. Equal ones are one object, which saves memory and time."""
    try:
        held = resources.is_held(pod)
        found = _shared(resources.held_requests(pod)) if held else resources.spec_requests(pod)
    except InvalidQuantity:
        validate(pod)  # says which field, and whatever else is wrong
        raise
    if min(found[0].values(), default=0) < 0:  # its node would be scored out of range, for all pods
        validate(pod)
    return found


def _shared(requests: resources.Requests) -> resources.Requests:
    exact, non_zero = requests
    if len(_EQUAL) >= _MOST_KEPT:
        _EQUAL.clear()
    return _EQUAL.setdefault((*exact.items(), non_zero), requests)

"""PodInfo: a pod with everything that the columns need from it, computed once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from podium.api import resources
from podium.api.affinity_terms import NO_TERMS, AffinityTerms, affinity_terms, has_affinity
from podium.api.disks import storage_volumes
from podium.api.objects import Pod, parse_time, validate
from podium.api.resources import HELD_IN_SUM, RequestRule
from podium.errors import InvalidQuantity, InvalidTime
from podium.state.aspects import Aspect

if TYPE_CHECKING:
    from podium.state.pod_groups import Group, LabelSet

UNPLACED: Final = -1
_LATEST: Final = (1 << 63) - 2  # years beyond 2262 count as that: times must fit into 64 bits
_ASPECTS_OF_EVERY_POD = Aspect.RESOURCES | Aspect.PODS


class PodInfo:
    """One pod with its requests, priority and affinity terms.

    ``requests`` is what the pod takes on a node, with its status taken into account. ``non_zero``
    is cpu and memory with the defaults that scoring assumes. ``aspects`` is what changes on a node
    when the pod is added or removed. ``row``, ``slot``, ``turn``, ``label_set`` and ``columns``
    belong to the state: ``row`` and ``slot`` are ``UNPLACED`` and ``label_set`` is ``None`` unless
    the pod is placed. ``turn`` grows with each pod that is placed.
    """

    __slots__ = (
        "aspects",
        "columns",
        "has_affinity",
        "label_set",
        "non_zero",
        "pod",
        "ports",
        "priority",
        "requests",
        "row",
        "slot",
        "terms",
        "turn",
        "uid",
        "volumes",
    )

    def __init__(self, pod: Pod, rule: RequestRule = HELD_IN_SUM) -> None:
        """``rule`` is how a pod counts that is being resized; only placed pods can be."""
        self.pod = pod
        self.uid = pod.uid
        self.priority = pod.priority
        self.requests, self.non_zero = _requests(pod, rule)
        self.has_affinity = has_affinity(pod)
        self.terms: AffinityTerms = affinity_terms(pod) if self.has_affinity else NO_TERMS
        self.ports = resources.host_ports(pod)
        self.volumes = storage_volumes(pod)
        self.aspects = (
            _ASPECTS_OF_EVERY_POD
            | (Aspect.AFFINITY if self.has_affinity else 0)
            | (Aspect.PORTS if self.ports else 0)
            | (Aspect.VOLUMES if self.volumes else 0)
        )
        self.columns: list[tuple[int, int]] = []
        self.label_set: LabelSet | None = None
        self.row = self.slot = UNPLACED
        self.turn = 0

    def counts_like(self, other: PodInfo) -> bool:
        """Return whether the two count the same in all columns and groups."""
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

    def started(self, now: int) -> int:
        """Return when the pod started, in nanoseconds; ``now`` if it has not started."""
        text = self.pod.status.start_time
        try:
            return min(max(parse_time(text), -_LATEST), _LATEST) if text else now
        except InvalidTime:  # such a pod cannot be deleted: it counts as one of the oldest
            return 0

    @property
    def group(self) -> Group | None:
        """The group of a placed pod, which changes when selectors use other label keys."""
        return None if self.label_set is None else self.label_set.group

    @property
    def key(self) -> str:
        return self.pod.key

    def __repr__(self) -> str:
        return f"PodInfo({self.pod.key})"


def _requests(pod: Pod, rule: RequestRule) -> resources.Requests:
    """Return what the pod takes. Equal results are one object, which saves memory and time."""
    try:
        held = resources.is_held(pod)
        found = resources.held_requests(pod, rule) if held else resources.spec_requests(pod)
    except InvalidQuantity:
        validate(pod)  # its error names the field and all other problems
        raise
    if min(found[0].values(), default=0) < 0:  # would put scores out of range
        validate(pod)
    return found

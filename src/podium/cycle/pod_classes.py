"""Equivalence classes of pods: equal pods are judged once. What is kept is bounded in bytes."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Final, TypeVar

from podium.api.objects import Pod
from podium.cycle.judgement import Judgement
from podium.cycle.scoreboard import Scoreboard
from podium.cycle.thorough import ThoroughJudgement
from podium.framework.profile import Profile
from podium.framework.thorough import ThoroughProfile
from podium.logs import get_logger
from podium.state.cluster import ClusterState

log = get_logger(__name__)

V = TypeVar("V")
Signed = tuple[Hashable | None, int]
"""A signature and its hash, which takes long to find."""

KEPT_BYTES: Final = 64 << 20
_MOST_ONCE: Final = 2
_MOST_SEEN: Final = 4096
# By row: judgement and total, a plugin's scores, what plugins keep in the cycle state, the best.
_JUDGED_BYTES: Final = 32
_SCORED_BYTES: Final = 10
_STATE_BYTES: Final = 64
_TIED_BYTES: Final = 16
_UNSIGNED: Final[Signed] = (None, 0)


class PodClass:
    """An equivalence class: what is known about pods of one signature.

    A class without a signature is used for one pod and not found again.
    """

    __slots__ = ("is_known", "judgement", "number", "scoreboard", "signature")

    def __init__(
        self, profile: Profile, cluster: ClusterState, pod: Pod, signed: Signed = _UNSIGNED
    ) -> None:
        self.signature, self.number = signed
        self.is_known = False  # whether a pod of this class was judged before
        judge = ThoroughJudgement if isinstance(profile, ThoroughProfile) else Judgement
        self.judgement: Judgement = judge(profile, cluster, pod)
        self.scoreboard = Scoreboard(profile, cluster, self.judgement.reading)


class PodClasses:
    """The equivalence classes seen lately. ``enabled=False`` judges every pod from scratch.

    A class that came once makes room for the next such class; one that comes again stays until it
    is the least recently used. So pods without equals evict no other class, and their memory is
    used over and over, which keeps it in the processor's cache.
    """

    def __init__(self, cluster: ClusterState, *, enabled: bool = True) -> None:
        self._cluster = cluster
        self._enabled = enabled
        # By the hash of the signature; in order of use, oldest first.
        self._classes: dict[int, PodClass] = {}
        self._came_once: dict[int, PodClass] = {}
        self._seen: dict[int, None] = {}
        self._latest: PodClass | None = None

    def of(self, profile: Profile, pod: Pod) -> PodClass:
        """Return the pod's class: a new one when no equal pod is known, or it cannot be signed."""
        signature = profile.sign(pod) if self._enabled else None
        if signature is None:
            return PodClass(profile, self._cluster, pod)
        try:
            number = hash(signature)
        except TypeError:
            log.error("signature cannot be hashed", profile=profile.name, pod=pod.key)
            return PodClass(profile, self._cluster, pod)
        found = self._find(number)
        if found is not None and found.signature == signature:
            return found
        return PodClass(profile, self._cluster, pod, (signature, number))

    def _find(self, number: int) -> PodClass | None:
        return self._classes.get(number) or self._came_once.get(number)

    def keep(self, pod_class: PodClass) -> None:
        """Remember an up-to-date class; the least recently used ones make room."""
        if pod_class is self._latest or pod_class.signature is None:
            return
        pod_class.is_known = True
        number = pod_class.number
        most = max(1, KEPT_BYTES // self._reckoned_bytes(pod_class))
        if number not in self._seen:
            _put(self._came_once, number, pod_class, min(_MOST_ONCE, most))
        else:
            self._came_once.pop(number, None)
            _put(self._classes, number, pod_class, most)
            self._latest = pod_class
        _put(self._seen, number, None, _MOST_SEEN)

    def _reckoned_bytes(self, pod_class: PodClass) -> int:
        scores = len(pod_class.judgement.profile.scores)
        a_row = _JUDGED_BYTES + _SCORED_BYTES * scores + _STATE_BYTES + _TIED_BYTES
        return a_row * (1 + self._cluster.table.size)

    def drop(self, pod_class: PodClass) -> None:
        """Forget a class whose refresh was interrupted."""
        self._latest = None
        if pod_class.is_known:
            self._classes.pop(pod_class.number, None)
            self._came_once.pop(pod_class.number, None)

    def clear(self) -> None:
        """Forget all: plugins were exchanged."""
        self._latest = None
        self._classes.clear()
        self._came_once.clear()

    def __len__(self) -> int:
        return len(self._classes) + len(self._came_once)


def _put(into: dict[int, V], number: int, value: V, most: int) -> None:
    """Put it last; the first make room."""
    into.pop(number, None)
    into[number] = value
    while len(into) > most:
        del into[next(iter(into))]

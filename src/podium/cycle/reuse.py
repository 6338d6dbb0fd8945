"""Judgements by signature, so that equal pods are judged once; bounded in bytes."""

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


class Kind:
    """What is known about one kind of pod; nobody finds one again that has no signature."""

    __slots__ = ("is_known", "judgement", "number", "scoreboard", "signature")

    def __init__(
        self, profile: Profile, cluster: ClusterState, pod: Pod, signed: Signed = _UNSIGNED
    ) -> None:
        self.signature, self.number = signed
        self.is_known = False  # whether a pod of this kind was judged before
        judge = ThoroughJudgement if isinstance(profile, ThoroughProfile) else Judgement
        self.judgement: Judgement = judge(profile, cluster, pod)
        self.scoreboard = Scoreboard(profile, cluster, self.judgement.reading)


class Kinds:
    """The kinds of pods seen lately. ``enabled`` is for comparing with judging from scratch.

    A kind that came once makes room for the next such ones; one that comes again stays until it is
    the longest unused. So pods without equals drive nobody out, and use the same little memory over
    and over, which is still in the processor's cache.
    """

    def __init__(self, cluster: ClusterState, *, enabled: bool = True) -> None:
        self._cluster = cluster
        self._enabled = enabled
        # By the hash of the signature; in order of use, oldest first.
        self._kinds: dict[int, Kind] = {}
        self._came_once: dict[int, Kind] = {}
        self._seen: dict[int, None] = {}
        self._latest: Kind | None = None

    def of(self, profile: Profile, pod: Pod) -> Kind:
        """The pod's kind; a new one when it has no equal, or cannot be signed."""
        signature = profile.sign(pod) if self._enabled else None
        if signature is None:
            return Kind(profile, self._cluster, pod)
        try:
            number = hash(signature)
        except TypeError:
            log.error("signature cannot be hashed", profile=profile.name, pod=pod.key)
            return Kind(profile, self._cluster, pod)
        found = self._find(number)
        if found is not None and found.signature == signature:
            return found
        return Kind(profile, self._cluster, pod, (signature, number))

    def _find(self, number: int) -> Kind | None:
        return self._kinds.get(number) or self._came_once.get(number)

    def keep(self, kind: Kind) -> None:
        """Remember an up-to-date kind; the longest unused ones make room."""
        if kind is self._latest or kind.signature is None:
            return
        kind.is_known = True
        number = kind.number
        most = max(1, KEPT_BYTES // self._reckoned_bytes(kind))
        if number not in self._seen:
            _put(self._came_once, number, kind, min(_MOST_ONCE, most))
        else:
            self._came_once.pop(number, None)
            _put(self._kinds, number, kind, most)
            self._latest = kind
        _put(self._seen, number, None, _MOST_SEEN)

    def _reckoned_bytes(self, kind: Kind) -> int:
        scores = len(kind.judgement.profile.scores)
        a_row = _JUDGED_BYTES + _SCORED_BYTES * scores + _STATE_BYTES + _TIED_BYTES
        return a_row * (1 + self._cluster.table.size)

    def drop(self, kind: Kind) -> None:
        """Forget a kind whose refresh was broken off."""
        self._latest = None
        if kind.is_known:
            self._kinds.pop(kind.number, None)
            self._came_once.pop(kind.number, None)

    def clear(self) -> None:
        """Forget all: plugins were exchanged."""
        self._latest = None
        self._kinds.clear()
        self._came_once.clear()

    def __len__(self) -> int:
        return len(self._kinds) + len(self._came_once)


def _put(into: dict[int, V], number: int, value: V, most: int) -> None:
    """Put it last; the first make room."""
    into.pop(number, None)
    into[number] = value
    while len(into) > most:
        del into[next(iter(into))]

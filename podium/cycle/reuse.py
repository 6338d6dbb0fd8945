"""Judgements by signature, so that equal pods are judged once; bounded in bytes."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Final

from podium.api.objects import Pod
from podium.cycle.judgement import Judgement
from podium.cycle.scoreboard import Scoreboard
from podium.cycle.thorough import ThoroughJudgement
from podium.framework.profile import Profile
from podium.framework.thorough import ThoroughProfile
from podium.logs import get_logger
from podium.state.cluster import ClusterState

log = get_logger(__name__)

KEPT_BYTES: Final = 64 << 20
# By row: judgement and total, a plugin's scores, what plugins keep in the cycle state, the best.
_JUDGED_BYTES: Final = 32
_SCORED_BYTES: Final = 10
_STATE_BYTES: Final = 64
_TIED_BYTES: Final = 16


class Kind:
    """What is known about one kind of pod."""

    __slots__ = ("is_known", "judgement", "scoreboard")

    def __init__(self, profile: Profile, cluster: ClusterState, pod: Pod) -> None:
        self.is_known = False  # whether a pod of this kind was judged before
        judge = ThoroughJudgement if isinstance(profile, ThoroughProfile) else Judgement
        self.judgement: Judgement = judge(profile, cluster, pod)
        self.scoreboard = Scoreboard(profile, cluster, self.judgement.reads)


class Kinds:
    """The kinds of pods seen lately. ``enabled`` is for comparing with judging from scratch."""

    def __init__(self, cluster: ClusterState, *, enabled: bool = True) -> None:
        self._cluster = cluster
        self._enabled = enabled
        self._kinds: dict[Hashable, Kind] = {}  # in order of use, oldest first
        self._latest: Kind | None = None

    def of(self, profile: Profile, pod: Pod) -> tuple[Hashable | None, Kind]:
        """The pod's kind and its signature; a new one when the pod cannot be signed."""
        signature = profile.sign(pod) if self._enabled else None
        try:
            kind = None if signature is None else self._kinds.get(signature)
        except TypeError:
            log.error("signature cannot be hashed", profile=profile.name, pod=pod.key)
            signature = kind = None
        return signature, kind or Kind(profile, self._cluster, pod)

    def keep(self, signature: Hashable | None, kind: Kind) -> None:
        """Remember an up-to-date kind; the longest unused ones make room."""
        if signature is None or kind is self._latest:
            return
        self._latest = kind
        before = self._kinds.pop(signature, None)
        self._kinds[signature] = kind
        kind.is_known = True
        if before is None:
            most = max(1, KEPT_BYTES // self._reckoned_bytes(kind))
            while len(self._kinds) > most:
                del self._kinds[next(iter(self._kinds))]

    def _reckoned_bytes(self, kind: Kind) -> int:
        scores = len(kind.judgement.profile.scores)
        a_row = _JUDGED_BYTES + _SCORED_BYTES * scores + _STATE_BYTES + _TIED_BYTES
        return a_row * (1 + self._cluster.table.size)

    def drop(self, signature: Hashable | None) -> None:
        """Forget a kind whose refresh was broken off."""
        self._latest = None
        if signature is not None:
            self._kinds.pop(signature, None)

    def clear(self) -> None:
        """Forget all: plugins were exchanged."""
        self._kinds.clear()

    def __len__(self) -> int:
        return len(self._kinds)

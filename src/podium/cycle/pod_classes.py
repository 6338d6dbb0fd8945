"""Equivalence classes of pods: equal pods are judged once. What is kept is bounded in bytes."""

from __future__ import annotations

from typing import Final, TypeVar

from podium.api.objects import Pod
from podium.cycle.judgement import Judgement
from podium.cycle.scoreboard import Scoreboard
from podium.cycle.thorough import ThoroughJudgement
from podium.framework.answers import AttemptFailed
from podium.framework.profile import Profile
from podium.framework.signature import Signature
from podium.framework.thorough import ThoroughProfile
from podium.state.cluster import ClusterState

V = TypeVar("V")

KEPT_BYTES: Final = 64 << 20
_MOST_ONCE: Final = 2  # classes that are kept after their first pod
_MOST_DIFFERING: Final = 4  # plugins that tell a new class from the one that it starts from
_MOST_SEEN: Final = 4096  # signatures that are remembered, to know a class that comes again
# Estimates of what a class takes, for each row.
_JUDGED_BYTES: Final = 32  # verdicts and total
_SCORED_BYTES: Final = 10  # the scores of one plugin
_STATE_BYTES: Final = 64  # what plugins keep in the cycle state
_TIED_BYTES: Final = 16  # the best rows


class PodClass:
    """An equivalence class: what is known about pods of one signature.

    Only answers of plugins with a signature are kept; ``unsigned`` are the others. A class without
    a signature is used for one pod and not found again.
    """

    __slots__ = ("is_known", "judgement", "scoreboard", "signature")

    def __init__(
        self,
        profile: Profile,
        cluster: ClusterState,
        pod: Pod,
        signature: Signature | None = None,
    ) -> None:
        self.signature = signature
        self.is_known = False  # whether a pod of this class was judged before
        # Without a signature nothing is reused, so no plugin needs one.
        unsigned = frozenset[str]() if signature is None else signature.unsigned
        judge = ThoroughJudgement if isinstance(profile, ThoroughProfile) else Judgement
        self.judgement: Judgement = judge(profile, cluster, pod, unsigned)
        self.scoreboard = Scoreboard(profile, cluster, self.judgement.reading, unsigned)

    def derived(self, pod: Pod, signature: Signature, differing: frozenset[str]) -> PodClass:
        """Return a new class that starts with the answers of this one, except those plugins'."""
        other: PodClass = object.__new__(PodClass)
        other.signature, other.is_known = signature, False
        other.judgement = judgement = self.judgement.derived(pod, differing)
        states = self.judgement.state, judgement.state
        other.scoreboard = self.scoreboard.derived(judgement.reading, states, differing)
        return other

    def may_be_out_of_turn(self, failure: AttemptFailed) -> bool:
        """Whether a plugin may have failed only because it was asked before its turn.

        Beside plugins without a signature, those with one are asked about all nodes: also about
        nodes that they would not see if all plugins were asked in order.
        """
        unsigned = self.judgement.unsigned
        return bool(unsigned) and failure.status.plugin not in unsigned


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
        self._parent: PodClass | None = None  # the class that was kept last

    def of(self, profile: Profile, pod: Pod, signature: Signature) -> PodClass:
        """Return the class of pods with this signature: a new one when no such pod is known."""
        if not self._enabled:
            return self.scratch(profile, pod)
        number = signature.number
        found = self._classes.get(number) or self._came_once.get(number)
        known = None if found is None else found.signature
        if found is not None and (known is signature or _are_equal(known, signature)):
            return found
        return self._new(profile, pod, signature)

    def _new(self, profile: Profile, pod: Pod, signature: Signature) -> PodClass:
        """Make a class. Most of its answers are those of the last class, if few plugins differ.

        Only podium's own plugins are known to read nothing that another plugin has prepared.
        """
        parent = self._parent
        if parent is not None and parent.signature is not None and not profile.has_outside_plugins:
            differing = profile.signers.differing(parent.signature, signature)
            if differing is not None and len(differing) <= _MOST_DIFFERING:
                return parent.derived(pod, signature, differing)
        return PodClass(profile, self._cluster, pod, signature)

    def comparable(self, profile: Profile, pod: Pod, signature: Signature) -> Signature:
        """Leave out of the signature what ``of`` cannot compare with the class that it found."""
        found = self._classes.get(signature.number) or self._came_once.get(signature.number)
        if found is None or found.signature is None:
            return signature
        return profile.signers.leave_out_incomparable(pod, signature, found.signature)

    def scratch(self, profile: Profile, pod: Pod) -> PodClass:
        """Return a class for one pod, for which all plugins are asked in order."""
        return PodClass(profile, self._cluster, pod)

    def keep(self, pod_class: PodClass) -> None:
        """Remember an up-to-date class; the least recently used ones make room."""
        if pod_class is self._latest or pod_class.signature is None:
            return
        self._parent = pod_class
        pod_class.is_known = True
        number = pod_class.signature.number
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
        self._latest = self._parent = None
        if pod_class.is_known and pod_class.signature is not None:
            self._classes.pop(pod_class.signature.number, None)
            self._came_once.pop(pod_class.signature.number, None)

    def clear(self) -> None:
        """Forget all: plugins were exchanged."""
        self._latest = self._parent = None
        self._classes.clear()
        self._came_once.clear()

    def check_invariants(self) -> None:
        """Raise ``AssertionError`` naming the first thing kept that is not consistent."""
        for pod_class in (*self._classes.values(), *self._came_once.values()):
            pod_class.judgement.check_invariants()
            pod_class.scoreboard.check_invariants()

    def __len__(self) -> int:
        return len(self._classes) + len(self._came_once)


def _are_equal(known: Signature | None, signature: Signature) -> bool:
    return known is not None and known.key == signature.key


def _put(into: dict[int, V], number: int, value: V, most: int) -> None:
    """Put it last; the first make room."""
    into.pop(number, None)
    into[number] = value
    while len(into) > most:
        del into[next(iter(into))]

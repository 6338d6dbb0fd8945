"""The scheduling queue as its documentation tells it: one dict of pods, searched and sorted.

It knows neither heaps nor indexes nor timers: it looks at every pod each time, and walks through
time beat by beat. It knows the toys of the harness by what their events mean.
"""

import math
from dataclasses import dataclass, field
from itertools import count

from tests.support.queue import START, helps, is_its_own

SKIP, LATER, NOW = "skip", "after backoff", "immediately"
WILDCARD = "*All"

HINTS = {  # by the label of an event: whom to ask, and what
    "NodeAdd": {"F": helps, "F2": helps, "P": helps},
    "NodeUpdateNodeLabel": {"F2": helps},
    "NodeUpdateNodeTaint": {"G2": lambda *_: True},
    "AssignedPodDelete": {"G": helps},
    "TargetPodUpdatePodLabel": {"F2": is_its_own},
}
HINTS_OF_1_36 = {
    **HINTS,
    "NodeUpdateNodeTaint": dict.fromkeys(("F", "F2", "P", "G2"), lambda *_: True),
    "UnschedulablePodUpdatePodLabel": {"F2": is_its_own},
}


@dataclass
class Known:
    """A pod as the model knows it."""

    pod: object
    timestamp: float
    place: str = ""
    entered: int = 0
    attempts: int = 0
    rejections: int = 0
    errors: int = 0
    plugins: set = field(default_factory=set)
    pending: set = field(default_factory=set)
    gating: str = ""
    first_queued: float | None = None
    was_flushed: bool = False
    flushed_at: float = 0.0
    failed_as: int | None = None

    def take(self, pod):
        if (pod.spec, pod.metadata.labels) != (self.pod.spec, self.pod.metadata.labels):
            self.failed_as = None
        self.pod = pod

    @property
    def rank(self):
        return -self.pod.priority, self.timestamp, self.entered


class Model:
    """Pods that wait are in ``pods`` by name; ``flight`` holds uids and events as they came."""

    hints = HINTS
    nominates_gated = True

    def __init__(self, closed):
        self.now = START
        self.pods = {}
        self.flight = []
        self.nominations = {}
        self.hopeless = set()  # of which a pod was rejected since the last change
        self._closed = closed  # the names that each gate holds
        self._numbers = count()

    # --- what the scheduler does -----------------------------------------------------------------

    def add(self, pod):
        self._add(Known(pod, self.now))

    def update(self, old, new, events):
        if new.uid in self.flight:
            self.flight += [(label, old, new) for label in events]
            return
        known = self.pods.get(new.name)
        if known is not None and known.pod.uid != new.uid:
            self.delete(known.pod)
            known = None
        if known is None:
            self._add(Known(new, self.now))
            return
        known.take(new)
        in_memory = self.nominations.get(new.uid)
        if old.nominated_node_name or new.nominated_node_name or in_memory is None:
            self._nominate(new)
        for label in events:
            if known.place in ("unschedulable", "gated"):
                strategy = self._strategy(known, (label, old, new))
                self._requeue(known, strategy, nominates=label == "UnschedulablePodUpdate")

    def delete(self, pod):
        self.nominations.pop(pod.uid, None)
        known = self.pods.get(pod.name)
        if known is not None and known.pod.uid == pod.uid:
            del self.pods[pod.name]

    def pop(self):
        ready = sorted(self._in("active"), key=lambda known: known.rank)
        if not ready:
            early = (known for known in self._in("backoff") if self._may_fare_better(known))
            ready = sorted(early, key=lambda known: (self.expiry(known), known.rank))
        if not ready:
            return None
        first = ready[0]
        del self.pods[first.pod.name]
        first.attempts += 1
        first.place = ""
        self.flight.append(first.pod.uid)
        return first

    def _may_fare_better(self, known):
        if not known.plugins | known.pending:
            return False
        return known.failed_as not in self.hopeless or known.pod.nominated_node_name

    def put_back(self, known, pod, plugins, pending, failed_as=None):
        known.take(pod)
        known.plugins, known.pending, known.gating = set(plugins), set(pending), ""
        known.failed_as = failed_as
        if pod.name not in self.pods:
            if plugins or pending:
                known.rejections, known.errors = known.rejections + 1, 0
            else:
                known.errors += 1
            known.timestamp, known.was_flushed, known.flushed_at = self.now, False, 0.0
            if failed_as is not None and self._since(known) == []:
                self.hopeless.add(failed_as)
            self._requeue(known, self._replay(known))
        self.done(pod.uid)

    def done(self, uid):
        self.flight = [entry for entry in self.flight if entry != uid]
        while self.flight and not isinstance(self.flight[0], str):
            del self.flight[0]

    def on_event(self, label, old, new, except_uid="", max_priority=None):
        if label not in self.hints:
            return
        self.hopeless.clear()
        for known in self._held():
            is_out = known.pod.uid == except_uid or (
                max_priority is not None and known.pod.priority > max_priority
            )
            if not is_out and (not known.gating or known.gating in self.hints[label]):
                self._move(known, (label, old, new))
        self._record((label, old, new))

    def activate(self, pods):
        for pod in pods:
            known = self.pods.get(pod.name)
            if known is not None and known.place in ("unschedulable", "gated"):
                self._to_active(known)
            elif known is not None and known.place == "backoff":
                self._enter(known, "active")
            elif known is None and pod.uid in self.flight:
                self._record((WILDCARD, None, pod))

    def advance(self, seconds):
        end = self.now + seconds
        beats = [float(second) for second in range(math.ceil(self.now), math.floor(end) + 1)]
        half_minutes = math.floor((end - START) / 30)
        beats += [START + 30 * number for number in range(1, half_minutes + 1)]
        for beat in sorted(beat for beat in beats if self.now < beat <= end):
            self.now = beat
            self._flush_backoff() if beat == math.floor(beat) else self._flush_leftovers()
        self.now = end

    # --- rules -----------------------------------------------------------------------------------

    def expiry(self, known):
        times = known.errors or known.rejections
        if not times:
            return -1
        seconds = 1
        for _ in range(times - 1):
            seconds = min(10, 2 * seconds)
        return math.floor(known.timestamp + seconds)

    def _strategy(self, known, event):
        label, old, new = event
        if label == WILDCARD:
            return LATER if new is None or new.uid == known.pod.uid else SKIP
        asked = self.hints.get(label, {})
        yes = {
            plugin
            for plugin in known.plugins | known.pending
            if plugin in asked and _says_queue(asked[plugin], known.pod, old, new)
        }
        if yes & known.pending:
            return NOW
        return LATER if yes else SKIP

    def _replay(self, known):
        if not known.plugins | known.pending or known.pod.uid not in self.flight:
            return LATER
        found = {self._strategy(known, event) for event in self._since(known)}
        return next((answer for answer in (NOW, LATER) if answer in found), SKIP)

    def _since(self, known):
        """Return the events since the pod was popped, ``None`` if it is not in flight."""
        if known.pod.uid not in self.flight:
            return None
        since = self.flight[self.flight.index(known.pod.uid) + 1 :]
        return [entry for entry in since if not isinstance(entry, str)]

    def _gate_of(self, known):
        gates = sorted(self._closed, key=lambda gate: gate != known.gating)
        return next((gate for gate in gates if known.pod.name in self._closed[gate]), "")

    # --- moves -----------------------------------------------------------------------------------

    def _add(self, known):
        if self.nominates_gated:
            self._nominate(known.pod)
        self._to_active(known, nominates=not self.nominates_gated)

    def _requeue(self, known, strategy, nominates=False):
        if strategy == SKIP:
            self._enter(known, "gated" if known.gating else "unschedulable")
        elif strategy == LATER and self.expiry(known) >= math.floor(self.now):
            if self._passes(known):
                self._enter(known, "backoff")
        else:
            self._to_active(known, nominates)

    def _to_active(self, known, nominates=False):
        if self._passes(known):
            self._enter(known, "active")
            if nominates:
                self._nominate(known.pod)

    def _passes(self, known):
        known.gating = self._gate_of(known)
        if known.gating:
            known.plugins = known.plugins | {known.gating}
            known.was_flushed = False
            self._enter(known, "gated")
        return not known.gating

    def _enter(self, known, place):
        held = ("unschedulable", "gated")
        if not (known.place in held and place in held):
            known.entered = next(self._numbers)
        known.place = place
        self.pods[known.pod.name] = known
        if place == "active" and known.first_queued is None:
            known.first_queued = self.now

    def _move(self, known, event):
        strategy = self._strategy(known, event)
        if strategy != SKIP:
            self._requeue(known, strategy)

    def _flush_backoff(self):
        over = [known for known in self._in("backoff") if self.expiry(known) < math.floor(self.now)]
        rejected = [known for known in over if known.plugins | known.pending]
        failed = [known for known in over if not known.plugins | known.pending]
        rejected.sort(key=lambda known: (self.expiry(known), known.rank))
        failed.sort(key=lambda known: (self.expiry(known), known.entered))
        for known in rejected + failed:
            self._enter(known, "active")

    def _flush_leftovers(self):
        stale = [k for k in self._held() if self.now - max(k.timestamp, k.flushed_at) > 300]
        for known in stale:
            known.was_flushed, known.flushed_at = True, self.now
            self._move(known, (WILDCARD, None, None))
        if stale:
            self.hopeless.clear()
            self._record((WILDCARD, None, None))

    def _record(self, event):
        if self.flight:
            self.flight.append(event)

    def nominate_on(self, uid, node_name):
        self.nominations.pop(uid, None)
        if node_name:
            self.nominations[uid] = node_name

    def _nominate(self, pod):
        self.nominate_on(pod.uid, pod.nominated_node_name)

    def _in(self, *places):
        return [known for known in self.pods.values() if known.place in places]

    def _held(self):
        return sorted(self._in("unschedulable", "gated"), key=lambda known: known.entered)


class ModelOf136(Model):
    """As Kubernetes 1.36: gated pods are not nominated, and taints go with new nodes."""

    hints = HINTS_OF_1_36
    nominates_gated = False


def _says_queue(hint, pod, old, new):
    try:
        return hint(pod, old, new)
    except RuntimeError:
        return True

"""A queue on a clock of its own, with plugins that do as they are told.

``F``, ``F2`` and ``P`` reject pods; nodes that are added help the pods that their label names.
``G`` and ``G2`` gate the pods of ``closed``: ``G`` looks again when a pod is deleted that names the
gated one, ``G2`` when a node's taints change.
"""

from collections import Counter

from podium import framework as fwk
from podium.clock import FakeClock
from podium.framework.event_rules import event_rules
from podium.framework.nominator import Nominator
from podium.plugins.priority_sort import PrioritySort
from podium.queue.observation import NoObserver
from podium.queue.options import QueueOptions
from podium.queue.rules import ProfileRules
from podium.queue.scheduling_queue import SchedulingQueue
from podium.release import V1_36
from podium.testing.builders import node, pod
from tests.support.toys import Filter, PreEnqueue, profile

START = 1_700_000_000.5  # between two seconds, so that no flush of leftovers falls on one

NODE_ADD = fwk.ClusterEvent.named("Node", "Add")
NODE_LABEL = fwk.ClusterEvent.named("Node", "UpdateNodeLabel")
NODE_TAINT = fwk.ClusterEvent.named("Node", "UpdateNodeTaint")
POD_DELETE = fwk.ClusterEvent.named("AssignedPod", "Delete")
POD_ADD = fwk.ClusterEvent.named("AssignedPod", "Add")
ANYTHING = fwk.ClusterEvent.named("*", "All")

DEFAULTS = QueueOptions()
AS_1_36 = QueueOptions(events=event_rules(V1_36))
BROKEN = RuntimeError("broken")


def helps(subject, old, new):
    """What happened names whom it helps: ``node(labels="helps=a.b")``; ``broken`` breaks."""
    names = (new or old).labels.get("helps", "").split(".")
    if "broken" in names:
        raise BROKEN
    return subject.name in names


def is_its_own(subject, old, new):
    return new is not None and new.uid == subject.uid


class Rejecting(Filter, fwk.EnqueueExtensions):
    """Waits for what ``events`` says, unless told otherwise for nodes that help."""

    events = (fwk.on("Node", "add", hint=helps),)

    def events_to_register(self):
        return list(self.events)


class Gate(PreEnqueue, fwk.EnqueueExtensions):
    """Holds the pods whose names are in ``closed``."""

    events = (fwk.on("Pod", "delete", hint=helps),)

    def __init__(self, name, **rest):
        self.closed = set()
        super().__init__(name, self.judge, **rest)

    def judge(self, subject):
        return fwk.Status.unresolvable("closed") if subject.name in self.closed else None

    def events_to_register(self):
        return list(self.events)


def waiting_for(plugin, *events):
    plugin.events = events
    return plugin


class Counting(NoObserver):
    """Keeps what it is told."""

    def __init__(self):
        self.entered = Counter()
        self.moved = Counter()
        self.hinted = []
        self.gated = []

    def incoming(self, queue, event):
        self.entered[queue, event] += 1
        self.moved[queue, event] += 1

    def as_hinted(self, queue, event):
        self.moved[queue, event] -= 1

    def point(self, profile, point, status, seconds):
        assert seconds >= 0
        self.gated.append((profile, point, status))

    def hints(self, plugin, event, hint, count, seconds):
        assert seconds >= 0
        self.hinted += count * [(plugin, event, hint)]


class World:
    """The queue and all around it. ``plugins`` add to the toys that are always there."""

    def __init__(self, *plugins, options=DEFAULTS, queue=SchedulingQueue):
        self.clock = FakeClock(START)
        self.nominator = Nominator()
        self.seen = Counting()
        self.gate, self.gate2 = Gate("G"), waiting_for(Gate("G2"), fwk.on("Node", "taint"))
        own = fwk.on("Pod", "label", hint=is_its_own)
        self.plugins = [
            PrioritySort(fwk.NoArgs(), None),
            self.gate,
            self.gate2,
            Rejecting("F"),
            waiting_for(Rejecting("F2"), fwk.on("Node", "add|label", hint=helps), own),
            Rejecting("P"),
            *plugins,
        ]
        rules = {"default-scheduler": ProfileRules.of(profile(*self.plugins), options.events)}
        self.queue = queue(self.clock, rules, self.nominator, options, self.seen)
        self.queue.start()

    def add(self, *names, **rest):
        for name in names:
            self.queue.add(pod(name, **rest))

    def pop(self):
        queued = self.queue.pop_now()
        self.queue.check_invariants()
        return queued

    def fail(self, name, *plugins, pending=(), **rest):
        """Add a pod, try it, and put it back as rejected by these plugins."""
        self.add(name, **rest)
        queued = self.pop()
        assert queued.pod.name == name, "another pod came first"
        self.put_back(queued, *plugins, pending=pending)
        return queued

    def put_back(self, queued, *plugins, pending=()):
        queued.rejected_by(plugins, pending)
        self.queue.put_back(queued)
        self.queue.check_invariants()

    def happens(self, event, to="", **rest):
        """The event is about a node or a pod that helps the pods named in ``to``."""
        kind = pod if event.resource == "AssignedPod" else node
        thing = kind("thing", labels={"helps": to})
        is_deletion = event.actions == POD_DELETE.actions
        self.queue.on_event(
            event, thing if is_deletion else None, None if is_deletion else thing, **rest
        )
        self.queue.check_invariants()

    def advance(self, seconds):
        self.clock.advance(seconds)
        self.queue.check_invariants()

    def place(self, name):
        return self.queue.queue_of(f"default/{name}")

    def places(self):
        return {queued.pod.name: self.place(queued.pod.name) for queued in self.queue.pods()}

    def drain(self):
        """The names of all pods in the order that they are popped."""
        names = []
        while (queued := self.pop()) is not None:
            names.append(queued.pod.name)
            self.queue.done(queued.uid)
        return names

"""The queue and a slow, obvious model of it agree, whatever happens in whatever order."""

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from podium.framework.status import Nominate
from podium.testing.builders import node, pod
from tests.support.queue import (
    AS_1_36,
    DEFAULTS,
    NODE_ADD,
    NODE_LABEL,
    NODE_TAINT,
    POD_ADD,
    POD_DELETE,
    World,
)
from tests.support.queue_model import Model, ModelOf136
from tests.support.search import examples

NAMES = ("a", "b", "c", "d", "e")
EVENTS = (NODE_ADD, NODE_LABEL, NODE_TAINT, POD_ADD, POD_DELETE)

names = st.sampled_from(NAMES)
several = st.one_of(st.just(set(NAMES)), st.sets(names))
rejecting = st.sampled_from([("F",), ("F2",), ("F", "F2"), ()])
pending = st.sampled_from([(), ("P",)])
nominated = st.sampled_from(["", "", "n1", "n2"])
quarters = st.integers(1, 12).map(lambda number: number / 4)


class QueueMachine(RuleBasedStateMachine):
    """``cluster`` holds the pods as the API has them, by name; ``flying`` those being tried."""

    options = DEFAULTS
    modelled = Model

    def __init__(self):
        super().__init__()
        self.world = World(options=self.options)
        self.queue = self.world.queue
        closed = {"G": self.world.gate.closed, "G2": self.world.gate2.closed}
        self.model = self.modelled(closed)
        self.cluster = {}
        self.flying = []
        self.made = 0

    # --- pods ------------------------------------------------------------------------------------

    def make(self, name, priority, node_name):
        self.made += 1
        status = {"nominated_node_name": node_name}
        return pod(name, uid=f"uid-{self.made}", priority=priority, status=status)

    @initialize(priorities=st.tuples(*[st.integers(0, 1)] * len(NAMES)))
    def five_pods(self, priorities):
        for name, priority in zip(NAMES, priorities, strict=True):
            self.add_or_recreate(name, priority, "")

    @rule(name=names, priority=st.integers(0, 1), node_name=nominated)
    def add_or_recreate(self, name, priority, node_name):
        old, new = self.cluster.get(name), self.make(name, priority, node_name)
        if old is not None:
            self.queue.delete(old)
            self.model.delete(old)
        self.cluster[name] = new
        self.queue.add(new)
        self.model.add(new)

    @precondition(lambda self: self.cluster)
    @rule(data=st.data(), label=st.sampled_from(["", "x", "y"]), node_name=nominated)
    def update(self, data, label, node_name):
        old = self.cluster[data.draw(st.sampled_from(sorted(self.cluster)))]
        new = pod(
            old.name, uid=old.uid, priority=old.priority,
            labels={"l": label}, status={"nominated_node_name": node_name},
        )  # fmt: skip
        self.apply_update(old, new)

    @precondition(lambda self: self.cluster)
    @rule(data=st.data(), priority=st.integers(0, 1))
    def recreate_unseen(self, data, priority):
        """The watch missed the deletion: another pod of the name comes as an update."""
        old = self.cluster[data.draw(st.sampled_from(sorted(self.cluster)))]
        self.apply_update(old, self.make(old.name, priority, ""))

    def apply_update(self, old, new):
        self.cluster[new.name] = new
        self.queue.update(old, new)
        self.model.update(
            old, new, [each.label for each in self.options.events.own_events(old, new)]
        )

    @precondition(lambda self: self.cluster)
    @rule(data=st.data())
    def delete(self, data):
        gone = self.cluster.pop(data.draw(st.sampled_from(sorted(self.cluster))))
        self.queue.delete(gone)
        self.model.delete(gone)

    # --- attempts --------------------------------------------------------------------------------

    @rule()
    def pop(self):
        real, expected = self.queue.pop_now(), self.model.pop()
        assert (real and real.uid) == (expected and expected.pod.uid)
        if real is not None:
            assert real.attempts == expected.attempts
            assert real.pod == expected.pod
            self.flying.append((real, expected))

    @precondition(lambda self: self.flying)
    @rule(
        data=st.data(),
        plugins=rejecting,
        pending=pending,
        room=st.sampled_from([None, "", "n3"]),
        failed_as=st.sampled_from([None, 1, 1, 2]),
    )
    def attempt_fails(self, data, plugins, pending, room, failed_as):
        """As the scheduler does it: a pod that is gone does not come back."""
        real, expected = self.land(data)
        known = self.cluster.get(real.pod.name)
        if known is None or known.uid != real.uid:
            self.queue.done(real.uid)
            self.model.done(real.uid)
            return
        real.replace(known)
        real.rejected_by(plugins, pending)
        real.failed_as = failed_as
        self.queue.put_back(real)
        self.model.put_back(expected, known, plugins, pending, failed_as)
        if room is not None:
            self.world.nominator.add(real.info, Nominate(room))
            self.model.nominate_on(real.uid, room)

    @precondition(lambda self: self.flying)
    @rule(data=st.data())
    def attempt_succeeds(self, data):
        """The pod is bound: nothing of it is pending any more."""
        real, _ = self.land(data)
        if self.cluster.get(real.pod.name, real.pod).uid == real.uid:
            self.cluster.pop(real.pod.name, None)
        self.queue.done(real.uid)
        self.model.done(real.uid)

    @precondition(lambda self: self.flying)
    @rule(data=st.data(), plugins=rejecting)
    def binding_fails(self, data, plugins):
        """It was no longer in flight when it came back, so nobody kept events for it."""
        real, expected = self.land(data)
        known = self.cluster.get(real.pod.name)
        for side in (self.queue, self.model):
            side.done(real.uid)
        if known is not None and known.uid == real.uid:
            real.rejected_by(plugins)
            real.failed_as = None
            self.queue.put_back(real)
            self.model.put_back(expected, real.pod, plugins, ())

    def land(self, data):
        return self.flying.pop(data.draw(st.integers(0, len(self.flying) - 1)))

    # --- the cluster -----------------------------------------------------------------------------

    @rule(event=st.sampled_from(EVENTS), helped=several, whom=st.integers(0, 4), data=st.data())
    def event(self, event, helped, whom, data):
        match whom:
            case 0:
                self.tell(event, ["broken"], {})
            case 1:
                self.tell(event, helped, {"max_priority": 0})
            case 2 if self.cluster:
                name = data.draw(st.sampled_from(sorted(self.cluster)))
                self.tell(event, helped, {"except_uid": self.cluster[name].uid})
            case _:
                self.tell(event, helped, {})

    def tell(self, event, helped, to):
        kind = pod if event.resource == "AssignedPod" else node
        thing = kind("thing", labels={"helps": ".".join(helped)})
        old, new = (thing, None) if event == POD_DELETE else (None, thing)
        self.queue.on_event(event, old, new, **to)
        self.model.on_event(event.label, old, new, **to)

    @rule(chosen=several)
    def activate(self, chosen):
        pods = [self.cluster.get(name) or pod(name, uid="unknown") for name in sorted(chosen)]
        self.queue.activate(pods)
        self.model.activate(pods)

    @rule(gate=st.sampled_from(["gate", "gate2"]), name=names)
    def turn_gate(self, gate, name):
        getattr(self.world, gate).closed ^= {name}

    @rule(seconds=quarters)
    def time_passes(self, seconds):
        self.world.clock.advance(seconds)
        self.model.advance(seconds)

    @rule(half_minutes=st.integers(1, 12))
    def much_time_passes(self, half_minutes):
        self.time_passes(30.0 * half_minutes)

    # --- agreement -------------------------------------------------------------------------------

    @invariant()
    def sides_agree(self):
        self.queue.check_invariants()
        real = {queued.pod.name: queued for queued in self.queue.pods()}
        assert set(real) == set(self.model.pods)
        for name, expected in self.model.pods.items():
            assert described(real[name], self.world.place(name)) == described_by(expected)
            if expected.place == "backoff":
                assert real[name].backoff_expiry == self.model.expiry(expected)

    @invariant()
    def nominations_agree(self):
        nodes = {uid: self.world.nominator.node_of(uid) for uid in self.model.nominations}
        assert nodes == self.model.nominations
        assert len(self.world.nominator) == len(nodes)

    @invariant()
    def flights_agree(self):
        kept = self.queue.in_flight_events()
        assert kept.total() == len(self.model.flight)


def described(queued, place):
    return (
        place,
        queued.pod,
        queued.timestamp,
        queued.unschedulable_count,
        queued.consecutive_errors,
        queued.unschedulable_plugins,
        queued.pending_plugins,
        queued.gating_plugin,
        queued.first_queued,
        queued.was_flushed,
        queued.flushed_at,
        queued.failed_as,
    )


def described_by(known):
    return (
        known.place,
        known.pod,
        known.timestamp,
        known.rejections,
        known.errors,
        known.plugins,
        known.pending,
        known.gating,
        known.first_queued,
        known.was_flushed,
        known.flushed_at,
        known.failed_as,
    )


class QueueMachineOf136(QueueMachine):
    options = AS_1_36
    modelled = ModelOf136


TestQueue = QueueMachine.TestCase
TestQueue.settings = examples(200, stateful_step_count=60)
TestQueueOf136 = QueueMachineOf136.TestCase
TestQueueOf136.settings = examples(100, stateful_step_count=60)

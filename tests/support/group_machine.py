"""Gangs, groups and single pods that come, change and go, with what must always hold.

All pods need one cpu and nodes have a few, so that a slow model can tell exactly who fits: it
counts free places. While bindings are slow, changes come in mid-flight; some bindings fail.
"""

import asyncio

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from msgspec.structs import replace

from podium.errors import Conflict
from podium.testing.builders import pod
from tests.support.groups import Api, GroupWorld, group, member

GROUPS = st.sampled_from(["a", "b", "c"])
PRIORITIES = st.sampled_from([0, 5])
GATE = [{"name": "wait"}]
PATIENCE = 80  # seconds: more than the longest backoff of the groups here


class SlowApi(Api):
    """Carries out bindings when ``is_open`` is set; the next ``refusals`` ones are refused."""

    def __init__(self, world):
        super().__init__(world)
        self.is_open = asyncio.Event()
        self.is_open.set()
        self.refusals = 0

    async def bind(self, subject, node_name):
        self.world.sent(subject)
        await self.is_open.wait()
        if self.refusals:
            self.refusals -= 1
            self.world.undone.add(subject.group_key)
            raise Conflict("refused", 409)
        await super().bind(subject, node_name)


class Watched(GroupWorld):
    """A world that looks at each binding as it is sent, and remembers what is wrong with it.

    ``undone`` has the groups of which a binding failed or a member left since all was quiet: their
    other members, which are allowed to go, go on without it.
    """

    api_type = SlowApi

    def __init__(self, *gates):
        self.violations = []
        self.undone = set()
        super().__init__(*gates)

    def sent(self, subject):
        key = subject.group_key
        if key and key not in self.undone:
            known = self.groups.get(key.rpartition("/")[2])
            count = self.cluster.members(key).scheduled_count
            if known is not None and count < known.min_count:
                self.violations.append(f"{subject.key} is bound: {count} members have a node")

    def delete_pod(self, name):
        self.undone.add(self.pods[name].group_key)
        super().delete_pod(name)

    def told_about(self, subject, condition):
        """Nobody is evicted in vain: with the nominations, the group has enough members."""
        if not condition.message.endswith("victims"):
            return
        members = self.cluster.members(subject.key)
        nominated = sum(self.services.nominator.node_of(uid) is not None for uid in members.pods)
        if members.scheduled_count + nominated < subject.min_count:
            self.violations.append(f"{subject.key} evicts pods, and does not fit")


class GroupMachine(RuleBasedStateMachine):
    """Users, controllers and kubelets in any order, with a scheduler that always settles."""

    gates = ()
    world_type = Watched

    def __init__(self):
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.world = self._run(self._start())
        self.number = 0
        self.priority_of = {"a": 0, "b": 5, "c": 0}

    async def _start(self):
        world = self.world_type(*self.gates)
        world.queue.start()
        self.main = asyncio.ensure_future(world.scheduler.run())
        return world

    def _run(self, work):
        return self.loop.run_until_complete(work)

    @property
    def is_quiet(self):
        return self.world.api.is_open.is_set()

    def settle(self, seconds=0.0):
        self._run(self.world.wait(seconds))
        if self.main.done():
            self.main.result()
        if self.is_quiet:
            self.forget_undone()

    def forget_undone(self):
        self.world.undone.clear()

    # --- what happens ----------------------------------------------------------------------------

    @initialize(sizes=st.lists(st.integers(1, 3), min_size=1, max_size=4))
    def nodes(self, sizes):
        for number, size in enumerate(sizes):
            self.world.add_nodes(f"n{number}", cpu=str(size))

    @rule(name=GROUPS, minimum=st.sampled_from([None, 1, 2, 3, 4]), whole=st.booleans())
    def create_group(self, name, minimum, whole):
        if name not in self.world.groups:
            mode = "all" if whole else "single"
            rest = {"priority": self.priority_of[name], "mode": mode, **self.more_of(name)}
            self.world.add(group(name, min_count=minimum, **rest))
        self.settle()

    @rule(name=GROUPS, minimum=st.integers(1, 4))
    def change_minimum(self, name, minimum):
        known = self.world.groups.get(name)
        if known is not None and known.is_gang:
            rest = {"priority": known.spec.priority, **self.more_of(name)}
            self.world.add(group(name, min_count=minimum, **rest))
        self.settle()

    def more_of(self, name):
        """Return more of what a group of this name has."""
        return {}

    @rule(name=GROUPS)
    def delete_group(self, name):
        if name in self.world.groups:
            self.world.delete_group(name)
        self.settle()

    @rule(names=st.lists(GROUPS, min_size=1, max_size=4), is_gated=st.sampled_from([0, 0, 0, 1]))
    def add_members(self, names, is_gated):
        for name in names:
            self.number += 1
            self.world.add(self._new_member(name, is_gated))
        self.settle()

    @precondition(lambda self: any(one.group_key for one in self.world.pods.values()))
    @rule(data=st.data(), is_gated=st.booleans())
    def rename_member(self, data, is_gated):
        """A pod leaves, and another one takes its place in the group."""
        members = [name for name, one in self.world.pods.items() if one.group_key]
        old = self.world.pods[data.draw(st.sampled_from(sorted(members)))]
        self.world.delete_pod(old.name)
        self.number += 1
        self.world.add(self._new_member(old.group_key.rpartition("/")[2], is_gated))
        self.settle()

    def _new_member(self, name, is_gated):
        gates, priority = GATE if is_gated else [], self.priority_of[name]
        return member(f"p{self.number}", of=name, cpu="1", priority=priority,
                      scheduling_gates=gates, **self.more_of_members(name))  # fmt: skip

    def more_of_members(self, name):
        """Return what else the pods of a group have."""
        return {}

    @rule(name=GROUPS, priority=PRIORITIES)
    def change_priority(self, name, priority):
        """Members cannot change theirs: those that wait are created anew, some of them late."""
        self.priority_of[name] = priority
        known = self.world.groups.get(name)
        if known is not None:
            self.world.add(replace(known, spec=replace(known.spec, priority=priority)))
        for one in self.members(name):
            if not one.node_name:
                self.world.delete_pod(one.name)
                self.number += 1
                self.world.add(self._new_member(name, bool(one.spec.scheduling_gates)))
        self.settle()

    @rule()
    def slow_bindings(self):
        self.world.api.is_open.clear()

    @rule()
    def finish_bindings(self):
        self.world.api.is_open.set()
        self.settle()

    @rule(count=st.integers(1, 2))
    def refuse_bindings(self, count):
        self.world.api.refusals = count

    @rule(priority=PRIORITIES)
    def add_single(self, priority):
        self.number += 1
        self.world.add(pod(f"p{self.number}", cpu="1", priority=priority))
        self.settle()

    @precondition(lambda self: self.world.pods)
    @rule(data=st.data())
    def delete_pod(self, data):
        self.world.delete_pod(data.draw(st.sampled_from(sorted(self.world.pods))))
        self.settle()

    @rule()
    def open_gates(self):
        for one in list(self.world.pods.values()):
            if one.spec.scheduling_gates:
                self.world.add(without_gates(one))
        self.settle()

    @rule()
    def kubelets_finish(self):
        self.world.finish_deletions()
        self.settle()

    @rule(seconds=st.sampled_from([0.5, 1.0, 3.0, 11.0]))
    def wait(self, seconds):
        self.settle(seconds)

    # --- what must always hold -------------------------------------------------------------------

    @invariant()
    def no_rule_was_broken(self):
        assert not self.world.violations

    @invariant()
    def nobody_holds_anything(self):
        """Nobody does while all is quiet, but for members that wait for one that was undone."""
        if self.is_quiet:
            waiting = {one.pod.uid for one in self.world.services.waiting_pods}
            assert self.world.cluster.assumed_count == len(waiting)
            for one in self.world.services.waiting_pods:
                assert self.is_short(one.pod.group_key), f"{one.pod.key} waits, and nobody lacks"

    def is_short(self, key):
        known = self.world.groups.get(key.rpartition("/")[2])
        return known is None or self.world.cluster.members(key).scheduled_count < known.min_count

    @invariant()
    def no_node_is_overcommitted(self):
        for node in self.world.cluster.rows():
            used = len(list(node.pods))
            assert used <= self.places(node), f"{node.name} has {used} pods"

    def places(self, node):
        return int(node.node.status.allocatable["cpu"])

    def free_for(self, key, priority, nodes=None):
        """How many places a group or a pod may take: others may be nominated to the rest."""
        nodes = list(self.world.cluster.rows()) if nodes is None else nodes
        free = sum(self.places(node) - len(list(node.pods)) for node in nodes)
        names = {node.name for node in nodes}
        return free - sum(
            bool(one.nominated_node_name in names and not one.node_name)
            for one in self.world.pods.values()
            if (one.group_key or one.key) != key and one.priority >= priority
        )

    def most_free_for(self, known):
        """How many places a group may take that goes where its members are."""
        return self.free_for(known.key, known.priority)

    def members(self, name):
        return [one for one in self.world.pods.values() if one.group_key == f"default/{name}"]

    # --- what must happen in the end -------------------------------------------------------------

    def teardown(self):
        try:
            self.world.api.refusals = 0
            self.world.api.is_open.set()
            for _ in range(PATIENCE):
                self.world.finish_deletions()
                self.settle(1.0)
                self.nobody_holds_anything()
            self.all_that_fits_runs()
        finally:
            self.world.queue.close()
            self._run(self.main)
            self._run(self.world.tasks.cancel())
            self.loop.close()

    def all_that_fits_runs(self):
        """The slow model: count free places; whoever could take one has had its chance."""
        for one in self.world.pods.values():
            if not one.node_name and not one.group_key:
                free = self.free_for(one.key, one.priority)
                assert free < 1, f"{one.name} waits, and there are {free} places"
        for name, known in self.world.groups.items():
            members = self.members(name)
            waiting = [one for one in members if not one.node_name]
            if not waiting or any(one.spec.scheduling_gates for one in members):
                continue
            if any(one.priority != known.priority for one in members):
                continue  # an error, also if it is one that runs
            missing = max(1, known.min_count - (len(members) - len(waiting)))
            free = self.most_free_for(known)
            if len(waiting) >= missing:
                why = f"{self.world.queue.queue_of(waiting[0].key)}: {self.world.condition(name)}"
                assert free < missing, f"{name} needs {missing} of {free} places; {why}"


class PlacementMachine(GroupMachine):
    """The same with zones: the groups ``a`` and ``b`` must not leave the zone they begin in."""

    gates = ("TopologyAwareWorkloadScheduling=true",)

    @initialize(sizes=st.lists(st.tuples(st.integers(1, 3), st.sampled_from("xyz")), min_size=1,
                               max_size=6))  # fmt: skip
    def nodes(self, sizes):
        for number, (size, zone) in enumerate(sizes):
            labels = {} if zone == "z" else {"zone": zone}  # of some nodes it is not known
            self.world.add_nodes(f"n{number}", cpu=str(size), labels=labels)

    def more_of(self, name):
        return {} if name == "c" else {"schedulingConstraints": {"topology": [{"key": "zone"}]}}

    def zone_of(self, one):
        node = next(each for each in self.world.cluster.rows() if each.name == one.node_name)
        return node.labels.get("zone")

    @invariant()
    def no_group_is_spread(self):
        for name, known in self.world.groups.items():
            if known.topology_key:
                zones = {self.zone_of(one) for one in self.members(name) if one.node_name}
                assert len(zones - {None}) == len(zones) < 2, f"{name} is in {zones}"

    def most_free_for(self, known):
        if not known.topology_key:
            return super().most_free_for(known)
        placed = [one for one in self.members(known.name) if one.node_name]
        zones = {self.zone_of(one) for one in placed} or {"x", "y"}
        return max(
            self.free_for(
                known.key,
                known.priority,
                [node for node in self.world.cluster.rows() if node.labels.get("zone") == zone],
            )
            for zone in zones
        )


def without_gates(one):
    return replace(one, spec=replace(one.spec, scheduling_gates=()))

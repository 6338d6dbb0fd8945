"""The running scheduler with GenericWorkload on a toy API server: no sockets, no real time.

``GroupWorld`` has the default plugins. What the scheduler writes is shown to it again by the
informers, as a watch would: bindings at once, deletions of victims when ``finish_deletions`` says.
"""

import asyncio
from typing import Any

from msgspec.structs import replace

from podium.api.objects import CompositePodGroup, PodGroup, ResourceClaim, decode
from podium.api.pod_groups import SchedulingGroup
from podium.app.core import Core
from podium.app.feature_gates import LiveOptions
from podium.app.group_cycles import group_parts
from podium.app.own_plugins import in_tree
from podium.app.profiles import ProfileBuilder
from podium.app.queue_rules import rules_of
from podium.clock import FakeClock, give_way
from podium.config.feature_gates import parse
from podium.config.load import NOTHING, read_value
from podium.cycle.pod_classes import PodClasses
from podium.cycle.services import Services
from podium.framework.event_rules import event_rules
from podium.live.failure import FailureHandler
from podium.live.gate import Gate
from podium.live.group_scheduler import GroupScheduler
from podium.live.group_status import GroupStatuses
from podium.live.pod_status import PodStatuses
from podium.live.slices import Slices
from podium.live.tasks import Tasks
from podium.metrics import Metrics
from podium.queue.options import QueueOptions
from podium.testing.builders import node, pod
from podium.testing.handle import FakeClient, FakeEvents

PROFILE = "default-scheduler"
ROUNDS = 12
RESOURCES = {
    PodGroup: "scheduling.k8s.io/PodGroup",
    CompositePodGroup: "scheduling.k8s.io/CompositePodGroup",
}
TREES = ("TopologyAwareWorkloadScheduling=true", "CompositePodGroup=true")


def group(name="gang", *, min_count=None, **rest):
    """A PodGroup; with ``min_count`` it is a gang."""
    policy = {"basic": {}} if min_count is None else {"gang": {"minCount": min_count}}
    return _group(PodGroup, name, policy, **rest)


def composite(name="root", *, min_groups=None, **rest):
    """A CompositePodGroup; with ``min_groups`` it is a gang."""
    policy = {"basic": {}} if min_groups is None else {"gang": {"minGroupCount": min_groups}}
    return _group(CompositePodGroup, name, policy, **rest)


def _group(kind, name, policy, *, mode="", parent="", **rest):
    namespace = rest.pop("namespace", "default")
    spec: dict[str, Any] = {"schedulingPolicy": policy, **rest}
    if mode:
        spec["disruptionMode"] = {mode: {}}
    if parent:
        spec["parentCompositePodGroupName"] = parent
    uid = f"uid-{kind.__name__.lower().removeprefix('pod')}-{name}"
    meta = {"name": name, "namespace": namespace, "uid": uid, "generation": 1}
    return decode(kind, {"metadata": meta, "spec": spec})


def member(name, of="gang", **rest):
    return pod(name, scheduling_group={"podGroupName": of}, **rest)


class Api(FakeClient):
    """Carries writes out on the objects of a world."""

    def __init__(self, world):
        super().__init__()
        self.world = world

    async def bind(self, subject, node_name):
        await super().bind(subject, node_name)
        self.world.bound(subject, node_name)

    async def remove_consumer(self, claim, uid):
        """Take a pod off the claim as it is now: other pods may have written it meanwhile."""
        current = self.world.cluster.objects(ResourceClaim).get(claim.key)
        return await super().remove_consumer(current or claim, uid)

    async def delete_pod(self, subject):
        await super().delete_pod(subject)
        self.world.deleting(subject)

    async def patch_pod_status(self, subject, condition, nominated):
        self.world.patched(subject, condition, nominated)

    async def patch_pod_condition(self, subject, condition):
        await super().patch_pod_condition(subject, condition)
        self.world.patched(subject, condition, None)

    async def patch_group_condition(self, subject, condition):
        self.writes.append(("group", subject.key, condition))
        self.world.told_about(subject, condition)
        self.world.conditions[subject.key] = condition
        known = self.world.groups.get(subject.name)
        if known is not None:
            status = replace(known.status, conditions=(condition,))
            self.world.add(replace(known, status=status))


class GroupWorld:
    """A scheduler and its cluster. ``pods``, ``groups``, ``composites`` are by name."""

    api_type = Api

    def __init__(self, *gates, configuration=None):
        self.clock = FakeClock()
        self.gate = Gate()
        self.api, self.events, self.metrics = self.api_type(self), FakeEvents(), Metrics()
        self.tasks = Tasks(self.clock)
        self.pods, self.groups, self.composites, self.conditions = {}, {}, {}, {}
        self._versions = iter(range(1, 10**9))
        self.options = LiveOptions(parse(["GenericWorkload=true", *gates]))
        registry = in_tree(self.options.gates)
        value = {**NOTHING, **(configuration or {})}
        read = read_value(value, registry, gates=self.options.gates).configuration
        self.cluster = self.options.cluster()
        self.services = Services(
            cluster=self.cluster,
            pod_classes=PodClasses(self.cluster),
            clock=self.clock,
            client=self.api,
            events={PROFILE: self.events},
            spawn=self.tasks.spawn,
            metrics=self.metrics,
            activate=lambda pods: self.gate.pass_through(self.queue.activate, tuple(pods)),
        )
        builder = ProfileBuilder(self.services, self.metrics)
        self.core = Core(self.services, builder, builder.draft(read, registry))
        rules = event_rules()
        self.queue = self.options.queue(
            self.clock,
            rules_of(self.core.profiles, self.services, rules),
            self.services.nominator,
            QueueOptions(events=rules, has_composites=self.options.has_composites),
            self.metrics,
        )
        self.handlers = self.options.handlers(
            self.gate, self.services, self.queue, self.core.profiles, self.metrics, rules
        )
        self.scheduler = self._scheduler()

    def _scheduler(self):
        events, statuses = {PROFILE: self.events}, PodStatuses(self.api)
        parts = (self.services, self.queue)
        return GroupScheduler(
            services=self.services,
            queue=self.queue,
            gate=self.gate,
            binder=self.options.binder(*parts, self.gate, statuses, events, self.metrics),
            failures=FailureHandler(*parts, statuses, events, self.metrics, self._lookup),
            bindings=self.tasks,
            slices=Slices(),
            events=events,
            metrics=self.metrics,
            calls=self.core.builder.calls,
            waits=self.options.evicts_in_cycle,
            start_cycle=self.core.start_cycle,
            groups=GroupStatuses(self.api, self.tasks.spawn),
            **group_parts(self.core, self.options, self.metrics),
        )

    def _lookup(self, key):
        return self.pods.get(key.rpartition("/")[2])

    # --- what users do ---------------------------------------------------------------------------

    def add_nodes(self, *names, **rest):
        for name in names:
            self.handlers.on_node(None, node(name, **rest))

    def add(self, *objects):
        """Create or replace pods and groups."""
        for obj in objects:
            version = str(next(self._versions))
            new = replace(obj, metadata=replace(obj.metadata, resource_version=version))
            if isinstance(new, SchedulingGroup):
                known = self._known(type(new))
                old, known[new.name] = known.get(new.name), new
                self.handlers.on_object(RESOURCES[type(new)])(old, new)
            else:
                old, self.pods[new.name] = self.pods.get(new.name), new
                self.handlers.on_pod(old, new)

    def delete_group(self, name):
        self.handlers.on_object(RESOURCES[PodGroup])(self.groups.pop(name), None)

    def delete_composite(self, name):
        self.handlers.on_object(RESOURCES[CompositePodGroup])(self.composites.pop(name), None)

    def _known(self, kind):
        return self.groups if kind is PodGroup else self.composites

    def delete_pod(self, name):
        self.handlers.on_pod(self.pods.pop(name), None)

    # --- what the API server does ----------------------------------------------------------------

    def bound(self, subject, node_name):
        known = self.pods.get(subject.name)
        if known is not None and known.uid == subject.uid:
            self.add(known.bound_to(node_name))

    def told_about(self, subject, condition):
        """A condition of a group is written."""

    def deleting(self, subject):
        known = self.pods.get(subject.name)
        if known is None or known.uid != subject.uid:
            return
        if known.node_name:
            stamp = replace(known.metadata, deletion_timestamp="2026-01-01T00:00:00Z")
            self.add(replace(known, metadata=stamp))
        else:
            self.delete_pod(subject.name)

    def patched(self, subject, condition, nominated):
        known = self.pods.get(subject.name)
        if known is None or known.uid != subject.uid:
            return
        status = known.status
        if condition is not None:
            others = tuple(one for one in status.conditions if one.type != condition.type)
            status = replace(status, conditions=(*others, condition))
        if nominated is not None:
            status = replace(status, nominated_node_name=nominated)
        if status != known.status:
            self.add(replace(known, status=status))

    def finish_deletions(self):
        """The kubelets have stopped all pods that are being deleted."""
        for name in [name for name, one in self.pods.items() if one.is_terminating]:
            self.delete_pod(name)

    # --- what tests ask --------------------------------------------------------------------------

    def node_of(self, name):
        return self.pods[name].node_name

    def placed(self, *names):
        return {name for name in names if name in self.pods and self.node_of(name)}

    def condition(self, name="gang", namespace="default"):
        """(status, reason, message) of a group."""
        found = self.conditions.get(f"{namespace}/{name}")
        return None if found is None else (found.status, found.reason, found.message)

    def why(self, name):
        """The message of the pod's condition."""
        known = self.pods[name].status.conditions
        return next((one.message for one in known if one.type == "PodScheduled"), "")

    def notes(self, name, reason="FailedScheduling"):
        key = f"default/{name}"
        return [
            e.note for about, _, e in self.events.recorded if (about, e.reason) == (key, reason)
        ]

    # --- time ------------------------------------------------------------------------------------

    async def settle(self):
        for _ in range(ROUNDS):
            await give_way()
            self.clock.advance(0)
        self.check()

    def check(self):
        self.cluster.check_invariants()
        self.services.devices.check_invariants()
        self.queue.check_invariants()

    async def wait(self, seconds=1.0):
        self.clock.advance(seconds)
        await self.settle()


def play(scene, *gates, **parts):
    """Run ``scene(world)`` beside the scheduler's loop."""

    async def run():
        world = GroupWorld(*gates, **parts)
        world.queue.start()
        loop = asyncio.ensure_future(world.scheduler.run())
        try:
            await scene(world)
        finally:
            world.queue.close()
            await loop
            await world.tasks.cancel()

    asyncio.run(run())

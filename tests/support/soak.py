"""Random days of a cluster: what happens to it, and what must hold when they are over."""

import asyncio
from dataclasses import dataclass
from typing import Any

from podium import framework as fwk
from podium.api import quantity
from podium.clock import sleep
from tests.support.faulty_proxy import answering, hanging_up, losing_the_answer
from tests.support.scenarios import HIGH, ClusterBehindProxy, configured, node, pod

QUIET_SECONDS = 400  # longer than any backoff, and than the five minutes after which all are tried


class Unreliable(fwk.ReservePlugin, fwk.PermitPlugin, fwk.PreBindPlugin, fwk.PostBindPlugin):
    """Keeps a reservation for each pod, and does what it was told to do next at a point."""

    name = "Unreliable"
    answers: dict[str, list] = {}  # noqa: RUF012  # one for all, set by each day
    reserved: set[str] = set()  # noqa: RUF012  # the same

    def _at(self, point):
        answers = self.answers.get(point)
        answer = answers.pop() if answers else None
        if answer == "raise":
            raise RuntimeError(f"{self.name} at {point}")
        if answer == "cancel":  # as when it awaits what somebody else has cancelled
            raise asyncio.CancelledError
        return answer

    def reserve(self, state, subject, node_name):
        self.reserved.add(subject.uid)
        return self._at("reserve")

    async def unreserve(self, state, subject, node_name):
        self.reserved.discard(subject.uid)
        self._at("unreserve")

    def permit(self, state, subject, node_name):
        return self._at("permit")

    async def pre_bind(self, state, subject, node_name):
        return self._at("pre_bind")

    async def post_bind(self, state, subject, node_name):
        self.reserved.discard(subject.uid)
        self._at("post_bind")


class UnreliableFilter(Unreliable, fwk.FilterPlugin):
    """The same at Filter. Without a signature it is asked again for every pod."""

    name = "UnreliableFilter"

    def filter(self, state, subject, candidate):
        return self._at("filter")


ANSWERS = {
    "error": fwk.Status.error("broken"),
    "refuse": fwk.Status.unschedulable("not now"),
    "raise": "raise",
    "cancel": "cancel",
    "wait": fwk.wait(7),
}


def slow(seconds):
    async def handler(proxy, request):
        body = await request.read()
        await sleep(proxy.clock, seconds)
        return await proxy.forward(request, body)

    return handler


FAULTS = {
    "conflict": answering(409, "the object has been modified"),
    "missing": answering(404, "not found"),
    "broken": answering(500, "etcdserver: request timed out"),
    "hang-up": hanging_up,
    "lost-answer": losing_the_answer,
    "slow": slow(8),
}


@dataclass
class Day:
    """Deeds are (verb, *arguments); one about what is not there does nothing."""

    cluster: Any

    async def run(self, events):
        Unreliable.answers = {}
        Unreliable.reserved.clear()
        await self.cluster.create(HIGH)
        for verb, *given in events:
            await getattr(self, verb)(*given)
        self.cluster.proxy.answers.clear()
        Unreliable.answers = {}
        await self.cluster.wait(QUIET_SECONDS)

    def has(self, kind, name):
        return self.cluster.get(kind, name) is not None

    async def add_pod(self, name, cpu, is_high, port):
        if self.has("pods", name):
            return
        given = pod(name, cpu=f"{cpu}00m", **({"priorityClassName": "high"} if is_high else {}))
        if port:
            container = given["spec"]["containers"][0]
            container["ports"] = [{"containerPort": 80, "hostPort": 80}]
        await self.cluster.create(given)

    async def delete_pod(self, name):
        if self.has("pods", name):
            await self.cluster.delete("pods", name)

    async def label_pod(self, name, value):
        if self.has("pods", name):
            await self.cluster.update("pods", name, _labelling(value))

    async def add_node(self, name, cpu):
        """A node that comes back has room for the pods that still run there."""
        if not self.has("nodes", name):
            held = sum(map(cpu_of, World(self.cluster).on(name)))
            await self.cluster.create(node(name, cpu=f"{max(100 * cpu, held)}m"))

    async def delete_node(self, name):
        if self.has("nodes", name):
            await self.cluster.delete("nodes", name)

    async def label_node(self, name, value):
        if self.has("nodes", name):
            await self.cluster.update("nodes", name, _labelling(value))

    async def cordon(self, name, is_cordoned):
        def change(obj):
            obj["spec"]["unschedulable"] = is_cordoned

        if self.has("nodes", name):
            await self.cluster.update("nodes", name, change)

    async def grow(self, name):
        def change(status):
            more = milli_cpu(status["allocatable"]["cpu"]) + 500
            status["allocatable"]["cpu"] = status["capacity"]["cpu"] = f"{more}m"

        if self.has("nodes", name):
            await self.cluster.set_status("nodes", name, change)

    async def spoil(self, path, fault):
        self.cluster.proxy.instead(path, FAULTS[fault])

    async def cut(self):
        self.cluster.proxy.cut_watches()

    async def upset(self, point, answer):
        Unreliable.answers.setdefault(point, []).append(ANSWERS[answer])

    async def wait(self, seconds):
        await self.cluster.wait(seconds)


def _labelling(value):
    def change(obj):
        obj["metadata"].setdefault("labels", {})["x"] = value

    return change


def milli_cpu(amount):
    return quantity.milli(quantity.parse(amount))


# --- what must hold ------------------------------------------------------------------------------


def cpu_of(found):
    return milli_cpu(found["spec"]["containers"][0]["resources"]["requests"]["cpu"])


def has_port(found):
    return any(each.get("hostPort") for each in found["spec"]["containers"][0].get("ports", ()))


class World:
    """The cluster as its API server has it, judged slowly and by these few rules alone."""

    def __init__(self, cluster):
        objects = cluster.api.store.objects
        self.nodes = {each["metadata"]["name"]: each for each in objects("nodes")}
        # A pod whose node became smaller while it was bound has failed there, and holds nothing.
        alive = [each for each in objects("pods") if each["status"].get("phase") != "Failed"]
        self.pods = {each["metadata"]["name"]: each for each in alive}
        self.placed = {n: p for n, p in self.pods.items() if p["spec"].get("nodeName")}
        self.pending = {n: p for n, p in self.pods.items() if n not in self.placed}

    def on(self, name):
        return [each for each in self.placed.values() if each["spec"]["nodeName"] == name]

    def free(self, name):
        held = sum(map(cpu_of, self.on(name)))
        return milli_cpu(self.nodes[name]["status"]["allocatable"]["cpu"]) - held

    def ports(self, name):
        return sum(map(has_port, self.on(name)))

    def fits(self, found, name):
        """Whether the pod could run there as things stand."""
        return (
            not self.nodes[name]["spec"].get("unschedulable")
            and not self.nodes[name]["spec"].get("taints")
            and cpu_of(found) <= self.free(name)
            and not (has_port(found) and self.ports(name))
        )


def check(cluster):
    world = World(cluster)
    _check_placed(world)
    _check_pending(cluster, world)
    _check_scheduler(cluster.scheduler, world)


def _check_placed(world):
    for found in world.placed.values():
        assert found["spec"]["nodeName"] in world.nodes, "its node is gone, and it is not"
    for name in world.nodes:
        assert world.free(name) >= 0, f"{name} has more pods than fit"
        assert world.ports(name) <= 1, f"{name} gives one port to two pods"


def _check_pending(cluster, world):
    for name, found in world.pending.items():
        roomy = [each for each in world.nodes if world.fits(found, each)]
        assert not roomy, f"{name} waits, but fits on {roomy}: {cluster.why_pending(name)}"
        nodes = len(world.nodes)
        told = f"0/{nodes} nodes are available" if nodes else "no nodes available"
        assert told in cluster.why_pending(name)


def _check_scheduler(running, world):
    scheduler, services = running.scheduler, running.scheduler.services
    state = services.cluster
    uids = {each["metadata"]["uid"] for each in world.placed.values()}
    assert set(state.pods) == uids
    for info in state.pods.values():
        assert info.pod.node_name == state.table.names[info.row]
    assert set(state.rows().names) == set(world.nodes)
    queued = {each.pod.name for each in scheduler.queue.pods()}
    assert queued == set(world.pending)
    assert scheduler.queue.in_flight_events() == {}
    assert state.assumed_count == 0
    assert (len(scheduler.bindings), len(services.waiting_pods), len(scheduler.gate)) == (0, 0, 0)
    assert len(running.background) == 0


def play_day(events, judge):
    """Run the events; ``judge`` is the plugin that answers so."""

    async def run():
        async with ClusterBehindProxy(*configured(judge)) as cluster:
            await Day(cluster).run(events)
            check(cluster)
            assert not Unreliable.reserved, "reserved for pods that are bound or given up"
        left = asyncio.all_tasks() - {asyncio.current_task()}
        assert not left, f"still running: {left}"

    asyncio.run(run())

"""One trial: a cluster with two schedulers, the steps of a script, then calm, then the checks."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import random
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from random import Random
from typing import Any, ClassVar, Final

from podium import app, config
from podium.apiserver.api import Call
from podium.apiserver.bootstrap import new_api
from podium.apiserver.controllers.all_controllers import all_controllers
from podium.apiserver.controllers.cluster import Cluster
from podium.apiserver.controllers.runner import Runner
from podium.apiserver.deletion import DeleteOptions
from podium.apiserver.features import features_of
from podium.apiserver.kubelet import PodAgent
from podium.apiserver.kubelet_nodes import NodeAgent
from podium.apiserver.server import EmbeddedServer
from podium.apiserver.statuses import Refusal
from podium.chaos import plugins, simulated_time
from podium.chaos.faults import Active, Faults
from podium.chaos.gateway import Gateway, Write
from podium.chaos.hosts import Host
from podium.chaos.invariants import Invariants, World
from podium.chaos.network import Network
from podium.chaos.report import Recoveries, Report, Waits
from podium.chaos.script import Script, Step
from podium.clock import FakeClock, sleep
from podium.config import Configuration
from podium.config.feature_gates import NO_CHOICE, FeatureGates
from podium.framework.registry import Registry
from podium.live.running import RunningScheduler

Json = dict[str, Any]

HOSTS: Final = ("host-a", "host-b")
# Longer than any backoff, and than the five minutes after which every pod is tried.
CALM_SECONDS: Final = 400.0
_LOOK_SECONDS: Final = 1.0
_END_SECONDS: Final = 30.0
_HOUR: Final = 3600.0


def run(script: Script, build: Callable[[Script, FakeClock], Trial] | None = None) -> Report:
    """Run the script in simulated time, and return what happened."""
    clock = FakeClock()

    async def trial() -> Report:
        return await (build or Trial)(script, clock).run()

    with _seeded(script.seed):
        return simulated_time.run(trial(), clock)


@contextlib.contextmanager
def _seeded(seed: int) -> Iterator[None]:
    """Let everything that is random in podium depend on the seed."""
    state = random.getstate()
    random.seed(seed)
    try:
        yield
    finally:
        random.setstate(state)


class Trial:
    """The cluster of one trial and everything around it."""

    election: ClassVar[Json] = {}  # what differs from the defaults
    gates: ClassVar[FeatureGates] = NO_CHOICE
    judge: ClassVar[type[Invariants]] = Invariants
    world: ClassVar[type[World]] = World

    def __init__(self, script: Script, clock: FakeClock) -> None:
        self._script = script
        self._seed = script.seed
        self._clock = clock
        self._start = clock.now()
        self._faults = Faults()
        self._api = new_api(clock, seed=script.seed, features=features_of(self.gates))
        self._cluster = Cluster(self._api)
        self._runner = Runner(
            self._api.store,
            [NodeAgent(self._cluster), PodAgent(self._cluster), *all_controllers(self._cluster)],
        )
        self._invariants = self.judge(self._api, clock, self._faults)
        server = EmbeddedServer(self._api, clock=clock)
        self._gateway = Gateway(server, self._faults, clock, self._on_write)
        network = Network(clock, Random(script.seed), self._gateway.accept)
        self._registry = app.in_tree(self.gates)
        plugins.register(self._registry, self._faults)
        chosen = self._configuration()
        self._hosts = {
            name: Host(name, network, chosen, self._registry, self.gates) for name in HOSTS
        }
        self._recoveries = Recoveries()
        self._waits = Waits()
        self._trace = hashlib.sha256()
        self._tasks: set[asyncio.Task[None]] = set()

    def _configuration(self) -> Configuration:
        return configuration(self._registry, self.election)

    def _prepare(self) -> None:
        """Create what is there before the schedulers start."""

    async def run(self) -> Report:
        self._runner.start()
        self._prepare()
        running = [asyncio.ensure_future(host.run()) for host in self._hosts.values()]
        looking = asyncio.ensure_future(self._look())
        try:
            for step in self._script.steps:
                await self._until(step.at)
                self._spawn(self._take(step))
            await self._until(self._script.seconds)
            await self._calm()
            self._check_end()
        finally:
            looking.cancel()
            for host in self._hosts.values():
                await host.stop()
            await asyncio.wait(running, timeout=_END_SECONDS)
            self._runner.stop()
        for task in running:
            task.result()
        return self._report()

    # --- steps -----------------------------------------------------------------------------------

    async def _until(self, seconds: float) -> None:
        left = self._start + seconds - self._clock.now()
        if left > 0:
            await sleep(self._clock, left)

    def _spawn(self, work: Awaitable[None]) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _take(self, step: Step) -> None:
        match step.what:
            case "create-pod":
                self._create(pod_of(step))
            case "delete-pod":
                self._try(lambda: self._delete("pods", (step.namespace, step.name)))
            case "create-node":
                self._create(_node(step.name, step.amount))
            case "cordon" | "uncordon":
                self._try(lambda: self._cordon(step.name, step.what == "cordon"))
            case _:
                await self._strike(step)

    async def _strike(self, step: Step) -> None:
        hosts = self._named(step.name)
        if step.what in _OF_HOSTS:
            for host in hosts:
                self._faults.note(step.what)
                self._spawn(_OF_HOSTS[step.what](host, step))
            return
        names = frozenset(host.name for host in hosts)
        fault = Active.of(step, names)
        self._faults.active.append(fault)
        if step.what == "gone":
            await self._gateway.expire_watches(names)
        await sleep(self._clock, step.seconds)
        if fault in self._faults.active:
            self._faults.active.remove(fault)

    def _named(self, name: str) -> list[Host]:
        """Return the hosts that a step means: who leads is decided when it happens."""
        leader = self._invariants.holder.rpartition("_")[0]
        match name:
            case "leader":
                return [host for host in self._hosts.values() if host.name == leader]
            case "standby":
                return [host for host in self._hosts.values() if host.name != leader]
        return list(self._hosts.values())

    # --- the cluster -----------------------------------------------------------------------------

    def _create(self, obj: Json) -> None:
        kind = self._api.kinds.of(obj.get("apiVersion", "v1"), obj["kind"])
        assert kind is not None
        namespace = obj["metadata"].get("namespace", "default") if kind.namespaced else ""
        self._try(lambda: self._api.create(kind, namespace, obj, Call()))

    def _delete(self, kind: str, key: tuple[str, str]) -> None:
        self._api.delete(self._api.kind(kind), key, DeleteOptions())

    def _cordon(self, name: str, is_cordoned: bool) -> None:
        def change(node: Json) -> Json:
            node["spec"]["unschedulable"] = is_cordoned
            return node

        self._api.modify(self._api.kind("nodes"), ("", name), change, Call())

    def _try(self, write: Callable[[], object]) -> None:
        """Write, unless the object is missing or there already: a shortened script has such."""
        with contextlib.suppress(Refusal):
            write()

    # --- checks ----------------------------------------------------------------------------------

    def _on_write(self, write: Write) -> None:
        moment = self._clock.now() - self._start
        line = f"{moment:.6f} {write.host} {write.method} {write.path} {write.code}\n"
        self._trace.update(line.encode())
        self._invariants.on_write(write)

    async def _look(self) -> None:
        while True:
            await sleep(self._clock, _LOOK_SECONDS)
            self._look_at(self.world(self._api))

    def _look_at(self, world: World) -> None:
        now = self._clock.now()
        self._recoveries.look(now, bool(world.schedulable()), self._invariants.bindings)
        self._waits.look(now, world.single_pods_that_fit())
        for scheduler in self._schedulers():
            self._check_inside(scheduler)

    def _schedulers(self) -> list[RunningScheduler]:
        processes = [host.process for host in self._hosts.values() if host.process is not None]
        return [process.scheduler for process in processes if process.scheduler is not None]

    def _check_inside(self, running: RunningScheduler) -> None:
        try:
            running.scheduler.services.cluster.check_invariants()
            running.scheduler.queue.check_invariants()
        except AssertionError as error:
            self._invariants.fail("a scheduler's own invariants", str(error))

    async def _calm(self) -> None:
        """End all faults. Every kind is listed again, since some events were lost on their way."""
        self._faults.active.clear()
        while any(host.is_troubled for host in self._hosts.values()):
            await sleep(self._clock, _LOOK_SECONDS)
        await self._gateway.compact()
        await sleep(self._clock, CALM_SECONDS)

    def _check_end(self) -> None:
        fail = self._invariants.fail
        world = self.world(self._api)
        if left := world.schedulable():
            fail("every schedulable pod is bound", ", ".join(left))
        bound = {pod["metadata"]["uid"] for pod in world.placed}
        running = self._schedulers()
        if len(running) != len(HOSTS):
            fail("every process runs", f"{len(running)} of {len(HOSTS)}")
        for each in running:
            self._check_settled(each, bound)

    def _check_settled(self, running: RunningScheduler, bound: set[str]) -> None:
        scheduler, fail = running.scheduler, self._invariants.fail
        state = scheduler.services.cluster
        if state.assumed_count:
            fail("every assumed pod is confirmed or forgotten", f"{state.assumed_count} are left")
        if set(state.pods) != bound:
            fail("the known pods are the real ones", f"{set(state.pods) ^ bound}")
        left = {
            "bindings": len(scheduler.bindings),
            "waiting pods": len(scheduler.services.waiting_pods),
            "held changes": len(scheduler.gate),
            "background tasks": len(running.background),
            "events in flight": len(scheduler.queue.in_flight_events()),
        }
        if any(left.values()):
            fail("nothing is left over", str({what: n for what, n in left.items() if n}))

    def _report(self) -> Report:
        return Report(
            script=self._script,
            struck=self._faults.struck,
            bindings=self._invariants.bindings,
            excused=self._invariants.excused,
            leaders=self._invariants.leaders,
            requests=self._gateway.requests,
            recoveries=self._recoveries.count,
            longest_recovery=self._recoveries.longest,
            longest_wait=self._waits.longest,
            violations=tuple(self._invariants.violations),
            digest=self._trace.hexdigest(),
        )


async def _partition(host: Host, step: Step) -> None:
    await host.partition(step.seconds, cuts=bool(step.seed & 1))


async def _freeze(host: Host, step: Step) -> None:
    await host.freeze(step.seconds, timers_first=bool(step.seed & 1))


async def _kill(host: Host, step: Step) -> None:
    host.kill(step.seconds)


async def _set_clock(host: Host, step: Step) -> None:
    """Set the clock of a host up to an hour ahead or back, and restart its scheduler."""
    host.skew = Random(step.seed).uniform(-_HOUR, _HOUR)
    host.kill(1)


_OF_HOSTS: Final[dict[str, Callable[[Host, Step], Awaitable[None]]]] = {
    "partition": _partition,
    "freeze": _freeze,
    "kill": _kill,
    "clock": _set_clock,
}


def configuration(registry: Registry, election: Json, *, backoff: int = 10) -> Configuration:
    """Return the default configuration with the plugin of this package, and these settings."""
    settings = {"podMaxBackoffSeconds": backoff, "leaderElection": election}
    return configuration_with({"multiPoint": [plugins.NAME]}, settings, registry)


def configuration_with(
    enabled: Mapping[str, Iterable[str]],
    settings: Json,
    registry: Registry,
    gates: FeatureGates = NO_CHOICE,
) -> Configuration:
    """Return a configuration with these plugins by extension point.

    At other points than ``multiPoint`` they take the place of the default ones.
    """
    points = {
        point: {
            "enabled": [{"name": name} for name in names],
            "disabled": [] if point == "multiPoint" else [{"name": "*"}],
        }
        for point, names in enabled.items()
    }
    value = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [{"schedulerName": "default-scheduler", "plugins": points}],
        "clientConnection": {"qps": -1},
        **settings,
    }
    return config.from_value(value, registry, source="podium chaos", gates=gates)


def pod_of(step: Step) -> Json:
    """Return the pod that a step creates."""
    requests = {"cpu": f"{step.amount}m"}
    container = {"name": "c", "image": "app:1", "resources": {"requests": requests}}
    metadata = {"name": step.name, "namespace": step.namespace}
    spec: Json = {"containers": [container]}
    if step.priority:
        spec["priorityClassName"] = "high"
    return {"kind": "Pod", "metadata": metadata, "spec": spec}


def _node(name: str, cpu_milli: int) -> Json:
    amounts = {"cpu": f"{cpu_milli}m", "memory": "16Gi", "pods": "110"}
    status = {"capacity": amounts, "allocatable": amounts}
    return {"kind": "Node", "metadata": {"name": name}, "spec": {}, "status": status}

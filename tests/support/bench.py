"""A workload on an embedded API server, with a toy in the place of the scheduler."""

import asyncio

from podium.api.objects import Condition, Pod
from podium.bench.live.claim_operations import ClaimOperations
from podium.bench.live.cleanup import tidied
from podium.bench.live.manifests import Marking
from podium.bench.live.measuring import Measurement
from podium.bench.live.operations import LiveContext, Operations
from podium.bench.live.timed_scheduler import TimedScheduler
from podium.bench.live.timing import Times
from podium.bench.live.watching import PodWatch
from podium.bench.live.writer import Writer
from podium.bench.load import load_file
from podium.client.informer import Informer
from podium.client.resources import NODES, PODS
from podium.devices import DeviceRules
from podium.errors import NotFound

RUN = "run-1"
TIMEOUT = 60.0


class ToyScheduler:
    """Binds pods to the nodes in turn; one with a node selector fits nowhere."""

    def __init__(self, world):
        self.world = world
        self.nodes = Informer(world.connection, NODES)
        self.pods = Informer(world.connection, PODS)
        self.tried = []
        self._seen = set()
        self.pods.subscribe(self._see)
        world.start(self.nodes.run())
        world.start(self.pods.run())

    def _see(self, old: Pod | None, new: Pod | None):
        if new is None or new.node_name or new.uid in self._seen or not _has_claims(new):
            return
        self._seen.add(new.uid)
        self.world.start(self._try(new))

    async def _try(self, pod):
        self.tried.append(pod.key)
        try:
            if pod.spec.node_selector or pod.spec.scheduling_gates:
                why = Condition(
                    type="PodScheduled", status="False", reason="Unschedulable", message="no fit"
                )
                await self.world.client.patch_pod_status(pod, why)
            else:
                names = sorted(node.name for node in self.nodes.objects())
                await self.world.client.bind(pod, names[len(self.tried) % len(names)])
        except NotFound:
            return  # deleted meanwhile


def _has_claims(pod):
    """Whether all claims of a pod that templates are for have been made."""
    made = {status.name for status in pod.status.resource_claim_statuses}
    templates = [one for one in pod.spec.resource_claims if one.resource_claim_template_name]
    return made.issuperset(one.name for one in templates)


class Played:
    """What a workload came to."""

    def __init__(self, world):
        self.world = world
        self.times = Times()
        self.told = []
        self.toy = ToyScheduler(world)
        self.writer = Writer(world.connection)
        self.watch = PodWatch(world.connection)

    async def play(self, path):
        """Carry the operations out, and raise what they raise."""
        await self.in_time(self.run(path))

    async def play_tidily(self, path):
        await self.in_time(self.run_tidily(path))

    async def run(self, path):
        (workload,) = load_file(path)
        marking = Marking(RUN)
        claims = ClaimOperations(self.writer, marking, DeviceRules())
        parts = (workload.templates, self.writer, marking, self.watch, self.world.clock)
        scene = LiveContext(*parts, TIMEOUT, claims)
        timed = (self.times, self.watch, TIMEOUT, TimedScheduler())
        measurement = Measurement(*timed, self.writer.create_all)
        operations = Operations(scene, measurement, self.told.append)
        async with self.watch.running():
            await operations.run(workload.ops)

    async def run_tidily(self, path):
        async with tidied(self.writer, self.world.connection, RUN):
            await self.run(path)

    async def in_time(self, work):
        task = asyncio.ensure_future(work)
        await self.world.in_time(task.done)
        return task.result()

    def names(self, kind, namespace=None):
        return sorted(
            one["metadata"]["name"]
            for one in self.world.api.store.objects(kind)
            if namespace in (None, one["metadata"].get("namespace"))
        )


def workload(folder, *ops):
    """A file with one workload of these operations, in YAML's flow style."""
    lines = "".join(f"\n  - {{{op}}}" for op in ops)
    path = folder / "case.yaml"
    path.write_text(f"- name: Case\n  workloadTemplate:{lines}\n  workloads: [{{name: one}}]\n")
    return path

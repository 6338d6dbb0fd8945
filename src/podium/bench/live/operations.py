"""Carries out the operations of a workload through the API of a cluster."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import msgspec

from podium.api.objects import ApiObject, Namespace, Node
from podium.bench.live.manifests import LABEL, Manifest, Marking, take_priority
from podium.bench.live.measuring import NAMESPACE, Measurement
from podium.bench.live.watching import PodWatch
from podium.bench.live.writer import Writer, at_once
from podium.bench.objects import PodMaker, csi_node, in_turn
from podium.bench.ops import (
    Barrier,
    Churn,
    CreateAny,
    CreateMixedPods,
    CreateNamespaces,
    CreateNodes,
    CreatePods,
    CreatePodSets,
    Op,
    Sleep,
)
from podium.bench.templates import Template, Templates
from podium.client.resources import NODES, PODS
from podium.clock import Clock, sleep
from podium.errors import WorkloadFailed


@dataclass(frozen=True, slots=True)
class LiveContext:
    """The parts that the operations of a run share."""

    templates: Templates
    writer: Writer
    marking: Marking
    watch: PodWatch
    clock: Clock
    timeout: float


class Operations:
    """Carries out operations one after another; churn runs in the background until the end."""

    def __init__(
        self, context: LiveContext, measurement: Measurement, report: Callable[[str], None]
    ) -> None:
        self._context = context
        self._measurement = measurement
        self._report = report
        self._serials = itertools.count()
        self._node_serials = itertools.count()
        self._node_names: list[str] = []
        self._namespaces: set[str] = set()
        self._priorities: set[int] = set()
        self._labels: dict[str, dict[str, str]] = {}  # by the key of every pod
        self._churns: list[asyncio.Task[None]] = []

    async def run(self, ops: Sequence[Op]) -> None:
        try:
            await self._wait_for_scheduler()
            for op in ops:
                self._report(op.opcode)
                await self._perform(op)
                self._check_churns()
        finally:
            for task in self._churns:
                task.cancel()
            await asyncio.gather(*self._churns, return_exceptions=True)

    def _check_churns(self) -> None:
        """Raise the error of a churn that failed: without churn the figures mean something else."""
        for task in self._churns:
            if task.done():
                task.result()

    async def _perform(self, op: Op) -> None:
        match op:
            case CreateNodes():
                await self._create_nodes(op)
            case CreateNamespaces():
                await self._create_namespaces(op)
            case CreatePods():
                await self._create_pods(op)
            case CreatePodSets():
                await self._create_pod_sets(op)
            case CreateMixedPods():
                await self._create_mixed_pods(op)
            case CreateAny():
                await self._create_any(op)
            case Churn():
                await self._start_churn(op)
            case Barrier():
                await self._wait_at(op)
            case Sleep():
                await sleep(self._context.clock, op.duration)
            case _:
                raise WorkloadFailed(f"{op.opcode} does not run on a cluster yet")

    async def _wait_for_scheduler(self) -> None:
        """Wait until a scheduler has tried a pod that fits nowhere, which shows that it works."""
        await self._create_namespace(NAMESPACE)
        container = {"name": "probe", "image": "registry.k8s.io/pause:3.10"}
        spec = {"nodeSelector": {LABEL: "nowhere"}, "containers": [container]}
        metadata = {"name": "probe", "namespace": NAMESPACE}
        probe = self._context.marking.pod(msgspec.json.encode({"metadata": metadata, "spec": spec}))
        await self._context.writer.create(probe)
        await self._context.watch.settled([probe.key], self._context.timeout, attempted=True)
        await self._context.writer.delete(probe.resource, probe.key)

    # --- nodes, namespaces and other objects ------------------------------------------------------

    async def _create_nodes(self, op: CreateNodes) -> None:
        template = self._context.templates.get(op.node_template_path, Node)

        async def create(numbers: tuple[int, int]) -> None:
            index, serial = numbers
            node = self._context.marking.node(template, op, serial, index)
            await self._create_node(node)
            if (drivers := csi_node(node.name, op)) is not None:
                await self._context.writer.create(self._context.marking.of_struct(drivers))

        serials = list(itertools.islice(self._node_serials, op.count))
        await at_once(enumerate(serials), create)
        self._node_names += map(template.name, serials)

    async def _create_node(self, node: Manifest) -> None:
        taints = (node.body.get("spec") or {}).get("taints")
        made = await self._context.writer.create(node)
        if made.get("spec", {}).get("taints") != taints:
            # The server taints a new node until its kubelet reports, and this one has no kubelet.
            await self._context.writer.patch(NODES, node.name, {"spec": {"taints": taints}})

    async def _create_namespaces(self, op: CreateNamespaces) -> None:
        for index in range(op.count):
            await self._create_namespace(f"{op.prefix}-{index}", op.namespace_template_path)

    async def _create_namespace(self, name: str, template_path: str = "") -> None:
        """Create a namespace once; one that exists already is an error, not changed."""
        if name in self._namespaces:
            return
        template = self._context.templates.get(template_path, Namespace)
        await self._context.writer.create(self._context.marking.namespace(template, name))
        self._namespaces.add(name)

    async def _create_any(self, op: CreateAny) -> None:
        template = self._context.templates.get(op.template_path, ApiObject)
        if template.is_namespaced:
            await self._create_namespace(op.namespace)
        made = [self._made(template, op.namespace) for _ in range(op.count)]
        await at_once(made, self._create)

    def _made(self, template: Template, namespace: str) -> Manifest:
        """Make a new object of a template; nodes have their own numbers."""
        serial = next(self._node_serials if template.kind is Node else self._serials)
        data = template.json(serial, namespace if template.is_namespaced else "")
        return self._context.marking.of_json(template.kind, data)

    async def _create(self, manifest: Manifest) -> None:
        if manifest.resource is NODES:
            await self._create_node(manifest)
            return
        if manifest.resource is PODS:
            await self._use_priority_class(manifest)
        await self._context.writer.create(manifest)

    async def _start_churn(self, op: Churn) -> None:
        await self._create_namespace(op.namespace)
        templates = [self._context.templates.get(path, ApiObject) for path in op.template_paths]

        async def create() -> list[Manifest]:
            made = [self._made(template, op.namespace) for template in templates]
            for manifest in made:
                await self._create(manifest)
            return made

        work = _churn(op, create, self._context.writer, self._context.clock)
        self._churns.append(asyncio.create_task(work))

    # --- pods -------------------------------------------------------------------------------------

    async def _create_pods(self, op: CreatePods) -> None:
        nodes = self._in_turn_over_nodes(op) if op.bind_in_turn else itertools.repeat("")
        pods = await self._manifests(op, nodes)
        if op.skip_wait_to_completion:
            await self._create_all(pods)
        else:
            await self._create_and_wait(pods, measured=op.collect_metrics)

    async def _create_pod_sets(self, op: CreatePodSets) -> None:
        for index in range(op.count):
            namespace = f"{op.namespace_prefix}-{index}"
            await self._create_pods(msgspec.structs.replace(op.create_pods_op, namespace=namespace))

    async def _create_mixed_pods(self, op: CreateMixedPods) -> None:
        kinds = [await self._manifests(inner) for inner in op.create_pods_ops]
        iterators = [(iter(pods), len(pods)) for pods in kinds]
        pods = [next(iterator) for iterator in in_turn(iterators)]
        await self._create_and_wait(pods, measured=op.collect_metrics)

    async def _manifests(
        self, op: CreatePods, nodes: Iterable[str] = itertools.repeat("")
    ) -> list[Manifest]:
        """Make the pods of an operation, and create the objects that belong to them."""
        await self._create_namespace(op.namespace)
        others: list[Manifest] = []
        marking = self._context.marking
        maker = PodMaker(
            op,
            self._context.templates,
            lambda kind, data: others.append(marking.of_json(kind, data)),
            self._names_for(op, "pinInTurn") if op.pin_in_turn else (),
        )
        numbers = enumerate(self._next_serials(op.count))
        pods = [
            marking.pod(maker.json(serial, index), node)
            for (index, serial), node in zip(numbers, nodes, strict=False)
        ]
        await at_once(others, self._context.writer.create)
        for pod in pods:
            await self._use_priority_class(pod)
        return pods

    async def _use_priority_class(self, pod: Manifest) -> None:
        value = take_priority(pod)
        if value is not None and value not in self._priorities:
            self._priorities.add(value)
            await self._context.writer.create(self._context.marking.priority_class(value))

    async def _create_and_wait(self, pods: Sequence[Manifest], *, measured: bool) -> None:
        if measured:
            self._remember(pods)
            await self._measurement.run(pods)
            return
        await self._create_all(pods)
        await self._context.watch.settled([pod.key for pod in pods], self._context.timeout)

    async def _create_all(self, pods: Sequence[Manifest]) -> None:
        self._remember(pods)
        await self._context.writer.create_all(pods)

    def _remember(self, pods: Sequence[Manifest]) -> None:
        for pod in pods:
            self._labels[pod.key] = pod.body["metadata"].get("labels") or {}

    async def _wait_at(self, op: Barrier) -> None:
        keys = [
            key
            for key, labels in self._labels.items()
            if (not op.namespaces or key.partition("/")[0] in op.namespaces)
            and op.label_selector.items() <= labels.items()
        ]
        attempted = op.stage_requirement == "Attempted"
        await self._context.watch.settled(keys, self._context.timeout, attempted=attempted)

    def _in_turn_over_nodes(self, op: CreatePods) -> Iterator[str]:
        return itertools.cycle(self._names_for(op, "bindInTurn"))

    def _names_for(self, op: CreatePods, field: str) -> Sequence[str]:
        if not self._node_names:
            raise WorkloadFailed(f"{op.opcode}: {field} needs nodes, but there are none yet")
        return self._node_names

    def _next_serials(self, count: int) -> Iterator[int]:
        return itertools.islice(self._serials, count)


async def _churn(
    op: Churn, create: Callable[[], Awaitable[list[Manifest]]], writer: Writer, clock: Clock
) -> None:
    """Create an object of each template per interval; ``recreate`` also deletes them in turn."""
    existing: dict[int, list[Manifest]] = {}
    tick = 0
    while op.mode == "recreate" or not op.number or tick < op.number:
        await sleep(clock, op.interval_milliseconds / 1_000)
        if op.mode == "create":
            await create()
        elif old := existing.pop(tick % op.number, None):
            for manifest in old:
                await writer.delete(manifest.resource, manifest.key)
        else:
            existing[tick % op.number] = await create()
        tick += 1

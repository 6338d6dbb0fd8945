"""Carries out the operations of a workload through the API of a cluster."""

from __future__ import annotations

import asyncio
import itertools
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

import msgspec

from podium.api.objects import ApiObject, Namespace, Node, PodGroup, ResourceClaim
from podium.bench.live.changes import Changes
from podium.bench.live.claim_operations import ClaimOperations
from podium.bench.live.making import LivePodMaker
from podium.bench.live.manifests import LABEL, Manifest, Marking, take_priority
from podium.bench.live.measuring import NAMESPACE, Collection, Measurement
from podium.bench.live.ongoing import SteadyState, churn
from podium.bench.live.watching import PodWatch
from podium.bench.live.writer import Writer, at_once
from podium.bench.objects import csi_node, in_turn
from podium.bench.ops import (
    AllocResourceClaims,
    Barrier,
    Churn,
    CreateAny,
    CreateMixedPods,
    CreateNamespaces,
    CreateNodes,
    CreatePodGroups,
    CreatePods,
    CreatePodSets,
    CreateResourceClaims,
    CreateResourceDriver,
    DeletePods,
    Op,
    Sleep,
    StartCollectingMetrics,
    StopCollectingMetrics,
    UpdateAny,
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
    claims: ClaimOperations


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
        self._background: list[asyncio.Task[None]] = []
        self._volume_claims: Counter[str] = Counter()  # by namespace
        self._changes = Changes(context.writer, context.marking, context.clock)
        self._collection: Collection | None = None

    async def run(self, ops: Sequence[Op]) -> None:
        try:
            await self._wait_for_scheduler()
            for op in ops:
                self._report(op.opcode)
                await self._perform(op)
                self._check_background()
        finally:
            for task in self._background:
                task.cancel()
            await asyncio.gather(*self._background, return_exceptions=True)

    def _check_background(self) -> None:
        """Raise the error of churn or deletions: without them the figures mean something else."""
        for task in self._background:
            if task.done():
                task.result()

    async def _perform(self, op: Op) -> None:
        if perform := _PERFORM.get(type(op)):
            await perform(self, op)

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
        template = self._context.templates.get(
            op.node_template_path, Node, op.template_params, op.count
        )

        async def create(numbers: tuple[int, int]) -> None:
            index, serial = numbers
            node = self._context.marking.node(template, op, serial, index)
            await self._create_node(node)
            if (drivers := csi_node(node.name, op)) is not None:
                await self._context.writer.create(self._context.marking.of_struct(drivers))

        serials = list(itertools.islice(self._node_serials, op.count))
        await at_once(enumerate(serials), create)
        self._node_names += [template.name(each, index) for index, each in enumerate(serials)]

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
        template = self._context.templates.get(
            op.template_path, ApiObject, op.template_params, op.count
        )
        if template.is_namespaced:
            await self._create_namespace(op.namespace)
        made = await self._create_made(template, op.namespace, op.count)
        if (making := await self._context.claims.use_templates(made)) is not None:
            self._background.append(making)

    async def _create_claims(self, op: CreateResourceClaims) -> None:
        template = self._context.templates.get(op.template_path, ResourceClaim, None, op.count)
        await self._create_namespace(op.namespace)
        await self._create_made(template, op.namespace, op.count)

    async def _create_pod_groups(self, op: CreatePodGroups) -> None:
        template = self._context.templates.get(
            op.template_path, PodGroup, op.template_params, op.count
        )
        await self._create_namespace(op.namespace)
        await self._create_made(template, op.namespace, op.count)

    async def _create_made(self, template: Template, namespace: str, count: int) -> list[Manifest]:
        """Create this many objects of a template, and return them."""
        made = [self._made(template, namespace, index) for index in range(count)]
        await at_once(made, self._create)
        return made

    async def _update_any(self, op: UpdateAny) -> None:
        await self._changes.update_any(op, self._context.templates)

    async def _delete_pods(self, op: DeletePods) -> None:
        deleting = self._changes.delete_pods(op)
        if op.skip_wait_to_completion:
            self._background.append(asyncio.create_task(deleting))
        else:
            await deleting

    def _made(self, template: Template, namespace: str, index: int = 0) -> Manifest:
        """Make a new object of a template; nodes have their own numbers."""
        serial = next(self._node_serials if template.kind is Node else self._serials)
        data = template.json(serial, namespace if template.is_namespaced else "", index=index)
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

        work = churn(op, create, self._context.writer, self._context.clock)
        self._background.append(asyncio.create_task(work))

    # --- pods -------------------------------------------------------------------------------------

    async def _create_pods(self, op: CreatePods) -> None:
        if op.steady_state:
            await self._keep_steady(op)
            return
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
        maker = await self._maker(op)
        return await self._make(maker, range(op.count), nodes)

    async def _maker(self, op: CreatePods) -> LivePodMaker:
        await self._create_namespace(op.namespace)
        first_claim = self._volume_claims[op.namespace]
        if op.persistent_volume_claim_template_path:
            self._volume_claims[op.namespace] += op.count
        names = self._names_for(op, "pinInTurn") if op.pin_in_turn else ()
        context = self._context
        return LivePodMaker(op, context.templates, context.marking, names, first_claim)

    async def _make(
        self,
        maker: LivePodMaker,
        indexes: Iterable[int],
        nodes: Iterable[str] = itertools.repeat(""),
    ) -> list[Manifest]:
        pods = [
            maker.pod(next(self._serials), index, node)
            for index, node in zip(indexes, nodes, strict=False)
        ]
        await at_once(maker.take_others(), self._context.writer.create)
        for pod in pods:
            await self._use_priority_class(pod)
        return pods

    async def _keep_steady(self, op: CreatePods) -> None:
        context, maker = self._context, await self._maker(op)
        pods = await self._make(maker, range(op.count))
        indexes = itertools.count(op.count)

        async def make_next() -> Manifest:
            (pod,) = await self._make(maker, [next(indexes)])
            return pod

        steady = SteadyState(op, context.writer, context.watch, context.clock, make_next)
        keys: list[str] = []
        with self._measured(keys) if op.collect_metrics else nullcontext():
            keys += await steady.run(pods, self._create_all)

    def _measured(self, keys: Sequence[str]) -> AbstractContextManager[None]:
        """Measure the pods that are in the list at the end of the block."""
        measurement = self._measurement
        return measurement.times.measuring(keys, measurement.watch, measurement.scheduler)

    async def _start_collecting(self, op: StartCollectingMetrics) -> None:
        self._collection = Collection(op, frozenset(self._context.watch.bound))
        self._collection.measuring.enter_context(self._measured(self._collection.keys))

    async def _stop_collecting(self, _: StopCollectingMetrics) -> None:
        if self._collection is None:
            return
        for key in self._context.watch.bound:
            if self._collection.covers(key, self._labels.get(key)):
                self._collection.keys.append(key)
        self._collection.measuring.close()
        self._collection = None

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

    async def _sleep(self, op: Sleep) -> None:
        await sleep(self._context.clock, op.duration)

    def _in_turn_over_nodes(self, op: CreatePods) -> Iterator[str]:
        return itertools.cycle(self._names_for(op, "bindInTurn"))

    def _names_for(self, op: CreatePods, field: str) -> Sequence[str]:
        if not self._node_names:
            raise WorkloadFailed(f"{op.opcode}: {field} needs nodes, but there are none yet")
        return self._node_names


_PERFORM: Mapping[type[Op], Callable[[Operations, Any], Awaitable[None]]] = {
    CreateNodes: Operations._create_nodes,
    CreateNamespaces: Operations._create_namespaces,
    CreatePods: Operations._create_pods,
    CreatePodSets: Operations._create_pod_sets,
    CreateMixedPods: Operations._create_mixed_pods,
    CreateAny: Operations._create_any,
    CreatePodGroups: Operations._create_pod_groups,
    CreateResourceClaims: Operations._create_claims,
    CreateResourceDriver: lambda run, op: run._context.claims.create_driver(op, run._node_names),
    AllocResourceClaims: lambda run, op: run._context.claims.allocate(op),
    UpdateAny: Operations._update_any,
    DeletePods: Operations._delete_pods,
    Churn: Operations._start_churn,
    Barrier: Operations._wait_at,
    Sleep: Operations._sleep,
    StartCollectingMetrics: Operations._start_collecting,
    StopCollectingMetrics: Operations._stop_collecting,
}

"""Runs one workload once: its operations in order, each pod through a real scheduling cycle.

Nothing waits: ``sleep`` moves the clock, and churn and deletions happen between two cycles, at the
same points in every run.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from math import ceil
from typing import Any, Final, cast

import msgspec

from podium.api.objects import ApiObject, Namespace, Node, Pod, PodGroup, ResourceClaim, decode
from podium.bench.background import Churning, Deletions
from podium.bench.claim_operations import ClaimOperations
from podium.bench.load import Workload
from podium.bench.measure import Reference
from podium.bench.objects import PodContext, PodMaker, csi_node, in_turn, prepared
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
from podium.bench.result import Result, of_run
from podium.bench.scheduling import SECONDS_PER_PLACED_POD, BuildCore, Scheduling
from podium.bench.templates import Template
from podium.errors import WorkloadFailed

# As long as a pod that fits nowhere waits at least in a scheduler before it is tried again.
_SECONDS_BETWEEN_TRIES: Final = 1.0


def run(workload: Workload, build: BuildCore) -> Result:
    """Run the workload once in this process; ``WorkloadFailed`` if a pod finds no node."""
    return _Run(workload, build).result()


class _Run:
    def __init__(self, workload: Workload, build: BuildCore) -> None:
        self.name = workload.name
        self.ops = workload.ops
        self.templates = workload.templates
        self.nodes = sum(op.count for op in workload.ops if isinstance(op, CreateNodes))
        self.reference = Reference(self.nodes)
        self.scheduling = Scheduling(build)
        self.serials = itertools.count()
        self.claims = ClaimOperations(self.scheduling, self.serials)
        self.volume_claims: Counter[str] = Counter()  # by namespace
        self.deletions = Deletions(self.scheduling)
        self.collecting: StartCollectingMetrics | None = None
        self.placed_before: set[str] = set()  # uids of pods that are not collected

    def result(self) -> Result:
        self.reference.measure()
        for op in self.ops:
            self.perform(op)
        self.reference.measure()
        return of_run(self.name, self.nodes, self.scheduling.meter, self.reference)

    def perform(self, op: Op) -> None:
        if perform := _PERFORM.get(type(op)):
            perform(self, op)

    def create_nodes(self, op: CreateNodes) -> None:
        template = self.templates.get(op.node_template_path, Node, op.template_params, op.count)
        for index, serial in enumerate(self.next_serials(op.count)):
            node = prepared(cast(Node, template.build(serial, index=index)), op, index)
            self.scheduling.put(node)
            if (drivers := csi_node(node.name, op)) is not None:
                self.scheduling.put(drivers)

    def create_namespaces(self, op: CreateNamespaces) -> None:
        template = self.templates.get(op.namespace_template_path, Namespace)
        for index in range(op.count):
            self.create_namespace(f"{op.prefix}-{index}", template)

    def create_namespace(self, name: str, template: Template | None = None) -> None:
        """Create a namespace, unless it exists."""
        if self.scheduling.cluster.objects(Namespace).get(name) is None:
            template = template or self.templates.get("", Namespace)
            self.scheduling.put(template.build(next(self.serials), name=name))

    def create_any(self, op: CreateAny) -> None:
        template = self.templates.get(op.template_path, ApiObject, op.template_params, op.count)
        if template.is_namespaced:
            self.create_namespace(op.namespace)
        self.create_made(template, op.namespace, op.count)

    def create_claims(self, op: CreateResourceClaims) -> None:
        template = self.templates.get(op.template_path, ResourceClaim, None, op.count)
        self.create_namespace(op.namespace)
        self.create_made(template, op.namespace, op.count)

    def create_pod_groups(self, op: CreatePodGroups) -> None:
        template = self.templates.get(op.template_path, PodGroup, op.template_params, op.count)
        self.create_made(template, op.namespace, op.count)

    def create_made(self, template: Template, namespace: str, count: int) -> None:
        """Create this many objects of a template."""
        if template.kind is PodGroup:
            raise WorkloadFailed("pod groups need a whole scheduler: --embedded or --kubeconfig")
        for index, serial in enumerate(self.next_serials(count)):
            self.claims.put(template.build(serial, namespace, index=index))

    def update_any(self, op: UpdateAny) -> None:
        template = self.templates.get(op.template_path, ApiObject, None, op.count)
        new = [
            template.build(serial, op.namespace, index=index)
            for index, serial in enumerate(self.next_serials(op.count))
        ]
        new = self.identified(op, new)
        with self.collected():
            for obj in new:
                if op.update_per_second:
                    self.scheduling.clock.advance(1 / op.update_per_second)
                self.scheduling.update(obj)
            self.scheduling.run_all()

    def identified(self, op: UpdateAny, new: Sequence[ApiObject]) -> list[ApiObject]:
        """Give each new version what the server would keep: the uid, and the node of a pod."""
        known = {pod.name: pod for pod in self.scheduling.pods(op.namespace, {})}
        identified = []
        for obj in new:
            if isinstance(obj, Pod):
                if obj.name not in known:
                    raise WorkloadFailed(f"{op.opcode}: there is no pod {obj.key}")
                obj = _next_version(known[obj.name], obj)
            identified.append(obj)
        return identified

    def delete_pods(self, op: DeletePods) -> None:
        pods = self.scheduling.pods(op.namespace, op.label_selector)
        with self.collected():
            if op.delete_pods_per_second:
                self.deletions.start(pods, op.delete_pods_per_second)
            else:
                for pod in pods:
                    self.scheduling.delete(pod)
            if not op.skip_wait_to_completion:
                self.run_until(lambda: self.deletions.are_over)

    def start_churn(self, op: Churn) -> None:
        self.create_namespace(op.namespace)
        templates = [self.templates.get(path, ApiObject) for path in op.template_paths]
        Churning(self.scheduling, op, templates, self.serials).start()

    # --- pods -------------------------------------------------------------------------------------

    def create_pod_sets(self, op: CreatePodSets) -> None:
        for index in range(op.count):
            namespace = f"{op.namespace_prefix}-{index}"
            self.create_pods(msgspec.structs.replace(op.create_pods_op, namespace=namespace))

    def create_pods(self, op: CreatePods) -> None:
        maker, numbers = self.pod_maker(op), enumerate(self.next_serials(op.count))
        if op.steady_state:
            self.keep_steady(op, maker)
        elif op.collect_metrics:
            self.measure_pods(op.opcode, [maker.json(serial, index) for index, serial in numbers])
        elif op.bind_in_turn:
            self.bind_in_turn(op, (maker.build(serial, index) for index, serial in numbers))
        else:
            pods = [maker.build(serial, index) for index, serial in numbers]
            with self.collected():
                if op.skip_wait_to_completion:
                    for pod in pods:
                        self.scheduling.submit(pod)
                else:
                    self.schedule_pods(op.opcode, pods)

    def create_mixed_pods(self, op: CreateMixedPods) -> None:
        makers = [(self.pod_maker(inner), itertools.count()) for inner in op.create_pods_ops]
        counts = [inner.count for inner in op.create_pods_ops]
        turns = list(in_turn(list(zip(makers, counts, strict=True))))
        if op.collect_metrics:
            arriving = [maker.json(next(self.serials), next(indexes)) for maker, indexes in turns]
            self.measure_pods(op.opcode, arriving)
            return
        pods = [maker.build(next(self.serials), next(indexes)) for maker, indexes in turns]
        with self.collected():
            self.schedule_pods(op.opcode, pods)

    def keep_steady(self, op: CreatePods, maker: PodMaker) -> None:
        """Replace each pod that gets a node by a new one, until the time is over."""
        scheduling, placed = self.scheduling, 0
        most = op.count + ceil(op.duration / SECONDS_PER_PLACED_POD)
        numbers = enumerate(self.next_serials(most))
        arriving = iter([maker.json(serial, index % op.count) for index, serial in numbers])
        end = scheduling.clock.now() + op.duration
        with scheduling.meter.measuring(0) if op.collect_metrics else self.collected():
            for data in itertools.islice(arriving, op.count):
                scheduling.submit(decode(Pod, data))
            scheduling.placed = None
            while scheduling.clock.now() < end and scheduling.run_one():
                if scheduling.placed is not None:
                    scheduling.delete(scheduling.placed)
                    scheduling.placed = None
                    placed += 1
                    if (data := next(arriving, None)) is not None:
                        scheduling.submit(decode(Pod, data))
        if op.collect_metrics:
            scheduling.meter.pods += placed
        if not placed:
            self.fail(op.opcode, scheduling.pending.rejected())

    def pod_maker(self, op: CreatePods) -> PodMaker:
        self.create_namespace(op.namespace)
        names = self.node_names(op.opcode, "pinInTurn") if op.pin_in_turn else ()
        first_claim = self.volume_claims[op.namespace]
        if op.persistent_volume_claim_template_path:
            self.volume_claims[op.namespace] += op.count
        context = PodContext(names, first_claim, self.claims.templates)
        return PodMaker(op, self.templates, self.put_json, context)

    def put_json(self, kind: type[ApiObject], data: bytes) -> None:
        self.scheduling.put(decode(kind, data))

    def node_names(self, opcode: str, field: str) -> Sequence[str]:
        names = self.scheduling.cluster.rows().names
        if not names:
            raise WorkloadFailed(f"{opcode}: {field} needs nodes, and there are none yet")
        return names

    def bind_in_turn(self, op: CreatePods, pods: Iterable[Pod]) -> None:
        names = itertools.cycle(self.node_names(op.opcode, "bindInTurn"))
        for pod in pods:
            self.scheduling.cluster.add_pod(pod.bound_to(next(names)))

    def schedule_pods(self, opcode: str, pods: Iterable[Pod]) -> None:
        for pod in pods:
            self.scheduling.submit(pod, awaited=True)
            self.scheduling.run_one()
        self.finish(opcode)

    def measure_pods(self, opcode: str, arriving: Sequence[bytes]) -> None:
        """Create pods from JSON, as a watch delivers them, with a cycle after each."""
        scheduling = self.scheduling
        with scheduling.meter.measuring(len(arriving)):
            for data in arriving:
                scheduling.submit(decode(Pod, data), awaited=True)
                scheduling.run_one()
            self.run_until(lambda: not scheduling.unplaced)
        self.finish(opcode)

    # --- waiting and collecting -------------------------------------------------------------------

    def run_until(self, is_enough: Callable[[], bool]) -> None:
        """Try all pods that are due, and rejected ones again while that may help.

        It may if pods were placed since, because others wait for them, or if pods are being
        deleted, which takes time.
        """
        scheduling, tried = self.scheduling, -1
        scheduling.run_all()
        while not is_enough():
            if scheduling.placements != tried:
                tried = scheduling.placements
                scheduling.pending.wake()
            elif self.deletions.are_over:
                return
            else:
                scheduling.clock.advance(_SECONDS_BETWEEN_TRIES)
            scheduling.run_all()

    def finish(self, opcode: str) -> None:
        self.run_until(lambda: not self.scheduling.unplaced)
        if self.scheduling.unplaced:
            unplaced = self.scheduling.unplaced
            rejected = self.scheduling.pending.rejected()
            self.fail(opcode, [(pod, why) for pod, why in rejected if pod.uid in unplaced])

    def wait_at(self, op: Barrier) -> None:
        with self.collected():
            if op.stage_requirement == "Attempted":
                self.scheduling.run_all()
                return
            self.run_until(lambda: not self.stuck(op))
        if stuck := self.stuck(op):
            self.fail(op.opcode, stuck)

    def stuck(self, op: Barrier) -> list[tuple[Pod, str]]:
        return [
            (pod, why)
            for pod, why in self.scheduling.pending.rejected()
            if (not op.namespaces or pod.namespace in op.namespaces)
            and op.label_selector.items() <= pod.labels.items()
        ]

    def sleep(self, op: Sleep) -> None:
        with self.collected():
            self.scheduling.clock.advance(op.duration)
            self.scheduling.run_all()

    def start_collecting(self, op: StartCollectingMetrics) -> None:
        self.collecting = op
        self.placed_before = {pod.uid for pod in self.placed_pods(op)}

    def collected(self) -> AbstractContextManager[None]:
        """Measure the block if it is inside of ``startCollectingMetrics``."""
        if self.collecting is None:
            return nullcontext()
        return self.scheduling.meter.measuring(0)

    def stop_collecting(self, _: StopCollectingMetrics) -> None:
        if self.collecting is not None:
            placed = {pod.uid for pod in self.placed_pods(self.collecting)}
            self.scheduling.meter.pods += len(placed - self.placed_before)
        self.collecting = None

    def placed_pods(self, op: StartCollectingMetrics) -> Iterator[Pod]:
        for namespace in op.namespaces:
            for pod in self.scheduling.pods(namespace, op.label_selector):
                if pod.node_name:
                    yield pod

    def fail(self, opcode: str, stuck: list[tuple[Pod, str]]) -> None:
        pod, why = stuck[0]
        raise WorkloadFailed(f"{opcode}: {len(stuck)} of the pods found no node; {pod.key}: {why}")

    def next_serials(self, count: int) -> Iterator[int]:
        return itertools.islice(self.serials, count)


def _next_version(known: Pod, new: Pod) -> Pod:
    metadata = msgspec.structs.replace(new.metadata, uid=known.uid)
    new = msgspec.structs.replace(new, metadata=metadata)
    return new.bound_to(known.node_name) if known.node_name else new


_PERFORM: Mapping[type[Op], Callable[[_Run, Any], None]] = {
    CreateNodes: _Run.create_nodes,
    CreateNamespaces: _Run.create_namespaces,
    CreatePods: _Run.create_pods,
    CreatePodSets: _Run.create_pod_sets,
    CreateMixedPods: _Run.create_mixed_pods,
    CreateAny: _Run.create_any,
    CreatePodGroups: _Run.create_pod_groups,
    CreateResourceClaims: _Run.create_claims,
    CreateResourceDriver: lambda run, op: run.claims.create_driver(op),
    AllocResourceClaims: lambda run, op: run.claims.allocate(op),
    UpdateAny: _Run.update_any,
    DeletePods: _Run.delete_pods,
    Churn: _Run.start_churn,
    Barrier: _Run.wait_at,
    Sleep: _Run.sleep,
    StartCollectingMetrics: _Run.start_collecting,
    StopCollectingMetrics: _Run.stop_collecting,
}

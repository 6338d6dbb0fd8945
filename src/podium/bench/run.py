"""Runs one workload once: its operations in order, each pod through a real scheduling cycle.

Nothing waits: ``sleep`` moves the clock, and churn happens between two cycles, at the same points
in every run.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import cast

import msgspec

from podium.api.objects import ApiObject, Namespace, Node, Pod, decode
from podium.bench.load import Workload
from podium.bench.measure import Reference
from podium.bench.objects import PodMaker, csi_node, in_turn, prepared
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
from podium.bench.result import Result, of_run
from podium.bench.scheduling import BuildCore, Scheduling
from podium.bench.templates import Template
from podium.errors import WorkloadFailed


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

    def result(self) -> Result:
        self.reference.measure()
        for op in self.ops:
            self.perform(op)
        self.reference.measure()
        return of_run(self.name, self.nodes, self.scheduling.meter, self.reference)

    def perform(self, op: Op) -> None:
        match op:
            case CreateNodes():
                self.create_nodes(op)
            case CreateNamespaces():
                self.create_namespaces(op)
            case CreatePods():
                self.create_pods(op)
            case CreatePodSets():
                self.create_pod_sets(op)
            case CreateMixedPods():
                self.create_mixed_pods(op)
            case CreateAny():
                self.create_any(op)
            case Churn():
                self.create_namespace(op.namespace)
                _Churning(self, op).start()
            case Barrier():
                self.wait_at(op)
            case Sleep():
                self.scheduling.clock.advance(op.duration)
                self.scheduling.run_all()

    def create_nodes(self, op: CreateNodes) -> None:
        template = self.templates.get(op.node_template_path, Node)
        for index, serial in enumerate(self.next_serials(op.count)):
            node = prepared(cast(Node, template.build(serial)), op, index)
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
        template = self.templates.get(op.template_path, ApiObject)
        if template.is_namespaced:
            self.create_namespace(op.namespace)
        for serial in self.next_serials(op.count):
            self.scheduling.put(template.build(serial, op.namespace))

    def create_pod_sets(self, op: CreatePodSets) -> None:
        for index in range(op.count):
            namespace = f"{op.namespace_prefix}-{index}"
            self.create_pods(msgspec.structs.replace(op.create_pods_op, namespace=namespace))

    def create_pods(self, op: CreatePods) -> None:
        maker, serials = self.pod_maker(op), self.next_serials(op.count)
        if op.collect_metrics:
            self.measure_pods(op.opcode, [maker.json(serial) for serial in serials])
        elif op.bind_in_turn:
            self.bind_in_turn(op, map(maker.build, serials))
        elif op.skip_wait_to_completion:
            for serial in serials:
                self.scheduling.submit(maker.build(serial))
        else:
            self.schedule_pods(op.opcode, [maker.build(serial) for serial in serials])

    def create_mixed_pods(self, op: CreateMixedPods) -> None:
        makers = in_turn([(self.pod_maker(inner), inner.count) for inner in op.create_pods_ops])
        if op.collect_metrics:
            self.measure_pods(op.opcode, [maker.json(next(self.serials)) for maker in makers])
        else:
            self.schedule_pods(op.opcode, [maker.build(next(self.serials)) for maker in makers])

    def pod_maker(self, op: CreatePods) -> PodMaker:
        self.create_namespace(op.namespace)
        names = self.node_names(op.opcode, "pinInTurn") if op.pin_in_turn else ()
        return PodMaker(op, self.templates, self.put_json, names)

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
            scheduling.run_all()
        self.finish(opcode)

    def finish(self, opcode: str) -> None:
        self.scheduling.run_all()
        if self.scheduling.unplaced:
            unplaced = self.scheduling.unplaced
            rejected = self.scheduling.pending.rejected()
            self.fail(opcode, [(pod, why) for pod, why in rejected if pod.uid in unplaced])

    def wait_at(self, op: Barrier) -> None:
        self.scheduling.run_all()
        if op.stage_requirement == "Attempted":
            return
        stuck = [
            (pod, why)
            for pod, why in self.scheduling.pending.rejected()
            if (not op.namespaces or pod.namespace in op.namespaces)
            and op.label_selector.items() <= pod.labels.items()
        ]
        if stuck:
            self.fail(op.opcode, stuck)

    def fail(self, opcode: str, stuck: list[tuple[Pod, str]]) -> None:
        pod, why = stuck[0]
        raise WorkloadFailed(f"{opcode}: {len(stuck)} of the pods found no node; {pod.key}: {why}")

    def next_serials(self, count: int) -> Iterator[int]:
        return itertools.islice(self.serials, count)


class _Churning:
    """Creates an object of each template per interval; ``recreate`` also deletes them in turn."""

    def __init__(self, run: _Run, op: Churn) -> None:
        self.run = run
        self.op = op
        self.templates = [run.templates.get(path, ApiObject) for path in op.template_paths]
        self.ticks = 0
        self.existing: dict[int, list[ApiObject]] = {}  # by index, for ``recreate``

    def start(self) -> None:
        self.run.scheduling.clock.call_later(self.op.interval_milliseconds / 1_000, self.tick)

    def tick(self) -> None:
        if self.op.mode == "recreate":
            self.recreate(self.ticks % self.op.number)
        else:
            self.create()
        self.ticks += 1
        if self.op.mode == "recreate" or self.ticks != self.op.number:
            self.start()

    def recreate(self, index: int) -> None:
        existing = self.existing.pop(index, None)
        if existing is None:
            self.existing[index] = self.create()
            return
        for obj in existing:
            self.run.scheduling.delete(obj)

    def create(self) -> list[ApiObject]:
        serials = self.run.serials
        made = [template.build(next(serials), self.op.namespace) for template in self.templates]
        for obj in made:
            self.run.scheduling.put(obj)
        return made

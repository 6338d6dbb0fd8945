"""Small workloads through the real core. Nothing here asserts on times."""

from collections import Counter

import pytest

from podium import app, config
from podium.bench.load import load_file
from podium.bench.result import Result
from podium.bench.run import run
from podium.errors import WorkloadFailed

TEMPLATES = {
    "large": "kind: Pod\nmetadata: {generateName: large-}\n"
    "spec: {priority: 5, containers: [{name: app, resources: {requests: {cpu: '9'}}}]}\n",
    "low": "kind: Pod\nmetadata: {generateName: low-}\n"
    "spec: {containers: [{name: app, resources: {requests: {cpu: 900m}}}]}\n",
    "high": "kind: Pod\nmetadata: {generateName: high-}\n"
    "spec: {priority: 10, containers: [{name: app, resources: {requests: {cpu: '3'}}}]}\n",
    "bound": "kind: Pod\nmetadata: {generateName: bound-}\n"
    "spec: {nodeName: node-0, containers: [{name: app}]}\n",
    "big": "kind: Node\nmetadata: {generateName: big-}\n"
    "status: {capacity: {cpu: '16', memory: 64Gi, pods: '110'}}\n",
    "service": "kind: Service\nspec: {selector: {app: web}}\n",
}


class Bench:
    """Runs operations, and keeps the core to look into."""

    def __init__(self, directory):
        self.directory = directory
        self.core = None

    def build(self, clock, client):
        configuration = config.default(app.in_tree())
        self.core = app.build(configuration, clock=clock, client=client)
        return self.core

    def run(self, *ops):
        lines = "".join(f"  - {{opcode: {op}}}\n" for op in ops)
        path = self.directory / "case.yaml"
        path.write_text(
            f"- name: Case\n  workloads: [{{name: Small}}]\n  workloadTemplate:\n{lines}"
        )
        (workload,) = load_file(path)
        result = run(workload, self.build)
        self.core.cluster.check_invariants()
        return result

    def pods(self, prefix=""):
        return [i.pod for i in self.core.cluster.pods.values() if i.pod.name.startswith(prefix)]


@pytest.fixture
def bench(tmp_path):
    for name, text in TEMPLATES.items():
        (tmp_path / f"{name}.yaml").write_text(text)
    return Bench(tmp_path)


def test_every_pod_is_placed_and_every_figure_is_there(bench):
    result = bench.run(
        "createNodes, count: 10",
        "createPods, count: 5",
        "createPods, count: 20, collectMetrics: true",
    )

    assert len(bench.pods()) == 25
    assert all(pod.node_name for pod in bench.pods())
    assert (result.name, result.nodes, result.pods) == ("Case/Small", 10, 20)
    figures = [getattr(result, field) for field in Result.__struct_fields__]
    assert all(figure is not None for figure in figures)
    assert result.cycle_p99_us >= result.cycle_p50_us > 0
    assert result.reference_us > 0


def test_same_placement_in_every_run(bench):
    ops = ("createNodes, count: 10", "createPods, count: 30, collectMetrics: true")

    bench.run(*ops)
    first = {pod.name: pod.node_name for pod in bench.pods()}
    bench.run(*ops)

    assert {pod.name: pod.node_name for pod in bench.pods()} == first


def test_preemptors_evict_and_are_placed(bench):
    bench.run(
        "createNodes, count: 3",
        "createPods, count: 12, podTemplatePath: low.yaml",
        "createPods, count: 2, podTemplatePath: high.yaml, collectMetrics: true",
    )

    assert len(bench.pods("high")) == 2
    assert len(bench.pods("low")) == 12 - 2 * 3
    assert len(bench.core.nominator) == 0


def test_pods_that_fit_nowhere_wait(bench):
    bench.run(
        "createNodes, count: 3",
        "createPods, count: 4, podTemplatePath: large.yaml, skipWaitToCompletion: true",
        "barrier, stageRequirement: Attempted",
        "createPods, count: 5, collectMetrics: true",
    )

    assert len(bench.pods()) == 5


def test_new_nodes_wake_waiting_pods(bench):
    bench.run(
        "createNodes, count: 3",
        "createPods, count: 1, podTemplatePath: large.yaml, skipWaitToCompletion: true",
        "barrier, stageRequirement: Attempted",
        "createNodes, count: 1, nodeTemplatePath: big.yaml",
        "barrier",
    )

    assert [pod.node_name for pod in bench.pods("large")] == ["big-5"]


def test_churn_comes_between_placed_pods(bench):
    bench.run(
        "createNodes, count: 3",
        "churn, mode: create, number: 2, templatePaths: [low.yaml], intervalMilliseconds: 4",
        "createPods, count: 20, collectMetrics: true",
    )

    assert len(bench.pods("low")) == 2


def test_churn_recreates(bench):
    bench.run(
        "createNodes, count: 3",
        "churn, mode: recreate, number: 1, templatePaths: [big.yaml, low.yaml, service.yaml],"
        " intervalMilliseconds: 100",
        "sleep, duration: 200ms",
        "createPods, count: 5, collectMetrics: true",
    )

    assert len(bench.core.cluster.rows()) == 3
    assert len(bench.pods()) == 5


def test_churn_stands_after_an_odd_number_of_intervals(bench):
    bench.run(
        "createNodes, count: 3",
        "churn, mode: recreate, number: 1, templatePaths: [big.yaml, low.yaml],"
        " intervalMilliseconds: 100",
        "sleep, duration: 350ms",
    )

    assert len(bench.core.cluster.rows()) == 4
    assert len(bench.pods("low")) == 1


def test_bind_in_turn_fills_node_by_node(bench):
    bench.run("createNodes, count: 3", "createPods, count: 7, bindInTurn: true")

    on_nodes = Counter(pod.node_name for pod in bench.pods())
    assert on_nodes == {"node-0": 3, "node-1": 2, "node-2": 2}


def test_pods_with_a_node_are_not_scheduled(bench):
    bench.run("createNodes, count: 2", "createPods, count: 3, podTemplatePath: bound.yaml")

    assert {pod.node_name for pod in bench.pods()} == {"node-0"}


def test_pod_sets_have_namespaces_of_their_own(bench):
    bench.run(
        "createNodes, count: 2",
        "createNamespaces, prefix: ns, count: 2",
        "createPodSets, count: 2, namespacePrefix: ns,"
        " createPodsOp: {opcode: createPods, count: 3}",
    )

    assert sorted(pod.namespace for pod in bench.pods()) == ["ns-0"] * 3 + ["ns-1"] * 3


def test_node_strategies(bench):
    bench.run(
        "createNodes, count: 3,"
        " labelNodePrepareStrategy: {labelKey: zone, labelValues: [a, b]},"
        " uniqueNodeLabelStrategy: {labelKey: own},"
        " nodeAllocatableStrategy: {nodeAllocatable: {cpu: '2'}}"
    )

    nodes = [node for node in bench.core.cluster.table.nodes if node is not None]
    assert [node.labels["zone"] for node in nodes] == ["a", "b", "a"]
    assert len({node.labels["own"] for node in nodes}) == 3
    assert {node.status.allocatable["cpu"] for node in nodes} == {"2"}


@pytest.mark.parametrize(
    ("ops", "expected"),
    [
        pytest.param(
            ["createPods, count: 2, podTemplatePath: large.yaml"],
            r"createPods: 2 of the pods found no node; namespace-1/large-\d+: 0/2 nodes",
            id="pods-of-an-operation",
        ),
        pytest.param(
            [
                "createPods, count: 1, podTemplatePath: large.yaml, skipWaitToCompletion: true",
                "barrier",
            ],
            "barrier: 1 of the pods found no node",
            id="pods-at-a-barrier",
        ),
    ],
)
def test_a_pod_without_a_node_fails_the_workload(bench, ops, expected):
    with pytest.raises(WorkloadFailed, match=expected):
        bench.run("createNodes, count: 2", *ops)


def test_bind_in_turn_needs_nodes(bench):
    with pytest.raises(WorkloadFailed, match="there are none yet"):
        bench.run("createPods, count: 1, bindInTurn: true")


def test_a_barrier_looks_at_its_namespaces_only(bench):
    bench.run(
        "createNodes, count: 2",
        "createPods, count: 1, podTemplatePath: large.yaml, skipWaitToCompletion: true",
        "barrier, namespaces: [other]",
    )

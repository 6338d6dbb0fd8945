"""Small workloads through the real core. Nothing here asserts on times."""

from collections import Counter

import pytest

from podium.api.objects import CSINode, PersistentVolume, PersistentVolumeClaim
from podium.bench.result import Result
from podium.errors import WorkloadFailed
from tests.support.bench_in_process import Bench

pytestmark = pytest.mark.slow

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
    "gated": "kind: Pod\nmetadata: {generateName: gated-}\n"
    "spec: {schedulingGates: [{name: wait}], containers: [{name: app}]}\n",
    "foreign": "kind: Pod\nspec: {schedulerName: other, containers: [{name: app}]}\n",
    "volume": "kind: PersistentVolume\nmetadata: {generateName: volume-}\n"
    "spec: {capacity: {storage: 1Gi}, csi: {driver: disk.example.com}}\n",
    "claim": "kind: PersistentVolumeClaim\nmetadata: {generateName: claim-}\n"
    "spec: {resources: {requests: {storage: 1Gi}}}\n",
    "service": "kind: Service\nspec: {selector: {app: web}}\n",
}


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
    unknown = [field for field in Result.__struct_fields__ if getattr(result, field) is None]
    assert unknown == ["threshold", "threshold_reached"]
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


CLAIMS = "persistentVolumeTemplatePath: volume.yaml, persistentVolumeClaimTemplatePath: claim.yaml"
ONE_VOLUME = "nodeAllocatableStrategy: {csiNodeAllocatable: {disk.example.com: {count: 1}}}"


@pytest.mark.parametrize(
    "how", ["collectMetrics: true", "collectMetrics: false", "bindInTurn: true"]
)
def test_pods_with_volumes_have_bound_claims_of_their_own(bench, how):
    bench.run(
        f"createNodes, count: 3, {ONE_VOLUME}",
        f"createPods, count: 3, namespace: shop, {CLAIMS}, {how}",
    )

    cluster = bench.core.cluster
    claims = [pod.spec.volumes[0].persistent_volume_claim.claim_name for pod in bench.pods()]
    assert len(set(claims)) == 3
    assert {pod.node_name for pod in bench.pods()} == {"node-0", "node-1", "node-2"}
    for name in claims:
        claim = cluster.objects(PersistentVolumeClaim).get(f"shop/{name}")
        volume = cluster.objects(PersistentVolume).get(claim.spec.volume_name)
        assert (volume.spec.claim_ref.namespace, volume.spec.claim_ref.name) == ("shop", name)
        assert volume.spec.csi.volume_handle == volume.name


def test_nodes_hold_as_many_volumes_as_their_drivers_allow(bench):
    with pytest.raises(WorkloadFailed, match="exceed max volume count"):
        bench.run(f"createNodes, count: 2, {ONE_VOLUME}", f"createPods, count: 3, {CLAIMS}")


def test_migrated_plugins_stand_on_the_csi_node(bench):
    strategy = "nodeAllocatableStrategy: {migratedPlugins: [kubernetes.io/aws-ebs, other]}"
    bench.run(f"createNodes, count: 1, {strategy}")

    csi_node = bench.core.cluster.objects(CSINode).get("node-0")
    assert list(csi_node.metadata.annotations.values()) == ["kubernetes.io/aws-ebs,other"]


def test_pinned_pods_go_to_one_node_each(bench):
    bench.run("createNodes, count: 3", "createPods, count: 6, pinInTurn: true")

    assert Counter(pod.node_name for pod in bench.pods()) == {f"node-{n}": 2 for n in range(3)}


def test_gated_pods_are_held_back(bench):
    bench.run(
        "createNodes, count: 2",
        "createPods, count: 4, podTemplatePath: gated.yaml, skipWaitToCompletion: true",
        "barrier, stageRequirement: Attempted",
        "createNodes, count: 1",
        "createPods, count: 5, collectMetrics: true",
    )

    assert len(bench.pods()) == 5


@pytest.mark.parametrize("measured", ["true", "false"])
def test_mixed_pods_come_in_turn(bench, measured):
    result = bench.run(
        "createNodes, count: 3",
        f"createMixedPods, collectMetrics: {measured}, createPodsOps: ["
        f"{{opcode: createPods, count: 1, podTemplatePath: low.yaml}},"
        f" {{opcode: createPods, count: 3, {CLAIMS}}}]",
    )

    names = [name.partition("-")[0] for name in (pod.name for pod in bench.pods())]
    assert names == ["low", "pod", "pod", "pod"]
    assert result.pods == (4 if measured == "true" else 0)


@pytest.mark.parametrize(
    ("ops", "expected"),
    [
        pytest.param(
            ["createPods, count: 1, podTemplatePath: gated.yaml"],
            r"gated-\d+: waiting for scheduling gates: \[wait\]",
            id="pods-that-are-gated",
        ),
        pytest.param(
            ["createPods, count: 1, podTemplatePath: foreign.yaml"],
            'cannot be scheduled: no profile is named "other"',
            id="pods-of-another-scheduler",
        ),
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


@pytest.mark.parametrize("field", ["bindInTurn", "pinInTurn"])
def test_in_turn_needs_nodes(bench, field):
    with pytest.raises(WorkloadFailed, match=f"{field} needs nodes, and there are none yet"):
        bench.run(f"createPods, count: 1, {field}: true")


def test_a_barrier_looks_at_its_namespaces_only(bench):
    bench.run(
        "createNodes, count: 2",
        "createPods, count: 1, podTemplatePath: large.yaml, skipWaitToCompletion: true",
        "barrier, namespaces: [other]",
    )

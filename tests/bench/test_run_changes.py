"""Operations that delete, update and replace pods, and measurements that span operations."""

import pytest

from podium.errors import WorkloadFailed
from tests.support.bench_in_process import Bench

pytestmark = pytest.mark.slow

TEMPLATES = {
    "full": "kind: Pod\nmetadata: {generateName: full-, labels: {type: blocker}}\n"
    "spec: {containers: [{name: app, resources: {requests: {cpu: '4'}}}]}\n",
    "waiting": "kind: Pod\nmetadata: {generateName: waiting-, labels: {type: waiting}}\n"
    "spec: {containers: [{name: app, resources: {requests: {cpu: '1'}}}]}\n",
    "held": "kind: Pod\nmetadata: {generateName: held-, finalizers: [example.com/hold]}\n"
    "spec: {containers: [{name: app, resources: {requests: {cpu: '4'}}}]}\n",
    "node": "kind: Node\nmetadata: {name: 'own-{{.Index}}'}\n"
    "spec: {unschedulable: true}\nstatus: {capacity: {cpu: '4', memory: 32Gi, pods: '10'}}\n",
    "node-open": "kind: Node\nmetadata: {name: 'own-{{.Index}}'}\n"
    "status: {capacity: {cpu: '4', memory: 32Gi, pods: '10'}}\n",
    "gated": "kind: Pod\nmetadata: {name: 'gated-{{.Index}}'}\n"
    "spec: {schedulingGates: [{name: wait}], containers: [{name: app}]}\n",
    "ungated": "kind: Pod\nmetadata: {name: 'gated-{{.Index}}'}\n"
    "spec: {containers: [{name: app}]}\n",
    "running": "kind: Pod\nmetadata: {name: 'running-{{.Index}}', labels: {color: red}}\n"
    "spec: {containers: [{name: app, resources: {requests: {cpu: '4'}}}]}\n",
    "smaller": "kind: Pod\nmetadata: {name: 'running-{{.Index}}'}\n"
    "spec: {containers: [{name: app, resources: {requests: {cpu: 100m}}}]}\n",
    "follower": "kind: Pod\nmetadata: {generateName: follower-}\n"
    "spec:\n  containers: [{name: app}]\n  affinity: {podAffinity: {requiredDuringScheduling"
    "IgnoredDuringExecution: [{topologyKey: kubernetes.io/hostname, labelSelector:"
    " {matchLabels: {type: waiting}}}]}}\n",
}


@pytest.fixture
def bench(tmp_path):
    for name, text in TEMPLATES.items():
        (tmp_path / f"{name}.yaml").write_text(text)
    return Bench(tmp_path)


@pytest.mark.parametrize(
    "how",
    [
        pytest.param("", id="at-once"),
        pytest.param(", deletePodsPerSecond: 2", id="at-a-rate"),
        pytest.param(", deletePodsPerSecond: 2, skipWaitToCompletion: true", id="in-background"),
    ],
)
def test_deleted_pods_make_room(bench, how):
    bench.run(
        "createNodes, count: 2",
        "createPods, count: 2, namespace: a, podTemplatePath: full.yaml",
        "createPods, count: 3, namespace: a, podTemplatePath: waiting.yaml,"
        " skipWaitToCompletion: true",
        "barrier, stageRequirement: Attempted",
        f"deletePods, namespace: a, labelSelector: {{type: blocker}}{how}",
        "barrier, labelSelector: {type: waiting}",
    )

    assert len(bench.pods("waiting-")) == 3
    assert len(bench.pods("full-")) < 2


def test_only_pods_of_the_namespace_and_labels_are_deleted(bench):
    bench.run(
        "createNodes, count: 3",
        "createPods, count: 1, namespace: a, podTemplatePath: full.yaml",
        "createPods, count: 1, namespace: a, podTemplatePath: waiting.yaml",
        "createPods, count: 1, namespace: b, podTemplatePath: waiting.yaml",
        "deletePods, namespace: a, labelSelector: {type: waiting}",
    )

    assert sorted(pod.namespace for pod in bench.pods()) == ["a", "b"]
    assert len(bench.pods("full-")) == 1


def test_a_deleted_pod_with_finalizers_keeps_its_room(bench):
    with pytest.raises(WorkloadFailed, match="1 of the pods found no node"):
        bench.run(
            "createNodes, count: 1",
            "createPods, count: 1, namespace: a, podTemplatePath: held.yaml",
            "deletePods, namespace: a",
            "createPods, count: 1, podTemplatePath: waiting.yaml",
        )


def test_a_pod_that_is_deleted_while_it_waits_is_not_waited_for(bench):
    result = bench.run(
        "createNodes, count: 1",
        "createPods, count: 1, podTemplatePath: full.yaml",
        "createPods, count: 2, namespace: a, podTemplatePath: full.yaml,"
        " skipWaitToCompletion: true",
        "deletePods, namespace: a, deletePodsPerSecond: 100, skipWaitToCompletion: true",
        "barrier",
    )

    assert len(bench.pods()) == 1
    assert result.pods == 0


@pytest.mark.parametrize("rate", ["", ", updatePerSecond: 10"])
def test_updated_nodes_and_pods_let_pods_in(bench, rate):
    bench.run(
        "createNodes, count: 2, nodeTemplatePath: node.yaml",
        "createPods, count: 2, namespace: a, podTemplatePath: gated.yaml,"
        " skipWaitToCompletion: true",
        "createPods, count: 2, namespace: b, podTemplatePath: running.yaml,"
        " skipWaitToCompletion: true",
        "barrier, stageRequirement: Attempted",
        f"updateAny, count: 2, templatePath: node-open.yaml{rate}",
        "barrier, namespaces: [b]",
        f"updateAny, count: 2, namespace: b, templatePath: smaller.yaml{rate}",
        f"updateAny, count: 2, namespace: a, templatePath: ungated.yaml{rate}",
        "barrier",
    )

    assert sorted(pod.name for pod in bench.pods("gated-")) == ["gated-0", "gated-1"]
    assert all(not pod.labels for pod in bench.pods("running-"))
    assert {pod.node_name for pod in bench.pods("running-")} == {"own-0", "own-1"}


def test_an_update_of_a_pod_that_is_not_there(bench):
    with pytest.raises(WorkloadFailed, match="updateAny: there is no pod a/gated-0"):
        bench.run("createNodes, count: 1", "updateAny, namespace: a, templatePath: ungated.yaml")


def test_pods_that_wait_for_another_are_tried_again_once_it_runs(bench):
    bench.run(
        "createNodes, count: 1",
        "createPods, count: 2, podTemplatePath: follower.yaml, skipWaitToCompletion: true,"
        " namespace: a",
        "barrier, stageRequirement: Attempted",
        "createPods, count: 1, podTemplatePath: waiting.yaml, namespace: a",
        "barrier",
    )

    assert len(bench.pods("follower-")) == 2


def test_collected_pods_are_those_of_the_namespaces_and_labels(bench):
    result = bench.run(
        "createNodes, count: 40",
        "createPods, count: 1, namespace: a, podTemplatePath: waiting.yaml",
        "startCollectingMetrics, name: x, namespaces: [a, b], labelSelector: {type: waiting}",
        "createPods, count: 2, namespace: a, podTemplatePath: waiting.yaml",
        "createPods, count: 3, namespace: b, podTemplatePath: waiting.yaml,"
        " skipWaitToCompletion: true",
        "createPods, count: 1, namespace: b, podTemplatePath: full.yaml",
        "createPods, count: 1, namespace: c, podTemplatePath: waiting.yaml",
        "barrier",
        "stopCollectingMetrics",
        "createPods, count: 1, namespace: a, podTemplatePath: waiting.yaml",
    )

    assert result.pods == 5
    assert result.pods_per_second > 0
    assert result.cycle_mean_us > 0


def test_a_steady_state_replaces_pods_until_its_time_is_over(bench):
    result = bench.run(
        "createNodes, count: 1",
        "createPods, count: 3, podTemplatePath: waiting.yaml, steadyState: true,"
        " duration: 50ms, collectMetrics: true",
    )

    assert 50 <= result.pods <= 51  # each placed pod takes about a millisecond
    assert bench.pods() == []


def test_a_steady_state_in_which_no_pod_fits(bench):
    with pytest.raises(WorkloadFailed, match="createPods: 2 of the pods found no node"):
        bench.run(
            "createNodes, count: 1",
            "createPods, count: 1, podTemplatePath: full.yaml",
            "createPods, count: 2, podTemplatePath: full.yaml, steadyState: true, duration: 1s",
        )

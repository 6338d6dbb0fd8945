"""Operations that delete, update and replace objects, through the API of an embedded server."""

import pytest

from podium.bench.live.changes import next_version
from podium.bench.live.manifests import Manifest
from podium.client.resources import NODES, PODS
from podium.clock import give_way
from podium.errors import WorkloadFailed
from tests.support.bench import Played, workload
from tests.support.client import with_world

pytestmark = pytest.mark.slow

CREATE_NODES = "opcode: createNodes, count: 2"
CREATE_PODS = "opcode: createPods, count: 3, namespace: shop, podTemplatePath: pod.yaml"
POD = """
kind: Pod
metadata: {generateName: web-, labels: {type: web}}
spec: {terminationGracePeriodSeconds: 0, containers: [{name: app, image: pause}]}
"""
GATED = """
kind: Pod
metadata: {name: 'gated-{{.Index}}', labels: {type: gated}}
spec: {schedulingGates: [{name: wait}], containers: [{name: app, image: pause}]}
"""
UNGATED = """
kind: Pod
metadata: {name: 'gated-{{.Index}}', labels: {type: free}}
spec:
  tolerations: [{key: spot, operator: Exists}]
  containers: [{name: app, image: pause}]
"""
NODE = """
kind: Node
metadata: {name: 'own-{{.Index}}', labels: {old: label}}
spec: {unschedulable: true}
status: {capacity: {cpu: '1', pods: '10'}}
"""
OPEN_NODE = """
kind: Node
metadata: {name: 'own-{{.Index}}', labels: {zone: a}}
spec: {taints: [{key: spot, effect: NoSchedule}]}
status: {capacity: {cpu: '8', pods: '10'}}
"""
HELD = POD.replace("generateName: web-", "generateName: held-, finalizers: [example.com/hold]")


@pytest.fixture
def folder(tmp_path):
    for name, text in (
        ("pod", POD),
        ("gated", GATED),
        ("ungated", UNGATED),
        ("node", NODE),
        ("open-node", OPEN_NODE),
        ("held", HELD),
    ):
        (tmp_path / f"{name}.yaml").write_text(text)
    return tmp_path


@pytest.mark.parametrize("rate", ["", ", deletePodsPerSecond: 100"])
@with_world
async def test_pods_with_the_labels_are_deleted(world, folder, rate):
    played = Played(world)

    await played.play(
        workload(
            folder,
            CREATE_NODES,
            CREATE_PODS,
            "opcode: createPods, count: 1, namespace: shop",
            f"opcode: deletePods, namespace: shop, labelSelector: {{type: web}}{rate}",
        )
    )

    assert played.names("pods", "shop") == ["pod-3"]


@with_world
async def test_deletions_in_the_background_end_with_the_run(world, folder):
    played = Played(world)

    await played.play(
        workload(
            folder,
            CREATE_NODES,
            CREATE_PODS,
            "opcode: deletePods, namespace: shop, deletePodsPerSecond: 2,"
            " skipWaitToCompletion: true",
            "opcode: sleep, duration: 1200ms",
        )
    )

    assert played.names("pods", "shop") == ["web-2"]


@with_world
async def test_updates_keep_what_the_server_has_filled_in(world, folder):
    played = Played(world)

    await played.play(
        workload(
            folder,
            "opcode: createNodes, count: 2, nodeTemplatePath: node.yaml",
            "opcode: createPods, count: 2, namespace: shop, podTemplatePath: gated.yaml,"
            " skipWaitToCompletion: true",
            "opcode: updateAny, count: 2, templatePath: open-node.yaml",
            "opcode: updateAny, count: 2, namespace: shop, templatePath: ungated.yaml,"
            " updatePerSecond: 50",
        )
    )

    nodes = world.api.store.objects("nodes")
    assert [one["status"]["allocatable"]["cpu"] for one in nodes] == ["8", "8"]
    assert all("unschedulable" not in one["spec"] for one in nodes)
    assert {one["metadata"]["labels"]["zone"] for one in nodes} == {"a"}
    assert all("old" not in one["metadata"]["labels"] for one in nodes)
    pods = world.api.store.objects("pods")
    assert all("schedulingGates" not in one["spec"] for one in pods)
    assert {one["metadata"]["labels"]["type"] for one in pods} == {"free"}
    assert all(one["spec"]["tolerations"][-1]["key"] == "spot" for one in pods)


@pytest.mark.parametrize(
    ("op", "reason"),
    [
        pytest.param(
            "namespace: none, templatePath: ungated.yaml",
            "updateAny: there is no Pod none/gated-0",
            id="no-such-object",
        ),
        pytest.param(
            "namespace: shop, templatePath: ungated.yaml, subresources: [resize]",
            "updateAny: cannot update resize of Pod shop/gated-0",
            id="no-such-subresource",
        ),
    ],
)
@with_world
async def test_updates_that_fail_say_why(world, folder, op, reason):
    played = Played(world)
    gated = (
        "opcode: createPods, count: 1, namespace: shop, podTemplatePath: gated.yaml,"
        " skipWaitToCompletion: true"
    )

    with pytest.raises(WorkloadFailed, match=reason):
        await played.play(workload(folder, gated, f"opcode: updateAny, {op}"))


@with_world
async def test_pods_are_collected_by_namespace_and_label(world, folder):
    played = Played(world)

    await played.play(
        workload(
            folder,
            CREATE_NODES,
            CREATE_PODS,
            "opcode: startCollectingMetrics, namespaces: [shop], labelSelector: {type: web}",
            CREATE_PODS,
            "opcode: createPods, count: 1, namespace: shop",
            "opcode: createPods, count: 1, namespace: home, podTemplatePath: pod.yaml",
            "opcode: stopCollectingMetrics",
            CREATE_PODS,
        )
    )

    assert played.times.pods == 3


@with_world
async def test_a_steady_state_replaces_pods(world, folder):
    played = Played(world)

    async def pass_time():
        while len(played.toy.tried) < 20:
            await give_way()
        world.clock.advance(3.0)

    world.start(pass_time())
    await played.play(
        workload(
            folder,
            CREATE_NODES,
            f"{CREATE_PODS}, steadyState: true, duration: 2s, collectMetrics: true",
        )
    )

    assert played.times.pods > 10
    assert len(played.names("pods", "shop")) <= 3


@with_world
async def test_a_steady_state_without_nodes_fails(world, folder):
    played = Played(world)
    nowhere = POD.replace("spec: {", "spec: {nodeSelector: {a: b}, ")
    (folder / "pod.yaml").write_text(nowhere)

    with pytest.raises(WorkloadFailed, match="no pod got a node for 1 s"):
        await played.play(
            workload(folder, CREATE_NODES, f"{CREATE_PODS}, steadyState: true, duration: 1s")
        )


@with_world
async def test_deleted_pods_with_finalizers_are_removed_in_the_end(world, folder):
    played = Played(world)
    held = "opcode: createPods, count: 2, namespace: shop, podTemplatePath: held.yaml"
    path = workload(folder, CREATE_NODES, held, "opcode: deletePods, namespace: shop")

    await played.play_tidily(path)

    assert played.names("pods") == []
    assert "shop" not in played.names("namespaces")


def manifest(resource, namespace="", **body):
    return Manifest(resource, namespace, {"metadata": {"name": "one"}, **body})


def test_little_of_a_pod_may_change():
    found = {
        "metadata": {"name": "one", "resourceVersion": "5", "labels": {"a": "b"}},
        "spec": {
            "nodeName": "n",
            "serviceAccountName": "default",
            "schedulingGates": [{"name": "wait"}],
            "tolerations": [{"key": "x"}],
            "containers": [{"name": "app", "image": "old", "volumeMounts": [{"name": "v"}]}],
        },
    }
    wanted = manifest(
        PODS,
        "shop",
        spec={
            "tolerations": [{"key": "x"}, {"key": "y"}],
            "containers": [{"name": "app", "image": "new", "resources": {"requests": {}}}],
        },
    )

    made = next_version(found, wanted)

    assert made["metadata"] == {"name": "one", "labels": {}}
    assert made["spec"] == {
        "nodeName": "n",
        "serviceAccountName": "default",
        "tolerations": [{"key": "x"}, {"key": "y"}],
        "containers": [
            {
                "name": "app",
                "image": "new",
                "volumeMounts": [{"name": "v"}],
                "resources": {"requests": {}},
            }
        ],
    }


def test_the_spec_of_a_node_is_replaced_but_for_what_others_set():
    found = {"metadata": {"name": "one"}, "spec": {"podCIDR": "10.0.0.0/24", "unschedulable": True}}

    made = next_version(found, manifest(NODES, spec={"taints": []}))

    assert made["spec"] == {"podCIDR": "10.0.0.0/24", "taints": []}

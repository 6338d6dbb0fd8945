"""Every operation, through the API of an embedded server."""

import pytest

from podium.errors import WorkloadFailed
from tests.support.bench import Played, workload
from tests.support.client import with_world
from tests.support.faulty_proxy import answering

pytestmark = pytest.mark.slow

NODES = "opcode: createNodes, count: 3"
PODS = "opcode: createPods, count: 4, namespace: shop"


@with_world
async def test_pods_are_created_and_measured(world, tmp_path):
    played = Played(world)

    await played.play(workload(tmp_path, NODES, PODS, f"{PODS}, collectMetrics: true"))

    assert played.names("nodes") == ["node-0", "node-1", "node-2"]
    assert played.names("pods", "shop") == [f"pod-{number}" for number in range(8)]
    assert played.times.pods == 4
    assert all(one["spec"].get("nodeName") for one in world.api.store.objects("pods"))
    assert played.told == ["createNodes", "createPods", "createPods"]


@pytest.mark.parametrize(
    "why", ["no PriorityClass with name x was found", 'serviceaccount "default" not found']
)
@with_world
async def test_pods_wait_for_what_the_server_does_not_know_yet(world, tmp_path, why):
    played = Played(world)
    world.proxy.instead("/namespaces/shop/pods", answering(403, f"pods is forbidden: {why}"))

    await played.play(workload(tmp_path, NODES, PODS))

    assert len(played.names("pods", "shop")) == 4


@with_world
async def test_nodes_lose_the_taint_of_new_nodes(world, tmp_path):
    template = "{kind: Node, spec: {taints: [{key: gpu, effect: NoSchedule}]}}"
    (tmp_path / "gpu.yaml").write_text(template)
    tainted = "opcode: createNodes, count: 1, nodeTemplatePath: gpu.yaml"
    played = Played(world)

    await played.play(workload(tmp_path, NODES, tainted))

    taints = {
        one["metadata"]["name"]: [taint["key"] for taint in one["spec"].get("taints", ())]
        for one in world.api.store.objects("nodes")
    }
    assert taints == {"node-0": [], "node-1": [], "node-2": [], "node-3": ["gpu"]}


@with_world
async def test_namespaces_and_sets_of_pods(world, tmp_path):
    played = Played(world)
    sets = (
        "opcode: createPodSets, count: 2, namespacePrefix: team, "
        "createPodsOp: {opcode: createPods, count: 2}"
    )

    await played.play(
        workload(tmp_path, NODES, "opcode: createNamespaces, prefix: team, count: 3", sets)
    )

    assert {"team-0", "team-1", "team-2"} <= set(played.names("namespaces"))
    assert len(played.names("pods", "team-0")) == len(played.names("pods", "team-1")) == 2


@with_world
async def test_bound_and_pinned_pods(world, tmp_path):
    played = Played(world)

    await played.play(
        workload(tmp_path, NODES, f"{PODS}, bindInTurn: true", f"{PODS}, pinInTurn: true")
    )

    pods = world.api.store.objects("pods")
    bound = [one for one in pods if "affinity" not in one["spec"]]
    assert sorted(one["spec"]["nodeName"] for one in bound) == [
        "node-0", "node-0", "node-1", "node-2",
    ]  # fmt: skip
    assert len(pods) - len(bound) == 4
    assert not {f"shop/{one['metadata']['name']}" for one in bound} & set(played.toy.tried)


@with_world
async def test_mixed_pods_with_a_claim_each(world, tmp_path):
    volume = (
        "{kind: PersistentVolume, spec: {accessModes: [ReadWriteOnce], capacity: {storage: 1Gi},"
        " csi: {driver: disk}}}"
    )
    claim = (
        "{kind: PersistentVolumeClaim, spec: {accessModes: [ReadWriteOnce],"
        " resources: {requests: {storage: 1Gi}}}}"
    )
    (tmp_path / "volume.yaml").write_text(volume)
    (tmp_path / "claim.yaml").write_text(claim)
    storage = (
        "persistentVolumeTemplatePath: volume.yaml, persistentVolumeClaimTemplatePath: claim.yaml"
    )
    mixed = (
        "opcode: createMixedPods, collectMetrics: true, createPodsOps: "
        f"[{{{PODS}, {storage}}}, {{opcode: createPods, count: 1, namespace: home}}]"
    )
    played = Played(world)

    await played.play(workload(tmp_path, NODES, mixed))

    claims = world.api.store.objects("persistentvolumeclaims")
    volumes = {
        one["metadata"]["name"]: one["spec"]["claimRef"]["name"]
        for one in world.api.store.objects("persistentvolumes")
    }
    assert len(claims) == 4
    assert {one["spec"]["volumeName"]: one["metadata"]["name"] for one in claims} == volumes
    assert played.times.pods == 5


@with_world
async def test_any_object_and_priorities(world, tmp_path):
    (tmp_path / "service.yaml").write_text(
        "{kind: Service, spec: {selector: {app: web}, ports: [{port: 80}]}}"
    )
    (tmp_path / "pod.yaml").write_text(
        "{kind: Pod, spec: {priority: 10, containers: [{name: app, image: app}]}}"
    )
    played = Played(world)

    await played.play(
        workload(
            tmp_path,
            NODES,
            "opcode: createAny, templatePath: service.yaml, namespace: shop, count: 2",
            f"{PODS}, podTemplatePath: pod.yaml",
        )
    )

    assert len(played.names("services", "shop")) == 2
    assert "podium-bench-10" in played.names("priorityclasses.scheduling.k8s.io")
    assert {one["spec"]["priority"] for one in pods_in(world, "shop")} == {10}


@pytest.mark.parametrize(
    ("mode", "after", "left"),
    [
        pytest.param("create, number: 2", "10s", 2, id="create-a-number"),
        pytest.param("create", "2200ms", 4, id="create-on-and-on"),
        # made, made, deleted, deleted, made
        pytest.param("recreate, number: 2", "2700ms", 1, id="recreate"),
    ],
)
@with_world
async def test_churn_goes_on_beside_the_operations(world, tmp_path, mode, after, left):
    (tmp_path / "pod.yaml").write_text("{kind: Pod, spec: {containers: [{name: a, image: a}]}}")
    churn = f"opcode: churn, mode: {mode}, templatePaths: [pod.yaml], namespace: churn"
    played = Played(world)

    await played.play(workload(tmp_path, NODES, churn, f"opcode: sleep, duration: {after}"))

    assert len(played.names("pods", "churn")) == left


@with_world
async def test_a_churn_that_fails_fails_the_run(world, tmp_path):
    (tmp_path / "pod.yaml").write_text("{kind: Pod, spec: {containers: [{name: A_, image: a}]}}")
    churn = "opcode: churn, mode: create, templatePaths: [pod.yaml], namespace: churn"

    with pytest.raises(Exception, match="A_"):
        await Played(world).play(workload(tmp_path, churn, "opcode: sleep, duration: 10s"))


STUCK = "{kind: Pod, spec: {nodeSelector: {a: b}, containers: [{name: a, image: a}]}}"


@with_world
async def test_a_barrier_waits_for_pods_that_were_not_waited_for(world, tmp_path):
    (tmp_path / "stuck.yaml").write_text(STUCK)
    skipped = "skipWaitToCompletion: true"
    stuck = (
        f"opcode: createPods, count: 2, namespace: stuck, podTemplatePath: stuck.yaml, {skipped}"
    )
    played = Played(world)

    await played.play(
        workload(
            tmp_path,
            NODES,
            stuck,
            f"{PODS}, {skipped}",
            "opcode: barrier, namespaces: [shop]",
            "opcode: barrier, stageRequirement: Attempted",
        )
    )

    assert all(one["spec"].get("nodeName") for one in pods_in(world, "shop"))
    with pytest.raises(WorkloadFailed, match=r"2 pods found no node(.|\n)*2: no fit"):
        await Played(world).in_time(played.watch.settled(["stuck/pod-0", "stuck/pod-1"], 60.0))


@pytest.mark.parametrize("field", ["bindInTurn", "pinInTurn"])
@with_world
async def test_pods_in_turn_need_nodes(world, tmp_path, field):
    with pytest.raises(WorkloadFailed, match=f"createPods: {field} needs nodes"):
        await Played(world).play(workload(tmp_path, f"{PODS}, {field}: true"))


@with_world
async def test_a_namespace_of_others_is_refused(world, tmp_path):
    pods = "opcode: createPods, count: 1, namespace: default"

    with pytest.raises(WorkloadFailed, match="the cluster already has a Namespace default"):
        await Played(world).play(workload(tmp_path, NODES, pods))


@with_world
async def test_pods_that_never_bind_are_told_with_their_reasons(world, tmp_path):
    (tmp_path / "stuck.yaml").write_text(STUCK)

    with pytest.raises(WorkloadFailed, match=r"4 pods found no node(.|\n)*4: no fit"):
        await Played(world).play(workload(tmp_path, NODES, f"{PODS}, podTemplatePath: stuck.yaml"))


def pods_in(world, namespace):
    pods = world.api.store.objects("pods")
    return [one for one in pods if one["metadata"]["namespace"] == namespace]

"""Claims of pods in a cluster without a controller that makes them."""

import json

import pytest

from podium.api.objects import ResourceClaimTemplate
from podium.bench.live.claims import ClaimMaker, has_claim_controller
from podium.bench.live.cleanup import tidied
from podium.bench.live.manifests import Marking
from podium.bench.live.measuring import NAMESPACE
from tests.support.bench import RUN, Played, workload
from tests.support.client import node, with_world

pytestmark = pytest.mark.slow

CLAIMS = "resourceclaims.resource.k8s.io"
SLICES = "resourceslices.resource.k8s.io"
SPEC = {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "gpu"}}]}}
REQUEST = "{name: gpu, exactly: {deviceClassName: gpu}}"
FILES = {
    "class": "kind: DeviceClass\nmetadata: {name: gpu}\nspec: {}\n",
    "claim": "kind: ResourceClaim\nmetadata: {name: 'claim-{{.Index}}'}\n"
    f"spec: {{devices: {{requests: [{REQUEST}]}}}}\n",
    "template": "kind: ResourceClaimTemplate\nmetadata: {name: gpus}\n"
    f"spec: {{spec: {{devices: {{requests: [{REQUEST}]}}}}}}\n",
    "pod": "kind: Pod\nmetadata: {generateName: own-}\nspec:\n"
    "  terminationGracePeriodSeconds: 0\n"
    "  containers: [{name: app, image: a, resources: {claims: [{name: gpu}]}}]\n"
    "  resourceClaims: [{name: gpu, resourceClaimTemplateName: gpus}]\n",
}
NODES = "opcode: createNodes, count: 3"
DRIVER = (
    "opcode: createResourceDriver, driverName: gpu.example.com, maxClaimsPerNode: 2, nodes: node-*"
)
CLASS = "opcode: createAny, templatePath: class.yaml"
TEMPLATE = "opcode: createAny, templatePath: template.yaml, namespace: shop"
PODS = "opcode: createPods, count: 4, namespace: shop, podTemplatePath: pod.yaml"


def played_in(world, folder):
    for name, text in FILES.items():
        (folder / f"{name}.yaml").write_text(text)
    return Played(world)


def objects(world, resource):
    return list(world.api.store.objects(resource))


@with_world
async def test_pods_get_claims_from_templates(world, tmp_path):
    played = played_in(world, tmp_path)

    await played.play(workload(tmp_path, NODES, CLASS, TEMPLATE, PODS))

    claims = {claim["metadata"]["name"]: claim for claim in objects(world, CLAIMS)}
    pods = [pod for pod in objects(world, "pods") if pod["metadata"]["namespace"] == "shop"]
    assert len(pods) == 4
    for pod in pods:
        (status,) = pod["status"]["resourceClaimStatuses"]
        (owner,) = claims[status["resourceClaimName"]]["metadata"]["ownerReferences"]
        assert owner["uid"] == pod["metadata"]["uid"]


@with_world
async def test_claims_go_with_their_pods(world, tmp_path):
    played = played_in(world, tmp_path)
    delete, sleep = "opcode: deletePods, namespace: shop", "opcode: sleep, duration: 1s"

    await played.play(workload(tmp_path, NODES, CLASS, TEMPLATE, PODS, delete, sleep))

    assert played.names("pods", "shop") == []
    assert objects(world, CLAIMS) == []


@with_world
async def test_claims_are_allocated(world, tmp_path):
    played = played_in(world, tmp_path)
    create = "opcode: createResourceClaims, count: 5, namespace: shop, templatePath: claim.yaml"

    await played.play(
        workload(tmp_path, NODES, DRIVER, CLASS, create, "opcode: allocResourceClaims")
    )

    results = [
        result
        for claim in objects(world, CLAIMS)
        for result in claim["status"]["allocation"]["devices"]["results"]
    ]
    assert len({(result["pool"], result["device"]) for result in results}) == 5
    assert sorted(one["metadata"]["name"] for one in objects(world, SLICES)) == [
        "node-0",
        "node-1",
        "node-2",
    ]


@with_world
async def test_everything_is_removed(world, tmp_path):
    played = played_in(world, tmp_path)

    await played.play_tidily(workload(tmp_path, NODES, DRIVER, CLASS, TEMPLATE, PODS))

    assert objects(world, CLAIMS) == objects(world, SLICES) == []
    assert objects(world, "deviceclasses.resource.k8s.io") == []


@with_world
async def test_claims_of_a_scheduler_are_removed(world, tmp_path):
    """A scheduler creates claims for extended resources, with a finalizer."""
    played = played_in(world, tmp_path)
    path = workload(tmp_path, NODES, "opcode: createPods, count: 2, namespace: shop")
    meta = {"name": "made", "namespace": "shop", "finalizers": ["example.com/protection"]}

    async def run():
        async with tidied(played.writer, world.connection, RUN):
            await played.run(path)
            world.create(CLAIMS, metadata=meta, spec=SPEC)

    await played.in_time(run())

    assert objects(world, CLAIMS) == []


@with_world
async def test_a_backlog_is_complete_when_its_claims_are_made(world):
    played, marking = Played(world), Marking(RUN)
    world.create("nodes", **node("n"))
    world.create("namespaces", metadata={"name": "shop"})
    template = {"metadata": {"name": "gpus", "namespace": "shop"}, "spec": {"spec": SPEC}}
    entry = {"name": "gpu", "resourceClaimTemplateName": "gpus"}
    spec = {"containers": [{"name": "a", "image": "a"}], "resourceClaims": [entry]}
    pods = [
        marking.pod(json.dumps({"metadata": {"name": name, "namespace": "shop"}, "spec": spec}))
        for name in ("a", "b")
    ]
    maker = ClaimMaker(played.writer, marking)
    maker.add_template(marking.of_json(ResourceClaimTemplate, json.dumps(template)))
    world.start(maker.run())
    world.start(played.writer.create_all(pods))

    await played.in_time(maker.wait_for_claims(pods))

    assert played.names(CLAIMS, "shop") == ["a-gpu", "b-gpu"]
    assert all(pod["status"]["resourceClaimStatuses"] for pod in objects(world, "pods"))


@with_world
async def test_a_cluster_without_a_controller_is_recognized(world):
    played = Played(world)
    world.create("namespaces", metadata={"name": NAMESPACE})

    found = await played.in_time(has_claim_controller(played.writer, Marking(RUN)))

    assert found is False
    assert objects(world, "pods") == []

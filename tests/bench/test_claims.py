"""Pods with claims to devices, and the operations about them, through the real core."""

import pytest

from podium.api.objects import ResourceClaim, ResourceSlice
from podium.errors import WorkloadFailed
from tests.support.bench_in_process import Bench

pytestmark = pytest.mark.slow

REQUEST = "{name: gpu, exactly: {deviceClassName: gpu}}"
POD = "containers: [{name: app, resources: {claims: [{name: gpu}]}}]"
TEMPLATES = {
    "class": "kind: DeviceClass\nmetadata: {name: gpu}\n"
    "spec: {selectors: [{cel: {expression: device.driver == 'gpu.example.com'}}]}\n",
    "claim": "kind: ResourceClaim\nmetadata: {name: 'claim-{{.Index}}'}\n"
    f"spec: {{devices: {{requests: [{REQUEST}]}}}}\n",
    "template": "kind: ResourceClaimTemplate\nmetadata: {name: gpus}\n"
    f"spec: {{spec: {{devices: {{requests: [{REQUEST}]}}}}}}\n",
    "own": "kind: Pod\nmetadata: {generateName: own-}\n"
    f"spec: {{{POD}, resourceClaims: [{{name: gpu, resourceClaimTemplateName: gpus}}]}}\n",
    "shared": "kind: Pod\nmetadata: {generateName: shared-}\n"
    f"spec: {{{POD}, resourceClaims: [{{name: gpu, resourceClaimName: claim-0}}]}}\n",
    "extended": "kind: Pod\nmetadata: {generateName: extended-}\n"
    "spec: {containers: [{name: app, resources: {limits: {example.com/gpu: 1}}}]}\n",
    "extended-class": "kind: DeviceClass\nmetadata: {name: gpu}\n"
    "spec: {extendedResourceName: example.com/gpu}\n",
}
NODES = "createNodes, count: 3"
DRIVER = "createResourceDriver, driverName: gpu.example.com, maxClaimsPerNode: 2, nodes: node-*"
CLASS = "createAny, templatePath: class.yaml"
TEMPLATE = "createAny, templatePath: template.yaml, namespace: shop"
START = (NODES, DRIVER, CLASS)


@pytest.fixture
def bench(tmp_path):
    for name, text in TEMPLATES.items():
        (tmp_path / f"{name}.yaml").write_text(text)
    return Bench(tmp_path)


def claims(bench, namespace="shop"):
    found = bench.core.cluster.objects(ResourceClaim)
    return [claim for claim in found if claim.namespace == namespace]


def devices(bench):
    """The allocated devices, each with the pool that it is from."""
    return [
        (result.pool, result.device)
        for claim in bench.core.cluster.objects(ResourceClaim)
        if claim.status.allocation is not None
        for result in claim.status.allocation.devices.results
    ]


def pods(template, count, more=""):
    path = f"podTemplatePath: {template}.yaml"
    return f"createPods, count: {count}, namespace: shop, {path}{more}"


def test_a_driver_has_devices_on_the_nodes_that_match(bench):
    bench.run(NODES, DRIVER.replace("node-*", "'node-[12]'"))

    found = bench.core.cluster.objects(ResourceSlice)
    assert sorted(each.spec.node_name for each in found) == ["node-1", "node-2"]
    assert {len(each.spec.devices) for each in found} == {2}


@pytest.mark.parametrize("how", ["", ", collectMetrics: true"])
def test_each_pod_gets_a_claim_from_its_template(bench, how):
    bench.run(*START, TEMPLATE, pods("own", 6, how))

    assert len(set(devices(bench))) == 6
    for pod in bench.pods():
        (status,) = pod.status.resource_claim_statuses
        claim = bench.core.cluster.objects(ResourceClaim).get(f"shop/{status.resource_claim_name}")
        assert claim.controller.uid == pod.uid
        assert claim.is_reserved_for(pod.uid)
        assert claim.status.allocation.devices.results[0].pool == pod.node_name
    assert bench.core.services.devices.in_flight == 0


def test_pods_without_a_device_left_find_no_node(bench):
    with pytest.raises(WorkloadFailed, match="cannot allocate all claims"):
        bench.run(*START, TEMPLATE, pods("own", 7))


def test_claims_are_allocated_without_pods(bench):
    create = "createResourceClaims, count: 5, namespace: init, templatePath: claim.yaml"
    bench.run(*START, create, "allocResourceClaims, namespace: init", TEMPLATE, pods("own", 1))

    assert len(set(devices(bench))) == 6
    assert not any(claim.status.reserved_for for claim in claims(bench, "init"))


def test_claims_of_other_namespaces_are_left_alone(bench):
    create = "createAny, count: 2, namespace: other, templatePath: claim.yaml"
    bench.run(*START, create, "allocResourceClaims, namespace: init")

    assert devices(bench) == []


def test_more_claims_than_devices_fail(bench):
    create = "createResourceClaims, count: 7, namespace: init, templatePath: claim.yaml"
    with pytest.raises(WorkloadFailed, match="no node has devices for claim init/claim-"):
        bench.run(*START, create, "allocResourceClaims")


def test_pods_share_a_claim(bench):
    create = "createResourceClaims, count: 1, namespace: shop, templatePath: claim.yaml"
    bench.run(*START, create, pods("shared", 4))

    (claim,) = claims(bench)
    assert len(claim.status.reserved_for) == 4
    assert len({pod.node_name for pod in bench.pods()}) == 1


def test_devices_are_free_after_the_last_user(bench):
    create = "createResourceClaims, count: 1, namespace: shop, templatePath: claim.yaml"
    bench.run(*START, create, pods("shared", 2), "deletePods, namespace: shop")

    (claim,) = claims(bench)
    assert claim.status.allocation is None
    assert claim.status.reserved_for == ()


def test_claims_go_with_their_pods(bench):
    more = ", steadyState: true, duration: 100ms, collectMetrics: true"
    bench.run(*START, TEMPLATE, pods("own", 5, more))

    assert len(bench.pods()) < 6
    assert len(devices(bench)) <= 6
    assert len(devices(bench)) == len(set(devices(bench)))


def test_devices_behind_an_extended_resource(bench):
    created = "createAny, templatePath: extended-class.yaml"
    bench.run(NODES, DRIVER, created, pods("extended", 6), "deletePods, namespace: shop")

    assert claims(bench) == []
    assert bench.core.services.devices.in_flight == 0

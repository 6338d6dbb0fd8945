"""Resource claims on a whole cluster: the real scheduler, API server and controllers."""

import asyncio

import pytest

from podium import app
from podium.config.feature_gates import FeatureGates
from podium.release import RELEASES
from podium.testing import SimulatedCluster
from podium.testing.builders_devices import (
    device,
    device_class,
    resource_claim,
    resource_claim_template,
    resource_slice,
)
from tests.support.scenarios import node, pod

CLAIMS = "resourceclaims.resource.k8s.io"
MOMENT = 12  # longer than any backoff


@pytest.fixture(params=RELEASES, ids=str)
def playing(request):
    """Run a scene on a cluster of each release, with one node that has two devices."""

    def play(scene, *devices):
        async def run():
            async with SimulatedCluster(registry=app.in_tree(FeatureGates(request.param))) as it:
                gpus = resource_slice("n1-gpus", node="n1", devices=devices or 2)
                await it.create(node("n1"), device_class("gpu"), gpus)
                await it.wait(MOMENT)
                await scene(it)

        asyncio.run(run())

    return play


def using(name, claim):
    return pod(name, resourceClaims=[{"name": "gpu", "resourceClaimName": claim}])


def templated(name):
    return pod(name, resourceClaims=[{"name": "gpu", "resourceClaimTemplateName": "gpu"}])


def devices_of(cluster, claim):
    allocation = cluster.get(CLAIMS, claim)["status"]["allocation"]
    return [result["device"] for result in allocation["devices"]["results"]]


def users_of(cluster, claim):
    status = cluster.get(CLAIMS, claim).get("status", {})
    return [consumer["name"] for consumer in status.get("reservedFor", ())]


def test_claims_from_templates(playing):
    async def scene(cluster):
        await cluster.create(resource_claim_template("gpu"), *map(templated, "abc"))
        await cluster.wait(MOMENT)

        claims = [one["metadata"]["name"] for one in cluster.list(CLAIMS)]
        bound = [one for one in "abc" if cluster.node_of(one)]
        assert len(bound) == 2
        [waiting] = set("abc") - set(bound)
        assert "1 cannot allocate all claims" in cluster.why_pending(waiting)
        found = [one for one in claims if cluster.get(CLAIMS, one).get("status")]
        given = sorted(name for one in found for name in devices_of(cluster, one))
        assert given == ["gpu-0", "gpu-1"]

        await cluster.delete("pods", bound[0])  # its claim goes with it
        await cluster.wait(60)
        assert cluster.node_of(waiting) == "n1"

    playing(scene)


def test_shared_claim(playing):
    async def scene(cluster):
        await cluster.create(resource_claim("gpu"), *(using(name, "gpu") for name in "abc"))
        await cluster.wait(MOMENT)

        assert [cluster.node_of(name) for name in "abc"] == ["n1"] * 3
        assert sorted(users_of(cluster, "gpu")) == ["a", "b", "c"]
        assert devices_of(cluster, "gpu") == ["gpu-0"]

    playing(scene)


def test_pod_waits_for_its_claim(playing):
    async def scene(cluster):
        await cluster.create(using("web", "gpu"))
        await cluster.wait(MOMENT)
        assert cluster.node_of("web") is None

        await cluster.create(resource_claim("gpu"))
        await cluster.settle()
        assert cluster.node_of("web") == "n1"

    playing(scene)


def test_devices_become_free(playing):
    async def scene(cluster):
        await cluster.create(resource_claim("first", count=2), using("first", "first"))
        await cluster.settle()
        await cluster.create(resource_claim("second"), using("second", "second"))
        await cluster.wait(MOMENT)
        assert cluster.node_of("second") is None

        await cluster.delete("pods", "first")
        await cluster.delete(CLAIMS, "first")
        await cluster.wait(60)
        assert cluster.node_of("second") == "n1"

    playing(scene)


def test_preparation_that_fails_and_is_tried_again(playing):
    """A driver reports a failure; the claim is deallocated and gets its device again."""
    needy = device("gpu-0", binding_conditions=["Ready"], binding_failure_conditions=["Broken"])

    def report(kind):
        def change(status):
            result = status["allocation"]["devices"]["results"][0]
            named = {key: result[key] for key in ("driver", "pool", "device")}
            found = {"type": kind, "status": "True", "reason": "Cable", "message": ""}
            found["lastTransitionTime"] = "2026-01-01T00:00:00Z"
            status["devices"] = [{**named, "conditions": [found]}]

        return change

    async def scene(cluster):
        await cluster.create(resource_claim("gpu"), using("web", "gpu"))
        await cluster.settle()
        assert cluster.node_of("web") is None
        assert devices_of(cluster, "gpu") == ["gpu-0"]
        [event] = [each["reason"] for each in cluster.events_of("web")]
        assert event == "BindingConditionsPending"

        await cluster.set_status(CLAIMS, "gpu", report("Broken"))
        await cluster.wait(40)
        assert cluster.node_of("web") is None
        notes = [each["message"] for each in cluster.events_of("web")]
        assert any("device binding failed: claim=gpu, reason=Cable" in note for note in notes)
        assert any("deallocation of ResourceClaim completed" in note for note in notes)
        assert devices_of(cluster, "gpu") == ["gpu-0"]

        await cluster.set_status(CLAIMS, "gpu", report("Ready"))
        await cluster.wait(MOMENT)
        assert cluster.node_of("web") == "n1"

    playing(scene, needy)


def test_extended_resource(playing):
    name = "example.com/gpu"

    async def scene(cluster):
        await cluster.create(device_class("provider", extended_resource_name=name))
        asking = pod("web")
        amounts = {name: "2"}
        asking["spec"]["containers"][0]["resources"] = {"requests": amounts, "limits": amounts}
        await cluster.create(asking)
        await cluster.wait(MOMENT)

        assert cluster.node_of("web") == "n1"
        [claim] = cluster.list(CLAIMS)
        assert claim["metadata"]["name"].startswith("web-extended-resources-")
        assert devices_of(cluster, claim["metadata"]["name"]) == ["gpu-0", "gpu-1"]
        status = cluster.get("pods", "web")["status"]["extendedResourceClaimStatus"]
        assert status["resourceClaimName"] == claim["metadata"]["name"]

    playing(scene)

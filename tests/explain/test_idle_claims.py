"""Claims that have devices although no pod uses them: deleting one helps."""

import asyncio

from podium.testing import SimulatedCluster, device_class, node, pod, resource_claim, resource_slice
from tests.support import applied_fixes
from tests.support.pending_pods import Scenario
from tests.support.pending_pods.claims import claims_of

CLAIMS = "resourceclaims.resource.k8s.io"
LEFT = resource_claim("left", device_class="gpu", allocated="gpu.example.com/a/gpu-0")
OBJECTS = [
    node("a"),
    resource_slice("s-a", node="a", devices=1),
    device_class("gpu"),
    LEFT,
    resource_claim("training", device_class="gpu"),
]
POD = pod("web", cpu="100m", resource_claims=claims_of("training"))


def test_a_claim_that_no_pod_uses_is_deleted():
    asyncio.run(check(Scenario("idle claim", OBJECTS, POD, frozenset())))


async def check(given):
    async with SimulatedCluster() as cluster:
        await build(cluster, given)
        assert cluster.node_of("web") is None
        _, found = applied_fixes.explain(cluster, given)
        assert [fix.kind for fix in found.fixes] == ["claim-gone", "new-node"]
        assert "has 1, and it is taken" in found.sentence

        assert await applied_fixes.apply(cluster, given, found.fixes[0]) == "a"


async def build(cluster, given):
    """Create everything; only a controller or a restored snapshot sets the status of a claim."""
    await cluster.create(*given.objects)
    allocation = {
        "devices": {
            "results": [
                {"request": each.request, "driver": each.driver, "pool": each.pool,
                 "device": each.device}
                for each in LEFT.status.allocation.devices.results
            ]
        }
    }  # fmt: skip
    await cluster.set_status(CLAIMS, "left", lambda status: status.update(allocation=allocation))
    await cluster.settle()
    await cluster.create(given.pod)
    await cluster.wait(5)

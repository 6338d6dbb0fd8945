"""What the API server answers, or does not, and what the scheduler makes of it."""

import asyncio

import pytest

from podium.config.feature_gates import FeatureGates
from podium.release import V1_36, V1_37
from tests.support.faulty_proxy import answering, hanging_up
from tests.support.scenarios import ClusterBehindProxy, node, play, pod, reasons, scrape

pytestmark = pytest.mark.slow

SCHEDULED = ("Scheduled", "Successfully assigned default/web to n1")


@pytest.mark.parametrize(
    ("code", "message"),
    [
        pytest.param(409, "the object has been modified", id="conflict"),
        pytest.param(404, 'pods "web" not found', id="not-found"),
    ],
)
def test_a_refused_binding_is_undone_and_tried_again(code, message):
    async def scene(cluster):
        cluster.proxy.instead("/binding", answering(code, message))
        await cluster.create(node(cpu="1"), pod("web", cpu="1"))
        await cluster.settle()
        assert cluster.node_of("web") is None
        told = f'running Bind plugin "DefaultBinder": {message}'
        assert cluster.why_pending("web") == told

        await cluster.wait(3)
        assert cluster.node_of("web") == "n1"
        assert reasons(cluster) == [("FailedScheduling", told), SCHEDULED]

    play(scene, cluster=ClusterBehindProxy)


@pytest.mark.parametrize(
    ("release", "told"),
    [
        pytest.param(V1_36, ["FailedScheduling", "Scheduled"], id="the-whole-attempt-in-1.36"),
        pytest.param(V1_37, ["Scheduled"], id="only-the-request-in-1.37"),
    ],
)
def test_what_is_repeated_after_an_internal_error(release, told):
    class Cluster(ClusterBehindProxy):
        gates = FeatureGates(release)

    async def scene(cluster):
        cluster.proxy.instead("/binding", answering(500, "etcdserver: request timed out"))
        await cluster.create(node(cpu="1"), pod("web", cpu="1"))
        await cluster.wait(3)
        assert cluster.node_of("web") == "n1"
        assert [reason for reason, _ in reasons(cluster)] == told

    play(scene, cluster=Cluster)


def test_a_binding_whose_answer_is_lost_is_found_out_by_the_watch():
    """Nobody knows whether it was carried out: here it was."""

    async def carrying_out(proxy, request):
        await proxy._forward(request, await request.read())
        return await hanging_up(proxy, request)

    async def scene(cluster):
        cluster.proxy.instead("/binding", carrying_out)
        await cluster.create(node(), pod("web"))
        await cluster.wait(30)

        assert cluster.node_of("web") == "n1"
        assert scrape(cluster)("scheduler_cache_size", type="pods") == 1
        assert scrape(cluster)("scheduler_cache_size", type="assumed_pods") == 0
        assert scrape(cluster)("scheduler_pending_pods") == 0

    play(scene, cluster=ClusterBehindProxy)


def test_the_room_of_a_refused_binding_is_offered_to_others():
    late = asyncio.Event()

    async def refusing_late(proxy, request):
        await late.wait()
        return await answering(409, "busy")(proxy, request)

    async def scene(cluster):
        cluster.proxy.instead("/binding", refusing_late)
        await cluster.create(node(cpu="1"), pod("web", cpu="1"))
        await cluster.settle()
        await cluster.create(pod("next", cpu="1"))
        await cluster.wait(15)
        assert "1 Insufficient cpu" in cluster.why_pending("next")

        late.set()
        await cluster.settle()
        assert (cluster.node_of("web"), cluster.node_of("next")) == (None, "n1")

    play(scene, cluster=ClusterBehindProxy)


def test_a_binding_that_the_watch_shows_before_its_answer_is_lost():
    seen = asyncio.Event()

    async def answering_late(proxy, request):
        await proxy.forward(request, await request.read())
        await seen.wait()
        return await hanging_up(proxy, request)

    async def scene(cluster):
        cluster.proxy.instead("/binding", answering_late)
        await cluster.create(node(), pod("web"))
        await cluster.settle()
        assert cluster.node_of("web") == "n1"
        seen.set()
        await cluster.settle()
        assert scrape(cluster)("scheduler_pending_pods") == 0

    play(scene, cluster=ClusterBehindProxy)


def test_a_pod_deleted_while_its_binding_is_under_way_is_not_looked_for():
    held = asyncio.Event()

    async def holding(proxy, request):
        proxy.busy -= 1
        await held.wait()
        proxy.busy += 1
        return await proxy._forward(request, await request.read())

    async def scene(cluster):
        cluster.proxy.instead("/binding", holding)
        await cluster.create(node(cpu="1"), pod("web", cpu="1"))
        await cluster.settle()
        await cluster.delete("pods", "web")
        await cluster.create(pod("next", cpu="1"))
        await cluster.settle()
        assert cluster.node_of("next") == "n1"  # its room was free at once

        held.set()
        await cluster.wait(15)
        assert cluster.get("pods", "web") is None
        assert scrape(cluster)("scheduler_pending_pods") == 0

    play(scene, cluster=ClusterBehindProxy)


def test_a_pod_deleted_in_backoff_is_gone_for_good():
    async def scene(cluster):
        cluster.proxy.instead("/binding", answering(409, "busy"))
        await cluster.create(node(), pod("web"))
        await cluster.settle()
        assert scrape(cluster)("scheduler_pending_pods", queue="backoff") == 1

        await cluster.delete("pods", "web")
        await cluster.wait(15)
        assert scrape(cluster)("scheduler_pending_pods") == 0
        assert [reason for reason, _ in reasons(cluster)] == ["FailedScheduling"]

    play(scene, cluster=ClusterBehindProxy)


CLAIMED = {"name": "data", "persistentVolumeClaim": {"claimName": "data"}}
STANDARD = {
    "apiVersion": "storage.k8s.io/v1",
    "kind": "StorageClass",
    "metadata": {"name": "standard"},
    "provisioner": "podium.dev/simulated",
    "volumeBindingMode": "WaitForFirstConsumer",
}


def claim(name="data"):
    resources = {"requests": {"storage": "1Gi"}}
    return {
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": name},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": "standard",
            "resources": resources,
        },
    }


def test_a_claim_is_bound_before_its_pod():
    async def scene(cluster):
        await cluster.create(STANDARD, node(), claim(), pod("web", volumes=[CLAIMED]))
        await cluster.wait(5)

        assert cluster.node_of("web") == "n1"
        assert cluster.get("persistentvolumeclaims", "data")["status"]["phase"] == "Bound"

    play(scene)

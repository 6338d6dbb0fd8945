"""Resource claims that the pods of a group share, on a whole cluster."""

import asyncio

from podium.config.feature_gates import parse
from podium.testing import SimulatedCluster
from podium.testing.builders_devices import (
    device_class,
    resource_claim,
    resource_claim_template,
    resource_slice,
)
from tests.support.scenarios import node, pod

CLAIMS = "resourceclaims.resource.k8s.io"
GROUPS = "podgroups.scheduling.k8s.io"
MOMENT = 12  # longer than any backoff
P = ("p1", "p2", "p3")


class Grouped(SimulatedCluster):
    gates = parse(["GenericWorkload=true"])


def play(scene, kind=Grouped, nodes=1):
    async def run():
        async with kind() as cluster:
            await cluster.create(device_class("gpu"))
            for number in range(nodes):
                name = f"n{number}"
                gpus = resource_slice(f"{name}-gpus", node=name, devices=2)
                await cluster.create(node(name, cpu="4"), gpus)
            await cluster.wait(MOMENT)
            await scene(cluster)

    asyncio.run(run())


def group(name="gang", min_count=3, **spec):
    return {
        "apiVersion": "scheduling.k8s.io/v1beta1",
        "kind": "PodGroup",
        "metadata": {"name": name},
        "spec": {"schedulingPolicy": {"gang": {"minCount": min_count}}, **spec},
    }


def sharing(name, claim="gpu", of="gang", cpu="1", **rest):
    claims = [{"name": "gpu", "resourceClaimName": claim}]
    return pod(name, cpu=cpu, resourceClaims=claims, schedulingGroup={"podGroupName": of}, **rest)


def users_of(cluster, claim="gpu"):
    status = cluster.get(CLAIMS, claim).get("status", {})
    return sorted(consumer["name"] for consumer in status.get("reservedFor", ()))


def failures_of(cluster, name):
    """The messages of the attempts of a pod that failed."""
    events = cluster.events_of(name)
    return [one["message"] for one in events if one["reason"] == "FailedScheduling"]


def test_a_gang_shares_a_claim_that_nobody_has_allocated_yet():
    """The members wait for one another at Permit, before the claim can be written."""

    async def scene(cluster):
        await cluster.create(resource_claim("gpu"), group(), *map(sharing, P))
        await cluster.settle()

        assert [cluster.node_of(name) for name in P] == ["n0", "n0", "n0"]
        assert users_of(cluster) == list(P)
        assert not [note for name in P for note in failures_of(cluster, name)]
        assert not cluster.scheduler.scheduler.services.devices.in_flight

    play(scene)


def test_members_go_where_the_devices_are():
    """Two members fit on a node, so the third cannot use the claim: nobody holds anything."""

    async def scene(cluster):
        await cluster.create(resource_claim("gpu"), group())
        await cluster.create(*(sharing(name, cpu="1800m") for name in P))
        await cluster.settle()

        assert [cluster.node_of(name) for name in P] == [None, None, None]
        assert "resourceclaim not available on the node" in cluster.why_pending("p3")
        assert "allocation" not in cluster.get(CLAIMS, "gpu").get("status", {})
        assert not cluster.scheduler.scheduler.services.devices.in_flight

    play(scene, nodes=2)


def test_a_pod_outside_the_group_waits_for_the_allocation():
    async def scene(cluster):
        other = pod("other", resourceClaims=[{"name": "gpu", "resourceClaimName": "gpu"}])
        await cluster.create(resource_claim("gpu"), group(), *map(sharing, P), other)
        await cluster.wait(MOMENT)

        assert users_of(cluster) == ["other", *P]

    play(scene)


# --- claims of the group itself: DRAWorkloadResourceClaims ------------------------------------


class Owning(SimulatedCluster):
    gates = parse(["GenericWorkload=true", "DRAWorkloadResourceClaims=true"])


def reserved_for(cluster, claim="gpu"):
    users = cluster.get(CLAIMS, claim).get("status", {}).get("reservedFor", ())
    return [(user.get("apiGroup", ""), user["resource"], user["name"]) for user in users]


FOR_THE_GROUP = [("scheduling.k8s.io", "podgroups", "gang")]
BY_NAME = {"name": "gpu", "resourceClaimName": "gpu"}
BY_TEMPLATE = {"name": "gpu", "resourceClaimTemplateName": "gpu"}


def made_for(name, **rest):
    spec = {"resourceClaims": [BY_TEMPLATE], "schedulingGroup": {"podGroupName": "gang"}}
    return pod(name, cpu="1", **spec, **rest)


def test_a_claim_that_group_and_pods_name_is_reserved_for_the_group():
    async def scene(cluster):
        await cluster.create(resource_claim("gpu"), group(resourceClaims=[BY_NAME]))
        await cluster.create(*map(sharing, P))
        await cluster.settle()

        assert [cluster.node_of(name) for name in P] == ["n0", "n0", "n0"]
        assert reserved_for(cluster) == FOR_THE_GROUP
        assert not [note for name in P for note in failures_of(cluster, name)]

        await cluster.delete("pods", "p1")  # its reservation is the others' as well
        await cluster.wait(60)
        await cluster.create(sharing("p4"))
        await cluster.wait(MOMENT)
        assert cluster.node_of("p4") == "n0"
        assert reserved_for(cluster) == FOR_THE_GROUP

    play(scene, Owning)


def test_a_claim_that_only_the_pods_name_is_reserved_for_each():
    other = {"name": "other", "resourceClaimName": "gpu"}  # the same claim by another name

    async def scene(cluster):
        await cluster.create(resource_claim("gpu"), group(resourceClaims=[other]))
        await cluster.create(*map(sharing, P))
        await cluster.settle()

        assert users_of(cluster) == list(P)

    play(scene, Owning)


def test_a_claim_made_from_the_template_of_the_group():
    async def scene(cluster):
        await cluster.create(resource_claim_template("gpu"), group(resourceClaims=[BY_TEMPLATE]))
        await cluster.create(*map(made_for, P))
        await cluster.wait(MOMENT)

        [claim] = cluster.list(CLAIMS)
        name = claim["metadata"]["name"]
        assert name.startswith("gang-gpu-")
        assert claim["metadata"]["ownerReferences"][0]["kind"] == "PodGroup"
        listed = [{"name": "gpu", "resourceClaimName": name}]
        assert cluster.get(GROUPS, "gang")["status"]["resourceClaimStatuses"] == listed
        assert [cluster.get("pods", p)["status"]["resourceClaimStatuses"] for p in P] == [
            listed
        ] * 3
        assert [cluster.node_of(p) for p in P] == ["n0", "n0", "n0"]
        assert reserved_for(cluster, name) == FOR_THE_GROUP

        for p in P:
            await cluster.delete("pods", p)
        await cluster.delete(GROUPS, "gang")
        await cluster.wait(60)
        assert cluster.list(CLAIMS) == []  # devices and claim go with the group

    play(scene, Owning)


def test_a_group_waits_until_its_template_exists():
    async def scene(cluster):
        await cluster.create(group(resourceClaims=[BY_TEMPLATE]), *map(made_for, P))
        await cluster.wait(MOMENT)
        assert not any(cluster.node_of(p) for p in P)

        await cluster.create(resource_claim_template("gpu"))
        await cluster.wait(MOMENT)
        assert [cluster.node_of(p) for p in P] == ["n0", "n0", "n0"]

    play(scene, Owning)


def test_a_reservation_of_a_group_that_does_not_fit_is_given_back():
    """The claim is reserved for the group, and none of its pods runs any more."""

    async def scene(cluster):
        await cluster.create(resource_claim("gpu"), group(resourceClaims=[BY_NAME]))
        await cluster.create(*map(sharing, P))
        await cluster.settle()
        for p in P:
            await cluster.delete("pods", p)
        await cluster.wait(60)
        assert reserved_for(cluster) == FOR_THE_GROUP

        await cluster.create(*(sharing(f"large-{p}", cpu="3") for p in P))
        await cluster.wait(MOMENT)

        assert reserved_for(cluster) == []
        [note, *_] = failures_of(cluster, "large-p1")
        assert note.endswith(", ResourceClaim unreserved for PodGroup")

    play(scene, Owning)


def test_the_devices_of_a_group_on_a_node_without_room_are_given_back():
    """The claim is allocated on one node, and now the pods fit only on the other one."""

    async def scene(cluster):
        await cluster.create(resource_claim("gpu"), group(resourceClaims=[BY_NAME]))
        await cluster.create(*map(sharing, P))
        await cluster.settle()
        [first] = {cluster.node_of(p) for p in P}
        for p in P:
            await cluster.delete("pods", p)
        await cluster.wait(60)
        await cluster.create(pod("full", cpu="4", nodeName=first))

        await cluster.create(*(sharing(f"new-{p}") for p in P))
        await cluster.wait(MOMENT)

        [second] = {cluster.node_of(f"new-{p}") for p in P}
        assert second != first
        assert reserved_for(cluster) == FOR_THE_GROUP

    play(scene, Owning, nodes=2)

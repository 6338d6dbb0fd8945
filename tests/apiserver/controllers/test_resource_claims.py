"""Claims to devices are made for pods, and released and deleted when the pods are done."""

import pytest

from podium.api.resource_claims import FINALIZER
from podium.release import V1_36, V1_37
from tests.support.controllers import World, node, pod

CLAIMS = "resourceclaims.resource.k8s.io"
TEMPLATES = "resourceclaimtemplates.resource.k8s.io"
SPEC = {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "gpu"}}]}}
TEMPLATE = {
    "metadata": {"name": "one-gpu"},
    "spec": {"metadata": {"labels": {"a": "b"}, "annotations": {"c": "d"}}, "spec": SPEC},
}
BY_TEMPLATE = [{"name": "gpu", "resourceClaimTemplateName": "one-gpu"}]
BY_NAME = [{"name": "gpu", "resourceClaimName": "shared"}]
RESULT = {"request": "r", "driver": "gpu.example.com", "pool": "n1", "device": "gpu-0"}


@pytest.fixture(params=[V1_36, V1_37], ids=str)
def world(request):
    world = World(release=request.param)
    world.create("nodes", node())
    return world


def claims_of(world, name="web"):
    """The generated claims by the name of their entry in the pod."""
    statuses = world.status("pods", name).get("resourceClaimStatuses") or []
    return {one["name"]: one["resourceClaimName"] for one in statuses}


def user(world, name="web"):
    return {"resource": "pods", "name": name, "uid": world.get("pods", name)["metadata"]["uid"]}


def allocate(world, claim, *users):
    """What a scheduler writes before it binds a pod."""
    world.change(CLAIMS, claim, lambda one: one["metadata"].update(finalizers=[FINALIZER]))
    status = {"allocation": {"devices": {"results": [RESULT]}}}
    reserved = {"reservedFor": list(users)} if users else {}
    world.cluster.set_status(CLAIMS, ("default", claim), {**status, **reserved})
    world.settle()


def shared(world, *pods):
    world.create(CLAIMS, {"metadata": {"name": "shared"}, "spec": SPEC})
    for name in pods:
        world.create("pods", pod(name, resourceClaims=BY_NAME))


def test_a_claim_is_made_from_the_template(world):
    world.create(TEMPLATES, TEMPLATE)
    made = world.create("pods", pod(resourceClaims=BY_TEMPLATE))

    name = claims_of(world)["gpu"]
    claim = world.get(CLAIMS, name)
    assert name.startswith("web-gpu-")
    assert claim["metadata"]["generateName"] == "web-gpu-"
    assert claim["metadata"]["labels"] == {"a": "b"}
    assert claim["metadata"]["annotations"] == {
        "c": "d",
        "resource.kubernetes.io/pod-claim-name": "gpu",
    }
    assert claim["metadata"]["ownerReferences"] == [
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "name": "web",
            "uid": made["metadata"]["uid"],
            "controller": True,
        }
    ]
    assert claim["spec"]["devices"]["requests"][0]["exactly"]["deviceClassName"] == "gpu"


def test_long_names_are_cut_in_proportion(world):
    world.create(TEMPLATES, TEMPLATE)
    entry = [{"name": "g" * 30, "resourceClaimTemplateName": "one-gpu"}]
    world.create("pods", pod("w" * 60, resourceClaims=entry))

    claim = world.get(CLAIMS, claims_of(world, "w" * 60)["g" * 30])
    assert claim["metadata"]["generateName"] == "w" * 37 + "-" + "g" * 18


def test_a_pod_waits_for_its_template(world):
    world.create("pods", pod(resourceClaims=BY_TEMPLATE))

    assert world.names(CLAIMS) == []
    (event,) = [e for e in world.api.store.objects("events") if e["type"] == "Warning"]
    assert event["reason"] == "FailedResourceClaimCreation"
    assert event["message"] == (
        'PodResourceClaim gpu: resource claim template "one-gpu": '
        'resourceclaimtemplate.resource.k8s.io "one-gpu" not found'
    )
    world.create(TEMPLATES, TEMPLATE)
    assert world.names(CLAIMS) == [claims_of(world)["gpu"]]


def test_a_deleted_claim_of_a_waiting_pod_is_made_again(world):
    world.create(TEMPLATES, TEMPLATE)
    world.create("pods", pod(resourceClaims=BY_TEMPLATE))
    first = claims_of(world)["gpu"]

    world.delete(CLAIMS, first)

    second = claims_of(world)["gpu"]
    assert second != first
    assert world.names(CLAIMS) == [second]


def test_a_claim_that_the_status_does_not_name_yet_is_found(world):
    world.create(TEMPLATES, TEMPLATE)
    world.create("pods", pod(resourceClaims=BY_TEMPLATE))
    name = claims_of(world)["gpu"]

    status = {**world.status("pods", "web"), "resourceClaimStatuses": []}
    world.cluster.set_status("pods", ("default", "web"), status)
    world.settle()

    assert (claims_of(world), world.names(CLAIMS)) == ({"gpu": name}, [name])


def test_an_entry_without_a_claim_stays_without(world):
    world.create(TEMPLATES, TEMPLATE)
    world.create("pods", pod(resourceClaims=BY_TEMPLATE, schedulingGates=[{"name": "x"}]))
    status = {**world.status("pods", "web"), "resourceClaimStatuses": [{"name": "gpu"}]}
    (name,) = world.names(CLAIMS)

    world.cluster.set_status("pods", ("default", "web"), status)
    world.delete(CLAIMS, name)

    assert world.names(CLAIMS) == []


def test_claims_by_name_are_left_to_their_creator(world):
    world.create("pods", pod(resourceClaims=BY_NAME))

    assert world.names(CLAIMS) == []
    assert claims_of(world) == {}


def test_a_pod_that_somebody_bound_gets_its_reservation(world):
    shared(world, "web")
    allocate(world, "shared")

    world.bind("web", "n1")

    assert world.status(CLAIMS, "shared")["reservedFor"] == [user(world)]


def test_a_claim_is_freed_after_its_last_pod(world):
    shared(world, "one", "two")
    allocate(world, "shared", user(world, "one"), user(world, "two"))
    world.bind_all()
    world.wait(2)

    world.delete("pods", "one")
    world.wait(5)
    assert world.status(CLAIMS, "shared")["reservedFor"] == [user(world, "two")]

    world.delete("pods", "two")
    world.wait(5)
    claim = world.get(CLAIMS, "shared")
    assert claim.get("status") in (None, {})
    assert not claim["metadata"].get("finalizers")


def test_a_replaced_pod_does_not_keep_the_claim(world):
    shared(world, "web")
    allocate(world, "shared", {**user(world), "uid": "another"})

    assert world.get(CLAIMS, "shared").get("status") in (None, {})


def test_users_that_are_not_pods_are_kept(world):
    shared(world)
    job = {"apiGroup": "batch", "resource": "jobs", "name": "x", "uid": "y"}
    allocate(world, "shared", job)

    assert world.status(CLAIMS, "shared")["reservedFor"] == [job]


def test_an_allocated_claim_without_users_is_left_alone_until_it_is_deleted(world):
    shared(world)
    allocate(world, "shared")
    assert "allocation" in world.status(CLAIMS, "shared")

    world.delete(CLAIMS, "shared")

    assert world.names(CLAIMS) == []


def test_a_used_claim_is_deleted_after_its_pod(world):
    shared(world, "web")
    allocate(world, "shared", user(world))
    world.run_all()

    world.delete(CLAIMS, "shared")
    assert "deletionTimestamp" in world.get(CLAIMS, "shared")["metadata"]
    world.delete("pods", "web")
    world.wait(5)

    assert world.names(CLAIMS) == []


def test_generated_claims_go_when_their_pod_has_ended(world):
    world.create(TEMPLATES, TEMPLATE)
    ends = {"podium.dev/duration": "3s"}
    world.create("pods", pod(annotations=ends, resourceClaims=BY_TEMPLATE, restartPolicy="Never"))
    allocate(world, claims_of(world)["gpu"], user(world))
    world.run_all()
    assert len(world.names(CLAIMS)) == 1

    world.wait(10)

    assert world.status("pods", "web")["phase"] == "Succeeded"
    assert world.names(CLAIMS) == []


def test_generated_claims_go_with_their_pod(world):
    world.create(TEMPLATES, TEMPLATE)
    world.create("pods", pod(resourceClaims=BY_TEMPLATE))
    allocate(world, claims_of(world)["gpu"], user(world))

    world.delete("pods", "web")
    world.wait(5)

    assert (world.names("pods"), world.names(CLAIMS)) == ([], [])


def test_the_claim_of_extended_resources_is_freed_with_its_pod(world):
    shared(world)
    world.create("pods", pod(annotations={"podium.dev/duration": "3s"}, restartPolicy="Never"))
    extended = {"resourceClaimName": "shared", "requestMappings": []}
    status = {**world.status("pods", "web"), "extendedResourceClaimStatus": extended}
    world.cluster.set_status("pods", ("default", "web"), status)
    allocate(world, "shared", user(world))
    world.run_all()

    world.wait(10)

    assert world.get(CLAIMS, "shared").get("status") in (None, {})

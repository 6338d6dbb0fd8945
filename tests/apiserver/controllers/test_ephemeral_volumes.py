"""Generic ephemeral volumes: claims that come and go with their pod."""

import pytest

from tests.support.controllers import pod, storage_class

CLAIMS = "persistentvolumeclaims"
SPEC = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
TEMPLATE = {"metadata": {"labels": {"a": "b"}, "annotations": {"c": "d"}}, "spec": SPEC}
SCRATCH = [{"name": "scratch", "ephemeral": {"volumeClaimTemplate": TEMPLATE}}]


@pytest.fixture
def world(world):
    world.create("storageclasses.storage.k8s.io", storage_class())
    return world


def test_a_claim_is_made_for_the_pod_and_it_runs(world):
    made = world.create("pods", pod(volumes=SCRATCH))

    claim = world.get(CLAIMS, "web-scratch")
    assert claim["metadata"]["labels"] == {"a": "b"}
    assert claim["metadata"]["annotations"]["c"] == "d"
    (owner,) = claim["metadata"]["ownerReferences"]
    assert (owner["kind"], owner["uid"], owner["controller"]) == (
        "Pod",
        made["metadata"]["uid"],
        True,
    )
    world.run_all()
    assert world.status("pods", "web")["phase"] == "Running"


def test_the_claim_goes_with_its_pod(world):
    world.create("pods", pod(volumes=SCRATCH))
    world.run_all()

    world.delete("pods", "web")
    world.wait(5)

    assert (world.names("pods"), world.names(CLAIMS)) == ([], [])
    assert world.names("persistentvolumes") == []


def test_a_claim_of_somebody_else_is_left_alone(world):
    world.create(CLAIMS, {"metadata": {"name": "web-scratch"}, "spec": SPEC})
    world.create("pods", pod(volumes=SCRATCH))

    assert "ownerReferences" not in world.get(CLAIMS, "web-scratch")["metadata"]
    assert "FailedBinding" in world.reasons("web")
    world.delete(CLAIMS, "web-scratch")
    assert world.get(CLAIMS, "web-scratch")["metadata"]["ownerReferences"][0]["name"] == "web"


def test_other_pods_get_no_claim(world):
    world.create("pods", pod(volumes=[{"name": "tmp", "emptyDir": {}}]))

    assert world.names(CLAIMS) == []

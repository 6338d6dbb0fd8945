"""StatefulSets: names, claims and order."""

import pytest

from tests.support.controllers import image, storage_class, workload

SETS, CLAIMS = "statefulsets.apps", "persistentvolumeclaims"
CLAIM = {
    "metadata": {"name": "data"},
    "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
}


@pytest.fixture
def world(world):
    world.create("storageclasses.storage.k8s.io", storage_class())
    return world


def stateful(**spec):
    return workload(serviceName="web", **spec)


def test_pods_start_one_after_the_other(world):
    world.create(SETS, stateful(replicas=3))
    assert list(world.pods()) == ["web-0"]

    world.run_all()
    assert list(world.pods()) == ["web-0", "web-1"]

    world.run_all()
    world.run_all()
    assert list(world.pods()) == ["web-0", "web-1", "web-2"]
    assert world.status(SETS, "web")["readyReplicas"] == 3


def test_parallel_sets_do_not_wait(world):
    world.create(SETS, stateful(replicas=3, podManagementPolicy="Parallel"))

    assert list(world.pods()) == ["web-0", "web-1", "web-2"]


def test_pods_know_who_they_are(world):
    world.create(SETS, stateful(replicas=1, ordinals={"start": 5}))

    labels = world.pods()["web-5"]["metadata"]["labels"]
    spec = world.pods()["web-5"]["spec"]
    assert labels["statefulset.kubernetes.io/pod-name"] == "web-5"
    assert labels["apps.kubernetes.io/pod-index"] == "5"
    assert labels["controller-revision-hash"] == world.status(SETS, "web")["updateRevision"]
    assert (spec["hostname"], spec["subdomain"]) == ("web-5", "web")


def test_claims_are_made_and_survive_their_pods(world):
    world.create(SETS, stateful(replicas=1, volumeClaimTemplates=[CLAIM]))
    (volume,) = world.pods()["web-0"]["spec"]["volumes"]
    assert volume == {"name": "data", "persistentVolumeClaim": {"claimName": "data-web-0"}}

    world.change(SETS, "web", lambda obj: obj["spec"].update(replicas=0))
    world.wait(5)

    assert list(world.pods()) == []
    assert world.names(CLAIMS) == ["data-web-0"]


@pytest.mark.parametrize(
    ("policy", "after_shrinking", "after_deletion"),
    [
        pytest.param({}, ["data-web-0", "data-web-1"], ["data-web-0", "data-web-1"], id="kept"),
        pytest.param({"whenScaled": "Delete"}, ["data-web-0"], ["data-web-0"], id="scaled"),
        pytest.param({"whenDeleted": "Delete"}, ["data-web-0", "data-web-1"], [], id="deleted"),
        pytest.param(
            {"whenDeleted": "Delete", "whenScaled": "Delete"}, ["data-web-0"], [], id="both"
        ),
    ],
)
@pytest.mark.parametrize("is_late", [False, True], ids=["from-the-start", "changed-later"])
def test_what_becomes_of_claims(world, policy, after_shrinking, after_deletion, is_late):
    first = {} if is_late else {"persistentVolumeClaimRetentionPolicy": policy}
    world.create(SETS, stateful(replicas=2, volumeClaimTemplates=[CLAIM], **first))
    for _ in range(2):
        world.run_all()
    late = {"persistentVolumeClaimRetentionPolicy": policy}
    world.change(SETS, "web", lambda obj: obj["spec"].update(late))

    world.change(SETS, "web", lambda obj: obj["spec"].update(replicas=1))
    world.wait(5)
    assert world.names(CLAIMS) == after_shrinking
    world.delete(SETS, "web")
    world.wait(5)
    assert world.names(CLAIMS) == after_deletion


def test_growing_again_takes_its_claim_back(world):
    policy = {"whenScaled": "Delete"}
    world.create(
        SETS,
        stateful(
            replicas=1,
            volumeClaimTemplates=[CLAIM],
            persistentVolumeClaimRetentionPolicy=policy,
        ),
    )
    world.run_all()
    before = world.get(CLAIMS, "data-web-0")["metadata"]["uid"]

    world.change(SETS, "web", lambda obj: obj["spec"].update(replicas=0))
    world.change(SETS, "web", lambda obj: obj["spec"].update(replicas=1))
    world.wait(5)
    world.run_all()

    claim = world.get(CLAIMS, "data-web-0")
    assert claim["metadata"]["uid"] == before  # the pod was stopping, and it was wanted again
    assert "ownerReferences" not in claim["metadata"]


def test_shrinking_goes_from_the_top_one_by_one(world):
    world.create(SETS, stateful(replicas=3, podManagementPolicy="Parallel"))
    world.run_all()
    world.change(SETS, "web", lambda obj: obj["spec"].update(podManagementPolicy="Parallel"))

    world.change(SETS, "web", lambda obj: obj["spec"].update(replicas=1))
    world.wait(10)

    assert list(world.pods()) == ["web-0"]


def test_updates_go_from_the_top_and_wait_for_each(world):
    world.create(SETS, stateful(replicas=2))
    for _ in range(2):
        world.run_all()
    before = world.status(SETS, "web")["currentRevision"]

    world.change(SETS, "web", image("app:2"))
    world.wait(3)
    images = [one["spec"]["containers"][0]["image"] for one in world.pods().values()]
    assert images == ["app:1", "app:2"]
    for _ in range(6):
        world.run_all()

    images = [one["spec"]["containers"][0]["image"] for one in world.pods().values()]
    assert images == ["app:2", "app:2"]
    status = world.status(SETS, "web")
    assert status["currentRevision"] == status["updateRevision"] != before


def test_a_partition_keeps_the_lower_pods(world):
    strategy = {"type": "RollingUpdate", "rollingUpdate": {"partition": 1}}
    world.create(SETS, stateful(replicas=2, updateStrategy=strategy))
    for _ in range(2):
        world.run_all()

    world.change(SETS, "web", image("app:2"))
    for _ in range(4):
        world.run_all()
    world.delete("pods", "web-0")
    for _ in range(3):
        world.run_all()

    images = [one["spec"]["containers"][0]["image"] for one in world.pods().values()]
    assert images == ["app:1", "app:2"]


def test_revisions_are_kept_for_undo(world):
    world.create(SETS, stateful(replicas=1))
    world.run_all()
    world.change(SETS, "web", image("app:2"))

    found = world.api.store.objects("controllerrevisions.apps")

    assert sorted(one["revision"] for one in found) == [1, 2]

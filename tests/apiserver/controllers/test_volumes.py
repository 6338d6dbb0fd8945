"""Claims and volumes: which gets which, provisioning, and what is left behind."""

import pytest

from podium.apiserver.controllers.volume_matching import best_volume, provisioned
from tests.support.controllers import World, node

CLAIMS, VOLUMES = "persistentvolumeclaims", "persistentvolumes"
CLASSES = "storageclasses.storage.k8s.io"
ZONE = "topology.kubernetes.io/zone"


@pytest.fixture
def world():
    return World()


def claim(name="data", size="1Gi", **spec):
    return {
        "metadata": {"name": name},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": size}},
            **spec,
        },
    }


def volume(name="pv", size="1Gi", **spec):
    return {
        "metadata": {"name": name},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "capacity": {"storage": size},
            "hostPath": {"path": "/data"},
            **spec,
        },
    }


def storage(name="fast", mode="Immediate", default=False, **more):
    annotations = {"storageclass.kubernetes.io/is-default-class": "true"} if default else {}
    return {
        "metadata": {"name": name, "annotations": annotations},
        "provisioner": "disks.example.com",
        "volumeBindingMode": mode,
        **more,
    }


def phase(world, resource, name):
    return world.status(resource, name)["phase"]


def test_a_claim_gets_the_smallest_volume_that_fits(world):
    for name, size in (("small", "1Gi"), ("right", "5Gi"), ("big", "50Gi")):
        world.create(VOLUMES, volume(name, size))
    assert phase(world, VOLUMES, "right") == "Available"

    world.create(CLAIMS, claim(size="3Gi", storageClassName=""))

    bound = world.get(CLAIMS, "data")
    assert bound["spec"]["volumeName"] == "right"
    assert bound["status"] == {
        "phase": "Bound",
        "accessModes": ["ReadWriteOnce"],
        "capacity": {"storage": "5Gi"},
    }
    assert bound["metadata"]["annotations"]["pv.kubernetes.io/bind-completed"] == "yes"
    ref = world.get(VOLUMES, "right")["spec"]["claimRef"]
    assert (ref["name"], ref["uid"]) == ("data", bound["metadata"]["uid"])
    assert phase(world, VOLUMES, "right") == "Bound"


def test_a_claim_waits_for_a_volume(world):
    world.create(CLAIMS, claim(storageClassName=""))
    assert phase(world, CLAIMS, "data") == "Pending"

    world.create(VOLUMES, volume())

    assert phase(world, CLAIMS, "data") == "Bound"


def test_volumes_are_provisioned_at_once(world):
    world.create(CLASSES, storage())

    world.create(CLAIMS, claim(storageClassName="fast"))

    name = world.get(CLAIMS, "data")["spec"]["volumeName"]
    made = world.get(VOLUMES, name)
    assert name == f"pvc-{world.get(CLAIMS, 'data')['metadata']['uid']}"
    assert made["spec"]["csi"]["driver"] == "disks.example.com"
    assert made["spec"]["persistentVolumeReclaimPolicy"] == "Delete"
    assert phase(world, CLAIMS, "data") == phase(world, VOLUMES, name) == "Bound"


def test_waiting_for_the_first_consumer(world):
    world.create("nodes", node("n1", {ZONE: "b"}))
    world.create(CLASSES, storage(mode="WaitForFirstConsumer"))
    world.create(CLAIMS, claim(storageClassName="fast"))
    assert phase(world, CLAIMS, "data") == "Pending"
    assert world.reasons("data") == ["WaitForFirstConsumer"]

    selected = {"volume.kubernetes.io/selected-node": "n1"}
    world.change(CLAIMS, "data", lambda obj: obj["metadata"].update(annotations=selected))

    name = world.get(CLAIMS, "data")["spec"]["volumeName"]
    (term,) = world.get(VOLUMES, name)["spec"]["nodeAffinity"]["required"]["nodeSelectorTerms"]
    assert term["matchExpressions"] == [{"key": ZONE, "operator": "In", "values": ["b"]}]


def test_a_volume_that_the_scheduler_reserved_is_bound(world):
    world.create(CLASSES, storage(mode="WaitForFirstConsumer"))
    world.create(VOLUMES, volume(storageClassName="fast"))
    made = world.create(CLAIMS, claim(storageClassName="fast"))
    assert phase(world, CLAIMS, "data") == "Pending"

    ref = {"namespace": "default", "name": "data", "uid": made["metadata"]["uid"]}
    world.change(VOLUMES, "pv", lambda obj: obj["spec"].update(claimRef=ref))

    assert world.get(CLAIMS, "data")["spec"]["volumeName"] == "pv"
    assert phase(world, CLAIMS, "data") == "Bound"


def test_the_default_class_is_taken_also_later(world):
    world.create(CLAIMS, claim())
    assert phase(world, CLAIMS, "data") == "Pending"

    world.create(CLASSES, storage(default=True))

    assert world.get(CLAIMS, "data")["spec"]["storageClassName"] == "fast"
    assert phase(world, CLAIMS, "data") == "Bound"


@pytest.mark.parametrize(
    ("policy", "left"), [("Delete", []), ("Retain", ["pv"])], ids=["deleted", "kept"]
)
def test_released_volumes(world, policy, left):
    world.create(VOLUMES, volume(persistentVolumeReclaimPolicy=policy))
    world.create(CLAIMS, claim(storageClassName=""))

    world.delete(CLAIMS, "data")

    assert world.names(VOLUMES) == left
    if left:
        assert phase(world, VOLUMES, "pv") == "Released"


def test_a_claim_whose_volume_is_gone_is_lost(world):
    world.create(VOLUMES, volume())
    world.create(CLAIMS, claim(storageClassName=""))

    world.delete(VOLUMES, "pv")

    assert phase(world, CLAIMS, "data") == "Lost"


def stored(obj, uid="u"):
    return {**obj, "metadata": {**obj["metadata"], "namespace": "default", "uid": uid}}


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        pytest.param({}, True, id="fits"),
        pytest.param({"storageClassName": "other"}, False, id="other-class"),
        pytest.param({"accessModes": ["ReadWriteMany"]}, False, id="other-mode"),
        pytest.param({"volumeMode": "Block"}, False, id="block"),
        pytest.param({"selector": {"matchLabels": {"tier": "gold"}}}, False, id="other-label"),
        pytest.param({"resources": {"requests": {"storage": "2Gi"}}}, False, id="too-large"),
    ],
)
def test_what_fits(spec, expected):
    found = best_volume(stored(claim(**spec)), [volume()], only_reserved=False)

    assert (found is not None) == expected


def test_an_allowed_topology_is_where_a_volume_is_made():
    allowed = [{"matchLabelExpressions": [{"key": ZONE, "values": ["a", "b"]}]}]

    made = provisioned(stored(claim()), storage(allowedTopologies=allowed), None)

    (term,) = made["spec"]["nodeAffinity"]["required"]["nodeSelectorTerms"]
    assert term["matchExpressions"][0]["values"] == ["a"]

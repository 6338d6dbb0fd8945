"""Simulated drivers publish slices and prepare devices."""

import pytest

from podium.api.resource_claims import FINALIZER
from podium.apiserver.controllers.runner import Runner
from podium.apiserver.kubelet_devices import (
    CLASSES,
    SLICES,
    DeviceGroup,
    DevicePreparer,
    SlicePublisher,
    checked_group,
    device_class,
)
from podium.errors import PodiumError
from tests.support.controllers import World, node, pod

CLAIMS = "resourceclaims.resource.k8s.io"
GPUS = DeviceGroup("gpu.example.com", 2)
SPEC = {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "gpu.example.com"}}]}}
RESULT = {"request": "r", "driver": "gpu.example.com", "pool": "n1", "device": "gpu-0"}


@pytest.fixture
def world():
    world = World()
    drivers = [driver(world.cluster, (GPUS,)) for driver in (SlicePublisher, DevicePreparer)]
    Runner(world.api.store, drivers).start()
    world.create("nodes", node())
    return world


def allocate(world, *users, **result):
    devices = {"results": [{**RESULT, **result}]}
    status = {"allocation": {"devices": devices}, "reservedFor": list(users)}
    world.cluster.set_status(CLAIMS, ("default", "c"), status)
    world.settle()


def use(world, **result):
    """Bind a pod after its claim has got a device."""
    meta = {"name": "c", "finalizers": [FINALIZER]}
    world.create(CLAIMS, {"metadata": meta, "spec": SPEC})
    claims = [{"name": "gpu", "resourceClaimName": "c"}]
    uid = world.create("pods", pod(resourceClaims=claims))["metadata"]["uid"]
    allocate(world, {"resource": "pods", "name": "web", "uid": uid}, **result)


def conditions(world):
    devices = world.status(CLAIMS, "c").get("devices") or []
    return [(one["device"], c["type"], c["status"]) for one in devices for c in one["conditions"]]


def test_every_node_gets_a_slice(world):
    (name,) = world.names(SLICES)
    spec = world.get(SLICES, name)["spec"]

    assert name == "n1-gpu.example.com"
    assert (spec["driver"], spec["nodeName"]) == ("gpu.example.com", "n1")
    assert spec["pool"] == {"name": "n1", "generation": 1, "resourceSliceCount": 1}
    assert [one["name"] for one in spec["devices"]] == ["gpu-0", "gpu-1"]
    assert spec["devices"][1]["attributes"]["index"] == {"int": 1}


def test_a_slice_goes_with_its_node(world):
    world.create("nodes", node("n2"))
    world.delete("nodes", "n1")

    assert world.names(SLICES) == ["n2-gpu.example.com"]


def test_a_deleted_slice_is_published_again(world):
    world.delete(SLICES, "n1-gpu.example.com")

    assert world.names(SLICES) == ["n1-gpu.example.com"]


def test_a_node_without_a_kubelet_has_no_slice(world):
    off = {"podium.dev/kubelet": "none"}
    world.change("nodes", "n1", lambda one: one["metadata"].update(annotations=off))

    assert world.names(SLICES) == []


def test_devices_are_prepared_for_a_bound_pod(world):
    use(world)
    assert conditions(world) == []

    world.run_all()

    assert conditions(world) == [("gpu-0", "Ready", "True")]
    assert world.status("pods", "web")["phase"] == "Running"


def test_a_pod_waits_for_its_claims(world):
    named = {"name": "a", "resourceClaimName": "c"}
    made = {"name": "b", "resourceClaimTemplateName": "none"}
    world.create("pods", pod("one", resourceClaims=[named]))
    world.create("pods", pod("two", resourceClaims=[made]))
    world.run_all()

    assert world.phases() == ["Pending", "Pending"]
    world.create(CLAIMS, {"metadata": {"name": "c"}, "spec": SPEC})
    allocate(world)  # the controller reserves it for the pod, which is bound already
    world.wait(2)
    assert world.status("pods", "one")["phase"] == "Running"


def test_binding_conditions_are_reported_before_the_pod_is_bound(world):
    use(world, bindingConditions=["example.com/attached"], bindingFailureConditions=["f"])

    assert conditions(world) == [("gpu-0", "example.com/attached", "True")]
    world.run_all()
    assert conditions(world) == [
        ("gpu-0", "example.com/attached", "True"),
        ("gpu-0", "Ready", "True"),
    ]


def test_devices_of_other_drivers_are_left_alone(world):
    use(world, driver="other.example.com", bindingConditions=["example.com/attached"])
    world.run_all()

    assert conditions(world) == []
    assert world.status("pods", "web")["phase"] == "Running"


def test_reports_end_with_the_allocation(world):
    use(world)
    world.run_all()

    world.delete("pods", "web")
    world.wait(5)

    assert world.get(CLAIMS, "c").get("status") in (None, {})


def test_a_class_selects_the_devices_of_the_driver(world):
    made = world.create(CLASSES, device_class("gpu.example.com"))

    (selector,) = made["spec"]["selectors"]
    assert selector == {"cel": {"expression": 'device.driver == "gpu.example.com"'}}


@pytest.mark.parametrize(
    "driver",
    [pytest.param("Not A Driver", id="characters"), pytest.param("x" * 64, id="length")],
)
def test_a_name_that_no_driver_has_is_refused(driver):
    with pytest.raises(PodiumError, match="cannot be the name of a driver"):
        checked_group(driver, 1)

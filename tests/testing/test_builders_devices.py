"""Builders of devices and claims make what their words say."""

from podium.api.objects import DeviceTaint
from podium.testing import (
    device,
    device_class,
    pod,
    resource_claim,
    resource_claim_template,
    resource_slice,
)


def test_what_builders_make_is_accepted_by_an_api_server(cluster):
    entry = {"name": "gpu", "resourceClaimTemplateName": "one"}
    cluster.create(
        device_class("gpu", extended_resource_name="example.com/gpu"),
        resource_slice("n1-gpus", node="n1", devices=[device("a", attributes={"model": "a100"})]),
        resource_slice("shared", devices=2),
        resource_claim("training", count=2),
        resource_claim_template("one", labels="app=web"),
        pod("web", resource_claims=[entry]),
    )
    cluster.wait(1)

    named, generated = cluster.list("resourceclaims.resource.k8s.io")  # in the order of their names
    assert named["metadata"]["name"] == "training"
    assert generated["metadata"]["generateName"] == "web-gpu-"


def test_a_class_selects_the_devices_of_its_driver():
    made = device_class("gpu", driver="gpu.example.com", extended_resource_name="example.com/gpu")

    (selector,) = made.spec.selectors
    assert selector.cel.expression == 'device.driver == "gpu.example.com"'
    assert made.spec.extended_resource_name == "example.com/gpu"


def test_a_slice_of_a_node_is_a_whole_pool():
    spec = resource_slice("n1-gpus", node="n1", devices=2).spec

    assert [one.name for one in spec.devices] == ["gpu-0", "gpu-1"]
    assert (spec.node_name, spec.all_nodes, spec.pool.name) == ("n1", False, "n1")
    assert (spec.pool.generation, spec.pool.resource_slice_count) == (1, 1)


def test_a_slice_without_a_node_is_for_all_or_for_those_that_it_selects():
    terms = {"nodeSelectorTerms": [{}]}

    assert resource_slice("shared").spec.all_nodes
    assert resource_slice("some", node_selector=terms).spec.all_nodes is False


def test_a_device_in_the_notation_of_users():
    made = device(
        "a",
        attributes={"model": "a100", "index": 1, "on": True, "v": {"version": "1.0.0"}},
        capacity={"memory": "80Gi"},
        taints="broken=yes:NoExecute",
    )

    assert made.attributes["model"].string_value == "a100"
    assert (made.attributes["index"].int_value, made.attributes["index"].bool_value) == (1, None)
    assert made.attributes["on"].bool_value is True
    assert made.attributes["v"].version_value == "1.0.0"
    assert made.capacity["memory"].value == "80Gi"
    assert made.taints == (DeviceTaint("broken", "yes", "NoExecute"),)


def test_a_claim_with_devices_in_use():
    made = resource_claim("c", count=2, allocated="d/p/x d/p/y", reserved_for="web")

    results = made.status.allocation.devices.results
    assert [(one.request, one.driver, one.pool, one.device) for one in results] == [
        ("request-0", "d", "p", "x"),
        ("request-0", "d", "p", "y"),
    ]
    assert made.is_reserved_for("uid-web")
    assert made.metadata.finalizers == ("resource.kubernetes.io/delete-protection",)


def test_a_template_asks_for_all_devices():
    made = resource_claim_template("t", count=None, labels="app=web")

    exactly = made.spec.spec.devices.requests[0].exactly
    assert (exactly.allocation_mode, exactly.count) == ("All", 0)
    assert (made.metadata.labels, made.spec.metadata.labels) == ({}, {"app": "web"})

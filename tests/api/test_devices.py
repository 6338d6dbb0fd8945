"""Devices and claims decode as the API writes them."""

import pytest

from podium.api.objects import (
    DeviceClass,
    DeviceTaint,
    DeviceTaintRule,
    Pod,
    ResourceClaim,
    ResourceClaimTemplate,
    ResourceSlice,
    decode,
    encode,
)
from podium.errors import InvalidObject
from podium.testing import device, device_class, resource_claim, resource_slice

SLICE = {
    "metadata": {"name": "n1-gpus"},
    "spec": {
        "driver": "gpu.example.com",
        "pool": {"name": "n1", "generation": 3, "resourceSliceCount": 2},
        "nodeName": "n1",
        "devices": [
            {
                "name": "gpu-0",
                "attributes": {
                    "model": {"string": "a100"},
                    "driverVersion": {"version": "1.2.0"},
                    "index": {"int": 0},
                    "healthy": {"bool": False},
                    "numa": {"ints": [0, 1]},
                },
                "capacity": {
                    "memory": {
                        "value": "80Gi",
                        "requestPolicy": {
                            "default": "1Gi",
                            "validRange": {"min": "1Gi", "step": "1Gi"},
                        },
                    }
                },
                "allowMultipleAllocations": True,
                "consumesCounters": [{"counterSet": "mem", "counters": {"gib": {"value": 80}}}],
                "bindingConditions": [],
                "taints": [{"key": "broken", "effect": "NoSchedule"}],
            }
        ],
    },
}


def test_a_slice_has_its_devices():
    slice_ = decode(ResourceSlice, SLICE)
    (gpu,) = slice_.spec.devices

    assert (slice_.spec.pool.name, slice_.spec.pool.generation, slice_.spec.node_name) == (
        "n1",
        3,
        "n1",
    )
    assert gpu.attributes["model"].string_value == "a100"
    assert gpu.attributes["driverVersion"].version_value == "1.2.0"
    assert (gpu.attributes["index"].int_value, gpu.attributes["healthy"].bool_value) == (0, False)
    assert gpu.attributes["numa"].int_values == (0, 1)
    assert gpu.capacity["memory"].request_policy.valid_range.step == "1Gi"
    assert gpu.consumes_counters[0].counters["gib"].value == 80
    assert gpu.taints == (DeviceTaint("broken", "", "NoSchedule"),)


def test_no_binding_conditions_differ_from_an_empty_list():
    (gpu,) = decode(ResourceSlice, SLICE).spec.devices

    assert gpu.binding_conditions == ()
    assert device("gpu-1").binding_conditions is None


def test_a_claim_has_what_was_allocated():
    claim = decode(
        ResourceClaim,
        {
            "metadata": {"name": "c", "namespace": "default"},
            "spec": {
                "devices": {
                    "requests": [
                        {"name": "a", "exactly": {"deviceClassName": "gpu", "count": 2}},
                        {"name": "b", "firstAvailable": [{"name": "s", "deviceClassName": "x"}]},
                    ],
                    "constraints": [{"matchAttribute": "example.com/numa"}],
                    "config": [{"opaque": {"driver": "d", "parameters": {"a": [1, {"b": None}]}}}],
                }
            },
            "status": {
                "allocation": {
                    "devices": {
                        "results": [
                            {
                                "request": "a",
                                "driver": "d",
                                "pool": "p",
                                "device": "x",
                                "shareID": "s1",
                                "consumedCapacity": {"memory": "1Gi"},
                            }
                        ]
                    },
                    "nodeSelector": {"nodeSelectorTerms": [{}]},
                },
                "reservedFor": [{"resource": "pods", "name": "web", "uid": "u1"}],
            },
        },
    )
    (result,) = claim.status.allocation.devices.results

    assert claim.spec.devices.requests[0].exactly.count == 2
    assert claim.spec.devices.requests[1].first_available[0].device_class_name == "x"
    assert claim.spec.devices.config[0].opaque.parameters == {"a": [1, {"b": None}]}
    assert (result.share_id, result.consumed_capacity) == ("s1", {"memory": "1Gi"})
    assert claim.is_reserved_for("u1")
    assert not claim.is_reserved_for("u2")


def test_a_template_has_the_spec_of_its_claims():
    spec = {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "gpu"}}]}}
    body = {"metadata": {"name": "t"}, "spec": {"metadata": {"labels": {"a": "b"}}, "spec": spec}}

    template = decode(ResourceClaimTemplate, body)

    assert template.spec.metadata.labels == {"a": "b"}
    assert template.spec.spec.devices.requests[0].exactly.device_class_name == "gpu"


def test_a_taint_rule_selects_devices():
    taint = {"key": "broken", "effect": "None", "timeAdded": "2026-01-01T00:00:00Z"}

    rule = decode(DeviceTaintRule, {"spec": {"deviceSelector": {"pool": "p"}, "taint": taint}})

    assert (rule.spec.device_selector.pool, rule.spec.device_selector.driver) == ("p", None)
    assert rule.spec.taint.effect == "None"


def test_a_pod_names_its_claims():
    pod = decode(
        Pod,
        {
            "spec": {
                "containers": [{"name": "c", "resources": {"claims": [{"name": "gpu"}]}}],
                "resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": "t"}],
            },
            "status": {
                "resourceClaimStatuses": [{"name": "gpu", "resourceClaimName": "web-gpu-x"}],
                "extendedResourceClaimStatus": {
                    "resourceClaimName": "web-extended",
                    "requestMappings": [
                        {
                            "containerName": "c",
                            "resourceName": "example.com/gpu",
                            "requestName": "r",
                        }
                    ],
                },
            },
        },
    )

    assert pod.spec.containers[0].resources.claims[0].name == "gpu"
    assert pod.spec.resource_claims[0].resource_claim_template_name == "t"
    assert pod.status.resource_claim_statuses[0].resource_claim_name == "web-gpu-x"
    assert pod.status.extended_resource_claim_status.request_mappings[0].request_name == "r"


@pytest.mark.parametrize(
    "made",
    [
        pytest.param(device_class(extended_resource_name="example.com/gpu"), id="class"),
        pytest.param(resource_slice(devices=2), id="slice"),
        pytest.param(resource_claim(allocated="d/p/x", reserved_for="web"), id="claim"),
    ],
)
def test_an_encoded_object_decodes_to_itself(made):
    assert decode(type(made), encode(made)) == made


def test_a_wrong_type_is_reported_with_its_field():
    with pytest.raises(InvalidObject, match=r"spec\.selectors"):
        decode(DeviceClass, {"metadata": {"name": "c"}, "spec": {"selectors": "all"}})

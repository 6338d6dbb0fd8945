"""Claims, classes and devices with which a search fails."""

import pytest

from podium.errors import AllocationError
from podium.release import V1_36, V1_37
from podium.testing.builders_devices import device, device_class, resource_slice
from tests.support.devices import (
    MATCH,
    Devices,
    claim,
    exactly,
    first_available,
    gpus,
    memory,
    numbered,
    on_numa,
    rules,
    shareable,
)

MISSING = 'device.attributes["gpu.example.com"].missing == 1'
HINT = (
    ". consider using CEL optional chaining (.? followed by orValue()) or guarding the check with "
    "has() for optional fields"
)


@pytest.mark.parametrize(
    ("release", "on", "hint"),
    [
        pytest.param(V1_36, "", "", id="1.36"),
        pytest.param(V1_37, " on device gpu.example.com/n1/gpu-0", HINT, id="1.37"),
    ],
)
def test_errors_of_selectors(release, on, hint):
    ours = Devices(numbered(2), rules=rules(release))
    theirs = Devices(numbered(2), classes=[device_class(selectors=[MISSING])], rules=rules(release))

    with pytest.raises(AllocationError) as raised:
        ours.allocate(claim(exactly(selectors=["true", MISSING])))
    why = f"{on}: CEL runtime error: no such key: missing{hint}"
    assert str(raised.value) == f"claim default/c: selector #1{why}"

    with pytest.raises(AllocationError) as raised:
        theirs.allocate(claim())
    assert str(raised.value) == f"class gpu: selector #0{why}"


def test_errors_of_selectors_matter_only_where_the_search_comes():
    mixed = gpus(device("a", attributes={"missing": 1}), device("b"))
    devices = Devices(mixed)

    assert devices.names(claim(exactly(selectors=[MISSING]))) == ["r=a"]
    devices.take("a")
    with pytest.raises(AllocationError):
        devices.allocate(claim(exactly(selectors=[MISSING])))


def test_a_selector_that_does_not_compile():
    with pytest.raises(AllocationError) as raised:
        Devices(numbered(1)).allocate(claim(exactly(selectors=["device."])))

    assert str(raised.value).startswith(
        "claim default/c: selector #0: CEL compile error: compilation failed: ERROR: <input>:1:8: "
    )


OTHER = {
    "name": "r",
    "exactly": {
        "deviceClassName": "gpu",
        "allocationMode": "ExactCount",
        "count": 1,
        "selectors": [{}],
    },
}


@pytest.mark.parametrize(
    ("requests", "fields", "features", "expected"),
    [
        pytest.param(
            [OTHER],
            {},
            {},
            "claim default/c, request r, selector #0: CEL expression empty (unsupported selector "
            "type?)",
            id="selector",
        ),
        pytest.param(
            [exactly(adminAccess=False)],
            {},
            {"admin_access": False},
            "claim default/c, request r: admin access is requested, but the feature is disabled",
            id="admin-access",
        ),
        pytest.param(
            [exactly(cls="")],
            {},
            {},
            "claim default/c, request r: missing device class name (unsupported request type?)",
            id="no-class",
        ),
        pytest.param(
            [exactly(cls="none")],
            {},
            {},
            "claim default/c, request r: could not retrieve device class none: "
            'deviceclass.resource.k8s.io "none" not found',
            id="unknown-class",
        ),
        pytest.param(
            [exactly(allocationMode="Some")],
            {},
            {},
            "claim default/c, request r: unsupported count mode Some",
            id="mode",
        ),
        pytest.param(
            [exactly("a", count=30), first_available("x", few=3, many=5)],
            {},
            {},
            "claim default/c: number of requested devices 33 exceeds the claim limit of 32",
            id="too-many",
        ),
        pytest.param(
            [exactly()],
            {"constraints": [{"matchAttribute": "a/b"}, {}]},
            {},
            "claim default/c, constraint #1: empty constraint (unsupported constraint type?)",
            id="constraint",
        ),
        pytest.param(
            [exactly()],
            {"constraints": [{"distinctAttribute": "a/b"}]},
            {"consumable_capacity": False, "binding_conditions": False},
            "claim default/c, constraint #0: empty constraint (unsupported constraint type?)",
            id="distinct-values-are-unknown",
        ),
        pytest.param(
            [exactly(count=None)],
            {"constraints": [MATCH]},
            {},
            "claim default/c, request r: cannot add device gpu.example.com/n1/gpu-0 because a "
            "claim constraint would not be satisfied",
            id="all-despite-a-constraint",
        ),
        pytest.param(
            [first_available("x", one=1)],
            {},
            {"prioritized_list": False},
            "claim default/c, request x: has subrequests, but the DRAPrioritizedList feature is "
            "disabled",
            id="alternatives",
        ),
        pytest.param(
            [exactly(**memory("1"))],
            {},
            {"consumable_capacity": False},
            "claim default/c, request r: has capacity requests, but the DRAConsumableCapacity "
            "feature is disabled",
            id="capacity",
        ),
        pytest.param(
            [first_available("x", one=memory("1"))],
            {},
            {"consumable_capacity": False},
            "claim default/c, subrequest one: has capacity requests, but the DRAConsumableCapacity "
            "feature is disabled",
            id="capacity-of-an-alternative",
        ),
        pytest.param(
            [first_available("x", one={"derivedAttributes": [{"name": "a"}]})],
            {},
            {},
            "claim default/c, request one: cannot handle request with derived attributes, the "
            "feature is disabled",
            id="derived-attributes",
        ),
    ],
)
def test_claims_that_cannot_be_allocated_anywhere(requests, fields, features, expected):
    devices = Devices(numbered(2), rules=rules(**features))

    with pytest.raises(AllocationError) as raised:
        devices.allocate(claim(*requests, **fields))

    assert str(raised.value) == expected


@pytest.mark.parametrize(
    ("release", "count", "expected"),
    [
        pytest.param(V1_37, 1, "gpu.example.com/n1/gpu-0", id="1.37"),
        pytest.param(V1_37, None, "gpu-0", id="1.37-all"),
        pytest.param(V1_36, 1, None, id="1.36"),
        pytest.param(V1_36, None, None, id="1.36-all"),
    ],
)
def test_a_request_for_an_impossible_amount(release, count, expected):
    devices = Devices(shareable("1Gi"), rules=rules(release))
    asked = claim(exactly(count=count, **memory("-1")))

    if expected is None:
        assert devices.names(asked) == ["r=gpu-0"]
        return
    with pytest.raises(AllocationError) as raised:
        devices.allocate(asked)
    where = f"claim default/c, request r: checking capacity for device {expected}"
    assert str(raised.value) == f'{where}: capacity "memory": capacity value is negative'


def test_a_broken_constraint_of_an_alternative_for_all():
    devices = Devices(on_numa(0, None))
    asked = claim(first_available("x", all={"count": None}), constraints=[MATCH])

    with pytest.raises(AllocationError, match="claim default/c, request all: cannot add device "):
        devices.allocate(asked)


def test_derived_attributes_are_unknown_in_1_36():
    devices = Devices(numbered(1), rules=rules(V1_36))

    assert devices.names(claim(exactly(derivedAttributes=[{"name": "a"}]))) == ["r=gpu-0"]


def test_the_first_pool_with_a_problem_is_reported():
    """A request for all devices looks at one pool after the other."""
    complete = gpus(device("gpu-0"))
    pool = {"name": "z", "generation": 1, "resourceSliceCount": 2}
    incomplete = resource_slice("z", node="n1", devices=[device("x")], pool=pool)
    devices = Devices(complete, incomplete)

    for selectors, expected in ((["true"], "resource pool"), ([MISSING], "no such key: missing")):
        with pytest.raises(AllocationError, match=expected):
            devices.allocate(claim(exactly(count=None, selectors=selectors)))


def test_the_stable_allocator_does_not_show_what_can_be_shared():
    asking = claim(exactly(selectors=["device.allowMultipleAllocations"]))
    plain = rules(consumable_capacity=False, binding_conditions=False)

    assert Devices(shareable("1")).allocate(asking) is not None
    assert Devices(shareable("1"), rules=plain).allocate(asking) is None

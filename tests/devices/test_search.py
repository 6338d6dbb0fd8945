"""Which devices claims get, rule by rule."""

import pytest

from podium.errors import AllocationTimeout
from podium.testing.builders_devices import device, device_class, resource_slice
from tests.support.devices import (
    Devices,
    claim,
    exactly,
    first_available,
    gpus,
    numbered,
    rules,
)

EVEN = 'device.attributes["gpu.example.com"].index % 2 == 0'
BIG = 'device.attributes["gpu.example.com"].size == "big"'


@pytest.mark.parametrize(
    ("requests", "expected"),
    [
        pytest.param([exactly()], "r=gpu-0", id="the-first-device"),
        pytest.param([exactly(count=3)], "r=gpu-0 r=gpu-1 r=gpu-2", id="several"),
        pytest.param([exactly("a"), exactly("b")], "a=gpu-0 b=gpu-1", id="two-requests"),
        pytest.param([exactly(count=5)], None, id="more-than-there-are"),
        pytest.param([exactly(count=0)], "", id="none"),
        pytest.param([exactly(count=None)], "r=gpu-0 r=gpu-1 r=gpu-2 r=gpu-3", id="all"),
        pytest.param([exactly(count=None, selectors=[EVEN])], "r=gpu-0 r=gpu-2", id="all-selected"),
        pytest.param([exactly(count=None, selectors=["false"])], None, id="all-of-nothing"),
        pytest.param(
            [exactly("any"), exactly("even", count=2, selectors=[EVEN])],
            "any=gpu-1 even=gpu-0 even=gpu-2",
            id="an-earlier-choice-is-taken-back",
        ),
        pytest.param([exactly("all", count=None), exactly("one")], None, id="nothing-is-left"),
        pytest.param(
            [first_available("x", many=5, two=2, one=1)],
            "x/two=gpu-0 x/two=gpu-1",
            id="the-first-alternative-that-fits",
        ),
        pytest.param(
            [first_available("x", three=3, one=1), exactly("y", count=2)],
            "x/one=gpu-0 y=gpu-1 y=gpu-2",
            id="an-alternative-that-leaves-enough",
        ),
        pytest.param(
            [first_available("x", all={"count": None, "selectors": [EVEN]})],
            "x/all=gpu-0 x/all=gpu-2",
            id="all-as-an-alternative",
        ),
    ],
)
def test_counts_and_alternatives(requests, expected):
    devices = Devices(numbered(4))

    assert devices.names(claim(*requests)) == (None if expected is None else [expected])


def test_several_claims_do_not_share_devices():
    devices = Devices(numbered(3))
    claims = claim(name="one"), claim(exactly(count=2), name="two")

    assert devices.names(*claims) == ["r=gpu-0", "r=gpu-1 r=gpu-2"]


def test_no_claim_needs_nothing():
    assert Devices().allocate() == []


def test_devices_of_others_are_not_chosen():
    devices = Devices(numbered(3))
    devices.take("gpu-0")

    assert devices.names(claim()) == ["r=gpu-1"]
    assert devices.names(claim(exactly(count=None))) is None


def test_selectors_of_class_and_request_must_all_match():
    both = gpus(
        device("a", attributes={"index": 2, "size": "small"}),
        device("b", attributes={"index": 3, "size": "big"}),
        device("c", attributes={"index": 4, "size": "big"}),
    )
    devices = Devices(both, classes=[device_class(selectors=[BIG])])

    assert devices.names(claim(exactly(selectors=[EVEN]))) == ["r=c"]


# --- taints ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("taints", "toleration", "expected"),
    [
        pytest.param("broken:NoSchedule", None, "r=b", id="not-tolerated"),
        pytest.param("broken:NoExecute", None, "r=b", id="no-execute"),
        pytest.param("broken:None", None, "r=a", id="only-announced"),
        pytest.param(
            "broken=x:NoSchedule", {"key": "broken", "operator": "Exists"}, "r=a", id="exists"
        ),
        pytest.param(
            "broken=x:NoSchedule",
            {"key": "broken", "operator": "Equal", "value": "y"},
            "r=b",
            id="other-value",
        ),
        pytest.param(
            "broken:NoSchedule",
            {"operator": "Exists", "effect": "NoExecute"},
            "r=b",
            id="other-effect",
        ),
    ],
)
def test_taints(taints, toleration, expected):
    devices = Devices(gpus(device("a", taints=taints), device("b")))
    fields = {"tolerations": [toleration]} if toleration else {}

    assert devices.names(claim(exactly(**fields))) == [expected]


def test_a_tainted_device_is_one_of_all():
    devices = Devices(gpus(device("a"), device("b", taints="broken:NoSchedule")))

    assert devices.names(claim(exactly(count=None))) is None


def test_taints_do_not_matter_without_the_feature():
    tainted = gpus(device("a", taints="broken:NoSchedule"))

    assert Devices(tainted, rules=rules(device_taints=False)).names(claim()) == ["r=a"]


# --- admin access ---------------------------------------------------------------------------------


def test_admin_access_ignores_who_has_the_device():
    devices = Devices(numbered(2))
    devices.take("gpu-0")
    asked = claim(exactly("a", adminAccess=True), exactly("b", adminAccess=True))

    assert devices.names(asked) == ["a=gpu-0 b=gpu-1"]


def test_admin_access_takes_nothing():
    devices = Devices(numbered(1))
    devices.take("gpu-0", adminAccess=True)

    assert devices.names(claim()) == ["r=gpu-0"]


def test_a_device_with_admin_access_is_not_given_to_another_request():
    devices = Devices(numbered(1))

    assert devices.names(claim(exactly("a", adminAccess=True), exactly("b"))) is None
    assert devices.names(claim(exactly(adminAccess=True)), claim(exactly(), name="d")) is None


def test_admin_access_to_a_device_that_the_same_pod_claims():
    devices = Devices(numbered(1))
    claims = claim(exactly()), claim(exactly(adminAccess=True), name="d")

    assert devices.names(*claims) == ["r=gpu-0", "r=gpu-0"]


# --- binding conditions ---------------------------------------------------------------------------


def test_pools_with_binding_conditions_come_last():
    pools = (
        gpus(device("a", binding_conditions=[])),
        resource_slice("z", node="n1", devices=["z"], pool={"name": "z", "resourceSliceCount": 1}),
    )

    assert Devices(*pools).names(claim()) == ["r=z"]


def test_devices_with_binding_conditions_need_the_feature():
    devices = Devices(
        gpus(device("a", binding_conditions=["Ready"]), device("b")),
        rules=rules(binding_conditions=False),
    )

    assert devices.names(claim()) == ["r=b"]


# --- limits ---------------------------------------------------------------------------------------


def test_an_alternative_that_would_be_too_many_is_skipped():
    devices = Devices(numbered(40))
    asked = claim(exactly("a", count=30), first_available("x", three=3, two=2))

    assert devices.allocate(asked)[0].devices.results[-1].request == "x/two"


def test_alternatives_of_an_earlier_request_are_tried_when_it_gets_too_many():
    devices = Devices(numbered(40))
    asked = claim(first_available("x", many=30, few=1), first_available("y", ten=10, five=5))

    found = devices.allocate(asked)[0].devices.results
    assert [found[0].request, found[-1].request, len(found)] == ["x/few", "y/ten", 11]


def test_a_malformed_device_is_not_used_and_does_no_harm():
    devices = Devices(gpus(device("a", capacity={"memory": "many"}), device("b")))

    assert devices.names(claim()) == ["r=b"]


def test_a_search_takes_no_longer_than_it_may():
    ticks = iter(range(1000))
    devices = Devices(numbered(4), timer=lambda: next(ticks))

    assert devices.names(claim()) == ["r=gpu-0"]
    with pytest.raises(AllocationTimeout, match="timed out trying to allocate devices"):
        devices.allocate(claim(exactly(count=4)), timeout=3)

"""What is written into a claim: devices, configurations, and the nodes that can use them."""

import msgspec
import pytest

from podium.errors import AllocationError
from podium.release import RELEASES, V1_36, V1_37
from podium.testing.builders import node
from podium.testing.builders_devices import device, device_class, resource_slice
from tests.support.devices import Devices, claim, exactly, first_available, rules


def written(value):
    return msgspec.json.decode(msgspec.json.encode(value))


def test_a_device_with_everything():
    given = device("a", binding_conditions=["Ready"], binding_failure_conditions=["Broken"])
    toleration = {"key": "broken", "operator": "Exists"}
    devices = Devices(resource_slice("s", node="n1", devices=[given]))
    asked = claim(exactly(adminAccess=True, tolerations=[toleration]))

    (found,) = devices.allocate(asked)

    assert written(found) == {
        "devices": {
            "results": [
                {
                    "request": "r",
                    "driver": "gpu.example.com",
                    "pool": "n1",
                    "device": "a",
                    "adminAccess": True,
                    "tolerations": [toleration],
                    "bindingConditions": ["Ready"],
                    "bindingFailureConditions": ["Broken"],
                }
            ]
        },
        "nodeSelector": only("n1"),
    }


def test_a_share_has_an_id_and_every_capacity():
    given = device("a", allow_multiple_allocations=True, capacity={"memory": "4Gi", "cores": "8"})
    devices = Devices(resource_slice("s", node="n1", devices=[given]))
    asked = claim(exactly("a", count=1, capacity={"requests": {"memory": "1Gi", "cores": "2"}}))

    (one,), (other,) = (found[0].devices.results for found in map(devices.allocate, [asked] * 2))

    assert one.consumed_capacity == {"memory": "1Gi", "cores": "2"}
    assert len(one.share_id) == 36
    assert one.share_id != other.share_id


# --- nodes ---------------------------------------------------------------------------------------


def only(name):
    field = {"key": "metadata.name", "operator": "In", "values": [name]}
    return {"nodeSelectorTerms": [{"matchFields": [field]}]}


def having(*keys):
    return {
        "nodeSelectorTerms": [
            {"matchExpressions": [{"key": key, "operator": "Exists"} for key in keys]}
        ]
    }


TWO_TERMS = {"nodeSelectorTerms": having("a")["nodeSelectorTerms"] * 2}


@pytest.mark.parametrize(
    ("slices", "expected"),
    [
        pytest.param([{"node": "n1"}], only("n1"), id="of-the-node"),
        pytest.param([{"all_nodes": True}], None, id="for-all-nodes"),
        pytest.param([{"node_selector": having("a")}], having("a"), id="selected-nodes"),
        pytest.param(
            [{"node_selector": having("a", "b")}, {"node_selector": having("b", "c")}],
            having("a", "b", "c"),
            id="both-must-match",
        ),
        pytest.param(
            [{"node_selector": having("a")}, {"node": "n1"}], only("n1"), id="one-of-the-node"
        ),
        pytest.param(
            [{"node": "n1"}, {"node_selector": TWO_TERMS}],
            only("n1"),
            id="several-terms-after-one-of-the-node",
        ),
        pytest.param(
            [{"all_nodes": True, "devices": [device("d", binds_to_node=True)]}],
            only("n1"),
            id="bound-to-the-node",
        ),
        pytest.param(
            [{"per_device_node_selection": True, "devices": [device("d", node_name="n1")]}],
            only("n1"),
            id="device-of-the-node",
        ),
        pytest.param(
            [
                {
                    "per_device_node_selection": True,
                    "devices": [device("d", node_selector=having("a"))],
                }
            ],
            having("a"),
            id="device-for-selected-nodes",
        ),
    ],
)
def test_nodes_that_can_use_the_devices(slices, expected):
    given = [
        resource_slice(f"s{n}", **{"pool": pool(f"p{n}"), **fields})
        for n, fields in enumerate(slices)
    ]
    devices = Devices(*given, nodes=[node("n1", labels="a=1,b=1,c=1")])

    (found,) = devices.allocate(claim(exactly(count=len(slices))))

    assert written(found).get("nodeSelector") == expected


def pool(name):
    return {"name": name, "generation": 1, "resourceSliceCount": 1}


def test_several_terms_are_not_supported():
    devices = Devices(
        resource_slice("s", node_selector=TWO_TERMS), nodes=[node("n1", labels={"a": "1"})]
    )

    with pytest.raises(AllocationError) as raised:
        devices.allocate(claim())
    why = "unsupported ResourceSlice.NodeSelector with 2 terms"
    assert str(raised.value) == f"create NodeSelector for claim c: {why}"


# --- configurations ------------------------------------------------------------------------------


def config(value, *requests):
    opaque = {"driver": "gpu.example.com", "parameters": {"value": value}}
    return {"opaque": opaque, **({"requests": list(requests)} if requests else {})}


def configs(allocation):
    return [
        (each.source, each.opaque.parameters["value"], " ".join(each.requests))
        for each in allocation.devices.config
    ]


CLASSES = [device_class("gpu", config=[config(1), config(2)]), device_class("plain")]


def test_configs_of_a_class_name_all_its_requests():
    devices = Devices(resource_slice("s", node="n1", devices=4), classes=CLASSES)
    asked = claim(exactly("a"), exactly("b", cls="plain"), exactly("c"))

    (found,) = devices.allocate(asked)

    assert configs(found) == [("FromClass", 1, "a c"), ("FromClass", 2, "a c")]


@pytest.mark.parametrize(
    ("release", "expected"),
    [
        pytest.param(
            V1_36,
            [
                ("FromClass", 1, "a x/two"),
                ("FromClass", 2, "a x/two"),
                ("FromClaim", "all", ""),
                ("FromClaim", "both", "a x"),
                ("FromClaim", "both", "a x"),
                ("FromClaim", "second", "x/two"),
            ],
            id="1.36",
        ),
        pytest.param(
            V1_37,
            [
                ("FromClass", 1, ""),
                ("FromClass", 2, ""),
                ("FromClaim", "all", ""),
                ("FromClaim", "both", ""),
                ("FromClaim", "second", "x/two"),
            ],
            id="1.37",
        ),
    ],
)
def test_configs_of_a_claim(release, expected):
    devices = Devices(
        resource_slice("s", node="n1", devices=4), classes=CLASSES, rules=rules(release)
    )
    given = [
        config("all"),
        config("both", "a", "x"),
        config("second", "x/two"),
        config("first", "x/one"),
    ]
    asked = claim(exactly("a"), first_available("x", one=9, two=2), config=given)

    (found,) = devices.allocate(asked)

    assert configs(found) == expected


@pytest.mark.parametrize("release", RELEASES, ids=str)
def test_no_configs(release):
    devices = Devices(resource_slice("s", node="n1"), rules=rules(release))

    assert devices.allocate(claim())[0].devices.config == ()

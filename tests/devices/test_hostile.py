"""Slices and claims that no API server would accept: no other pod or device is affected."""

import random

import msgspec
import pytest

from podium.api.devices import ResourceSlice
from podium.api.resource_claims import ResourceClaim
from podium.errors import AllocationError
from podium.release import RELEASES
from podium.testing.builders import node
from podium.testing.builders_devices import device, device_class, resource_slice
from tests.support.devices import Devices, claim, exactly, first_available, names, rules
from tests.support.search import scaled

HEALTHY = resource_slice("healthy", driver="healthy.example.com", node="n1")
CLASSES = [device_class(), device_class("healthy", driver="healthy.example.com")]
ODD = [
    None, "", "x", "1", "-1", "1e99", "9" * 25, "much", "1.5.0", "n1", "gpu", "All", "device.",
    "device.driver[0]", "1/0 == 1", 0, -1, 2**63 - 1, True, [], [""], ["x"], {}, {"x": {}},
    {"value": "?"}, [{}], [{"name": "card", "counters": {"units": {"value": "x"}}}],
]  # fmt: skip


def gpus():
    """Slices of one pool with something of everything."""
    pool = {"name": "n1", "generation": 1, "resourceSliceCount": 2}
    units = {"counterSet": "card", "counters": {"units": {"value": "1"}}}
    steps = {"default": "1", "validRange": {"min": "1", "max": "4", "step": "1"}}
    devices = [
        device("a", attributes={"numa": 0, "version": {"version": "1.0.0"}}, taints="x:NoSchedule"),
        device(
            "b", attributes={"numa": 1}, consumes_counters=[units], binding_conditions=["Ready"]
        ),
        device(
            "c",
            capacity={"memory": {"value": "4", "requestPolicy": steps}},
            allow_multiple_allocations=True,
        ),
    ]
    sets = [{"name": "card", "counters": {"units": {"value": "2"}}}]
    yield resource_slice("s", node="n1", devices=devices, pool=pool)
    yield resource_slice("sets", node="n1", devices=0, pool=pool, shared_counters=sets)


def asked():
    numa = 'device.attributes["gpu.example.com"].?numa.orValue(0) == 0'
    yield claim(
        exactly("one", selectors=[numa], tolerations=[{"operator": "Exists"}]),
        first_available("x", all={"count": None}, few={"count": 1}),
        exactly("part", capacity={"requests": {"memory": "2"}}),
        constraints=[{"matchAttribute": "gpu.example.com/numa", "requests": ["one"]}],
    )
    yield claim(exactly(adminAccess=True), config=[{"requests": ["r"]}], name="admin")


def mutated(chance, value, kind):
    """Return an object with some of its fields replaced; the same one if that cannot be decoded."""
    tree = msgspec.json.decode(msgspec.json.encode(value))
    for _ in range(chance.randint(1, 3)):
        _replace_one(chance, tree["spec"])
    try:
        return msgspec.convert(tree, kind)
    except msgspec.ValidationError:
        return value


def _replace_one(chance, tree):
    place = tree
    while True:
        keys = list(place) if isinstance(place, dict) else list(range(len(place)))
        if not keys:
            return
        key = chance.choice(keys)
        below = place[key]
        if not isinstance(below, dict | list) or not below or chance.random() < 0.2:
            place[key] = chance.choice(ODD)
            return
        place = below


@pytest.mark.parametrize("release", RELEASES, ids=str)
def test_what_is_wrong_harms_only_itself(release):
    for seed in range(scaled(400)):
        chance = random.Random(seed)
        slices = [mutated(chance, each, ResourceSlice) for each in gpus()]
        claims = [mutated(chance, each, ResourceClaim) for each in asked()]
        devices = Devices(HEALTHY, *slices, classes=CLASSES, rules=rules(release))
        for each in claims:
            try:
                for found in devices.allocate(each) or ():
                    devices.taken.add(found)
                devices.allocator.allocate_each([each], devices.rows)
            except AllocationError:
                pass

        (found,) = devices.allocate(claim(exactly(cls="healthy")))
        assert names(found) == "r=gpu-0", seed


def test_one_malformed_device_among_many():
    good = [device(f"gpu-{n}", attributes={"index": n}) for n in range(127)]
    bad = device("bad", attributes={"index": {"version": "one"}}, capacity={"memory": "lots"})
    devices = Devices(resource_slice("s", node="n1", devices=[bad, *good]))
    last = 'device.attributes["gpu.example.com"].index == 126'

    assert devices.names(claim(exactly(selectors=[last]))) == ["r=gpu-126"]


def test_a_generation_that_goes_back():
    def pool(generation):
        return {"name": "n1", "generation": generation, "resourceSliceCount": 1}

    devices = Devices(resource_slice("s", node="n1", devices=["new"], pool=pool(7)))
    assert devices.names(claim()) == ["r=new"]

    devices.inventory.set_slice(resource_slice("s", node="n1", devices=["old"], pool=pool(3)))
    assert devices.names(claim()) == ["r=old"]


def test_a_driver_that_never_completes_its_pool():
    pool = {"name": "n1", "generation": 1, "resourceSliceCount": 3}
    devices = Devices(resource_slice("s", node="n1", pool=pool), HEALTHY, classes=CLASSES)

    assert devices.names(claim()) is None
    assert devices.names(claim(exactly(cls="healthy"))) == ["r=gpu-0"]


def test_very_many_devices_are_refused_and_do_no_harm():
    devices = Devices(
        *(
            resource_slice(
                f"s{n}",
                node="n1",
                devices=128,
                pool={"name": f"p{n:02}", "generation": 1, "resourceSliceCount": 1},
            )
            for n in range(16)
        )
    )
    claims = [claim(exactly(count=32), name=f"c{n}") for n in range(60)]

    with pytest.raises(AllocationError, match="too many devices are requested at once"):
        devices.allocate(*claims)
    assert devices.names(claim()) == ["r=gpu-0"]


def test_a_node_without_slices():
    assert Devices(nodes=[node("n1")]).names(claim()) is None

"""Which slices make up the pools of a node, and which pools can be used."""

import pytest

from podium.devices import INVALID_POOLS
from podium.errors import AllocationError
from podium.release import RELEASES, V1_36, V1_37
from podium.testing.builders import node
from podium.testing.builders_devices import device, device_class, resource_slice
from tests.support.devices import Devices, claim, exactly, rules

ZONE = "topology.kubernetes.io/zone"
NODES = [node("n1", labels={ZONE: "a"}), node("n2", labels={ZONE: "b"})]


def part(name, *devices, generation=1, slices=1, pool="n1", **fields):
    where = (
        {}
        if {"node", "all_nodes", "per_device_node_selection", "node_selector"} & set(fields)
        else {"node": "n1"}
    )
    return resource_slice(
        name,
        devices=devices,
        pool={"name": pool, "generation": generation, "resourceSliceCount": slices},
        **where,
        **fields,
    )


def in_zone(zone):
    expression = {"key": ZONE, "operator": "In", "values": [zone]}
    return {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}


@pytest.mark.parametrize("release", RELEASES, ids=str)
@pytest.mark.parametrize(
    ("slices", "expected"),
    [
        pytest.param([part("s", "a")], "r=a", id="one-slice"),
        pytest.param([part("s", "a", slices=2)], None, id="a-slice-is-missing"),
        pytest.param(
            [part("t", "b", slices=2), part("s", "a", slices=2)], "r=a", id="slices-by-name"
        ),
        pytest.param(
            [part("s", "a"), part("t", "b", generation=2)], "r=b", id="the-newest-generation"
        ),
        pytest.param(
            [part("s", "a"), part("t", "b", generation=2, slices=2)],
            None,
            id="the-newest-generation-is-incomplete",
        ),
        pytest.param(
            [part("s", "a", slices=2), part("t", "b", slices=2, node="n2")],
            "r=a",
            id="the-rest-is-for-another-node",
        ),
        pytest.param(
            [part("s", "a", slices=2), part("t", "b", generation=2, node="n2")],
            None,
            id="another-node-has-a-newer-generation",
        ),
        pytest.param(
            [part("s", "a"), part("t", "b", generation=2, node="n2")],
            "r=a",
            id="a-newer-generation-elsewhere-is-not-noticed-by-a-whole-pool",
        ),
        pytest.param(
            [part("s", "a", all_nodes=True, slices=1), part("t", "b", slices=2)],
            "r=a",
            id="slices-of-the-node-say-how-many-there-are",
        ),
        pytest.param([part("s", "a", "a")], None, id="two-devices-with-one-name"),
        pytest.param(
            [part("s", "a", "a"), part("t", "b", pool="z")], "r=b", id="another-pool-is-valid"
        ),
        pytest.param(
            [part("s", "z", pool="z"), part("t", "y", pool="y")], "r=y", id="pools-by-name"
        ),
        pytest.param(
            [part("s", "b", driver="b.example.com"), part("t", "a", driver="a.example.com")],
            "r=a",
            id="pools-by-driver",
        ),
        pytest.param([part("s", "a", all_nodes=True)], "r=a", id="for-all-nodes"),
        pytest.param([part("s", "a", node_selector=in_zone("a"))], "r=a", id="for-this-zone"),
        pytest.param([part("s", "a", node_selector=in_zone("b"))], None, id="for-another-zone"),
        pytest.param([part("s", "a", node="n2")], None, id="for-another-node"),
        pytest.param(
            [
                part(
                    "s",
                    device("a", node_name="n2"),
                    device("b", node_selector=in_zone("b")),
                    device("c", node_selector=in_zone("a")),
                    device("d", all_nodes=True),
                    per_device_node_selection=True,
                )
            ],
            "r=c",
            id="devices-say-for-which-nodes-they-are",
        ),
        pytest.param([part("s", "a", all_nodes=False)], None, id="nothing-says-for-which-nodes"),
    ],
)
def test_pools(slices, expected, release):
    anything = device_class(selectors=["true"])
    devices = Devices(*slices, nodes=NODES, classes=[anything], rules=rules(release))

    assert devices.names(claim()) == (None if expected is None else [expected])


def counting(*sets, name="sets", **fields):
    """A slice with counter sets, written as ``"card:memory"``."""
    listed = []
    for text in sets:
        counter_set, _, counters = text.partition(":")
        amounts = {counter: {"value": "4"} for counter in counters.split()}
        listed.append({"name": counter_set, "counters": amounts})
    return part(name, shared_counters=listed, slices=2, **fields)


def consuming(name, counter_set="card", counter="memory", **fields):
    taken = {"counterSet": counter_set, "counters": {counter: {"value": "3"}}}
    return device(name, consumes_counters=[taken], **fields)


@pytest.mark.parametrize(
    ("slices", "reason"),
    [
        pytest.param([part("s", "a", "b", "a")], "duplicate device name a", id="device"),
        pytest.param(
            [part("s", "a", slices=2), counting("card:memory", "card:")],
            "duplicate counter set name card",
            id="counter-set-twice",
        ),
        pytest.param(
            [part("s", consuming("a", "box"), slices=2), counting("card:memory")],
            "counter set box not found",
            id="counter-set",
        ),
        pytest.param(
            [part("s", consuming("a", counter="cores"), slices=2), counting("card:memory")],
            "counter cores not found in counter set card",
            id="counter",
        ),
        pytest.param(
            [part("s", "a", slices=2), part("t", consuming("b"), slices=2, node="n2")],
            "counter set card not found",
            id="of-a-device-for-another-node",
        ),
    ],
)
def test_invalid_pools(slices, reason):
    devices = Devices(*slices, nodes=NODES)

    (pool,) = devices.inventory.devices_on(0).pools
    outcomes = devices.allocator.allocate_each([claim()], devices.rows)

    assert pool.invalid_reason == reason
    assert outcomes.endings[0] == INVALID_POOLS
    with pytest.raises(AllocationError) as raised:
        devices.allocate(claim(exactly(count=None)))
    why = "asks for all devices, but resource pool gpu.example.com/n1 is currently invalid"
    assert str(raised.value) == f"claim default/c, request r: {why}"


def test_all_devices_of_an_incomplete_pool():
    other = part("t", "b", driver="other.example.com", pool="p", slices=3)
    devices = Devices(part("s", "a"), other)

    assert devices.names(claim()) == ["r=a"]
    with pytest.raises(AllocationError) as raised:
        devices.allocate(claim(exactly(count=None)))
    why = "asks for all devices, but resource pool other.example.com/p is currently being updated"
    assert str(raised.value) == f"claim default/c, request r: {why}"


@pytest.mark.parametrize("release", RELEASES, ids=str)
def test_counters_that_several_nodes_share(release):
    pool = {"slices": 3, "pool": "shared"}
    devices = Devices(
        part("s1", consuming("a"), **pool),
        part("s2", consuming("b"), node="n2", **pool),
        part(
            "sets",
            shared_counters=[{"name": "card", "counters": {"memory": {"value": "4"}}}],
            all_nodes=True,
            **pool,
        ),
        nodes=NODES,
        rules=rules(release),
    )

    assert devices.names(claim()) == ["r=a"]
    devices.take("b", pool="shared")
    assert devices.names(claim()) is None


@pytest.mark.parametrize(
    ("release", "pools"),
    [pytest.param(V1_36, 1, id="1.36-everywhere"), pytest.param(V1_37, 0, id="1.37-where-it-says")],
)
def test_counters_of_another_node(release, pools):
    devices = Devices(
        part("s", consuming("a"), slices=2),
        counting("card:memory"),
        nodes=NODES,
        rules=rules(release),
    )

    assert len(devices.inventory.devices_on(1).pools) == pools
    assert devices.names(claim()) == ["r=a"]


def test_compatibility_groups_are_not_supported():
    taken = {
        "counterSet": "card",
        "counters": {"memory": {"value": "1"}},
        "compatibilityGroups": ["g"],
    }
    grouped = part("t", device("b", consumes_counters=[taken]), slices=2)
    devices = Devices(part("s", "a", slices=2), grouped)

    (pool,) = devices.inventory.devices_on(0).pools
    assert pool.is_incomplete


def test_a_node_selector_that_cannot_be_evaluated():
    expression = {"key": ZONE, "operator": "Near", "values": ["a"]}
    selector = {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}
    devices = Devices(part("s", "a", node_selector=selector), nodes=NODES)

    with pytest.raises(AllocationError) as raised:
        devices.allocate(claim())
    assert str(raised.value) == (
        "gather pool information: failed to perform node selection for slice s: "
        "failed to parse node selector &NodeSelector{NodeSelectorTerms:[]NodeSelectorTerm{"
        "NodeSelectorTerm{MatchExpressions:[]NodeSelectorRequirement{NodeSelectorRequirement{"
        "Key:topology.kubernetes.io/zone,Operator:Near,Values:[a],},},"
        "MatchFields:[]NodeSelectorRequirement{},},},}: "
        'nodeSelectorTerms[0].matchExpressions[0].operator: Unsupported value: "Near": supported '
        'values: "In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"'
    )


def test_partitions_need_the_feature():
    off = rules(partitionable_devices=False)
    parts = part("s", consuming("a"), "b", slices=2), counting("card:memory")

    assert Devices(*parts).names(claim()) == ["r=a"]
    assert Devices(*parts, rules=off).names(claim()) == ["r=b"]
    selected = part("s", device("a", all_nodes=True), per_device_node_selection=True)
    assert Devices(selected, rules=off).names(claim()) is None
    assert Devices(selected).names(claim()) == ["r=a"]

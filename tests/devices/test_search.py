"""Which devices claims get, rule by rule."""

import pytest

from podium.errors import AllocationError, AllocationTimeout
from podium.release import RELEASES, V1_36, V1_37
from podium.testing.builders_devices import device, device_class, resource_slice
from tests.support.devices import Devices, claim, exactly, first_available, rules

EVEN = 'device.attributes["gpu.example.com"].index % 2 == 0'
BIG = 'device.attributes["gpu.example.com"].size == "big"'


def gpus(*devices, node="n1", **fields):
    return resource_slice(f"{node}-gpus", node=node, devices=devices, **fields)


def numbered(count, **fields):
    return gpus(*(device(f"gpu-{n}", attributes={"index": n}) for n in range(count)), **fields)


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


# --- constraints ---------------------------------------------------------------------------------


MATCH = {"matchAttribute": "gpu.example.com/numa"}
DISTINCT = {"distinctAttribute": "gpu.example.com/numa"}


def on_numa(*values):
    return gpus(
        *(
            device(f"gpu-{n}", attributes={} if value is None else {"numa": value})
            for n, value in enumerate(values)
        )
    )


@pytest.mark.parametrize(
    ("values", "constraint", "requests", "expected"),
    [
        pytest.param((0, 1, 0), MATCH, [exactly(count=2)], "r=gpu-0 r=gpu-2", id="match"),
        pytest.param((0, 1, 2), MATCH, [exactly(count=2)], None, id="match-nothing"),
        pytest.param((None, 1, 1), MATCH, [exactly(count=2)], "r=gpu-1 r=gpu-2", id="no-value"),
        pytest.param((1, "1", True, True), MATCH, [exactly(count=2)], "r=gpu-2 r=gpu-3", id="type"),
        pytest.param(
            ({"version": "1.0.0"}, "1.0.0", {"version": "1.0.0"}),
            MATCH,
            [exactly(count=2)],
            "r=gpu-0 r=gpu-2",
            id="versions",
        ),
        pytest.param(
            ({"ints": [1]}, {"ints": [1]}), MATCH, [exactly(count=2)], None, id="lists-never-match"
        ),
        pytest.param(
            (0, 1, 0),
            {**MATCH, "requests": ["b"]},
            [exactly("a"), exactly("b")],
            "a=gpu-0 b=gpu-1",
            id="of-one-request",
        ),
        pytest.param(
            (0, 1, 0),
            {**MATCH, "requests": ["a", "x/one"]},
            [exactly("a"), first_available("x", three=3, one=1)],
            "a=gpu-0 x/one=gpu-2",
            id="of-an-alternative",
        ),
        pytest.param(
            (0, 1, 1),
            {**MATCH, "requests": ["a", "x"]},
            [exactly("a"), first_available("x", two=2)],
            None,
            id="of-a-request-with-alternatives",
        ),
        pytest.param((0, 0, 1), DISTINCT, [exactly(count=2)], "r=gpu-0 r=gpu-2", id="distinct"),
        pytest.param((0, 0), DISTINCT, [exactly(count=2)], None, id="nothing-distinct"),
    ],
)
def test_constraints(values, constraint, requests, expected):
    devices = Devices(on_numa(*values))
    asked = claim(*requests, constraints=[constraint])

    assert devices.names(asked) == (None if expected is None else [expected])


@pytest.mark.parametrize(
    ("release", "expected"),
    [
        # 1.36 remembers only the last device of a request.
        pytest.param(V1_36, ["r=gpu-0 r=gpu-1 r=gpu-2"], id="1.36"),
        pytest.param(V1_37, None, id="1.37"),
    ],
)
def test_distinct_values_of_one_request(release, expected):
    devices = Devices(on_numa(0, 1, 0), rules=rules(release))

    assert devices.names(claim(exactly(count=3), constraints=[DISTINCT])) == expected


def test_a_qualified_attribute_of_another_domain():
    shared = gpus(
        device("a", attributes={"example.org/rack": 1}),
        device("b", attributes={"rack": 2}),
        device("c", attributes={"example.org/rack": 1}),
    )
    asked = claim(exactly(count=2), constraints=[{"matchAttribute": "example.org/rack"}])

    assert Devices(shared).names(asked) == ["r=a r=c"]


# --- taints --------------------------------------------------------------------------------------


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


# --- admin access --------------------------------------------------------------------------------


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
    assert devices.names(claim(exactly()), claim(exactly(adminAccess=True), name="d")) == [
        "r=gpu-0",
        "r=gpu-0",
    ]


# --- counters ------------------------------------------------------------------------------------


def partitions(*amounts, total="4", **fields):
    """A pool whose devices take these amounts of one counter."""
    devices = [
        device(
            f"part-{n}",
            consumes_counters=[{"counterSet": "card", "counters": {"memory": {"value": amount}}}],
            **fields,
        )
        for n, amount in enumerate(amounts)
    ]
    pool = {"name": "n1", "generation": 1, "resourceSliceCount": 2}
    sets = [{"name": "card", "counters": {"memory": {"value": total}}}]
    return (
        resource_slice("parts", node="n1", devices=devices, pool=pool),
        resource_slice("sets", node="n1", devices=0, pool=pool, shared_counters=sets),
    )


@pytest.mark.parametrize("release", RELEASES, ids=str)
def test_counters_limit_what_is_chosen(release):
    devices = Devices(*partitions("3", "2", "1", "1"), rules=rules(release))

    assert devices.names(claim(exactly(count=2))) == ["r=part-0 r=part-2"]
    assert devices.names(claim(exactly(count=3))) == ["r=part-1 r=part-2 r=part-3"]
    assert devices.names(claim(exactly(count=4))) is None


def test_devices_of_others_consume_counters():
    devices = Devices(*partitions("3", "2", "1"))
    devices.take("part-0")

    assert devices.names(claim()) == ["r=part-2"]


def test_a_pool_of_which_too_much_is_taken_gives_nothing():
    devices = Devices(*partitions("3", "2", "0"))
    devices.take("part-0", "part-1")

    assert devices.names(claim()) is None


def test_admin_access_consumes_counters():
    devices = Devices(*partitions("3"))
    devices.take("part-0")

    assert devices.names(claim(exactly(adminAccess=True))) is None


def test_devices_with_counters_need_the_feature():
    parts, _ = partitions("1")
    alone = resource_slice("parts", node="n1", devices=parts.spec.devices)

    assert Devices(alone, rules=rules(partitionable_devices=False)).names(claim()) is None


@pytest.mark.parametrize(
    ("release", "expected"),
    [
        # 1.36 charges the counters again if the share that is held consumes no capacity.
        pytest.param(V1_36, None, id="1.36"),
        pytest.param(V1_37, ["r=part-0"], id="1.37"),
    ],
)
def test_shares_of_a_device_consume_its_counters_once(release, expected):
    devices = Devices(*partitions("3", allow_multiple_allocations=True), rules=rules(release))

    assert devices.names(claim(exactly("a"), exactly("b"))) == ["a=part-0 b=part-0"]
    devices.take("part-0", shareID="s")
    assert devices.names(claim()) == expected


# --- capacity ------------------------------------------------------------------------------------


def shareable(*amounts, **policy):
    fields = {"requestPolicy": policy} if policy else {}
    return gpus(
        *(
            device(
                f"gpu-{n}",
                allow_multiple_allocations=True,
                capacity={"memory": {"value": amount, **fields}},
            )
            for n, amount in enumerate(amounts)
        )
    )


def memory(amount):
    return {"capacity": {"requests": {"memory": amount}}}


def test_several_claims_share_a_device():
    devices = Devices(shareable("10Gi", "10Gi"))
    claims = [claim(exactly(**memory("6Gi")), name=name) for name in ("a", "b")]

    assert devices.names(*claims) == ["r=gpu-0", "r=gpu-1"]
    assert devices.names(claim(exactly("a", **memory("6Gi")), exactly("b", **memory("4Gi")))) == [
        "a=gpu-0 b=gpu-0"
    ]
    assert devices.names(claim(exactly(count=2, **memory("1Gi")))) == ["r=gpu-0 r=gpu-1"]


def test_shares_of_others_leave_the_rest():
    devices = Devices(shareable("10Gi"))
    devices.take("gpu-0", shareID="s", consumedCapacity={"memory": "6Gi"})

    assert devices.names(claim(exactly(**memory("5Gi")))) is None
    assert devices.names(claim(exactly(**memory("4Gi")))) == ["r=gpu-0"]
    assert devices.names(claim()) is None  # without a policy a request takes everything


def test_a_device_that_somebody_has_alone_is_not_shared():
    devices = Devices(shareable("10Gi"))
    devices.take("gpu-0")

    assert devices.names(claim(exactly(**memory("1Gi")))) is None


@pytest.mark.parametrize(
    ("release", "expected"),
    [
        pytest.param(V1_36, ["r=gpu-1"], id="1.36-leaves-out-full-devices"),
        pytest.param(V1_37, None, id="1.37-wants-every-device"),
    ],
)
def test_all_devices_with_room(release, expected):
    devices = Devices(shareable("10Gi", "10Gi"), rules=rules(release))
    devices.take("gpu-0", shareID="s", consumedCapacity={"memory": "9Gi"})

    assert devices.names(claim(exactly(count=None, **memory("2Gi")))) == expected


def test_all_devices_that_could_ever_serve():
    devices = Devices(shareable("1Gi", "10Gi"))

    assert devices.names(claim(exactly(count=None, **memory("2Gi")))) == ["r=gpu-1"]


def test_without_the_feature_devices_are_not_shared():
    devices = Devices(shareable("10Gi"), rules=rules(consumable_capacity=False))
    held = devices.take("gpu-0", shareID="s")

    assert devices.names(claim()) is None
    devices.taken.remove(held)
    assert devices.names(claim(exactly("a"), exactly("b"))) is None


# --- binding conditions --------------------------------------------------------------------------


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


# --- limits --------------------------------------------------------------------------------------


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


# --- errors --------------------------------------------------------------------------------------


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

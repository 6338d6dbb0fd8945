"""Devices, claims and allocations for property tests."""

from hypothesis import strategies as st

from podium.testing.builders_devices import device, device_class, resource_slice
from tests.support.devices import claim, exactly, first_available

DRIVERS = ("a.example.com", "b.example.com")
CLASSES = [
    device_class("gpu", selectors=["true"]),
    device_class("a", driver=DRIVERS[0]),
    device_class("b", driver=DRIVERS[1]),
]
SELECTORS = [
    "device.allowMultipleAllocations",
    '"rack" in device.attributes[device.driver]',
    "device.attributes[device.driver].?numa.orValue(0) == 0",
]
CONSTRAINTS = [
    {"matchAttribute": "a.example.com/numa"},
    {"distinctAttribute": "a.example.com/numa"},
    {"matchAttribute": "a.example.com/numa", "requests": ["r0"]},
    {"matchAttribute": "a.example.com/numa", "requests": ["r0", "r1/s1"]},
    {"distinctAttribute": "a.example.com/numa", "requests": ["r1"]},
]
MEMORY = ("1", "2", "3")


@st.composite
def some_device(draw, name, has_counters):
    attributes = {"numa": draw(st.integers(0, 1))}
    if draw(st.booleans()):
        attributes["rack"] = "x"
    if draw(st.integers(0, 4)) == 0:
        del attributes["numa"]
    fields = {}
    if draw(st.booleans()):
        fields["capacity"] = {"memory": draw(st.sampled_from(MEMORY))}
    if draw(st.integers(0, 2)) == 0:
        fields["allow_multiple_allocations"] = True
    if has_counters and draw(st.booleans()):
        amount = {"value": draw(st.sampled_from(("0", "1", "2")))}
        fields["consumes_counters"] = [{"counterSet": "card", "counters": {"units": amount}}]
    taints = draw(st.sampled_from(("", "", "", "x:NoSchedule")))
    return device(name, attributes=attributes, taints=taints, **fields)


@st.composite
def some_pool(draw, driver, name, where, max_devices=4):
    """Slices that make up one pool: devices, and perhaps counters."""
    has_counters = draw(st.booleans())
    count = draw(st.integers(1, max_devices))
    devices = [draw(some_device(f"d{n}", has_counters)) for n in range(count)]
    cut = draw(st.integers(0, count)) if count > 1 else count
    parts = [part for part in (devices[:cut], devices[cut:]) if part]
    pool = {
        "name": name,
        "generation": draw(st.integers(1, 2)),
        "resourceSliceCount": len(parts) + has_counters,
    }
    slices = [
        resource_slice(f"{driver}-{name}-{n}", driver=driver, devices=part, pool=pool, **where)
        for n, part in enumerate(parts)
    ]
    if has_counters:
        sets = [{"name": "card", "counters": {"units": {"value": draw(st.sampled_from("1234"))}}}]
        slices.append(
            resource_slice(
                f"{driver}-{name}-sets",
                driver=driver,
                devices=0,
                pool=pool,
                shared_counters=sets,
                **where,
            )
        )
    return slices


@st.composite
def some_spec(draw, may_be_all=True):
    """What a request asks for, as ``exactly`` and ``first_available`` take it."""
    spec = {
        "cls": draw(st.sampled_from(("gpu", "gpu", "a", "b"))),
        "count": draw(st.sampled_from((1, 1, 2, 3))),
        "selectors": draw(st.lists(st.sampled_from(SELECTORS), max_size=1)),
    }
    if may_be_all and draw(st.integers(0, 5)) == 0:
        spec["count"] = None
    if draw(st.booleans()):
        spec["tolerations"] = [{"operator": "Exists"}]
    if draw(st.integers(0, 2)) == 0:
        spec["capacity"] = {"requests": {"memory": draw(st.sampled_from(MEMORY))}}
    return spec


@st.composite
def some_claim(draw, name="c", max_requests=2):
    # A constraint that all devices together break is an error, which the model does not know.
    constraints = draw(st.lists(st.sampled_from(CONSTRAINTS), max_size=2))
    requests = []
    for number in range(draw(st.integers(1, max_requests))):
        if draw(st.integers(0, 3)) == 0:
            subs = draw(st.integers(1, 2))
            spec = some_spec(may_be_all=not constraints)
            chosen = {f"s{n}": draw(spec) for n in range(subs)}
            requests.append(first_available(f"r{number}", **chosen))
            continue
        spec = draw(some_spec(may_be_all=not constraints))
        if draw(st.integers(0, 5)) == 0:
            spec["adminAccess"] = True
        requests.append(exactly(f"r{number}", **spec))
    return claim(*requests, name=name, constraints=constraints)

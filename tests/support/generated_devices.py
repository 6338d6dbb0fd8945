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
    'device.attributes[device.driver].?serial.orValue("x") == "x"',
]
CONSTRAINTS = [
    {"matchAttribute": "a.example.com/numa"},
    {"distinctAttribute": "a.example.com/numa"},
    {"matchAttribute": "a.example.com/numa", "requests": ["r0"]},
    {"matchAttribute": "a.example.com/numa", "requests": ["r0", "r1/s1"]},
    {"distinctAttribute": "a.example.com/numa", "requests": ["r1"]},
    {"distinctAttribute": "a.example.com/serial"},
]
MEMORY = ("1", "2", "3")


def one_in(count):
    """Whether something happens that is the case once in so many times."""
    return st.sampled_from([False] * (count - 1) + [True])


@st.composite
def some_device(draw, name, has_counters):
    attributes = {"numa": draw(st.integers(0, 1)), "serial": draw(st.sampled_from("xyz"))}
    if draw(st.booleans()):
        attributes["rack"] = "x"
    if draw(one_in(5)):
        del attributes["numa"]
    fields = {}
    if not draw(one_in(4)):
        fields["capacity"] = {"memory": draw(st.sampled_from(MEMORY))}
    if draw(one_in(4)):
        fields["allow_multiple_allocations"] = True
    if has_counters and draw(st.booleans()):
        amount = {"value": draw(st.sampled_from(("0", "1", "2")))}
        fields["consumes_counters"] = [{"counterSet": "card", "counters": {"units": amount}}]
    taints = "x:NoSchedule" if draw(one_in(7)) else ""
    return device(name, attributes=attributes, taints=taints, **fields)


@st.composite
def some_pool(draw, driver, name, where, max_devices=4):
    """Slices that make up one pool: devices, and perhaps counters."""
    has_counters = draw(st.booleans())
    count = draw(st.sampled_from(range(max_devices, 0, -1)))
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
        sets = [{"name": "card", "counters": {"units": {"value": draw(st.sampled_from("2345"))}}}]
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
def some_spec(draw, may_be_all, is_choosy):
    """What a request asks for, as ``exactly`` and ``first_available`` take it."""
    spec = {
        "cls": draw(st.sampled_from(("gpu", "gpu", "gpu", "a", "b"))),
        "count": draw(st.sampled_from((1, 1, 1, 2, 3))),
        "selectors": draw(st.lists(st.sampled_from(SELECTORS), max_size=1)) if is_choosy else [],
    }
    if may_be_all and draw(one_in(6)):
        spec["count"] = None
    if draw(st.booleans()):
        spec["tolerations"] = [{"operator": "Exists"}]
    if draw(one_in(4)):
        spec["capacity"] = {"requests": {"memory": draw(st.sampled_from(MEMORY))}}
    return spec


@st.composite
def some_claim(draw, name="c", max_requests=2):
    # A constraint that all devices together break is an error, which the model does not know.
    constraints = draw(st.lists(st.sampled_from(CONSTRAINTS), max_size=1))
    requests = []
    for number in range(draw(st.sampled_from(range(max_requests, 0, -1)))):
        # A later request that wants a certain device makes the search go back.
        spec = some_spec(may_be_all=not constraints, is_choosy=number > 0)
        if draw(one_in(4)):
            subs = draw(st.integers(1, 2))
            chosen = {f"s{n}": draw(spec) for n in range(subs)}
            requests.append(first_available(f"r{number}", **chosen))
            continue
        wanted = draw(spec)
        if draw(one_in(6)):
            wanted["adminAccess"] = True
        requests.append(exactly(f"r{number}", **wanted))
    return claim(*requests, name=name, constraints=constraints)

"""Scripts: device classes, slices and taint rules: defaults, refusals, statuses.

Expressions in CEL are valid here.
"""

from podium.release import V1_37
from tests.support.control_plane.comparison import MERGE

GROUP = "resource.k8s.io/v1"
CLASSES = f"/apis/{GROUP}/deviceclasses"
SLICES = f"/apis/{GROUP}/resourceslices"
CEL = {"cel": {"expression": "true"}}
LONG = "x" * 64
OPAQUE = {"driver": "d.example.com", "parameters": {"a": 1}}


def named(spec, name="x"):
    return {"metadata": {"name": name}, "spec": spec}


CONFIGS = (
    {},
    {"opaque": {}},
    {"opaque": {"driver": "Bad Driver", "parameters": {}}},
    {"opaque": {"driver": LONG, "parameters": {"a": 1}}},
    {"opaque": {"driver": "d.example.com", "parameters": None}},
    {"opaque": {"driver": "d.example.com", "parameters": [1]}},
    {"opaque": {"driver": "d.example.com", "parameters": {"a": "x" * (10 * 1024)}}},
    {"opaque": OPAQUE},
)


def refused_device_classes(ask):
    for spec in (
        {},
        {"selectors": [{}]},
        {"selectors": [CEL, CEL]},
        {"selectors": [CEL] * 33},
        *({"config": [one]} for one in CONFIGS),
        {"config": [CONFIGS[-1]] * 33},
        {"extendedResourceName": ""},
        {"extendedResourceName": "gpu"},
        {"extendedResourceName": "kubernetes.io/gpu"},
        {"extendedResourceName": "requests.example.com/gpu"},
        {"extendedResourceName": "example.com/gpu"},
        {"extendedResourceName": "example.com/a b"},
    ):
        ask.create(f"{CLASSES}?dryRun=All", named(spec))
    ask.create(CLASSES, named({"selectors": [CEL]}, "kept-class"))
    ask.patch(f"{CLASSES}/kept-class", {"spec": {"extendedResourceName": "gpu"}}, MERGE)
    ask.patch(f"{CLASSES}/kept-class", {"spec": {"extendedResourceName": "a.b/gpu"}}, MERGE)
    ask.delete(f"{CLASSES}/kept-class")


POOL = {"name": "p", "generation": 1, "resourceSliceCount": 1}
TERM = {"matchExpressions": [{"key": "a", "operator": "Exists"}]}
ONE_TERM = {"nodeSelectorTerms": [TERM]}


def offer(*devices, **more):
    return {
        "driver": "d.example.com",
        "pool": POOL,
        "nodeName": "n",
        "devices": list(devices),
        **more,
    }


def sliced(**more):
    """A slice for all nodes, or for those that ``more`` says."""
    spec = offer(**more)
    return {name: one for name, one in spec.items() if one is not None}


def device(**more):
    return {"name": "d", **more}


def policy(value="10", shared=True, **policy):
    capacity = {"memory": {"value": value, "requestPolicy": policy}}
    return device(capacity=capacity, allowMultipleAllocations=shared)


DEVICES = (
    {},
    device(name="Bad_Name"),
    device(name="x" * 64),
    device(attributes={"a": {}}),
    device(attributes={"a": {"int": 1, "bool": False}}),
    device(attributes={"a": {"string": "x" * 65}}),
    device(attributes={"a": {"version": "1.0"}}),
    device(attributes={"a": {"version": "1.0.0-" + LONG}}),
    device(attributes={"a b": {"int": 1}}),
    device(attributes={"x" * 33: {"int": 1}}),
    device(attributes={"Bad_Domain/a": {"int": 1}}),
    device(attributes={"/a": {"int": 1}}),
    device(attributes={"a.b/": {"int": 1}}),
    device(attributes={f"{LONG}.b/a": {"int": 1}}),
    device(attributes={"a.b/c/d": {"int": 1}}),
    device(attributes={f"a{number}": {"int": 1} for number in range(33)}),
    device(attributes={"a": {"ints": [1, 2]}}),
    device(attributes={"a": {"strings": ["x" * 65]}}),
    device(attributes={"a": {"versions": ["1"]}}),
    device(capacity={"a b": {"value": 1}}),
    device(capacity={"a": {"value": "1Gi"}}),
    device(taints=[{}]),
    device(taints=[{"key": "a b", "value": "b c", "effect": "Odd"}]),
    device(taints=[{"key": "a", "effect": "None"}]),
    device(taints=[{"key": "a", "effect": "NoSchedule"}] * 17),
    device(nodeName="n"),
    device(consumesCounters=[{}]),
    device(consumesCounters=[{"counterSet": "Bad_Name", "counters": {"Bad_Name": {"value": 1}}}]),
    device(consumesCounters=[{"counterSet": "a", "counters": {"b": {"value": 1}}}] * 2),
    device(consumesCounters=[{"counterSet": "a", "counters": {"b": {"value": 1}}}] * 3),
    device(bindingConditions=["a"]),
    device(bindingFailureConditions=["a"]),
    device(bindingConditions=["a b", "a b"], bindingFailureConditions=["f"]),
    device(bindingConditions=["a"], bindingFailureConditions=["a", "f", "f"]),
    device(bindingConditions=["a", "b", "c", "d", "e"], bindingFailureConditions=["f"]),
    device(bindingConditions=["a"], bindingFailureConditions=["b"], bindsToNode=True),
    policy(),
    policy(default="1", shared=False),
    policy(default="1", validValues=["1"], validRange={"min": "1"}),
    policy(validValues=["1"]),
    policy(default="3", validValues=["2", "1", "1"]),
    policy(default="1", validValues=["1", "20"]),
    policy(default="1", validValues=[str(number) for number in range(1, 12)], value="100"),
    policy(validRange={"min": "1"}),
    policy(default="1", validRange={}),
    policy(default="1", validRange={"min": "20"}),
    policy(default="1", validRange={"min": "5", "max": "2"}),
    policy(default="9", validRange={"min": "1", "max": "5"}),
    policy(default="5", validRange={"min": "1", "max": "20"}),
    policy(default="2", validRange={"min": "1", "max": "5", "step": "3"}),
    policy(default="1", validRange={"min": "1", "step": "20"}),
    policy(default="4", validRange={"min": "1", "max": "7", "step": "3"}),
    policy(default="1", validRange={"min": "500m", "step": "1u"}),
    policy(default="1", validRange={"min": "0", "step": "300m"}),
    policy(default="900m", validRange={"min": "0", "step": "300m"}),
    policy(default="1", validRange={"min": "-1", "step": "1"}),
    policy(default="1500m", validValues=["1500m", "2"]),
    policy(default="1", validValues=["1", "1000m"]),
    policy(default="1500m", validValues=["1500m", "1500m"]),
    device(capacity={"a": {}}),
    device(capacity={"a": None}),
    device(attributes={"a": None}),
    device(allowMultipleAllocations=True, capacity={"a": {"requestPolicy": {"validValues": []}}}),
    device(
        allowMultipleAllocations=True,
        capacity={"a": {"requestPolicy": {"default": "0", "validRange": {"min": "0"}}}},
    ),
    device(consumesCounters=[{"counterSet": "a", "counters": {"b": {}}}]),
    device(consumesCounters=[None], taints=[None]),
    policy(default="1Gi", validRange={"min": "1Gi", "max": "4Gi", "step": "1Gi"}, value="8Gi"),
    policy(default="1Gi", validRange={"min": "1Gi", "max": "5G", "step": "1Gi"}, value="8Gi"),
)


def refused_resource_slices(ask):
    for spec in (
        {},
        offer(driver=""),
        offer(driver="Bad Driver"),
        offer(driver="UPPER.example.com"),
        offer(driver=LONG),
        offer(pool={}),
        offer(pool={**POOL, "name": "a/b"}),
        offer(pool={**POOL, "name": "Bad_Name/x"}),
        offer(pool={**POOL, "name": "x" * 254}),
        offer(pool={**POOL, "generation": -1, "resourceSliceCount": -1}),
        sliced(nodeName=None),
        sliced(nodeName=""),
        sliced(nodeName="Bad_Name"),
        sliced(allNodes=True),
        sliced(nodeName=None, allNodes=False),
        sliced(nodeName=None, allNodes=True),
        sliced(nodeName=None, perDeviceNodeSelection=False),
        sliced(nodeName=None, nodeSelector={}),
        sliced(nodeName=None, nodeSelector={"nodeSelectorTerms": [TERM, TERM]}),
        sliced(nodeName=None, nodeSelector=ONE_TERM),
        offer(device(), device()),
        offer(*(device(name=f"d{number}") for number in range(129))),
        offer(*(device(name=f"d{number}") for number in range(128))),
        offer(*(device(name=f"d{n}", taints=DEVICES[23]["taints"]) for n in range(65))),
        *map(offer, DEVICES),
        *(_per_device(**one) for one in PER_DEVICE),
        offer(device(), sharedCounters=[{"name": "a", "counters": {"b": {"value": 1}}}]),
        *(sliced(devices=None, sharedCounters=one) for one in COUNTERS),
    ):
        ask.create(f"{SLICES}?dryRun=All", named(spec))
    ask.create(SLICES, named(offer(device()), "kept-slice"))
    for change in (
        {"nodeName": "other"},
        {"driver": "other.example.com"},
        {"pool": {"name": "q"}},
        {"pool": {"generation": 2}},
        {"devices": [device(taints=[{"key": "a", "effect": "NoExecute"}])]},
        {"devices": None},
    ):
        ask.patch(f"{SLICES}/kept-slice", {"spec": change}, MERGE)
    for field in ("spec.nodeName=n", "spec.driver=d.example.com", "spec.pool.name=p", "spec.odd=1"):
        ask.get(f"{SLICES}?fieldSelector={field}")
    ask.delete(f"{SLICES}/kept-slice")


def _per_device(**more):
    return sliced(nodeName=None, perDeviceNodeSelection=True, devices=[device(**more)])


PER_DEVICE = (
    {},
    {"nodeName": ""},
    {"nodeName": "n", "allNodes": True},
    {"allNodes": False},
    {"nodeName": "Bad_Name"},
    {"nodeSelector": ONE_TERM},
)
COUNTER = {"name": "a", "counters": {"b": {"value": 1}}}
COUNTERS = (
    [{}],
    [{"name": "Bad_Name", "counters": {"Bad_Name": {"value": 1}}}],
    [COUNTER, COUNTER],
    [{**COUNTER, "name": f"a{number}"} for number in range(9)],
    [{"name": "a", "counters": {f"b{number}": {"value": 1} for number in range(33)}}],
    [COUNTER],
)

READY = {
    "type": "Ready",
    "status": "True",
    "reason": "Done",
    "message": "",
    "lastTransitionTime": "2026-01-01T00:00:00Z",
}


def device_taint_rules(ask):
    path = f"/apis/{GROUP}/devicetaintrules"
    taint = {"key": "a", "effect": "NoSchedule"}
    for spec in (
        {},
        {"taint": {}},
        {"taint": {"key": "a b", "value": "b c", "effect": "Odd"}},
        {"taint": taint, "deviceSelector": {}},
        {"taint": taint, "deviceSelector": {"driver": "", "pool": "", "device": ""}},
        {"taint": taint, "deviceSelector": {"driver": "Bad Driver", "pool": "a/B", "device": "X"}},
        {"taint": taint, "deviceSelector": {"driver": LONG, "pool": "p", "device": "d"}},
    ):
        ask.create(f"{path}?dryRun=All", named(spec))
    made = ask.create(path, named({"taint": taint}, "kept-rule"))
    ask.patch(f"{path}/kept-rule", {"spec": {"taint": {"effect": "NoExecute"}}}, MERGE)
    ask.patch(f"{path}/kept-rule", {"spec": {"taint": {"effect": "Odd"}}}, MERGE)
    ask.put(f"{path}/kept-rule", named(made["spec"], "kept-rule"))
    for conditions in ([READY], [READY, READY], [{"type": "a b"}], [{}], _many(9)):
        ask.patch(f"{path}/kept-rule/status", {"status": {"conditions": conditions}}, MERGE)
    ask.delete(f"{path}/kept-rule")


def _many(count):
    return [{**READY, "type": f"Ready{number}"} for number in range(count)]


device_taint_rules.since = V1_37


ALL = (device_taint_rules, refused_device_classes, refused_resource_slices)

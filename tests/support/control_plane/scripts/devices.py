"""Scripts: device classes, claims, templates and slices: defaults, refusals, statuses.

Expressions in CEL are valid here.
"""

from podium.release import V1_37
from tests.support.control_plane.comparison import MERGE
from tests.support.control_plane.scripts.objects import pod

GROUP = "resource.k8s.io/v1"
CLASSES = f"/apis/{GROUP}/deviceclasses"
SLICES = f"/apis/{GROUP}/resourceslices"
CEL = {"cel": {"expression": "true"}}
LONG = "x" * 64
OPAQUE = {"driver": "d.example.com", "parameters": {"a": 1}}


def named(spec, name="x"):
    return {"metadata": {"name": name}, "spec": spec}


def exactly(**more):
    return {"name": "r", "exactly": {"deviceClassName": "c", **more}}


def choice(**more):
    return {"name": "s", "deviceClassName": "c", **more}


def claim(*requests, **more):
    return {"devices": {"requests": list(requests), **more}}


TOLERATIONS = (
    {},
    {"key": "a"},
    {"operator": "Odd"},
    {"operator": "Exists", "value": "a"},
    {"operator": "Exists", "key": "a b", "effect": "Odd"},
    {"operator": "Equal", "key": "a", "value": "b c"},
    {"operator": "Equal", "key": "a", "effect": "NoExecute", "tolerationSeconds": 5},
)
EXACT = (
    {"deviceClassName": ""},
    {"deviceClassName": "Bad_Name"},
    {"deviceClassName": "x" * 254},
    {"allocationMode": "Odd"},
    {"allocationMode": "All"},
    {"allocationMode": "All", "count": 2},
    {"allocationMode": "ExactCount", "count": -1},
    {"count": 3},
    {"selectors": [{}]},
    {"selectors": [CEL] * 33},
    {"selectors": [{"cel": {"expression": "x" * (10 * 1024 + 1)}}]},
    {"selectors": [CEL], "adminAccess": False},
    {"capacity": {"requests": {"memory": "1000Mi", "example.com/cores": 2}}},
    *({"tolerations": [one]} for one in TOLERATIONS),
    {"tolerations": [{"operator": "Exists"}] * 17},
    {"derivedAttributes": [{"name": "a/b", "expression": "1"}]},
)
CONSTRAINTS = (
    {},
    {"matchAttribute": "a"},
    {"matchAttribute": "Bad_Domain/a"},
    {"matchAttribute": "/a"},
    {"matchAttribute": "example.com/"},
    {"matchAttribute": "example.com/a b"},
    {"matchAttribute": f"example.com/{LONG}"},
    {"matchAttribute": f"{LONG}.com/a"},
    {"matchAttribute": "example.com/a/b"},
    {"matchAttribute": "example.com/a", "requests": ["r", "r", "none", "a/b/c", "Bad_Name"]},
    {"matchAttribute": "example.com/a", "requests": ["r/s"]},
    {"distinctAttribute": "a"},
    {"distinctAttribute": "example.com/a", "matchAttribute": "example.com/b"},
    {"distinctAttribute": "example.com/a", "requests": ["r"]},
)
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


def claim_specs():
    yield from ({}, {"devices": {}}, {"devices": {"requests": []}})
    yield from (claim({}), claim({"name": "r"}), claim({"name": "Bad_Name", **_without_name()}))
    yield claim({"name": "r", "exactly": {}})
    yield claim(exactly(), exactly())
    yield claim(None)
    yield claim(exactly(selectors=[None], tolerations=[None], capacity={"requests": {"a": None}}))
    yield claim({"name": "r", "firstAvailable": [None]}, constraints=[None], config=[None])
    yield claim({"name": "r", "exactly": None, "firstAvailable": []})
    yield claim(*({**exactly(), "name": f"r{number}"} for number in range(33)))
    yield claim({**exactly(), "firstAvailable": [choice()]})
    for one in EXACT:
        yield claim(exactly(**one))
        yield claim({"name": "r", "firstAvailable": [choice(**one)]})
    yield claim({"name": "r", "firstAvailable": [{}]})
    yield claim({"name": "r", "firstAvailable": [choice(), choice()]})
    yield claim({"name": "r", "firstAvailable": [choice(name="Bad_Name")]})
    yield claim({"name": "r", "firstAvailable": [choice(name=f"s{n}") for n in range(9)]})
    for one in CONSTRAINTS:
        yield claim(exactly(), constraints=[one])
    yield claim(exactly(), constraints=[CONSTRAINTS[-1]] * 33)
    for one in CONFIGS:
        yield claim(exactly(), config=[one])
    yield claim(exactly(), config=[{"opaque": OPAQUE, "requests": ["r", "r", "other"]}])
    yield claim(exactly(), config=[CONFIGS[-1]] * 33)


def _without_name():
    return {"exactly": exactly()["exactly"]}


def refused_resource_claims(ask):
    path = ask.group(GROUP, "resourceclaims")
    for spec in claim_specs():
        ask.create(f"{path}?dryRun=All", named(spec))
    ask.create(f"{path}?dryRun=All", named(claim(exactly(adminAccess=True))))
    ask.create(path, named(claim(exactly()), "kept"))
    for change in (
        {"spec": claim(exactly(count=2))},
        {"spec": claim({})},
        {"spec": None},
        {"metadata": {"labels": {"a": "b"}}},
    ):
        ask.patch(f"{path}/kept", change, MERGE)
    ask.get(path)
    ask.delete(f"{path}/kept")


def refused_resource_claim_templates(ask):
    path = ask.group(GROUP, "resourceclaimtemplates")
    for spec in (
        {},
        {"spec": {}},
        {"metadata": {"labels": {"a b": "c"}}, "spec": claim(exactly())},
    ):
        ask.create(f"{path}?dryRun=All", named(spec))
    meta = {"annotations": {"a b": "c"}, "finalizers": ["x/y"], "name": "z"}
    ask.create(f"{path}?dryRun=All", named({"metadata": meta, "spec": claim(exactly())}))
    for spec in claim_specs():
        ask.create(f"{path}?dryRun=All", named({"spec": spec}))
    ask.create(f"{path}?dryRun=All", named({"spec": claim(exactly(adminAccess=True))}))
    ask.create(path, named({"spec": claim(exactly())}, "kept"))
    ask.patch(f"{path}/kept", {"spec": {"spec": claim(exactly(count=2))}}, MERGE)
    ask.patch(f"{path}/kept", {"spec": {"metadata": {"labels": {"a": "b"}}}}, MERGE)
    ask.patch(f"{path}/kept", {"metadata": {"labels": {"a": "b"}}}, MERGE)
    ask.delete(f"{path}/kept")


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

RESULT = {"request": "r", "driver": "d.example.com", "pool": "p", "device": "d"}
USER = {"resource": "pods", "name": "p", "uid": "u"}
READY = {
    "type": "Ready",
    "status": "True",
    "reason": "Done",
    "message": "",
    "lastTransitionTime": "2026-01-01T00:00:00Z",
}
REPORT = {"driver": "d.example.com", "pool": "p", "device": "d"}
UUID = "11111111-1111-1111-1111-111111111111"


def allocated(*results, **more):
    return {"allocation": {"devices": {"results": list(results), **more}}}


STATUSES = (
    {"reservedFor": [USER]},
    {"devices": [REPORT]},
    allocated({}),
    allocated(None),
    {"allocation": {}},
    {"allocation": {"devices": None}, "reservedFor": [None], "devices": [None]},
    {**allocated(RESULT), "devices": [{**REPORT, "conditions": [None], "networkData": {}}]},
    allocated({**RESULT, "request": "none"}),
    allocated({**RESULT, "request": "a/b/c"}),
    allocated({**RESULT, "driver": "Bad Driver"}),
    allocated({**RESULT, "driver": LONG}),
    allocated({**RESULT, "pool": "Bad_Name"}),
    allocated({**RESULT, "device": "Bad_Name"}),
    allocated({**RESULT, "shareID": "odd"}),
    allocated({**RESULT, "shareID": UUID.upper().replace("1", "A")}),
    allocated({**RESULT, "bindingConditions": ["a"]}),
    allocated({**RESULT, "adminAccess": True}),
    allocated({**RESULT, "tolerations": [{"operator": "Odd"}]}),
    allocated(*[RESULT] * 33),
    allocated(RESULT, config=[{}]),
    allocated(RESULT, config=[{"source": "Odd", "opaque": OPAQUE}]),
    allocated(RESULT, config=[{"source": "FromClaim", "requests": ["none"], "opaque": OPAQUE}]),
    {"allocation": {"nodeSelector": {}}},
    {**allocated(RESULT), "reservedFor": [{}]},
    {**allocated(RESULT), "reservedFor": [USER, USER]},
    {**allocated(RESULT), "reservedFor": [{**USER, "uid": f"u{n}"} for n in range(257)]},
    {**allocated(RESULT), "devices": [{**REPORT, "device": "other"}]},
    {**allocated(RESULT), "devices": [REPORT, REPORT]},
    {**allocated(RESULT), "devices": [{**REPORT, "conditions": [READY, READY]}]},
    {**allocated(RESULT), "devices": [{**REPORT, "conditions": [{"type": "a b"}]}]},
    {**allocated(RESULT), "devices": [{**REPORT, "conditions": [{**READY, "status": "Odd"}]}]},
    {**allocated(RESULT), "devices": [{**REPORT, "data": [1]}]},
    {**allocated(RESULT), "devices": [{**REPORT, "networkData": {"ips": ["odd", "10.0.0.1/8"]}}]},
    {**allocated(RESULT), "devices": [{**REPORT, "networkData": {"interfaceName": "x" * 257}}]},
)


def resource_claim_statuses(ask):
    path = ask.group(GROUP, "resourceclaims")
    ask.create(path, named(claim(exactly()), "kept"))
    status = f"{path}/kept/status"
    for one in STATUSES:
        ask.patch(f"{status}?dryRun=All", {"status": one}, MERGE)
    used = {**allocated(RESULT), "reservedFor": [USER]}
    ask.patch(status, {"status": {**used, "devices": [{**REPORT, "conditions": [READY]}]}}, MERGE)
    for change in (
        allocated({**RESULT, "device": "other"}),
        {"reservedFor": [USER, {**USER, "uid": "v"}]},
        {"allocation": None},
        {"reservedFor": None},
    ):
        ask.patch(status, {"status": change}, MERGE)
    ask.get(f"{path}/kept")
    ask.patch(f"{path}/kept", {"metadata": {"finalizers": ["example.com/x"]}}, MERGE)
    ask.delete(f"{path}/kept")
    ask.patch(status, {"status": {"reservedFor": [{**USER, "uid": "w"}]}}, MERGE)
    ask.patch(status, {"status": {"allocation": None, "reservedFor": None}}, MERGE)
    ask.get(f"{path}/kept")
    ask.patch(f"{path}/kept", {"metadata": {"finalizers": None}}, MERGE)


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


def pod_claims(ask):
    """What a pod says about claims, in its spec and in its status."""
    path = ask.core("pods")
    template, by_name = "resourceClaimTemplateName", "resourceClaimName"
    for claims, used in (
        ([{}], []),
        ([{"name": "Bad_Name", by_name: "c"}], []),
        ([{"name": "a", by_name: "Bad_Name"}], []),
        ([{"name": "a", template: "Bad_Name"}], []),
        ([{"name": "a", by_name: "c"}, {"name": "a", by_name: "d"}], []),
        ([{"name": "a", by_name: "c"}], [{"name": "b"}]),
        ([{"name": "a", by_name: "c"}], [{}]),
        ([{"name": "a", by_name: "c"}], [{"name": "a"}, {"name": "a"}]),
        ([{"name": "a", by_name: "c"}], [{"name": "a", "request": "r"}, {"name": "a"}]),
        ([{"name": "a", by_name: "c"}], [{"name": "a", "request": "Bad_Name"}]),
        ([{"name": "a", by_name: "c"}], [{"name": "a", "request": "r"}]),
        ([{"name": "a", by_name: "c"}, {"name": "b", template: "t"}], [{"name": "b"}]),
        ([], [{"name": "a"}]),
    ):
        container = {"name": "c", "image": "nginx", "resources": {"claims": used}}
        ask.create(f"{path}?dryRun=All", pod("p", containers=[container], resourceClaims=claims))
    entries = [{"name": "a", template: "t"}, {"name": "b", by_name: "c"}]
    ask.create(path, pod("kept", resourceClaims=entries))
    for status in (
        {"resourceClaimStatuses": [{"name": "a", by_name: "kept-a-x"}]},
        {"resourceClaimStatuses": [{"name": "a", by_name: "kept-a-y"}, {"name": "z"}]},
        {"resourceClaimStatuses": [{"name": "a", by_name: "Bad_Name"}]},
        {"resourceClaimStatuses": [{"name": "a"}, {"name": "a"}]},
    ):
        ask.patch(f"{path}/kept/status", {"status": status}, MERGE)
    ask.patch(f"{path}/kept", {"spec": {"resourceClaims": None}}, MERGE)
    ask.delete(f"{path}/kept", {"gracePeriodSeconds": 0})


ALL = (
    pod_claims,
    device_taint_rules,
    refused_resource_claims,
    refused_resource_claim_templates,
    refused_device_classes,
    refused_resource_slices,
    resource_claim_statuses,
)

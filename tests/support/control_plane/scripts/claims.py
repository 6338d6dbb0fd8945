"""Scripts: claims, their templates, and pods that have some: defaults, refusals, statuses.

Expressions in CEL are valid here.
"""

from tests.support.control_plane.comparison import MERGE
from tests.support.control_plane.scripts.devices import (
    CEL,
    CONFIGS,
    GROUP,
    LONG,
    OPAQUE,
    READY,
    named,
)
from tests.support.control_plane.scripts.objects import pod


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


RESULT = {"request": "r", "driver": "d.example.com", "pool": "p", "device": "d"}
USER = {"resource": "pods", "name": "p", "uid": "u"}
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
    refused_resource_claims,
    refused_resource_claim_templates,
    resource_claim_statuses,
)

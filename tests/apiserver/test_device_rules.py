"""What the API server refuses in claims, classes, slices and their statuses, by release."""

import pytest

from podium.apiserver.api import Call
from podium.apiserver.statuses import Refusal
from podium.release import V1_36, V1_37
from tests.support.controllers import World

CLAIMS = "resourceclaims.resource.k8s.io"
CLASSES = "deviceclasses.resource.k8s.io"
SLICES = "resourceslices.resource.k8s.io"
RULES = "devicetaintrules.resource.k8s.io"
RESULT = {"request": "r", "driver": "d.example.com", "pool": "p", "device": "d"}
POOL = {"name": "p", "generation": 1, "resourceSliceCount": 1}
ONE_VALUE = "exactly one value must be specified"


@pytest.fixture(params=[V1_36, V1_37], ids=str)
def world(request):
    return World(kubelets=False, release=request.param)


@pytest.fixture
def latest():
    return World(kubelets=False)


def refusal(world, resource, spec):
    """The causes of the refusal, without what comes before them."""
    with pytest.raises(Refusal) as refused:
        world.create(resource, {"metadata": {"name": "x"}, "spec": spec})
    return refused.value.message.partition(" is invalid: ")[2]


def claim(**exactly):
    return {
        "devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "c", **exactly}}]}
    }


def offer(**device):
    devices = [{"name": "d", **device}]
    return {"driver": "d.example.com", "pool": POOL, "nodeName": "n", "devices": devices}


def write_status(world, status):
    kind = world.api.kind(CLAIMS)
    obj = {**world.get(CLAIMS, "x"), "status": status}
    world.api.update(kind, ("default", "x"), obj, Call(subresource="status"))
    return world.get(CLAIMS, "x").get("status")


@pytest.mark.parametrize(
    ("spec", "cause"),
    [
        pytest.param(
            {"devices": {"requests": [{"name": "r"}]}},
            "spec.devices.requests[0]: Required value: exactly one of `exactly` or "
            "`firstAvailable` is required",
            id="nothing-asked",
        ),
        pytest.param(
            claim(allocationMode="All", count=2),
            "spec.devices.requests[0].exactly.count: Invalid value: 2: must not be specified when "
            "allocationMode is 'All'",
            id="count-of-all",
        ),
        pytest.param(
            claim(selectors=[{}]),
            "spec.devices.requests[0].exactly.selectors[0].cel: Required value",
            id="empty-selector",
        ),
        pytest.param(
            claim(adminAccess=True),
            "spec.devices.requests[0].adminAccess: Forbidden: admin access to devices requires the "
            "`resource.kubernetes.io/admin-access: true` label on the containing namespace",
            id="admin-access",
        ),
    ],
)
def test_a_claim_is_refused(world, spec, cause):
    assert refusal(world, CLAIMS, spec) == cause


def test_declared_rules_come_last_since_1_37(world):
    wrong = {"devices": {"requests": [{"name": "r", "firstAvailable": [{"count": -1}]}]}}
    where = "spec.devices.requests[0].firstAvailable[0]"

    fields = [one.partition(": ")[0] for one in refusal(world, CLAIMS, wrong)[1:].split(", spec.")]

    named = [f"{where}.name", f"{where}.deviceClassName", f"{where}.count"]
    last = [named[0], named[2], named[1]]
    expected = named if world.api.release == V1_36 else last
    assert [one if one.startswith("spec.") else f"spec.{one}" for one in fields] == expected


def test_defaults_of_a_claim(world):
    asked = claim(tolerations=[{"key": "a"}])
    made = world.create(CLAIMS, {"metadata": {"name": "x"}, "spec": asked})

    exactly = made["spec"]["devices"]["requests"][0]["exactly"]
    assert (exactly["allocationMode"], exactly["count"]) == ("ExactCount", 1)
    assert exactly["tolerations"] == [{"key": "a", "operator": "Equal"}]


def test_admin_access_in_a_namespace_that_allows_it(world):
    label = {"resource.kubernetes.io/admin-access": "true"}
    world.create("namespaces", {"metadata": {"name": "admin", "labels": label}})

    made = world.create(
        CLAIMS, {"metadata": {"name": "x"}, "spec": claim(adminAccess=True)}, "admin"
    )

    assert made["metadata"]["namespace"] == "admin"


def test_the_spec_of_a_claim_cannot_change(world):
    world.create(CLAIMS, {"metadata": {"name": "x"}, "spec": claim()})

    with pytest.raises(Refusal, match="field is immutable"):
        world.change(CLAIMS, "x", lambda obj: obj.update(spec=claim(count=2)))


@pytest.mark.parametrize(
    ("device", "older", "newer"),
    [
        pytest.param(
            {"attributes": {"a": {}}},
            f'spec.devices[0].attributes[a]: Invalid value: "": {ONE_VALUE}',
            'spec.devices[0].attributes[a]: Invalid value: "": must specify one of: `int`, `bool`, '
            "`string`, `version`, `ints`, `bools`, `strings`, `versions`",
            id="no-value",
        ),
        pytest.param(
            {"attributes": {"a": {"version": "1.0"}}},
            'spec.devices[0].attributes[a].version: Invalid value: "1.0": must be a string '
            "compatible with semver.org spec 2.0.0",
            None,
            id="bad-version",
        ),
        pytest.param(
            {"bindingConditions": ["a"]},
            "spec.devices[0].bindingFailureConditions: Invalid value: null: "
            "bindingFailureConditions are required to use bindingConditions",
            None,
            id="no-failure-conditions",
        ),
        pytest.param(
            {"capacity": {"m": {"value": "8", "requestPolicy": {"default": "1"}}}},
            "spec.devices[0].capacity[m].requestPolicy: Forbidden: allowMultipleAllocations must "
            "be true",
            None,
            id="policy-of-an-unshared-device",
        ),
    ],
)
def test_a_device_is_refused(world, device, older, newer):
    expected = older if world.api.release == V1_36 or newer is None else newer

    assert refusal(world, SLICES, offer(**device)) == expected


@pytest.mark.parametrize(
    ("limits", "cause"),
    [
        pytest.param(
            {"min": "0", "step": "3"},
            'validRange.step: Invalid value: "1": value is not a multiple of a given step (3) '
            "from (0)",
            id="between-two-steps",
        ),
        pytest.param(
            {"min": "0", "step": "0"},
            'validRange.step: Invalid value: "0": must be greater than zero',
            id="no-step",
        ),
        pytest.param(
            {"min": "-1", "step": "1"},
            'validRange.min: Invalid value: "-1": must be greater than or equal to 0',
            id="negative",
        ),
    ],
)
def test_ranges_of_requests(latest, limits, cause):
    policy = {"default": "1", "validRange": limits}
    capacity = {"m": {"value": "8", "requestPolicy": policy}}

    found = refusal(latest, SLICES, offer(capacity=capacity, allowMultipleAllocations=True))

    assert found == f"spec.devices[0].capacity[m].requestPolicy.{cause}"


def test_lists_of_values_are_dropped(world):
    wanted = {"a": {"int": 1, "ints": [1, 2]}}
    made = world.create(SLICES, {"metadata": {"name": "x"}, "spec": offer(attributes=wanted)})

    assert made["spec"]["devices"][0]["attributes"] == {"a": {"int": 1}}


def test_a_taint_says_when_it_was_added(world):
    taint = {"key": "broken", "effect": "NoSchedule"}
    made = world.create(SLICES, {"metadata": {"name": "x"}, "spec": offer(taints=[taint])})

    assert made["spec"]["devices"][0]["taints"][0]["timeAdded"]


def test_a_rule_with_another_effect_has_another_time(latest):
    taint = {"key": "broken", "effect": "NoSchedule"}
    made = latest.create(RULES, {"metadata": {"name": "x"}, "spec": {"taint": taint}})
    before = made["spec"]["taint"]["timeAdded"]
    latest.wait(60)

    latest.change(RULES, "x", lambda obj: obj["spec"]["taint"].update(value="a"))
    assert latest.get(RULES, "x")["spec"]["taint"]["timeAdded"] == before
    latest.change(RULES, "x", lambda obj: obj["spec"]["taint"].update(effect="NoExecute"))
    assert latest.get(RULES, "x")["spec"]["taint"]["timeAdded"] > before


def test_a_status_is_checked(world):
    world.create(CLAIMS, {"metadata": {"name": "x"}, "spec": claim()})
    allocation = {"devices": {"results": [RESULT]}}

    with pytest.raises(Refusal, match="may not be specified when `allocated` is not set"):
        write_status(world, {"reservedFor": [{"resource": "pods", "name": "p", "uid": "u"}]})
    other = {"devices": {"results": [{**RESULT, "request": "none"}]}}
    with pytest.raises(Refusal, match="must be the name of a request in the claim"):
        write_status(world, {"allocation": other})
    assert write_status(world, {"allocation": allocation}) == {"allocation": allocation}
    changed = {"devices": {"results": [{**RESULT, "device": "other"}]}}
    words = "field is immutable" if world.api.release == V1_36 else "cannot be modified once set"
    with pytest.raises(Refusal, match=words):
        write_status(world, {"allocation": changed})


def test_reports_about_devices_go_with_the_allocation(world):
    world.create(CLAIMS, {"metadata": {"name": "x"}, "spec": claim()})
    report = {name: RESULT[name] for name in ("driver", "pool", "device")}
    status = {"allocation": {"devices": {"results": [RESULT]}}, "devices": [report]}
    assert write_status(world, status)["devices"] == [report]

    assert write_status(world, {"devices": [report]}) == {}


def test_a_class_for_an_extended_resource(world):
    older = "must be a valid extended resource name"
    newer = "a name must be a domain-prefixed path, such as 'example.com/my-prop'"
    words = older if world.api.release == V1_36 else newer

    cause = refusal(world, CLASSES, {"extendedResourceName": "gpu"})

    assert cause == f'spec.extendedResourceName: Invalid value: "gpu": {words}'


UNKNOWN = "undeclared reference to 'nosuch' (in container '')"
SYNTAX = f"compilation failed: ERROR: <input>:1:1: {UNKNOWN}"
WHERE = "spec.selectors[0].cel.expression"


def selecting(text):
    return {"selectors": [{"cel": {"expression": text}}]}


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        pytest.param(
            "nosuch", f'Invalid value: "nosuch": {SYNTAX}\n | nosuch\n | ^', id="does-not-compile"
        ),
        pytest.param(
            'device.driver + "\t"',
            'Invalid value: "device.driver + \\"\\t\\"": must evaluate to bool or the unknown '
            "type, not string",
            id="not-a-bool",
        ),
        pytest.param(
            "device.attributes.all(a, device.attributes.all(b, device.attributes.all(c, "
            "device.attributes.all(d, a == b && c == d))))",
            "Forbidden: too complex, exceeds cost limit",
            id="too-expensive",
        ),
        pytest.param(
            "device.driver.matches(device.driver + '(')",
            None,
            id="fails-when-it-is-evaluated",
        ),
        pytest.param(
            "device.driver.find('(') == ''",
            "Internal error: program instantiation failed: error parsing regexp: missing closing "
            "): `(`",
            id="can-only-fail",
        ),
        pytest.param(
            "x" * (10 * 1024 + 1), "Too long: may not be more than 10240 bytes", id="too-long"
        ),
    ],
)
def test_selectors_of_classes_are_compiled(world, text, cause):
    if cause is None:
        world.create(CLASSES, {"metadata": {"name": "x"}, "spec": selecting(text)})
    else:
        assert refusal(world, CLASSES, selecting(text)) == f"{WHERE}: {cause}"


@pytest.mark.parametrize(
    ("resource", "spec", "path"),
    [
        pytest.param(
            CLAIMS,
            claim(**selecting("nosuch")),
            "spec.devices.requests[0].exactly.selectors[0].cel.expression",
            id="claim",
        ),
        pytest.param(
            "resourceclaimtemplates.resource.k8s.io",
            {
                "spec": {
                    "devices": {
                        "requests": [
                            {
                                "name": "r",
                                "firstAvailable": [
                                    {"name": "s", "deviceClassName": "c", **selecting("nosuch")}
                                ],
                            }
                        ]
                    }
                }
            },
            "spec.spec.devices.requests[0].firstAvailable[0].selectors[0].cel.expression",
            id="alternative-in-a-template",
        ),
    ],
)
def test_selectors_of_requests_are_compiled(world, resource, spec, path):
    assert refusal(world, resource, spec).startswith(f'{path}: Invalid value: "nosuch": {SYNTAX}')


def test_a_class_keeps_its_selectors_as_they_are(world):
    world.create(CLASSES, {"metadata": {"name": "x"}, "spec": selecting("true")})
    world.change(CLASSES, "x", lambda obj: obj["spec"].update(extendedResourceName="a.b/gpu"))

    with pytest.raises(Refusal, match="undeclared reference"):
        world.change(CLASSES, "x", lambda obj: obj["spec"].update(selecting("nosuch")))

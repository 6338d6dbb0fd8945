"""Why objects are refused, in kube-apiserver's words; `make test-cluster` compares many more."""

import pytest

from podium.apiserver.kinds.apps import DEPLOYMENT, STATEFUL_SET
from podium.apiserver.kinds.core.nodes import NODE
from podium.apiserver.kinds.pod_spec.checks import pod_spec_causes, pod_update_causes
from podium.release import V1_36

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
SPREAD = {
    "maxSkew": 1,
    "topologyKey": "zone",
    "whenUnsatisfiable": "DoNotSchedule",
    "labelSelector": {},
}


def container(**more):
    return {"name": "c", "image": "nginx", **more}


def told(causes):
    return [str(cause) for cause in causes]


def case(spec, *expected, id):
    return pytest.param(spec, expected, id=id)


def tolerating(**toleration):
    return {"tolerations": [toleration]}


def spreading(**change):
    return {"topologySpreadConstraints": [{**SPREAD, **change}]}


def on_nodes(*terms):
    return {"affinity": {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": list(terms)}}}}


def expression(**parts):
    return {"matchExpressions": [{"key": "a", **parts}]}


TERM = f"spec.affinity.nodeAffinity.{REQUIRED}.nodeSelectorTerms"
POD_TERM = f"spec.affinity.podAffinity.{REQUIRED}[0]"


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        case({}, id="nothing"),
        case(tolerating(key="a", operator="Exists"), id="toleration"),
        case(
            tolerating(key="a", operator="Odd"),
            'spec.tolerations[0].operator: Unsupported value: "Odd": '
            'supported values: "Equal", "Exists"',
            id="operator-of-a-toleration",
        ),
        case(
            tolerating(value="b"),
            'spec.tolerations[0].operator: Invalid value: "": operator must be Exists when `key` '
            'is empty, which means "match all values and all keys"',
            id="toleration-without-a-key",
        ),
        case(
            tolerating(key="a", tolerationSeconds=5),
            "spec.tolerations[0].effect: Invalid value: \"\": effect must be 'NoExecute' when "
            "`tolerationSeconds` is set",
            id="seconds-without-eviction",
        ),
        case(
            spreading(minDomains=2, whenUnsatisfiable="ScheduleAnyway"),
            "spec.topologySpreadConstraints[0].minDomains: Invalid value: 2: can only use "
            "minDomains if whenUnsatisfiable=DoNotSchedule, not ScheduleAnyway",
            id="soft-spreading-over-domains",
        ),
        case(
            {"topologySpreadConstraints": [SPREAD, SPREAD]},
            "spec.topologySpreadConstraints[0].{topologyKey, whenUnsatisfiable}: "
            'Duplicate value: "{zone, DoNotSchedule}"',
            id="spread-twice",
        ),
        case(
            on_nodes(),
            f"{TERM}: Required value: must have at least one node selector term",
            id="no-terms",
        ),
        case(on_nodes(expression(operator="Gt", values=["1"])), id="greater"),
        case(
            on_nodes(expression(operator="Gt", values=["1", "2"])),
            f"{TERM}[0].matchExpressions[0].values: Required value: must be specified single "
            "value when `operator` is 'Lt' or 'Gt'",
            id="greater-than-two-values",
        ),
        case(
            on_nodes({"matchFields": [{"key": "spec.x", "operator": "In", "values": ["a"]}]}),
            f'{TERM}[0].matchFields[0].key: Invalid value: "spec.x": not a valid field selector '
            "key",
            id="unknown-field",
        ),
        case(
            {
                "affinity": {
                    "podAffinity": {REQUIRED: [{"topologyKey": "zone", "matchLabelKeys": ["a"]}]}
                }
            },
            f"{POD_TERM}.matchLabelKeys: Forbidden: must not be specified when labelSelector is "
            "not set",
            id="keys-without-a-selector",
        ),
        case(
            {"schedulingGates": [{"name": "a"}], "nodeName": "n"},
            "spec.nodeName: Forbidden: cannot be set until all schedulingGates have been cleared",
            id="gated-and-placed",
        ),
        case(
            {"containers": [container(resources={"requests": {"example.com/gpu": "1"}})]},
            "spec.containers[0].resources.limits: Required value: Limit must be set for non "
            "overcommitable resources",
            id="device-without-a-limit",
        ),
        case(
            {"containers": [container(resources={"limits": {"example.com/gpu": "1500m"}})]},
            'spec.containers[0].resources.limits[example.com/gpu]: Invalid value: "1500m": must '
            "be an integer",
            id="part-of-a-device",
        ),
        case(
            {"containers": [container(ports=[{"containerPort": 80, "protocol": "HTTP"}])]},
            'spec.containers[0].ports[0].protocol: Unsupported value: "HTTP": supported values: '
            '"SCTP", "TCP", "UDP"',
            id="protocol",
        ),
        case(
            {"volumes": [{"name": "a", "emptyDir": {}}, {"name": "a", "emptyDir": {}}]},
            'spec.volumes[1].name: Duplicate value: "a"',
            id="volumes-of-one-name",
        ),
        case(
            {"resourceClaims": [{"name": "a"}]},
            'spec.resourceClaims[0]: Invalid value: {"Name":"a","ResourceClaimName":null,'
            '"ResourceClaimTemplateName":null}: must specify one of: `resourceClaimName`, '
            "`resourceClaimTemplateName`",
            id="claim-of-nothing",
        ),
    ],
)
def test_pods(spec, expected):
    assert told(pod_spec_causes({"containers": [container()], **spec}, "spec")) == list(expected)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        pytest.param({}, {}, [], id="the-same"),
        pytest.param(
            {"tolerations": [{"key": "a", "tolerationSeconds": 5}]},
            {"tolerations": [{"key": "a", "tolerationSeconds": 9}, {"key": "b"}]},
            [],
            id="tolerations-may-grow",
        ),
        pytest.param(
            {"activeDeadlineSeconds": 5},
            {"activeDeadlineSeconds": 6},
            [
                (
                    "spec.activeDeadlineSeconds: Invalid value: 6: must be less than or equal to "
                    "previous value"
                )
            ],
            id="later-deadline",
        ),
        pytest.param(
            {"schedulingGates": [{"name": "a"}], "nodeSelector": {"a": "b"}},
            {"schedulingGates": [{"name": "a"}], "nodeSelector": {"a": "b", "c": "d"}},
            [],
            id="gated-pods-may-narrow",
        ),
        pytest.param(
            {"schedulingGates": [{"name": "a"}], "nodeSelector": {"a": "b"}},
            {"schedulingGates": [{"name": "a"}], "nodeSelector": {}},
            [
                (
                    "spec.nodeSelector: Invalid value: {}: only additions to spec.nodeSelector are "
                    "allowed (no mutations or deletions)"
                )
            ],
            id="gated-pods-may-not-widen",
        ),
        pytest.param(
            {"schedulingGates": []},
            {"schedulingGates": [{"name": "new"}]},
            [
                (
                    "spec.schedulingGates[0].name: Forbidden: only deletion is allowed, but found "
                    "new scheduling gate 'new'"
                )
            ],
            id="new-gate",
        ),
    ],
)
def test_updates_of_pods(old, new, expected):
    assert told(pod_update_causes({"spec": old}, {"spec": new})) == expected


WEB = {"matchLabels": {"app": "web"}}
TEMPLATE = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [container()]}}
ROLLING = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": 1}}


def deployment(**change):
    spec = {"selector": WEB, "template": TEMPLATE, "strategy": ROLLING, **change}
    return {"kind": "Deployment", "metadata": {"name": "web"}, "spec": spec}


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        case({}, id="valid"),
        case(
            {"selector": {}},
            "spec.selector: Invalid value: {}: empty selector is invalid for deployment",
            id="empty-selector",
        ),
        case(
            {"selector": {"matchLabels": {"app": "other"}}},
            'spec.template.metadata.labels: Invalid value: {"app":"web"}: `selector` does not '
            "match template `labels`",
            id="other-labels",
        ),
        case(
            {"strategy": {**ROLLING, "rollingUpdate": {"maxSurge": 0, "maxUnavailable": 0}}},
            "spec.strategy.rollingUpdate.maxUnavailable: Invalid value: 0: may not be 0 when "
            "`maxSurge` is 0",
            id="no-way-to-roll",
        ),
        case(
            {"strategy": {**ROLLING, "rollingUpdate": {"maxUnavailable": "200%"}}},
            'spec.strategy.rollingUpdate.maxUnavailable: Invalid value: "200%": must not be '
            "greater than 100%",
            id="more-than-all",
        ),
    ],
)
def test_deployments(spec, expected):
    assert told(DEPLOYMENT.check(deployment(**spec))) == list(expected)


def test_what_a_stateful_set_may_not_change():
    old = {"kind": "StatefulSet", "spec": {"selector": WEB, "template": TEMPLATE, "replicas": 1}}
    grown = {**old, "spec": {**old["spec"], "replicas": 2}}
    moved = {**old, "spec": {**old["spec"], "serviceName": "other"}}

    assert told(STATEFUL_SET.check_update(old, grown)) == []
    (refusal,) = told(STATEFUL_SET.check_update(old, moved))
    assert refusal == 'spec.serviceName: Invalid value: "other": field is immutable'
    (refusal,) = told(STATEFUL_SET.in_release(V1_36).check_update(old, moved))
    assert refusal.startswith("spec: Forbidden: updates to statefulset spec for fields other than")


@pytest.mark.parametrize(
    ("taints", "expected"),
    [
        case([{"key": "a", "effect": "NoSchedule"}], id="valid"),
        case([{"key": "a"}], "metadata.taints[0].effect: Required value", id="no-effect"),
        case(
            [{"key": "a", "effect": "NoSchedule"}, {"key": "a", "effect": "NoSchedule"}],
            'metadata.taints[1]: Duplicate value: {"Key":"a","Value":"","Effect":"NoSchedule",'
            '"TimeAdded":null}: taints must be unique by key and effect pair',
            id="twice",
        ),
    ],
)
def test_nodes(taints, expected):
    assert told(NODE.check({"spec": {"taints": taints}})) == list(expected)

"""Kinds that are only kept: what they must have, what they get, how Tables show them."""

import pytest

from podium.apiserver.api import Call
from podium.apiserver.bootstrap import new_api
from podium.apiserver.statuses import Refusal
from podium.apiserver.tables import TableOptions, table
from podium.clock import FakeClock

BARE = {
    "controllerrevisions.apps": ["data: Required value: data is mandatory"],
    "podtemplates": ["template.spec.containers: Required value"],
    "cronjobs.batch": [
        "spec.jobTemplate.spec.template.spec.containers: Required value",
        (
            "spec.jobTemplate.spec.template.spec.restartPolicy: Required value: "
            'valid values: "OnFailure", "Never"'
        ),
        "spec.schedule: Required value",
    ],
    "horizontalpodautoscalers.autoscaling": [
        "spec.maxReplicas: Invalid value: 0: must be greater than or equal to `minReplicas`",
        "spec.scaleTargetRef.kind: Required value",
        "spec.scaleTargetRef.name: Required value",
        'spec.scaleTargetRef.apiVersion: Invalid value: "": apiVersion must specify API group',
        "spec.maxReplicas: Required value",
    ],
    "volumeattributesclasses.storage.k8s.io": [
        "driverName: Required value",
        "parameters: Required value: must contain at least one key/value pair",
    ],
    "rolebindings.rbac.authorization.k8s.io": [
        'roleRef.kind: Unsupported value: "": supported values: "Role", "ClusterRole"',
        "roleRef.name: Required value",
    ],
    "ingresses.networking.k8s.io": [
        "spec: Invalid value: null: either `defaultBackend` or `rules` must be specified"
    ],
    "ingressclasses.networking.k8s.io": ["spec.controller: Required value"],
    "resourceslices.resource.k8s.io": [
        "spec.driver: Required value",
        "spec.pool.name: Required value",
        "spec.pool.resourceSliceCount: Invalid value: 0: must be greater than zero",
        (
            "spec: Required value: exactly one of `nodeName`, `nodeSelector`, `allNodes`, "
            "`perDeviceNodeSelection` is required"
        ),
    ],
    "events": [
        'involvedObject.namespace: Invalid value: "": does not match event.namespace',
    ],
    "replicationcontrollers": ["spec.selector: Required value", "spec.template: Required value"],
}


def create(resource, **body):
    api = new_api(FakeClock())
    kind = api.kind(resource)
    namespace = "default" if kind.namespaced else ""
    item = api.create(kind, namespace, {"metadata": {"name": "x"}, **body}, Call())
    return kind, item.decode()


@pytest.mark.parametrize("resource", BARE)
def test_what_a_bare_object_lacks(resource):
    with pytest.raises(Refusal) as caught:
        create(resource)

    causes = caught.value.details["causes"]
    assert [f"{one['field']}: {one['message']}" for one in causes] == BARE[resource]


@pytest.mark.parametrize(
    ("resource", "always"),
    [
        ("leases.coordination.k8s.io", {"spec": {}}),
        ("resourcequotas", {"spec": {}, "status": {}}),
        ("limitranges", {"spec": {"limits": None}}),
        ("roles.rbac.authorization.k8s.io", {"rules": None}),
        ("csinodes.storage.k8s.io", {"spec": {"drivers": None}}),
        ("priorityclasses.scheduling.k8s.io", {"value": 0}),
        ("resourceclaims.resource.k8s.io", {"spec": {"devices": {"requests": None}}}),
    ],
)
def test_what_a_bare_object_has_all_the_same(resource, always):
    _, made = create(resource)

    assert {name: made.get(name) for name in always} == always


TARGET = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
ONCE = {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}}
SPEC = {"schedule": "5 * * * *", "jobTemplate": {"spec": {"template": ONCE}}}
SUBJECTS = [
    {"kind": "User", "name": "u"},
    {"kind": "Group", "name": "g"},
    {"kind": "Group", "name": "h"},
    {"kind": "ServiceAccount", "name": "s", "namespace": "n"},
]


@pytest.mark.parametrize(
    ("resource", "body", "cells"),
    [
        (
            "cronjobs.batch",
            {"spec": SPEC},
            ["x", "5 * * * *", "<none>", "False", 0, "<none>", "0s", "c", "i", "<none>"],
        ),
        (
            "csidrivers.storage.k8s.io",
            {"spec": {"tokenRequests": [{"audience": "a"}]}},
            ["x", True, False, False, "a", False, "Persistent", "0s"],
        ),
        (
            "horizontalpodautoscalers.autoscaling",
            {"spec": {"maxReplicas": 3, "scaleTargetRef": TARGET}},
            ["x", "Deployment/web", "cpu: <unknown>/80%", "1", 3, 0, "0s"],
        ),
        (
            "rolebindings.rbac.authorization.k8s.io",
            {"roleRef": {"kind": "Role", "name": "r"}, "subjects": SUBJECTS},
            ["x", "Role/r", "0s", "u", "g, h", "n/s"],
        ),
        (
            "endpointslices.discovery.k8s.io",
            {
                "addressType": "IPv4",
                "endpoints": [{"addresses": [f"10.0.0.{n}"]} for n in range(5)],
                "ports": [{"port": 80}],
            },
            ["x", "IPv4", "80", "10.0.0.0,10.0.0.1,10.0.0.2 + 2 more...", "0s"],
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_cells(resource, body, cells):
    kind, made = create(resource, **body)

    rows = table(kind, made, {}, TableOptions(FakeClock()))["rows"]
    assert rows[0]["cells"] == cells

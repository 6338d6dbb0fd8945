"""Server-side apply: who owns which field, and what happens when two want the same one."""

import json

import pytest

from podium.apiserver.fields import (
    changes,
    difference,
    fields_of,
    intersection,
    members,
    shown,
    union,
)
from podium.apiserver.kinds.builtin import builtin_kinds
from tests.support.apiserver import (
    APPLY,
    CONFIG_MAPS,
    DEPLOYMENTS,
    MERGE,
    config_map,
    deployment,
    with_server,
)

POD = builtin_kinds().of("v1", "Pod").schema


def paths(fields):
    return sorted(shown(path) for path in members(fields))


def test_fields_of_an_object():
    pod = {
        "apiVersion": "v1",
        "metadata": {"name": "p", "labels": {"a": "1"}, "finalizers": ["x/y"]},
        "spec": {
            "containers": [{"name": "c", "image": "i", "ports": [{"containerPort": 80}]}],
            "tolerations": [{"key": "k"}],
            "nodeSelector": {},
        },
    }

    assert paths(fields_of(pod, POD)) == [
        '.metadata.finalizers[="x/y"]',
        ".metadata.labels.a",
        '.spec.containers[name="c"]',
        '.spec.containers[name="c"].image',
        '.spec.containers[name="c"].name',
        '.spec.containers[name="c"].ports[containerPort=80,protocol="TCP"]',
        '.spec.containers[name="c"].ports[containerPort=80,protocol="TCP"].containerPort',
        ".spec.nodeSelector",
        ".spec.tolerations",
    ]


def test_changes_between_objects():
    old = {"spec": {"containers": [{"name": "a", "image": "1"}, {"name": "b"}], "hostname": "h"}}
    new = {"spec": {"containers": [{"name": "a", "image": "2"}], "hostname": "h"}}

    changed, gone = changes(old, new, POD)

    assert paths(changed) == ['.spec.containers[name="a"].image']
    assert paths(gone) == ['.spec.containers[name="b"]', '.spec.containers[name="b"].name']


def test_set_operations():
    left = {"f:a": {}, "f:b": {"f:c": {}, "f:d": {}}}
    right = {"f:b": {"f:d": {}, "f:e": {}}}

    assert union(left, right) == {"f:a": {}, "f:b": {"f:c": {}, "f:d": {}, "f:e": {}}}
    assert difference(left, right) == {"f:a": {}, "f:b": {"f:c": {}}}
    assert intersection(left, right) == {"f:b": {"f:d": {}}}


def applied(name="c", **data):
    return {**config_map(name, data), "apiVersion": "v1", "kind": "ConfigMap"}


async def apply(client, body, manager, force=False, path=CONFIG_MAPS):
    name = body["metadata"]["name"]
    query = f"fieldManager={manager}{'&force=true' if force else ''}"
    return await client.call("PATCH", f"{path}/{name}?{query}", body, APPLY)


@with_server
async def test_apply_creates_then_changes_then_rests(client):
    status, made = await apply(client, applied(x="1"), "one")
    assert status == 201

    status, same = await apply(client, applied(x="1"), "one")
    assert (status, same["metadata"]["resourceVersion"]) == (
        200,
        made["metadata"]["resourceVersion"],
    )

    _, changed = await apply(client, applied(x="2"), "one")
    assert changed["data"] == {"x": "2"}
    assert len(changed["metadata"]["managedFields"]) == 1


@with_server
async def test_what_is_no_longer_applied_goes(client):
    await apply(client, applied(x="1", y="1"), "one")
    await apply(client, applied(y="1"), "two")

    _, left = await apply(client, applied(), "one")

    assert left["data"] == {"y": "1"}  # y is still wanted by the other


@with_server
async def test_another_value_conflicts_and_force_takes_it(client):
    await apply(client, applied(x="1"), "one")

    status, refused = await apply(client, applied(x="2"), "two")
    assert (status, refused["reason"]) == (409, "Conflict")
    assert refused["message"] == 'Apply failed with 1 conflict: conflict with "one": .data.x'
    assert refused["details"]["causes"] == [
        {
            "reason": "FieldManagerConflict",
            "message": 'conflict with "one"',
            "field": ".data.x",
        }
    ]

    status, taken = await apply(client, applied(x="2"), "two", force=True)
    assert (status, taken["data"]) == (200, {"x": "2"})
    managers = {one["manager"] for one in taken["metadata"]["managedFields"]}
    assert managers == {"two"}


@with_server
async def test_the_same_value_is_shared(client):
    await apply(client, applied(x="1"), "one")

    status, shared = await apply(client, applied(x="1"), "two")

    assert status == 200
    entries = shared["metadata"]["managedFields"]
    # Who changed nothing has no time, and so comes first.
    assert [(one["manager"], "time" in one) for one in entries] == [("two", False), ("one", True)]


NOTE = "kubectl.kubernetes.io/last-applied-configuration"


async def noted(client, **data):
    """A map as `kubectl apply` leaves it, with a note of what it applied."""
    note = {NOTE: json.dumps(applied(**data))}
    path = f"{CONFIG_MAPS}?fieldManager=kubectl-client-side-apply"
    return await client.create(path, config_map("c", data, annotations=note))


@with_server
async def test_what_kubectl_applied_itself_it_may_apply_on_the_server(client):
    await noted(client, x="1", y="1")

    status, taken = await apply(client, applied(x="2"), "kubectl")

    assert (status, taken["data"]["x"]) == (200, "2")
    assert json.loads(taken["metadata"]["annotations"][NOTE])["data"] == {"x": "2"}


@pytest.mark.parametrize("manager", ["kubectl", "other"])
@with_server
async def test_what_others_changed_since_conflicts(client, manager):
    await noted(client, x="1")
    if manager == "kubectl":
        await client.call("PATCH", f"{CONFIG_MAPS}/c", {"data": {"x": "9"}}, MERGE)

    status, _ = await apply(client, applied(x="2"), manager)

    assert status == 409


@with_server
async def test_an_update_takes_what_it_changes(client):
    await apply(client, {**deployment(replicas=2)}, "gitops", path=DEPLOYMENTS)
    await client.call(
        "PATCH", f"{DEPLOYMENTS}/web?fieldManager=scaler", {"spec": {"replicas": 5}}, MERGE
    )

    status, refused = await apply(client, deployment(replicas=2), "gitops", path=DEPLOYMENTS)

    assert status == 409
    assert 'conflict with "scaler" using apps/v1: .spec.replicas' in refused["message"]


@with_server
async def test_a_container_that_is_no_longer_applied_goes(client):
    two = deployment()
    two["spec"]["template"]["spec"]["containers"].append({"name": "side", "image": "s:1"})
    await apply(client, two, "gitops", path=DEPLOYMENTS)

    _, left = await apply(client, deployment(), "gitops", path=DEPLOYMENTS)

    names = [one["name"] for one in left["spec"]["template"]["spec"]["containers"]]
    assert names == ["c"]


@pytest.mark.parametrize(
    ("query", "body", "message"),
    [
        pytest.param("", applied(), "fieldManager: Required value", id="no-manager"),
        pytest.param(
            "?fieldManager=a", config_map("c"), "invalid object type: /, Kind=", id="no-kind"
        ),
        pytest.param(
            "?fieldManager=a",
            {**applied(), "metadata": {"name": "c", "managedFields": [{"manager": "x"}]}},
            "metadata.managedFields must be nil",
            id="managed-fields",
        ),
    ],
)
@with_server
async def test_refusals(client, query, body, message):
    status, answer = await client.call("PATCH", f"{CONFIG_MAPS}/c{query}", body, APPLY)

    assert status in (400, 422)
    assert message in answer["message"]

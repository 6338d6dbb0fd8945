"""Patches: the rules of each type as tables, and PATCH over HTTP."""

import pytest

from podium.apiserver.kinds.builtin import builtin_kinds
from podium.apiserver.patch import json_patch, merge_patch
from podium.apiserver.statuses import Refusal
from podium.apiserver.strategic import strategic_merge
from tests.support.apiserver import (
    CONFIG_MAPS,
    DEPLOYMENTS,
    JSON_PATCH,
    MERGE,
    PODS,
    STRATEGIC,
    config_map,
    deployment,
    pod,
    with_server,
)

POD = builtin_kinds().of("v1", "Pod").schema
SERVICE = builtin_kinds().of("v1", "Service").schema
DEPLOYMENT = builtin_kinds().of("apps/v1", "Deployment").schema


@pytest.mark.parametrize(
    ("target", "patch", "expected"),
    [
        pytest.param({"a": 1}, {"b": 2}, {"a": 1, "b": 2}, id="adds"),
        pytest.param({"a": 1}, {"a": None}, {}, id="null-deletes"),
        pytest.param({"a": {"b": 1}}, {"a": {"c": 2}}, {"a": {"b": 1, "c": 2}}, id="nested"),
        pytest.param({"a": [1, 2]}, {"a": [3]}, {"a": [3]}, id="lists-are-replaced"),
        pytest.param({"a": 1}, {"a": {"b": None}}, {"a": {}}, id="null-in-a-new-object"),
    ],
)
def test_merge_patch(target, patch, expected):
    assert merge_patch(target, patch) == expected


@pytest.mark.parametrize(
    ("operations", "expected"),
    [
        pytest.param([{"op": "add", "path": "/b", "value": 1}], {"a": [1, 2], "b": 1}, id="add"),
        pytest.param([{"op": "add", "path": "/a/1", "value": 9}], {"a": [1, 9, 2]}, id="insert"),
        pytest.param([{"op": "add", "path": "/a/-", "value": 9}], {"a": [1, 2, 9]}, id="append"),
        pytest.param([{"op": "remove", "path": "/a/0"}], {"a": [2]}, id="remove"),
        pytest.param([{"op": "replace", "path": "/a", "value": 5}], {"a": 5}, id="replace"),
        pytest.param(
            [{"op": "replace", "path": "/b", "value": 5}],
            {"a": [1, 2], "b": 5},
            id="replace-adds-to-a-map",
        ),
        pytest.param([{"op": "add", "path": "/b"}], {"a": [1, 2], "b": None}, id="no-value"),
        pytest.param([{"op": "move", "from": "/a", "path": "/c"}], {"c": [1, 2]}, id="move"),
        pytest.param(
            [{"op": "copy", "from": "/a/0", "path": "/c"}], {"a": [1, 2], "c": 1}, id="copy"
        ),
        pytest.param([{"op": "test", "path": "/a/0", "value": 1}], {"a": [1, 2]}, id="test"),
        pytest.param(
            [{"op": "add", "path": "/x~1y~0", "value": 1}], {"a": [1, 2], "x/y~": 1}, id="escapes"
        ),
    ],
)
def test_json_patch(operations, expected):
    assert json_patch({"a": [1, 2]}, operations) == expected


@pytest.mark.parametrize(
    "operation",
    [
        pytest.param({"op": "remove", "path": "/x"}, id="remove-what-is-not-there"),
        pytest.param({"op": "replace", "path": "/a/2", "value": 1}, id="replace-likewise"),
        pytest.param({"op": "test", "path": "/a/0", "value": 7}, id="failed-test"),
        pytest.param({"op": "add", "path": "/a/5", "value": 1}, id="index-out-of-range"),
        pytest.param({"op": "jump", "path": "/a"}, id="unknown-operation"),
        pytest.param({"op": "move", "from": "/a", "path": "/a/0"}, id="into-itself"),
        pytest.param({"op": "add", "path": "/x/y", "value": 1}, id="into-what-is-not-there"),
        pytest.param({"op": "add", "value": 1}, id="no-path"),
    ],
)
def test_json_patch_refuses(operation):
    with pytest.raises(Refusal) as caught:
        json_patch({"a": [1, 2]}, [operation])

    assert caught.value.code == 422


def containers(*pairs):
    return [{"name": name, "image": image} for name, image in pairs]


@pytest.mark.parametrize(
    ("target", "patch", "expected"),
    [
        pytest.param(
            containers(("a", "1"), ("b", "1")),
            containers(("b", "2")),
            containers(("a", "1"), ("b", "2")),
            id="merged-by-name",
        ),
        pytest.param(
            containers(("a", "1")),
            containers(("b", "1")),
            containers(("b", "1"), ("a", "1")),
            id="new-ones-come-first",
        ),
        pytest.param(
            containers(("a", "1"), ("b", "1")),
            [{"name": "a", "$patch": "delete"}],
            containers(("b", "1")),
            id="deleted-by-name",
        ),
        pytest.param(
            containers(("a", "1")),
            [*containers(("b", "1")), {"$patch": "replace"}],
            containers(("b", "1")),
            id="replaced",
        ),
    ],
)
def test_strategic_lists_of_containers(target, patch, expected):
    merged = strategic_merge({"spec": {"containers": target}}, {"spec": {"containers": patch}}, POD)

    assert merged["spec"]["containers"] == expected


@pytest.mark.parametrize(
    ("schema", "target", "patch", "expected"),
    [
        pytest.param(
            SERVICE,
            {"spec": {"ports": [{"port": 80, "name": "a"}]}},
            {"spec": {"ports": [{"port": 80, "name": "b"}, {"port": 81}]}},
            {"spec": {"ports": [{"port": 80, "name": "b"}, {"port": 81}]}},
            id="ports-by-port",
        ),
        pytest.param(
            POD,
            {"spec": {"tolerations": [{"key": "a"}]}},
            {"spec": {"tolerations": [{"key": "b"}]}},
            {"spec": {"tolerations": [{"key": "b"}]}},
            id="tolerations-are-atomic",
        ),
        pytest.param(
            POD,
            {"metadata": {"finalizers": ["a/a", "b/b"]}},
            {"metadata": {"$deleteFromPrimitiveList/finalizers": ["a/a"]}},
            {"metadata": {"finalizers": ["b/b"]}},
            id="delete-from-a-primitive-list",
        ),
        pytest.param(
            POD,
            {"metadata": {"finalizers": ["a/a"]}},
            {"metadata": {"finalizers": ["b/b"]}},
            {"metadata": {"finalizers": ["b/b", "a/a"]}},
            id="primitive-lists-with-merge-add-up",
        ),
        pytest.param(
            POD,
            {"spec": {"containers": containers(("a", "1"), ("b", "1"))}},
            {
                "spec": {
                    "$setElementOrder/containers": [{"name": "b"}, {"name": "a"}],
                    "containers": containers(("b", "2")),
                }
            },
            {"spec": {"containers": containers(("b", "2"), ("a", "1"))}},
            id="element-order",
        ),
        pytest.param(
            DEPLOYMENT,
            {"spec": {"strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1}}}},
            {"spec": {"strategy": {"$retainKeys": ["type"], "type": "Recreate"}}},
            {"spec": {"strategy": {"type": "Recreate"}}},
            id="retain-keys",
        ),
        pytest.param(
            POD,
            {"metadata": {"labels": {"a": "1", "b": "1"}}},
            {"metadata": {"labels": {"a": None, "$patch": "merge"}}},
            {"metadata": {"labels": {"b": "1"}}},
            id="null-deletes",
        ),
        pytest.param(
            POD,
            {"metadata": {"labels": {"a": "1"}}},
            {"metadata": {"labels": {"b": "2", "$patch": "replace"}}},
            {"metadata": {"labels": {"b": "2"}}},
            id="map-replaced",
        ),
    ],
)
def test_strategic_merge(schema, target, patch, expected):
    assert strategic_merge(target, patch, schema) == expected


def test_strategic_element_without_its_key_is_refused():
    with pytest.raises(Refusal) as caught:
        strategic_merge({}, {"spec": {"containers": [{"image": "x"}]}}, POD)

    assert "does not contain declared merge key: name" in caught.value.message


@pytest.mark.parametrize(
    ("media", "patch"),
    [
        pytest.param(MERGE, {"spec": {"replicas": 3}}, id="merge"),
        pytest.param(STRATEGIC, {"spec": {"replicas": 3}}, id="strategic"),
        pytest.param(
            JSON_PATCH, [{"op": "replace", "path": "/spec/replicas", "value": 3}], id="json"
        ),
    ],
)
@with_server
async def test_patch_over_http(client, media, patch):
    made = await client.create(DEPLOYMENTS, deployment())

    status, changed = await client.call("PATCH", f"{DEPLOYMENTS}/web", patch, media)

    assert (status, changed["spec"]["replicas"]) == (200, 3)
    assert changed["metadata"]["generation"] == made["metadata"]["generation"] + 1


@with_server
async def test_a_patch_with_a_version_is_conditional(client):
    await client.create(CONFIG_MAPS, config_map("a"))
    patch = {"metadata": {"resourceVersion": "1"}, "data": {"x": "1"}}

    status, answer = await client.call("PATCH", f"{CONFIG_MAPS}/a", patch, MERGE)

    assert (status, answer["reason"]) == (409, "Conflict")


@pytest.mark.parametrize(
    ("media", "code"),
    [
        pytest.param("application/json", 415, id="no-patch-type"),
        pytest.param(MERGE, 422, id="spec-of-a-pod-stays"),
    ],
)
@with_server
async def test_patches_that_are_refused(client, media, code):
    await client.create(PODS, pod())

    patch = {"spec": {"hostname": "other"}}
    status, answer = await client.call("PATCH", f"{PODS}/p", patch, media)

    assert (status, answer["code"]) == (code, code)


@with_server
async def test_status_and_spec_are_written_apart(client):
    await client.create(DEPLOYMENTS, deployment())
    both = {"spec": {"replicas": 5}, "status": {"replicas": 4}}

    _, by_status = await client.call("PATCH", f"{DEPLOYMENTS}/web/status", both, MERGE)
    assert (by_status["spec"]["replicas"], by_status["status"]["replicas"]) == (1, 4)

    _, by_spec = await client.call(
        "PATCH", f"{DEPLOYMENTS}/web", {"spec": {"replicas": 6}, "status": {"replicas": 9}}, MERGE
    )
    assert (by_spec["spec"]["replicas"], by_spec["status"]["replicas"]) == (6, 4)


def bomb(count):
    return [{"op": "copy", "from": "/data", "path": f"/data/{n}"} for n in range(count)]


def stairs(count):
    return [{"op": "add", "path": "/data" * n, "value": {}} for n in range(1, count)]


@pytest.mark.parametrize(
    "operations",
    [
        pytest.param(bomb(40), id="a-map-into-itself-again-and-again"),
        pytest.param(stairs(1500), id="deeper-than-a-body"),
        pytest.param([*stairs(1500), *bomb(1)], id="deeper-than-the-stack"),
        pytest.param([{"op": "copy", "from": 5, "path": "/a"}], id="from-nowhere"),
    ],
)
def test_json_patches_that_grow_without_bound(operations):
    with pytest.raises(Refusal) as caught:
        json_patch({"data": {"x": "y" * 100}}, operations)

    assert caught.value.code in (400, 422)


def test_a_few_copies_are_fine():
    patched = json_patch({"data": {"x": "y"}}, bomb(2))

    assert patched["data"]["1"] == {"x": "y", "0": {"x": "y"}}

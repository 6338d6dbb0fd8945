"""Binding, eviction, scale, deletion with grace, and what is only simulated."""

import pytest

from tests.support.apiserver import DEPLOYMENTS, MERGE, PODS, deployment, pod, with_server

BUDGETS = "/apis/policy/v1/namespaces/default/poddisruptionbudgets"


async def bind(client, name="p", node="n1", **meta):
    body = {"metadata": {"name": name, **meta}, "target": {"kind": "Node", "name": node}}
    return await client.call("POST", f"{PODS}/{name}/binding", body)


@with_server
async def test_a_pod_is_bound_once(client):
    await client.create(PODS, pod())

    assert (await bind(client))[0] == 201
    bound = await client.get(f"{PODS}/p")
    assert bound["spec"]["nodeName"] == "n1"
    assert [(c["type"], c["status"]) for c in bound["status"]["conditions"]] == [
        ("PodScheduled", "True")
    ]

    status, answer = await bind(client, node="n2")
    assert (status, answer["reason"]) == (409, "Conflict")
    assert 'pod p is already assigned to node "n1"' in answer["message"]


@pytest.mark.parametrize(
    ("spec", "meta", "node", "code"),
    [
        pytest.param({}, {"uid": "other"}, "n1", 409, id="another-pod-of-that-name"),
        pytest.param({}, {}, "", 422, id="no-node"),
        pytest.param({"schedulingGates": [{"name": "a/b"}]}, {}, "n1", 409, id="gated"),
    ],
)
@with_server
async def test_bindings_that_are_refused(client, spec, meta, node, code):
    await client.create(PODS, pod(**spec))

    assert (await bind(client, node=node, **meta))[0] == code


@with_server
async def test_a_bound_pod_is_deleted_with_grace(client):
    await client.create(PODS, pod())
    await bind(client)

    _, dying = await client.call("DELETE", f"{PODS}/p")
    assert dying["metadata"]["deletionGracePeriodSeconds"] == 30

    await client.call("DELETE", f"{PODS}/p?gracePeriodSeconds=0")
    assert (await client.call("GET", f"{PODS}/p"))[0] == 404


@with_server
async def test_an_unbound_pod_is_deleted_at_once(client):
    await client.create(PODS, pod())

    await client.call("DELETE", f"{PODS}/p")

    assert (await client.call("GET", f"{PODS}/p"))[0] == 404


async def running_pod(client):
    await client.create(PODS, {**pod(), "metadata": {"name": "p", "labels": {"app": "web"}}})
    await bind(client)
    ready = [{"type": "Ready", "status": "True"}]
    status = {"phase": "Running", "conditions": ready}
    await client.call("PATCH", f"{PODS}/p/status", {"status": status}, MERGE)


async def budget(client, allowed):
    spec = {"minAvailable": 1, "selector": {"matchLabels": {"app": "web"}}}
    await client.create(BUDGETS, {"metadata": {"name": "b"}, "spec": spec})
    status = {
        "observedGeneration": 1,
        "disruptionsAllowed": allowed,
        "currentHealthy": 1,
        "desiredHealthy": 1,
        "expectedPods": 1,
    }
    await client.call("PATCH", f"{BUDGETS}/b/status", {"status": status}, MERGE)


@with_server
async def test_eviction_uses_up_the_budget(client):
    await running_pod(client)
    await budget(client, allowed=1)

    status, _ = await client.call("POST", f"{PODS}/p/eviction", {"metadata": {"name": "p"}})

    assert status == 201
    assert "deletionTimestamp" in (await client.get(f"{PODS}/p"))["metadata"]
    assert (await client.get(f"{BUDGETS}/b"))["status"]["disruptionsAllowed"] == 0


@with_server
async def test_eviction_against_the_budget_is_429(client):
    await running_pod(client)
    await budget(client, allowed=0)

    status, answer = await client.call("POST", f"{PODS}/p/eviction", {"metadata": {"name": "p"}})

    assert (status, answer["reason"]) == (429, "TooManyRequests")
    assert answer["details"]["causes"][0]["reason"] == "DisruptionBudget"
    assert "deletionTimestamp" not in (await client.get(f"{PODS}/p"))["metadata"]


@with_server
async def test_eviction_of_a_pod_that_does_not_work_needs_no_budget(client):
    await running_pod(client)
    await budget(client, allowed=0)
    await client.call("PATCH", f"{PODS}/p/status", {"status": {"conditions": []}}, MERGE)

    status, _ = await client.call("POST", f"{PODS}/p/eviction", {"metadata": {"name": "p"}})

    assert status == 201
    (condition,) = (await client.get(f"{PODS}/p"))["status"]["conditions"]
    assert condition["type"] == "DisruptionTarget"
    assert "disruptedPods" not in (await client.get(f"{BUDGETS}/b"))["status"]


@with_server
async def test_scale(client):
    await client.create(DEPLOYMENTS, deployment(replicas=2))
    scale = await client.get(f"{DEPLOYMENTS}/web/scale")
    assert (scale["kind"], scale["spec"], scale["status"]["selector"]) == (
        "Scale",
        {"replicas": 2},
        "app=web",
    )

    scale["spec"]["replicas"] = 4
    assert (await client.call("PUT", f"{DEPLOYMENTS}/web/scale", scale))[0] == 200
    patch = {"spec": {"replicas": 5}}
    assert (await client.call("PATCH", f"{DEPLOYMENTS}/web/scale", patch, MERGE))[0] == 200

    assert (await client.get(f"{DEPLOYMENTS}/web"))["spec"]["replicas"] == 5


@pytest.mark.parametrize("part", ["log", "exec"])
@with_server
async def test_there_is_no_process_behind_a_pod(client, part):
    await client.create(PODS, pod())

    status, answer = await client.call("GET", f"{PODS}/p/{part}")

    assert (status, answer["reason"]) == (400, "BadRequest")
    assert "simulated" in answer["message"]

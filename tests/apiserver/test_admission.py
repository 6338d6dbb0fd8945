"""What admission adds to pods, nodes and services, and what it refuses."""

import pytest

from tests.support.apiserver import MERGE, PODS, pod, with_server

CLASSES = "/apis/scheduling.k8s.io/v1/priorityclasses"
NODES = "/api/v1/nodes"
SERVICES = "/api/v1/namespaces/default/services"


def priority_class(name, value, **extra):
    return {"metadata": {"name": name}, "value": value, **extra}


@with_server
async def test_a_class_becomes_a_priority(client):
    await client.create(CLASSES, priority_class("high", 1000, preemptionPolicy="Never"))

    made = await client.create(PODS, pod(priorityClassName="high"))

    assert (made["spec"]["priority"], made["spec"]["preemptionPolicy"]) == (1000, "Never")


@with_server
async def test_without_a_class_the_default_counts(client):
    plain = await client.create(PODS, pod("plain"))
    assert plain["spec"]["priority"] == 0

    await client.create(CLASSES, priority_class("usual", 7, globalDefault=True))
    made = await client.create(PODS, pod("later"))
    assert (made["spec"]["priority"], made["spec"]["priorityClassName"]) == (7, "usual")

    second = priority_class("other", 8, globalDefault=True)
    assert (await client.call("POST", CLASSES, second))[0] == 403


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        pytest.param(
            {"priorityClassName": "none"}, "no PriorityClass with name none was found", id="unknown"
        ),
        pytest.param({"priority": 5}, "must not be provided in pod spec", id="priority-by-hand"),
    ],
)
@with_server
async def test_priorities_that_are_refused(client, spec, message):
    status, answer = await client.call("POST", PODS, pod(**spec))

    assert (status, answer["reason"]) == (403, "Forbidden")
    assert message in answer["message"]


@with_server
async def test_pods_tolerate_lost_nodes_for_five_minutes(client):
    own = {"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute"}

    made = await client.create(PODS, pod(tolerations=[own]))

    assert [(one["key"], one.get("tolerationSeconds")) for one in made["spec"]["tolerations"]] == [
        ("node.kubernetes.io/not-ready", None),
        ("node.kubernetes.io/unreachable", 300),
    ]


def taints(node):
    return [
        one["key"].removeprefix("node.kubernetes.io/") for one in node["spec"].get("taints", [])
    ]


@with_server
async def test_taints_follow_a_nodes_conditions(client):
    node = await client.create(NODES, {"metadata": {"name": "n"}})
    assert taints(node) == ["not-ready"]

    async def report(**conditions):
        listed = [{"type": kind, "status": status} for kind, status in conditions.items()]
        body = {"status": {"conditions": listed}}
        return (await client.call("PATCH", f"{NODES}/n/status", body, MERGE))[1]

    assert taints(await report(Ready="True")) == []
    assert taints(await report(Ready="True", MemoryPressure="True")) == ["memory-pressure"]
    assert taints(await report(Ready="Unknown")) == ["unreachable"]
    assert taints(await report(Ready="True")) == []

    cordon = {"spec": {"unschedulable": True}}
    _, cordoned = await client.call("PATCH", f"{NODES}/n", cordon, MERGE)
    assert taints(cordoned) == ["unschedulable"]


@with_server
async def test_a_taint_without_a_key_is_refused_not_a_fault(client):
    node = {"metadata": {"name": "n"}, "spec": {"taints": [{"effect": "NoSchedule"}]}}

    status, answer = await client.call("POST", NODES, node)

    assert (status, answer["reason"]) == (422, "Invalid")
    assert "metadata.taints[0].key: Invalid value" in answer["message"]


@with_server
async def test_services_get_addresses(client):
    spec = {"ports": [{"port": 80}], "type": "NodePort"}

    one = await client.create(SERVICES, {"metadata": {"name": "a"}, "spec": spec})
    two = await client.create(SERVICES, {"metadata": {"name": "b"}, "spec": spec})

    assert one["spec"]["clusterIP"] != two["spec"]["clusterIP"]
    assert one["spec"]["ports"][0]["nodePort"] != two["spec"]["ports"][0]["nodePort"]


RUNTIMES = "/apis/node.k8s.io/v1/runtimeclasses"
GVISOR = {
    "metadata": {"name": "gvisor"},
    "handler": "runsc",
    "overhead": {"podFixed": {"cpu": "250m", "memory": "64Mi"}},
    "scheduling": {
        "nodeSelector": {"sandbox": "yes"},
        "tolerations": [{"key": "sandbox", "operator": "Exists"}],
    },
}


@with_server
async def test_a_runtime_class_adds_its_overhead_and_where_it_can_run(client):
    await client.create(RUNTIMES, GVISOR)
    await client.create(RUNTIMES, {"metadata": {"name": "plain"}, "handler": "runc"})

    selector = {"disk": "ssd"}
    made = await client.create(PODS, pod("a", runtimeClassName="gvisor", nodeSelector=selector))
    plain = await client.create(PODS, pod("b", runtimeClassName="plain"))

    assert made["spec"]["overhead"] == {"cpu": "250m", "memory": "64Mi"}
    assert made["spec"]["nodeSelector"] == {"disk": "ssd", "sandbox": "yes"}
    assert {"key": "sandbox", "operator": "Exists"} in made["spec"]["tolerations"]
    assert "overhead" not in plain["spec"]


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        pytest.param(
            {"runtimeClassName": "none"}, 'RuntimeClass "none" not found', id="unknown-class"
        ),
        pytest.param(
            {"runtimeClassName": "gvisor", "overhead": {"cpu": "1"}},
            "Pod's Overhead doesn't match RuntimeClass's defined Overhead",
            id="other-overhead",
        ),
        pytest.param(
            {"overhead": {"cpu": "1"}},
            "Pod Overhead set without corresponding RuntimeClass defined Overhead",
            id="overhead-without-a-class",
        ),
        pytest.param(
            {"runtimeClassName": "gvisor", "nodeSelector": {"sandbox": "no"}},
            "conflict: runtimeClass.scheduling.nodeSelector[sandbox] = yes",
            id="another-place",
        ),
    ],
)
@with_server
async def test_runtime_classes_that_are_refused(client, spec, message):
    await client.create(RUNTIMES, GVISOR)

    status, answer = await client.call("POST", PODS, pod(**spec))

    assert (status, answer["reason"]) == (403, "Forbidden")
    assert f'pods "p" is forbidden: pod rejected: {message}' in answer["message"]

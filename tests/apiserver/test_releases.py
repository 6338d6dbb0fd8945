"""What the releases answer differently; `make test-cluster` compares each with its own server."""

import pytest

from podium.apiserver.disabled_fields import DISABLED
from podium.apiserver.published import definitions
from podium.release import RELEASES, V1_36, V1_37
from tests.support.apiserver import CONFIG_MAPS, MERGE, PODS, config_map, pod, with_server

STORAGE = "/apis/storage.k8s.io/v1"
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
DEFAULT_CLASS = {"storageclass.kubernetes.io/is-default-class": "true"}


def by_release(names, older, newer):
    """Two cases: what 1.36 does, and what 1.37 does."""
    cases = [(V1_36, *_each(names, older)), (V1_37, *_each(names, newer))]
    return pytest.mark.parametrize(f"release, {names}", cases, ids=str)


def _each(names, values):
    return values if "," in names else (values,)


async def refused(client, path, body):
    code, answer = await client.call("POST", f"{path}?dryRun=All", body)
    assert code == 422
    return [f"{one['field']}: {one['message']}" for one in answer["details"]["causes"]]


async def patch(client, path, body):
    code, answer = await client.call("PATCH", path, body, MERGE)
    causes = answer["details"]["causes"] if code == 422 else ()
    return code, [f"{one['field']}: {one['message']}" for one in causes]


@by_release(
    "expected",
    ['metadata.ownerReferences.kind: Invalid value: "": must not be empty'],
    ["metadata.ownerReferences[0].kind: Required value: must not be empty"],
)
@with_server
async def test_owners(client, release, expected):
    owner = {"apiVersion": "v1", "name": "a", "uid": "b"}

    assert await refused(client, CONFIG_MAPS, config_map("x", ownerReferences=[owner])) == expected


@by_release("code, message", (404, 'configmaps "none" not found'), (400, "invalid JSON patch"))
@with_server
async def test_a_broken_patch_of_a_missing_object(client, release, code, message):
    found, answer = await client.call("PATCH", f"{CONFIG_MAPS}/none", b"{", MERGE)

    assert (found, answer["message"]) == (code, message)


@by_release("is_served", False, True)
@with_server
async def test_device_taint_rules(client, release, is_served):
    code, _ = await client.call("GET", "/apis/resource.k8s.io/v1/devicetaintrules")

    assert (code == 200) is is_served


@by_release("defaults", {}, {"preventPodSchedulingIfMissing": False})
@with_server
async def test_csi_drivers(client, release, defaults):
    made = await client.create(f"{STORAGE}/csidrivers", {"metadata": {"name": "x"}, "spec": {}})

    name = "preventPodSchedulingIfMissing"
    assert {key: made["spec"][key] for key in made["spec"] if key == name} == defaults


@by_release("status", None, {})
@with_server
async def test_csi_nodes(client, release, status):
    made = await client.create(f"{STORAGE}/csinodes", {"metadata": {"name": "x"}})

    assert made.get("status") == status


@by_release(
    "expected",
    ['provisioner: Invalid value: "q": field is immutable'],
    ["provisioner: Invalid value: null: field is immutable"],
)
@with_server
async def test_storage_classes(client, release, expected):
    await client.create(
        f"{STORAGE}/storageclasses", {"metadata": {"name": "x"}, "provisioner": "p"}
    )

    answer = await patch(client, f"{STORAGE}/storageclasses/x", {"provisioner": "q"})
    assert answer == (422, expected)


@by_release(
    "in_list, alone", (["a (default)", "b (default)"], "b (default)"), (["a", "b (default)"], "b")
)
@with_server
async def test_default_storage_class(client, release, in_list, alone):
    for name in "ab":
        meta = {"name": name, "annotations": DEFAULT_CLASS}
        await client.create(f"{STORAGE}/storageclasses", {"metadata": meta, "provisioner": "p"})
        client.clock.advance(1)

    listed = await client.get(f"{STORAGE}/storageclasses", Accept=TABLE)
    single = await client.get(f"{STORAGE}/storageclasses/b", Accept=TABLE)
    assert [row["cells"][0] for row in listed["rows"]] == in_list
    assert single["rows"][0]["cells"][0] == alone


@by_release(
    "expected",
    ['spec.providerID: Forbidden: node updates may not change providerID except from "" to valid'],
    ["spec.providerID: Invalid value: null: field cannot be cleared once set"],
)
@with_server
async def test_nodes(client, release, expected):
    await client.create("/api/v1/nodes", {"metadata": {"name": "x"}, "spec": {"providerID": "a"}})

    answer = await patch(client, "/api/v1/nodes/x", {"spec": {"providerID": None}})
    assert answer == (422, expected)


@by_release("generation, least", (None, 422), (1, 201))
@with_server
async def test_autoscalers(client, release, generation, least):
    path = "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers"
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
    spec = {"maxReplicas": 3, "scaleTargetRef": target}
    made = await client.create(path, {"metadata": {"name": "x"}, "spec": spec})
    metric = {
        "type": "External",
        "external": {"metric": {"name": "m"}, "target": {"type": "Value"}},
    }
    to_zero = {**spec, "minReplicas": 0, "metrics": [metric]}
    code, _ = await client.call("POST", path, {"metadata": {"name": "y"}, "spec": to_zero})

    assert made["metadata"].get("generation") == generation
    assert code == least


@by_release("unavailable", None, 1)
@with_server
async def test_stateful_sets(client, release, unavailable):
    labels = {"app": "x"}
    template = {"metadata": {"labels": labels}, "spec": pod()["spec"]}
    spec = {"selector": {"matchLabels": labels}, "template": template}
    path = "/apis/apps/v1/namespaces/default/statefulsets"
    made = await client.create(path, {"metadata": {"name": "x"}, "spec": spec})

    assert made["spec"]["updateStrategy"]["rollingUpdate"].get("maxUnavailable") == unavailable


@by_release("limits, is_owned", (None, True), ({"cpu": "4"}, False))
@with_server
async def test_resources_of_a_whole_pod(client, release, limits, is_owned):
    limited = {"name": "c", "image": "app:1", "resources": {"limits": {"cpu": "1"}}}
    made = await client.create(
        PODS, pod(resources={"requests": {"cpu": "4"}}, containers=[limited])
    )
    other = await client.create(PODS, pod("q", resources={"limits": {"cpu": "4"}}))

    assert made["spec"]["resources"].get("limits") == limits
    assert other["spec"]["resources"]["requests"] == {"cpu": "4"}
    owned = other["metadata"]["managedFields"][0]["fieldsV1"]["f:spec"]["f:resources"]
    assert ("f:requests" in owned) is is_owned


@by_release("is_kept", False, True)
@with_server
async def test_claims_in_the_status_of_a_pod(client, release, is_kept):
    claims = [{"name": "r", "resourceClaimName": "c"}]
    made = await client.create(PODS, pod(resourceClaims=claims))
    status = {"resourceClaimStatuses": claims}
    await client.call("PATCH", f"{PODS}/p/status", {"status": status}, MERGE)

    written = {**made, "metadata": {"name": "p"}, "status": {"phase": "Pending"}}
    _, found = await client.call("PUT", f"{PODS}/p/status", written)

    assert ("resourceClaimStatuses" in found["status"]) is is_kept
    assert found["status"]["qosClass"] == "BestEffort"


@by_release("qos", "BestEffort", "Burstable")
@with_server
async def test_qos_class_with_empty_resources_of_the_pod(client, release, qos):
    limited = {"name": "c", "image": "app:1", "resources": {"limits": {"cpu": "1"}}}
    made = await client.create(PODS, pod(resources={}, containers=[limited]))

    assert made["status"]["qosClass"] == qos


@by_release("code", 201, 422)
@with_server
async def test_bindings_to_a_node_that_cannot_exist(client, release, code):
    await client.create(PODS, pod())
    body = {"metadata": {"name": "p"}, "target": {"name": "Bad_Node"}}

    assert (await client.call("POST", f"{PODS}/p/binding", body))[0] == code


@by_release("columns", ["Name", "Created At"], ["Name", "Scope", "Versions", "Created At"])
@with_server
async def test_columns_of_definitions(client, release, columns):
    path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    table = await client.get(path, Accept=TABLE)

    shown = [one["name"] for one in table["columnDefinitions"] if one["priority"] == 0]
    assert shown == columns


@pytest.mark.parametrize("release", RELEASES, ids=str)
@with_server
async def test_fields_of_gates_that_are_off(client, release):
    """They are accepted and not stored; their writer owns them."""
    made = await client.create(PODS, pod(schedulingGroup={"podGroupName": "g"}))

    assert "schedulingGroup" not in made["spec"]
    assert "f:schedulingGroup" in made["metadata"]["managedFields"][0]["fieldsV1"]["f:spec"]


@pytest.mark.parametrize("release", RELEASES, ids=str)
def test_dropped_fields_exist(release):
    published = definitions(release)

    for name, fields in DISABLED[release].items():
        assert set(fields) <= published[f"io.k8s.api.{name}"]["properties"].keys(), name

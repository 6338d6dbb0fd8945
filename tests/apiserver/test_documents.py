"""Discovery, OpenAPI, version, Tables and reviews: what clients read before they read objects."""

import pytest

from podium.release import RELEASES
from tests.support.apiserver import PODS, pod, with_server

AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"


@with_server
async def test_discovery_in_lists(client):
    assert (await client.get("/api"))["versions"] == ["v1"]
    core = {one["name"]: one for one in (await client.get("/api/v1"))["resources"]}
    assert core["pods"]["shortNames"] == ["po"]
    assert core["pods/eviction"]["kind"] == "Eviction"
    assert not core["nodes"]["namespaced"]
    groups = {one["name"] for one in (await client.get("/apis"))["groups"]}
    assert {"apps", "batch", "policy", "storage.k8s.io", "rbac.authorization.k8s.io"} <= groups
    assert (await client.call("GET", "/apis/none/v1"))[0] == 404


@with_server
async def test_discovery_in_one_document(client):
    core = await client.get("/api", Accept=AGGREGATED)
    groups = await client.get("/apis", Accept=AGGREGATED)

    assert core["kind"] == groups["kind"] == "APIGroupDiscoveryList"
    resources = core["items"][0]["versions"][0]["resources"]
    pods = next(one for one in resources if one["resource"] == "pods")
    assert pods["scope"] == "Namespaced"
    assert {one["subresource"] for one in pods["subresources"]} >= {"status", "binding", "log"}


@with_server
async def test_openapi(client):
    second = await client.get("/openapi/v2")
    shape = second["definitions"]["io.k8s.api.core.v1.Pod"]["x-kubernetes-group-version-kind"]
    assert shape == [{"group": "", "kind": "Pod", "version": "v1"}]

    index = await client.get("/openapi/v3")
    url = index["paths"]["apis/apps/v1"]["serverRelativeURL"]
    third = await client.get(url)
    assert "io.k8s.api.apps.v1.Deployment" in third["components"]["schemas"]
    assert "/apis/apps/v1/namespaces/{namespace}/deployments/{name}" in third["paths"]


@with_server
async def test_every_group_has_its_schemas(client):
    for group in (await client.get("/openapi/v3"))["paths"].values():
        status, document = await client.call("GET", group["serverRelativeURL"])
        assert status == 200
        assert "#/$defs/" not in str(document)


@pytest.mark.parametrize("path", ["/healthz", "/livez", "/readyz"])
@with_server
async def test_health(client, path):
    assert await client.call("GET", path) == (200, b"ok")


@pytest.mark.parametrize("release", RELEASES, ids=str)
@with_server
async def test_version(client, release):
    found = await client.get("/version")

    assert found["gitVersion"] == f"v{release}.0+podium"
    assert f"{found['major']}.{found['minor']}" == str(release)
    assert (await client.get("/openapi/v2"))["info"]["version"] == found["gitVersion"]


@with_server
async def test_a_table_of_pods(client):
    await client.create(PODS, pod())
    client.clock.advance(75)

    table = await client.get(PODS, Accept=TABLE)

    names = [one["name"] for one in table["columnDefinitions"] if one["priority"] == 0]
    assert names == ["Name", "Ready", "Status", "Restarts", "Age"]
    assert table["rows"][0]["cells"][:5] == ["p", "0/1", "Pending", "0", "75s"]
    assert table["rows"][0]["object"]["kind"] == "PartialObjectMetadata"


@pytest.mark.parametrize("include", ["Object", "None"])
@with_server
async def test_rows_carry_what_is_asked_for(client, include):
    await client.create(PODS, pod())

    row = (await client.get(f"{PODS}?includeObject={include}", Accept=TABLE))["rows"][0]

    assert (row["object"] or {}).get("kind") == {"Object": "Pod", "None": None}[include]


@with_server
async def test_every_kind_has_a_table(client):
    for kind in client.api.kinds:
        if "list" in kind.verbs:
            table = await client.get(f"{kind.prefix}/{kind.plural}", Accept=TABLE)
            assert table["kind"] == "Table", kind.resource


@with_server
async def test_reviews_allow_everything(client):
    path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
    ask = {"spec": {"resourceAttributes": {"verb": "delete", "resource": "nodes"}}}

    answer = await client.create(path, ask)

    assert answer["status"]["allowed"]


@with_server
async def test_forms_nobody_has(client):
    status, answer = await client.call("GET", PODS, Accept="application/cbor")

    assert (status, answer["reason"]) == (406, "NotAcceptable")


@with_server
async def test_events_of_both_groups_are_one(client):
    event = {
        "metadata": {"name": "e"},
        "regarding": {"kind": "Pod", "name": "p", "namespace": "default"},
        "note": "it happened",
        "reason": "Happened",
        "type": "Normal",
        "action": "Happening",
        "reportingController": "me",
        "reportingInstance": "me-1",
        "eventTime": "2026-01-01T00:00:00.000000Z",
    }
    await client.create("/apis/events.k8s.io/v1/namespaces/default/events", event)

    core = await client.get("/api/v1/namespaces/default/events/e")

    assert (core["involvedObject"]["name"], core["message"]) == ("p", "it happened")
    selected = "/api/v1/namespaces/default/events?fieldSelector=involvedObject.name=p"
    assert len((await client.get(selected))["items"]) == 1


@with_server
async def test_the_newest_stable_version_is_preferred(client):
    versions = ["v1", "v2beta1", "v10", "v2", "v1alpha1", "v10beta3", "other"]
    listed = [
        {"name": one, "served": True, "storage": one == "v1", "schema": {"openAPIV3Schema": ANY}}
        for one in versions
    ]
    names = {"kind": "Foo", "plural": "foos"}
    spec = {"group": "example.com", "names": names, "scope": "Cluster", "versions": listed}
    crd = {"metadata": {"name": "foos.example.com"}, "spec": spec}
    await client.create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", crd)

    found = await client.get("/apis/example.com")
    scaling = await client.get("/apis/autoscaling")

    ordered = [one["version"] for one in found["versions"]]
    assert ordered == ["v10", "v2", "v1", "v10beta3", "v2beta1", "v1alpha1", "other"]
    assert scaling["preferredVersion"]["version"] == "v2"


ANY = {"type": "object"}

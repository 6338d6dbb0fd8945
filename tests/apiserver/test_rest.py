"""The REST API over real HTTP: every operation, and every refusal with its code and reason."""

import pytest

from tests.support.apiserver import (
    CONFIG_MAPS,
    DEPLOYMENTS,
    MERGE,
    PODS,
    config_map,
    pod,
    with_server,
)


@with_server
async def test_an_object_lives_and_dies(client):
    made = await client.create(CONFIG_MAPS, config_map("a", {"x": "1"}))
    assert made["metadata"]["namespace"] == "default"

    made["data"] = {"x": "2"}
    status, changed = await client.call("PUT", f"{CONFIG_MAPS}/a", made)
    assert (status, changed["data"]) == (200, {"x": "2"})
    assert int(changed["metadata"]["resourceVersion"]) > int(made["metadata"]["resourceVersion"])

    status, gone = await client.call("DELETE", f"{CONFIG_MAPS}/a")
    assert (status, gone["status"]) == (200, "Success")
    assert (await client.call("GET", f"{CONFIG_MAPS}/a"))[0] == 404


def case(*values, id):
    """A request (method, path, body) and its refusal (code, reason, part of the message)."""
    return pytest.param(values, id=id)


@pytest.mark.parametrize(
    "refused",
    [
        case(
            "GET",
            f"{PODS}/x",
            None,
            404,
            "NotFound",
            'pods "x" not found',
            id="missing",
        ),
        case(
            "GET",
            f"{DEPLOYMENTS}/x",
            None,
            404,
            "NotFound",
            'deployments.apps "x" not found',
            id="missing-with-group",
        ),
        case(
            "GET",
            "/api/v1/foos",
            None,
            404,
            "NotFound",
            "the server could not find the requested resource",
            id="unknown-kind",
        ),
        case(
            "POST",
            "/api/v1/namespaces/none/pods",
            pod(),
            404,
            "NotFound",
            'namespaces "none" not found',
            id="no-such-namespace",
        ),
        case(
            "POST",
            PODS,
            b"{",
            400,
            "BadRequest",
            "couldn't get version/kind; json parse error",
            id="malformed",
        ),
        case(
            "POST",
            PODS,
            b"[" * 100_000,
            400,
            "BadRequest",
            "",
            id="deep-nesting",
        ),
        case(
            "POST",
            PODS,
            b'{"a":"' + b"x" * (3 * 1024 * 1024) + b'"}',
            413,
            "RequestEntityTooLarge",
            "Request entity too large: limit is 3145728",
            id="over-3-MiB",
        ),
        case(
            "POST",
            PODS,
            {**pod(), "kind": "Service"},
            400,
            "BadRequest",
            'Service in version "v1" cannot be handled as a Pod',
            id="other-kind",
        ),
        case(
            "POST",
            PODS,
            {**pod(), "apiVersion": "v2"},
            400,
            "BadRequest",
            'Pod in version "v2" cannot be handled as a Pod: no kind "Pod" is registered for',
            id="other-version",
        ),
        case(
            "POST",
            PODS,
            pod(containers="c"),
            400,
            "BadRequest",
            "json: cannot unmarshal string into Go struct field PodSpec.spec.containers of type "
            "[]v1.Container",
            id="wrong-type",
        ),
        case(
            "POST",
            PODS,
            pod("Not_Valid"),
            422,
            "Invalid",
            'Pod "Not_Valid" is invalid: metadata.name: Invalid value: "Not_Valid": a lowercase '
            "RFC 1123 subdomain must consist of",
            id="invalid-name",
        ),
        case(
            "POST",
            PODS,
            pod(containers=[]),
            422,
            "Invalid",
            'Pod "p" is invalid: spec.containers: Required value',
            id="no-containers",
        ),
        case(
            "POST",
            CONFIG_MAPS,
            config_map("a", namespace="other"),
            400,
            "BadRequest",
            "the namespace of the provided object does not match the namespace sent on the request",
            id="other-namespace",
        ),
        case(
            "GET",
            "/api/v1/pods?labelSelector=a%20in%20(",
            None,
            400,
            "BadRequest",
            "unable to parse requirement: ",
            id="bad-label-selector",
        ),
        case(
            "GET",
            "/api/v1/pods?fieldSelector=spec.what=1",
            None,
            400,
            "BadRequest",
            "field label not supported: spec.what",
            id="bad-field-selector",
        ),
        case(
            "GET",
            "/api/v1/pods?resourceVersion=999999",
            None,
            504,
            "Timeout",
            "Timeout: Too large resource version: 999999, current: ",
            id="version-from-the-future",
        ),
        case(
            "GET",
            "/api/v1/pods?limit=x",
            None,
            400,
            "BadRequest",
            'strconv.ParseInt: parsing "x": invalid syntax',
            id="bad-limit",
        ),
        case(
            "GET",
            "/api/v1/pods?continue=abc",
            None,
            400,
            "BadRequest",
            "continue key is not valid",
            id="bad-continue",
        ),
        case("POST", "/api/v1/pods", pod(), 405, "MethodNotAllowed", "", id="no-namespace"),
        case("PUT", PODS, pod(), 405, "MethodNotAllowed", "", id="put-of-a-collection"),
        case(
            "POST",
            f"{PODS}?dryRun=Some",
            pod(),
            422,
            "Invalid",
            'CreateOptions.meta.k8s.io "" is invalid: dryRun: Unsupported value: ["Some"]: '
            'supported values: "All"',
            id="bad-dry-run",
        ),
        case(
            "POST",
            f"{PODS}?fieldValidation=Strict",
            pod(colour="red"),
            400,
            "BadRequest",
            'Pod in version "v1" cannot be handled as a Pod: strict decoding error: unknown field '
            '"spec.colour"',
            id="unknown-field",
        ),
    ],
)
@with_server
async def test_refusals(client, refused):
    method, path, body, code, reason, message = refused
    status, answer = await client.call(method, path, body)

    assert (status, answer["code"], answer["reason"]) == (code, code, reason)
    assert (answer["kind"], answer["status"]) == ("Status", "Failure")
    assert message in answer["message"]


@with_server
async def test_stale_update_conflicts(client):
    made = await client.create(CONFIG_MAPS, config_map("a"))
    await client.call("PUT", f"{CONFIG_MAPS}/a", {**made, "data": {"x": "1"}})

    status, answer = await client.call("PUT", f"{CONFIG_MAPS}/a", {**made, "data": {"x": "2"}})

    assert (status, answer["reason"]) == (409, "Conflict")
    assert answer["message"] == (
        'Operation cannot be fulfilled on configmaps "a": the object has been modified; please '
        "apply your changes to the latest version and try again"
    )
    assert answer["details"] == {"name": "a", "kind": "configmaps"}


@with_server
async def test_pages_are_of_one_moment(client):
    for name in "abcde":
        await client.create(CONFIG_MAPS, config_map(name))
    first = await client.get(f"{CONFIG_MAPS}?limit=2")
    assert first["metadata"]["remainingItemCount"] == 3

    await client.call("DELETE", f"{CONFIG_MAPS}/c")
    await client.create(CONFIG_MAPS, config_map("cc"))
    token = first["metadata"]["continue"]
    rest = await client.get(f"{CONFIG_MAPS}?limit=10&continue={token}")

    assert [one["metadata"]["name"] for one in rest["items"]] == ["c", "d", "e"]
    assert rest["metadata"]["resourceVersion"] == first["metadata"]["resourceVersion"]


@with_server
async def test_an_old_page_token_expires_with_a_way_on(client):
    for name in "abc":
        await client.create(CONFIG_MAPS, config_map(name))
    token = (await client.get(f"{CONFIG_MAPS}?limit=1"))["metadata"]["continue"]
    for number in range(120):
        await client.create(CONFIG_MAPS, config_map(f"x{number}"))

    status, answer = await client.call("GET", f"{CONFIG_MAPS}?limit=1&continue={token}")
    assert (status, answer["reason"]) == (410, "Expired")

    token = answer["metadata"]["continue"]
    page = await client.get(f"{CONFIG_MAPS}?limit=1&continue={token}")
    assert [one["metadata"]["name"] for one in page["items"]] == ["b"]


@pytest.mark.parametrize(
    ("query", "names"),
    [
        pytest.param("labelSelector=tier=a", ["one"], id="equals"),
        pytest.param("labelSelector=tier!=a", ["three", "two"], id="not-equals-or-missing"),
        pytest.param("labelSelector=tier in (a,b)", ["one", "two"], id="in"),
        pytest.param("labelSelector=!tier", ["three"], id="absent"),
        pytest.param("labelSelector=tier,tier notin (b)", ["one"], id="two-requirements"),
        pytest.param("fieldSelector=metadata.name=two", ["two"], id="by-name"),
        pytest.param("fieldSelector=metadata.name!=two", ["one", "three"], id="by-other-name"),
    ],
)
@with_server
async def test_selectors(client, query, names):
    await client.create(CONFIG_MAPS, config_map("one", labels={"tier": "a"}))
    await client.create(CONFIG_MAPS, config_map("two", labels={"tier": "b"}))
    await client.create(CONFIG_MAPS, config_map("three"))

    found = await client.get(f"{CONFIG_MAPS}?{query}")

    assert [one["metadata"]["name"] for one in found["items"]] == names


@with_server
async def test_dry_run_answers_and_changes_nothing(client):
    status, made = await client.call("POST", f"{PODS}?dryRun=All", pod())
    assert (status, made["spec"]["schedulerName"]) == (201, "default-scheduler")

    assert (await client.call("GET", f"{PODS}/p"))[0] == 404


@with_server
async def test_delete_collection_takes_the_selected(client):
    await client.create(CONFIG_MAPS, config_map("a", labels={"x": "1"}))
    await client.create(CONFIG_MAPS, config_map("b"))

    await client.call("DELETE", f"{CONFIG_MAPS}?labelSelector=x=1")

    found = await client.get(CONFIG_MAPS)
    assert [one["metadata"]["name"] for one in found["items"]] == ["b"]


@with_server
async def test_cluster_scoped_kinds_have_no_namespace(client):
    node = {"metadata": {"name": "n", "namespace": "default"}}

    made = await client.create("/api/v1/nodes", node)

    assert "namespace" not in made["metadata"]


@with_server
async def test_autoscalers_in_two_versions(client):
    path = "/apis/autoscaling/{}/namespaces/default/horizontalpodautoscalers"
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
    spec = {"scaleTargetRef": target, "maxReplicas": 3, "targetCPUUtilizationPercentage": 50}

    old = await client.create(path.format("v1"), {"metadata": {"name": "web"}, "spec": spec})
    new = await client.get(path.format("v2") + "/web")

    assert (old["apiVersion"], new["apiVersion"]) == ("autoscaling/v1", "autoscaling/v2")
    assert old["spec"]["targetCPUUtilizationPercentage"] == 50
    utilization = {"type": "Utilization", "averageUtilization": 50}
    assert new["spec"]["metrics"] == [
        {"type": "Resource", "resource": {"name": "cpu", "target": utilization}}
    ]
    listed = await client.get(path.format("v1"))
    assert listed["items"][0]["spec"] == old["spec"]


@with_server
async def test_a_dry_run_as_a_table(client):
    accept = "application/json;as=Table;v=v1;g=meta.k8s.io"

    status, table = await client.call("POST", f"{PODS}?dryRun=All", pod(), Accept=accept)

    assert (status, table["rows"][0]["cells"][0], table["metadata"]) == (201, "p", {})


@with_server
async def test_lists_need_not_read_what_they_show(client):
    """Every object ends with what it is, whoever wrote it last, so that lists cut that off."""
    await client.create(PODS, pod("p"))
    await client.call("PATCH", f"{PODS}/p/status", {"status": {"phase": "Running"}}, MERGE)

    api = client.api
    for resource in api.store.resources():
        for item in api.store.list(resource).items:
            said = (f'"{name}":"{item.decode()[name]}"' for name in ("apiVersion", "kind"))
            assert item.encoded.endswith(f",{','.join(said)}}}".encode()), (resource, item.key)

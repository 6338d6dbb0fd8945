"""CustomResourceDefinitions and the kinds they bring."""

from tests.support.apiserver import APPLY, MERGE, STRATEGIC, with_server

CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
FOOS = "/apis/example.com/v1/namespaces/default/foos"


def definition(**schema):
    properties = {
        "spec": {
            "type": "object",
            "required": ["size"],
            "properties": {
                "size": {"type": "integer", "minimum": 1, "maximum": 9},
                "colour": {"type": "string", "default": "red", "enum": ["red", "blue"]},
                "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
                "replicas": {"type": "integer"},
            },
        },
        "status": {"type": "object", "properties": {"phase": {"type": "string"}}},
    }
    version = {
        "name": "v1",
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": {"type": "object", "properties": properties, **schema}},
        "subresources": {
            "status": {},
            "scale": {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.n"},
        },
        "additionalPrinterColumns": [{"name": "Size", "type": "integer", "jsonPath": ".spec.size"}],
    }
    older = {**version, "name": "v1alpha1", "storage": False}
    return {
        "metadata": {"name": "foos.example.com"},
        "spec": {
            "group": "example.com",
            "names": {"kind": "Foo", "plural": "foos", "shortNames": ["fo"]},
            "scope": "Namespaced",
            "versions": [version, older],
        },
    }


def foo(name="f", **spec):
    return {
        "apiVersion": "example.com/v1",
        "kind": "Foo",
        "metadata": {"name": name},
        "spec": {"size": 1, **spec},
    }


@with_server
async def test_a_definition_serves_its_kind_and_takes_it_along(client):
    assert (await client.call("GET", FOOS))[0] == 404
    await client.create(CRDS, definition())
    established = (await client.get(f"{CRDS}/foos.example.com"))["status"]["conditions"]
    assert [one["type"] for one in established] == ["NamesAccepted", "Established"]

    made = await client.create(FOOS, foo(extra=1, free={"any": {"thing": 1}}))
    assert made["spec"] == {"size": 1, "colour": "red", "free": {"any": {"thing": 1}}}

    await client.call("DELETE", f"{CRDS}/foos.example.com")
    assert (await client.call("GET", FOOS))[0] == 404
    await client.create(CRDS, definition())
    assert (await client.get(FOOS))["items"] == []


@with_server
async def test_the_schema_is_enforced(client):
    await client.create(CRDS, definition())

    async def message(**spec):
        status, answer = await client.call("POST", FOOS, foo(**spec))
        assert status == 422
        return answer["message"]

    assert "spec.size: Required value" in await message(size=None)
    assert "should be less than or equal to 9" in await message(size=10)
    assert 'Unsupported value: "green": supported values: "red", "blue"' in await message(
        colour="green"
    )


@with_server
async def test_versions_show_the_same_object(client):
    await client.create(CRDS, definition())
    await client.create(FOOS, foo())

    other = await client.get(FOOS.replace("/v1/", "/v1alpha1/") + "/f")

    assert other["apiVersion"] == "example.com/v1alpha1"
    assert other["spec"]["size"] == 1


@with_server
async def test_patches_and_subresources(client):
    await client.create(CRDS, definition())
    await client.create(FOOS, foo())
    size = {"spec": {"size": 3}}

    assert (await client.call("PATCH", f"{FOOS}/f", size, STRATEGIC))[0] == 415
    _, merged = await client.call("PATCH", f"{FOOS}/f", size, MERGE)
    assert (merged["spec"]["size"], merged["metadata"]["generation"]) == (3, 2)
    path = f"{FOOS}/f?fieldManager=me&force=true"
    _, applied = await client.call("PATCH", path, foo(size=4), APPLY)
    assert applied["spec"]["size"] == 4
    phase = {"status": {"phase": "Up"}, "spec": {"size": 9}}
    _, status = await client.call("PATCH", f"{FOOS}/f/status", phase, MERGE)
    assert (status["status"], status["spec"]["size"]) == ({"phase": "Up"}, 4)
    scale = {"spec": {"replicas": 7}}
    assert (await client.call("PATCH", f"{FOOS}/f/scale", scale, MERGE))[1]["spec"] == {
        "replicas": 7
    }


@with_server
async def test_printer_columns_and_discovery(client):
    await client.create(CRDS, definition())
    await client.create(FOOS, foo())

    accept = "application/json;as=Table;v=v1;g=meta.k8s.io"
    table = await client.get(FOOS, Accept=accept)
    assert [one["name"] for one in table["columnDefinitions"]] == ["Name", "Size"]
    assert table["rows"][0]["cells"] == ["f", 1]

    groups = (await client.get("/apis"))["groups"]
    ours = next(group for group in groups if group["name"] == "example.com")
    assert ours["preferredVersion"]["version"] == "v1"
    schemas = (await client.get("/openapi/v3/apis/example.com/v1"))["components"]["schemas"]
    assert "com.example.v1.Foo" in schemas


@with_server
async def test_definitions_that_make_no_sense(client):
    broken = definition()
    broken["metadata"]["name"] = "bars.example.com"
    broken["spec"]["versions"][0]["storage"] = False

    status, answer = await client.call("POST", CRDS, broken)

    assert status == 422
    assert 'must be spec.names.plural+"."+spec.group' in answer["message"]
    assert "exactly one version marked as storage version" in answer["message"]


UNTYPED = "Object 'Kind' is missing in"
MISTYPED = [
    ({"kind": None}, 400, f"unrecognized (must be of type Foo): {UNTYPED}"),
    ({"kind": ""}, 400, f"unrecognized (must be of type Foo): {UNTYPED}"),
    ({"apiVersion": None}, 400, "the API version in the data () does not match"),
    ({"apiVersion": "example.com/v2"}, 400, "the API version in the data (example.com/v2)"),
    ({"kind": "Bar"}, 422, 'Bar.example.com "f" is invalid: kind: Invalid value: "Bar"'),
]
MISPATCHED = [
    ({"kind": None}, f'patch: Invalid value: "{{}}": {UNTYPED}'),
    ({"kind": "Bar"}, 'Bar.example.com "f" is invalid: kind: Invalid value: "Bar": must be Foo'),
    ({"apiVersion": "v1"}, 'Foo "f" is invalid: apiVersion: Invalid value: "v1": must be example'),
    ({"apiVersion": "v1", "kind": "Bar"}, 'Bar "f" is invalid: [kind: Invalid value: "Bar"'),
]


@with_server
async def test_objects_must_say_what_they_are(client):
    await client.create(CRDS, definition())
    await client.create(FOOS, foo())
    for change, code, message in MISTYPED:
        body = {key: one for key, one in {**foo(), **change}.items() if one is not None}
        for method, path in (("POST", FOOS), ("PUT", f"{FOOS}/f")):
            status, refusal = await client.call(method, path, body)
            assert (status, refusal["code"]) == (code, code), (method, change)
            assert message in refusal["message"], (method, change)
    for change, message in MISPATCHED:
        status, refusal = await client.call("PATCH", f"{FOOS}/f", change, MERGE)
        assert (status, refusal["reason"]) == (422, "Invalid"), change
        assert message in refusal["message"], change

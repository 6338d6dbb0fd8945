"""Scripts: CustomResourceDefinitions and the objects of their kinds."""

from tests.support.control_plane.comparison import APPLY, MERGE, STRATEGIC, TABLE
from tests.support.control_plane.scripts.objects import definition

DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
_SCHEMA = {
    "type": "object",
    "required": ["spec"],
    "properties": {
        "spec": {
            "type": "object",
            "required": ["size"],
            "properties": {
                "size": {"type": "integer", "minimum": 1, "maximum": 10},
                "name": {"type": "string", "pattern": "^[a-z]+$", "maxLength": 5},
                "color": {"type": "string", "enum": ["red", "blue"], "default": "red"},
                "many": {"type": "array", "maxItems": 2, "items": {"type": "string"}},
                "either": {"x-kubernetes-int-or-string": True},
                "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
                "ports": {
                    "type": "array",
                    "x-kubernetes-list-type": "map",
                    "x-kubernetes-list-map-keys": ["name"],
                    "items": {
                        "type": "object",
                        "required": ["name"],
                        "properties": {"name": {"type": "string"}, "port": {"type": "integer"}},
                    },
                },
            },
        },
        "status": {"type": "object", "properties": {"phase": {"type": "string"}}},
    },
}


def custom_objects(ask):
    columns = [{"name": "Size", "type": "integer", "jsonPath": ".spec.size"}]
    more = {"subresources": {"status": {}}, "additionalPrinterColumns": columns}
    ask.create(DEFINITIONS, definition("widgets", "Widget", _SCHEMA, **more))
    wait_until_established(ask, f"{DEFINITIONS}/widgets.example.com")
    path = ask.group("example.com/v1", "widgets")
    kind = {"apiVersion": "example.com/v1", "kind": "Widget"}
    ask.create(path, {**kind, "metadata": {"name": "a"}, "spec": {"size": 3}})
    ask.get(f"{path}/a")
    ask.get(f"{path}/a", accept=TABLE)
    ask.get(path)
    for spec in (
        None,
        {},
        {"size": "3"},
        {"size": 0},
        {"size": 11},
        {"size": 1, "name": "UPPER"},
        {"size": 1, "name": "toolong"},
        {"size": 1, "color": "green"},
        {"size": 1, "many": ["a", "b", "c"]},
        {"size": 1, "many": "a"},
        {"size": 1, "either": True},
        {"size": 1, "ports": [{"port": 1}]},
        {"size": 1, "ports": [{"name": "a"}, {"name": "a"}]},
    ):
        body = {**kind, "metadata": {"name": "x"}}
        ask.create(path, body if spec is None else {**body, "spec": spec})
    ask.create(
        path, {**kind, "metadata": {"name": "b"}, "spec": {"size": 1, "odd": 1, "free": {"x": 1}}}
    )
    ask.create(
        f"{path}?fieldValidation=Strict",
        {**kind, "metadata": {"name": "c"}, "spec": {"size": 1, "odd": 1}},
    )
    ask.patch(f"{path}/a", {"spec": {"size": 4}}, MERGE)
    ask.patch(f"{path}/a", {"status": {"phase": "Ready"}}, MERGE)
    ask.patch(f"{path}/a/status", {"status": {"phase": "Ready"}}, MERGE)
    ask.patch(f"{path}/a", {"spec": {"size": 4}}, STRATEGIC)
    ask.put(f"{path}/a", {**kind, "metadata": {"name": "a"}, "spec": {"size": 5}})
    applied = {**kind, "metadata": {"name": "d"}, "spec": {"size": 1, "ports": [{"name": "x"}]}}
    ask("PATCH", f"{path}/d?fieldManager=one", applied, APPLY)
    applied["spec"]["ports"] = [{"name": "y", "port": 1}]
    ask("PATCH", f"{path}/d?fieldManager=two", applied, APPLY)
    ask.get("/apis/example.com/v1")
    ask.delete(f"{path}/a")
    ask.side.request("DELETE", f"{DEFINITIONS}/widgets.example.com")


def mistyped_objects(ask):
    """Objects that do not say what they are, or say something else."""
    ask.create(DEFINITIONS, definition("cogs", "Cog", {"type": "object", **_OPEN}))
    wait_until_established(ask, f"{DEFINITIONS}/cogs.example.com")
    path = ask.group("example.com/v1", "cogs")
    good = {"apiVersion": "example.com/v1", "kind": "Cog"}
    made = ask.create(path, {**good, "metadata": {"name": "a"}})
    version = {"resourceVersion": made["metadata"]["resourceVersion"]}
    for said in (
        {},
        {"kind": "Cog"},
        {"apiVersion": "example.com/v1"},
        {**good, "kind": "Gear"},
        {**good, "kind": ""},
        {**good, "apiVersion": "example.com/v2"},
        {**good, "apiVersion": "other.com/v1"},
        {**good, "apiVersion": "v1"},
        {**good, "apiVersion": "a/b/c"},
        {"apiVersion": "v1", "kind": "ConfigMap"},
    ):
        ask.create(f"{path}?dryRun=All", {**said, "metadata": {"name": "b"}})
        ask.put(f"{path}/a?dryRun=All", {**said, "metadata": {"name": "a", **version}})
    for change in (
        {"kind": "Gear"},
        {"kind": None},
        {"kind": ""},
        {"apiVersion": "example.com/v2"},
        {"apiVersion": None},
        {"apiVersion": None, "kind": None},
        {"apiVersion": "v1", "kind": "ConfigMap"},
    ):
        ask.patch(f"{path}/a?dryRun=All", change, MERGE)
    for body in (b"[]", b"1", b"{", b"", b"null"):
        ask("POST", path, body)
    ask.delete(f"{path}/a")
    ask.side.request("DELETE", f"{DEFINITIONS}/cogs.example.com")


_OPEN = {"x-kubernetes-preserve-unknown-fields": True}


def wait_until_established(ask, path):
    collection, _, name = path.rpartition("/")
    selected = f"fieldSelector=metadata.name%3D{name}"
    ask.side.wait_for(f"{collection}?{selected}", _is_established)


def _is_established(found):
    conditions = found.get("status", {}).get("conditions") or []
    return any(one["type"] == "Established" and one["status"] == "True" for one in conditions)


def refused_definitions(ask):
    schema = {"type": "object"}
    good = definition("gadgets", "Gadget", schema)
    for change in (
        {"group": "other.com"},
        {"group": ""},
        {"scope": "Odd"},
        {"names": {"kind": "Gadget", "plural": "Gadgets"}},
        {"names": {"plural": "gadgets"}},
        {"versions": [{"name": "v1", "served": True, "storage": True}]},
        {"versions": [{**good["spec"]["versions"][0], "name": "V_1"}]},
    ):
        body = {**good, "spec": {**good["spec"], **change}}
        ask.create(f"{DEFINITIONS}?dryRun=All", body)
    ask.create(DEFINITIONS, {**good, "metadata": {"name": "wrong"}})


def zeros_in_a_schema(ask):
    """Limits of zero are limits; other fields that are zero or empty are left out."""
    spec = {
        "size": {"type": "integer", "minimum": 0, "maximum": 0, "multipleOf": 1},
        "name": {"type": "string", "minLength": 0, "maxLength": 0, "pattern": "", "title": ""},
        "many": {"type": "array", "minItems": 0, "maxItems": 0, "items": {"type": "string"}},
        "more": {"type": "object", "minProperties": 0, "maxProperties": 0, "nullable": False},
        "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": True, "required": []},
    }
    schema = {"type": "object", "properties": {"spec": {"type": "object", "properties": spec}}}
    ask.create(DEFINITIONS, definition("zeros", "Zero", schema))
    wait_until_established(ask, f"{DEFINITIONS}/zeros.example.com")
    path = ask.group("example.com/v1", "zeros")
    kind = {"apiVersion": "example.com/v1", "kind": "Zero"}
    for name, value in (("size", -1), ("size", 1), ("name", "a"), ("many", ["a"]), ("size", 0)):
        ask.create(path, {**kind, "metadata": {"name": "a"}, "spec": {name: value}})
    ask.side.request("DELETE", f"{DEFINITIONS}/zeros.example.com")


ALL = (custom_objects, mistyped_objects, refused_definitions, zeros_in_a_schema)

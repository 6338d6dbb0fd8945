"""What schemas of custom resources mean to expressions: types, sizes and names."""

import pytest

from podium.cel import types
from podium.cel.escaping import escape
from podium.cel.schema_types import LARGEST_REQUEST, Declarations
from podium.release import RELEASES, V1_36, V1_37

TEXT = {"type": "string"}


def declare(schema, *, release=V1_37, is_resource=False):
    return Declarations(release).declare(schema, "self", is_resource)


@pytest.mark.parametrize(
    ("schema", "shown", "most", "min_bytes"),
    [
        pytest.param({"type": "integer"}, "int", 0, 1, id="integer"),
        pytest.param({"type": "number"}, "double", 0, 1, id="number"),
        pytest.param({"type": "boolean"}, "bool", 0, 4, id="boolean"),
        pytest.param(TEXT, "string", LARGEST_REQUEST - 2, 2, id="text"),
        pytest.param({**TEXT, "maxLength": 5}, "string", 20, 2, id="characters-of-four-bytes"),
        pytest.param({**TEXT, "maxLength": -1}, "string", 0, 2, id="negative-limit"),
        pytest.param({**TEXT, "enum": ["a", "bcd"]}, "string", 3, 2, id="choice"),
        pytest.param({**TEXT, "format": "byte"}, "bytes", LARGEST_REQUEST - 2, 2, id="bytes"),
        pytest.param({**TEXT, "format": "date"}, "timestamp", 12, 12, id="date"),
        pytest.param({**TEXT, "format": "date-time"}, "timestamp", 32, 21, id="time"),
        pytest.param({**TEXT, "format": "duration"}, "duration", 32, 3, id="duration"),
        pytest.param({**TEXT, "format": "uuid"}, "string", LARGEST_REQUEST - 2, 2, id="other"),
        pytest.param(
            {"x-kubernetes-int-or-string": True}, "dyn", LARGEST_REQUEST - 2, 1, id="either"
        ),
        pytest.param(
            {"type": "array", "items": {"type": "integer"}},
            "list(int)",
            (LARGEST_REQUEST - 2) // 2,
            2,
            id="list-of-short-items",
        ),
        pytest.param(
            {"type": "array", "maxItems": 3, "items": TEXT}, "list(string)", 3, 2, id="list"
        ),
        pytest.param(
            {"type": "object", "additionalProperties": TEXT},
            "map(string, string)",
            (LARGEST_REQUEST - 2) // 8,
            2,
            id="map",
        ),
        pytest.param(
            {"type": "object", "required": ["ab"], "properties": {"ab": TEXT, "c": TEXT}},
            "self",
            0,
            2 + 2 + 2 + 4,
            id="required-fields-take-room",
        ),
        pytest.param(
            {
                "type": "object",
                "required": ["a"],
                "properties": {"a": {**TEXT, "default": "x"}},
            },
            "self",
            0,
            2,
            id="defaults-take-none",
        ),
    ],
)
def test_declarations(schema, shown, most, min_bytes):
    found = declare(schema)

    assert types.describe(found.type) == shown
    assert (found.shape.max_size, found.min_bytes) == (most, min_bytes)


@pytest.mark.parametrize(
    "schema",
    [
        pytest.param({}, id="nothing"),
        pytest.param({"x-kubernetes-preserve-unknown-fields": True}, id="anything"),
        pytest.param({"type": "array"}, id="list-of-anything"),
        pytest.param({"type": "array", "items": {}}, id="list-of-nothing"),
        pytest.param({"type": "object", "additionalProperties": {}}, id="map-of-nothing"),
    ],
)
def test_what_has_no_type_is_not_declared(schema):
    assert declare(schema) is None
    outer = Declarations(V1_37)
    outer.declare({"type": "object", "properties": {"a": schema, "b": TEXT}}, "self")
    assert outer.objects == {"self": {"b": types.STRING}}


def test_objects_have_names_of_their_own():
    found = Declarations(V1_37)
    inner = {"type": "object", "properties": {"x": TEXT}}
    schema = {
        "type": "object",
        "properties": {
            "one": inner,
            "many": {"type": "array", "items": inner},
            "by-name": {"type": "object", "additionalProperties": inner},
        },
    }
    found.declare(schema, "self")

    assert set(found.objects) == {
        "self",
        "self.one",
        "self.many.@idx",
        "self.by__dash__name.@elem",
    }


@pytest.mark.parametrize("release", RELEASES, ids=str)
def test_a_resource_has_its_type_and_its_names(release):
    schema = {"type": "object", "properties": {"spec": TEXT, "metadata": {"type": "object"}}}
    found = Declarations(release)
    shape = found.declare(schema, "self", is_resource=True).shape

    assert set(found.objects["self"]) == {"spec", "kind", "apiVersion", "metadata"}
    assert set(found.objects["self.metadata"]) == {"name", "generateName"}
    longest = LARGEST_REQUEST - 2 if release == V1_36 else 4 * 253
    assert shape.fields["metadata"].fields["name"].max_size == longest


def test_a_resource_may_describe_more_of_its_metadata():
    names = dict.fromkeys(("name", "generateName", "namespace"), TEXT)
    properties = {"kind": TEXT, "apiVersion": TEXT}
    properties["metadata"] = {"type": "object", "properties": names}
    found = Declarations(V1_37)
    found.declare({"type": "object", "properties": properties}, "self", is_resource=True)

    assert "__namespace__" in found.objects["self.metadata"]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("plain", "plain"),
        ("_a1", "_a1"),
        ("a-b.c/d", "a__dash__b__dot__c__slash__d"),
        ("a__b", "a__underscores__b"),
        ("a___b", "a__underscores___b"),
        ("namespace", "__namespace__"),
        ("in", "__in__"),
        ("1a", None),
        ("", None),
        ("ü", None),
        ("a b", None),
    ],
)
def test_escape(name, expected):
    assert escape(name) == expected

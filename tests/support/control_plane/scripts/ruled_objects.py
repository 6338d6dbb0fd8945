"""Scripts: custom objects under rules in CEL, and under rules and limits that come later."""

import json
import time

from tests.support.control_plane.comparison import MERGE
from tests.support.control_plane.scripts.customizing import DEFINITIONS, wait_until_established
from tests.support.control_plane.scripts.expressions import (
    MANY,
    NUMBER,
    PORTS,
    TEXT,
    fields,
    ruled,
)
from tests.support.control_plane.scripts.objects import definition

_OBJECT = ruled(
    fields(
        low=NUMBER,
        high=NUMBER,
        either={"x-kubernetes-int-or-string": True},
        text=ruled(
            TEXT, "self != 'bad'", {"rule": "self != 'worse'", "reason": "FieldValueDuplicate"}
        ),
        size=ruled(
            NUMBER,
            {"rule": "self < 10", "message": " too large ", "reason": "FieldValueForbidden"},
        ),
        ratio=ruled({"type": "number"}, "self < 1.5"),
        day={"type": "string", "format": "date"},
        time={"type": "string", "format": "date-time"},
        period={"type": "string", "format": "duration"},
        data={"type": "string", "format": "byte"},
        maybe={"type": "string", "nullable": True, "maxLength": 10},
        many=ruled(
            MANY, {"rule": "self.all(x, x != 'a')", "messageExpression": "'not ' + self[0]"}
        ),
        names={**MANY, "x-kubernetes-list-type": "set"},
        ports={
            **PORTS,
            "items": ruled(PORTS["items"], "self.port > 0", "self.port >= oldSelf.port"),
        },
        labels={
            "type": "object",
            "maxProperties": 5,
            "additionalProperties": ruled(TEXT, "self != ''"),
        },
        final=ruled(TEXT, {"rule": "self == oldSelf", "message": "final is final"}),
        first=ruled(
            TEXT,
            {"rule": "oldSelf.hasValue() || self == 'first'", "optionalOldSelf": True},
        ),
        free={"type": "object", "x-kubernetes-preserve-unknown-fields": True},
    ),
    {"rule": "!has(self.low) || self.low <= self.high", "fieldPath": ".low"},
    {"rule": "!has(self.either) || self.either > 1", "message": "either is small"},
    {"rule": "!has(self.day) || self.day > timestamp('2020-01-01T00:00:00Z')"},
    {"rule": "!has(self.time) || self.time.getFullYear() > 2020", "reason": "FieldValueRequired"},
    {"rule": "!has(self.period) || self.period < duration('25h')"},
    {"rule": "!has(self.data) || self.data == b'abc'"},
    {"rule": "!has(self.maybe) || self.maybe == 'x'"},
    {"rule": "!has(self.names) || self.names == ['a', 'b']"},
    {
        "rule": "!has(self.text) || self.text != 'loud'",
        "messageExpression": "self.text == 'loud' ? 'a\\nb' : ''",
        "message": "too loud",
    },
)
_SPECS = (
    {},
    {"low": 1, "high": 2},
    {"low": 2, "high": 1},
    {"low": 2},
    {"either": 2},
    {"either": 1},
    {"either": "x"},
    {"text": "bad"},
    {"text": "worse"},
    {"text": "loud"},
    {"text": 'a"b'},
    {"text": "much too long"},
    {"text": 5},
    {"size": 10},
    {"ratio": 1},
    {"ratio": 2.5},
    {"day": "2021-01-01"},
    {"day": "2019-01-01"},
    {"day": "soon"},
    {"time": "2021-01-01T00:00:00Z"},
    {"time": "2019-01-01T00:00:00Z"},
    {"time": "soon"},
    {"period": "1h"},
    {"period": "1 day"},
    {"period": "2 days"},
    {"period": "long"},
    {"data": "YWJj"},
    {"data": "YWJk"},
    {"data": "+/+/"},
    {"data": "?"},
    {"maybe": None},
    {"maybe": "x"},
    {"maybe": "y"},
    {"many": ["b", "a"]},
    {"many": ["b"]},
    {"names": ["b", "a"]},
    {"names": ["a", "c"]},
    {"ports": [{"name": "a", "port": 1}, {"name": "b", "port": 0}]},
    {"ports": [{"name": "a"}]},
    {"labels": {"a": "x", "b": ""}},
    {"final": "a"},
    {"first": "a"},
    {"first": "first"},
    {"free": {"a": {"b": [1]}}},
)
_CHANGES = (
    {"final": "b"},
    {"final": "a"},
    {"final": None},
    {"first": "second"},
    {"ports": [{"name": "b", "port": 1}, {"name": "a", "port": 4}]},
    {"ports": [{"name": "b", "port": 1}, {"name": "a", "port": 5}]},
    {"ports": [{"name": "a", "port": 0}]},
    {"names": ["b", "a"]},
    {"low": 9},
)


def objects_under_rules(ask):
    at = f"{DEFINITIONS}/ruled.example.com"
    ask.create(DEFINITIONS, definition("ruled", "Ruled", fields(spec=_OBJECT)))
    wait_until_established(ask, at)
    path = ask.group("example.com/v1", "ruled")
    kind = {"apiVersion": "example.com/v1", "kind": "Ruled"}
    for spec in _SPECS:
        ask.create(f"{path}?dryRun=All", {**kind, "metadata": {"name": "a"}, "spec": spec})
    ports = [{"name": "a", "port": 5}]
    spec = {"final": "a", "first": "first", "ports": ports, "high": 3}
    ask.create(path, {**kind, "metadata": {"name": "kept"}, "spec": spec})
    for change in _CHANGES:
        ask.patch(f"{path}/kept", {"spec": change}, MERGE)
    ask.side.request("DELETE", at)


_OLD_PORTS = [{"name": "x", "port": 1}, {"name": "y", "port": 1}]
# Objects with one part each that breaks a rule which comes later, and how they change.
_OLD = {
    "text": ({"a": "old"}, [{"b": "new"}, {"a": "older"}, {"a": "new"}]),
    "ports": (
        {"ports": _OLD_PORTS},
        [
            {"b": "new"},
            {"ports": [_OLD_PORTS[1], {"name": "x", "port": 0}]},
            {"ports": _OLD_PORTS[::-1]},
        ],
    ),
    "many": ({"many": ["old", "older"]}, [{"b": "new"}, {"many": ["older", "old"]}]),
    "whole": ({"b": "old"}, [{"c": "new"}, {"b": "old"}]),
    "kept": ({}, [{"c": "new"}]),
}


def stricter_definitions(ask):
    """Objects that break a rule which came later: parts that do not change are tolerated."""
    at = f"{DEFINITIONS}/strict.example.com"
    loose = fields(a=TEXT, b=TEXT, c=TEXT, ports=PORTS, many=MANY)
    whole = {**fields(spec=loose, status=fields(phase=TEXT)), "required": ["spec"]}
    ask.create(DEFINITIONS, definition("strict", "Strict", whole, subresources={"status": {}}))
    wait_until_established(ask, at)
    path = ask.group("example.com/v1", "strict")
    kind = {"apiVersion": "example.com/v1", "kind": "Strict"}
    for name, (spec, _) in _OLD.items():
        ask.create(path, {**kind, "metadata": {"name": name}, "spec": spec})
    strict = fields(
        a=ruled(TEXT, "self == 'new'"),
        b=TEXT,
        c=TEXT,
        ports={**PORTS, "items": ruled(PORTS["items"], "self.port > 1")},
        many={**MANY, "items": ruled(TEXT, "self == 'new'")},
    )
    spec = ruled(strict, "!has(self.b) || self.b == 'new'")
    after = fields(spec=spec, status=fields(phase=TEXT))
    ask("PATCH", at, _versions(ruled(after, "self.metadata.name != 'kept'")), MERGE)
    _wait_for(ask, path, {**kind, "metadata": {"name": "probe"}, "spec": {"a": "old"}})
    for name, (_, changes) in _OLD.items():
        ask.patch(f"{path}/{name}", {"metadata": {"labels": {"a": "b"}}}, MERGE)
        for change in changes:
            ask.patch(f"{path}/{name}", {"spec": change}, MERGE)
        ask.patch(f"{path}/{name}/status", {"status": {"phase": "x"}}, MERGE)
    ask.side.request("DELETE", at)


_LIMITS = {
    "name": {"maxLength": 3},
    "color": {"enum": ["red", "blue"]},
    "code": {"pattern": "^[a-z]+$"},
    "size": {"minimum": 5},
    "many": {"maxItems": 1},
    "day": {"format": "date"},
    "ports": {"items": {**PORTS["items"], "required": ["name", "port"]}},
    "part": {"required": ["a", "b"]},
    "short": {"minLength": 3},
    "few": {"minItems": 2},
    "labels": {"maxProperties": 1},
    "more": {"minProperties": 2},
}
_KINDS = {
    **{name: {"type": "string"} for name in ("name", "color", "code", "day")},
    "size": NUMBER,
    "many": {"type": "array", "items": {"type": "string"}},
    "ports": PORTS,
    "part": fields(a=TEXT, b=TEXT),
    "short": {"type": "string"},
    "few": {"type": "array", "items": {"type": "string"}},
    "labels": {"type": "object", "additionalProperties": {"type": "string"}},
    "more": {"type": "object", "additionalProperties": {"type": "string"}},
}
# What is there before the limits, and another value that breaks them, too.
_BEYOND = {
    "name": ("long", "longer"),
    "color": ("green", "grey"),
    "code": ("A1", "B2"),
    "size": (1, 2),
    "many": (["a", "b"], ["b", "a"]),
    "day": ("soon", "later"),
    "ports": ([{"name": "x"}, {"name": "y"}], [{"name": "y"}, {"name": "x"}, {"name": "z"}]),
    "part": ({"a": "1"}, {"b": "1", "a": None}),
    "short": ("a", "b"),
    "few": (["a"], ["b"]),
    "labels": ({"a": "1", "b": "2"}, {"a": "2"}),
    "more": ({"a": "1"}, {"a": "2"}),
}


def stricter_limits(ask):
    """Objects that break a limit which came later: parts that do not change are tolerated."""
    at = f"{DEFINITIONS}/limited.example.com"
    before = fields(spec={**fields(other=TEXT), "properties": {**_KINDS, "other": TEXT}})
    ask.create(DEFINITIONS, definition("limited", "Limited", before))
    wait_until_established(ask, at)
    path = ask.group("example.com/v1", "limited")
    kind = {"apiVersion": "example.com/v1", "kind": "Limited"}
    for name, (value, _) in _BEYOND.items():
        ask.create(path, {**kind, "metadata": {"name": name}, "spec": {name: value}})
    limited = {name: {**_KINDS[name], **more} for name, more in _LIMITS.items()}
    spec = {"type": "object", "properties": {**limited, "other": TEXT}}
    ask("PATCH", at, _versions(fields(spec=spec), "limited", "Limited"), MERGE)
    _wait_for(ask, path, {**kind, "metadata": {"name": "probe"}, "spec": {"name": "long"}})
    for name, (_, other) in _BEYOND.items():
        ask.patch(f"{path}/{name}", {"spec": {"other": "new"}}, MERGE)
        ask.patch(f"{path}/{name}", {"spec": {name: other}}, MERGE)
        ask.patch(f"{path}/{name}", {"spec": {name: None}}, MERGE)
    ask.side.request("DELETE", at)


def _versions(schema, plural="strict", kind="Strict"):
    version = definition(plural, kind, schema)["spec"]["versions"][0]
    return {"spec": {"versions": [{**version, "subresources": {"status": {}}}]}}


def _wait_for(ask, path, refused):
    """Wait until a changed definition is in force: kube-apiserver serves it a moment later."""
    body, kind = json.dumps(refused).encode(), {"Content-Type": "application/json"}
    for _ in range(100):
        code, *_ = ask.side.request("POST", f"{path}?dryRun=All", body, **kind)
        if code == 422:
            return
        time.sleep(0.1)
    raise AssertionError("the definition is not in force after 10 seconds")


ALL = (objects_under_rules, stricter_definitions, stricter_limits)

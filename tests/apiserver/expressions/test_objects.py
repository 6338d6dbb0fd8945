"""Rules of custom resource definitions, evaluated for objects that come and change."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium.apiserver.expressions.changes import Change, Pair, identical
from podium.apiserver.expressions.objects import Findings, Subject, Validator
from podium.apiserver.statuses import required
from podium.release import LATEST

NUMBER = {"type": "integer"}
TEXT = {"type": "string", "maxLength": 10}
PORTS = {
    "type": "array",
    "maxItems": 5,
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["name"],
    "items": {"type": "object", "properties": {"name": TEXT, "port": NUMBER}},
}


def ruled(schema, *rules):
    listed = [{"rule": one} if isinstance(one, str) else one for one in rules]
    return {**schema, "x-kubernetes-validations": listed}


def check(schema, new, old=None):
    """Check an object whose ``x`` has a schema; ``old`` is the ``x`` that it replaces."""
    whole = {"type": "object", "properties": {"x": schema}}
    replaced = None if old is None else {"x": old}
    return Validator(whole, LATEST).check({"x": new}, replaced)


def causes(schema, new, old=None):
    return [str(cause) for cause in check(schema, new, old).causes]


@pytest.mark.parametrize(
    ("schema", "value", "cause"),
    [
        pytest.param(ruled(NUMBER, "self < 5"), 4, None, id="kept"),
        pytest.param(
            ruled(NUMBER, "self < 5"), 5, "x: Invalid value: 5: failed rule: self < 5", id="broken"
        ),
        pytest.param(
            ruled(TEXT, {"rule": "self != 'a'", "message": " no a "}),
            "a",
            'x: Invalid value: "a": no a',
            id="message",
        ),
        pytest.param(
            ruled(TEXT, {"rule": "self != 'a'", "messageExpression": "'not ' + self + ' '"}),
            "a",
            'x: Invalid value: "a": not a',
            id="computed-message",
        ),
        pytest.param(
            ruled(
                TEXT,
                {"rule": "self != 'a'", "messageExpression": "[self][1]", "message": "no a"},
            ),
            "a",
            'x: Invalid value: "a": no a',
            id="computing-the-message-fails",
        ),
        pytest.param(
            ruled(TEXT, {"rule": "self != 'a'", "messageExpression": "self + '\\n' + self"}),
            "a",
            "x: Invalid value: \"a\": failed rule: self != 'a'",
            id="computed-message-of-two-lines",
        ),
        pytest.param(
            ruled(NUMBER, {"rule": "self < 5", "reason": "FieldValueForbidden"}),
            5,
            "x: Forbidden: failed rule: self < 5",
            id="forbidden",
        ),
        pytest.param(
            ruled(NUMBER, {"rule": "self < 5", "reason": "FieldValueRequired"}),
            5,
            "x: Required value: failed rule: self < 5",
            id="required",
        ),
        pytest.param(
            ruled(NUMBER, {"rule": "self < 5", "reason": "FieldValueDuplicate"}),
            5,
            "x: Duplicate value: 5",
            id="duplicate",
        ),
        pytest.param(
            ruled({"type": "array", "items": NUMBER}, "self.size() < 1"),
            [1],
            "x: Invalid value: failed rule: self.size() < 1",
            id="a-list-is-not-shown",
        ),
        pytest.param(
            ruled({"type": "array", "items": NUMBER}, "self[3] == 1"),
            [1],
            'x: Invalid value: "array": index out of bounds: 3 evaluating rule: self[3] == 1',
            id="fails",
        ),
        pytest.param(
            ruled({"x-kubernetes-int-or-string": True}, "self > 1"),
            "a",
            "x: Invalid value: \"\": 'no such overload': call arguments did not match a supported "
            "operator, function or macro signature for rule: self > 1",
            id="wrong-type",
        ),
        pytest.param(
            ruled(
                {"type": "object", "properties": {"a": NUMBER}},
                {"rule": "self.a < 5", "fieldPath": ".a"},
            ),
            {"a": 5},
            "x.a: Invalid value: failed rule: self.a < 5",
            id="field-of-a-violation",
        ),
        pytest.param(
            {"type": "array", "items": ruled(NUMBER, "self < 5")},
            [1, 7],
            "x[1]: Invalid value: 7: failed rule: self < 5",
            id="item",
        ),
        pytest.param(
            {"type": "object", "additionalProperties": ruled(NUMBER, "self < 5")},
            {"a": 1, "b": 7},
            "x[b]: Invalid value: 7: failed rule: self < 5",
            id="entry",
        ),
        pytest.param(ruled({**TEXT, "nullable": True}, "false"), None, None, id="null"),
        pytest.param(ruled(NUMBER, "self == oldSelf"), 5, None, id="transition"),
        pytest.param(
            ruled(NUMBER, {"rule": "oldSelf.hasValue()", "optionalOldSelf": True}),
            5,
            "x: Invalid value: 5: failed rule: oldSelf.hasValue()",
            id="optional-transition",
        ),
    ],
)
def test_new_objects(schema, value, cause):
    assert causes(schema, value) == ([cause] if cause else [])


def test_rules_of_the_object_itself():
    schema = ruled({"type": "object"}, "self.metadata.name != self.kind")
    obj = {"kind": "A", "metadata": {"name": "A", "labels": {"a": "b"}}}
    (cause,) = Validator(schema, LATEST).check(obj, None).causes

    assert str(cause) == "<nil>: Invalid value: failed rule: self.metadata.name != self.kind"


FINAL = ruled(TEXT, {"rule": "self == oldSelf", "message": "final"})
GROWING = {**PORTS, "items": ruled(PORTS["items"], "self.port >= oldSelf.port")}


@pytest.mark.parametrize(
    ("schema", "old", "new", "cause"),
    [
        pytest.param(FINAL, "a", "a", None, id="same"),
        pytest.param(FINAL, "a", "b", 'x: Invalid value: "b": final', id="changed"),
        pytest.param(
            ruled(NUMBER, {"rule": "oldSelf.orValue(0) < self", "optionalOldSelf": True}),
            3,
            2,
            "x: Invalid value: 2: failed rule: oldSelf.orValue(0) < self",
            id="optional",
        ),
        pytest.param(
            GROWING,
            [{"name": "a", "port": 2}],
            [{"name": "b", "port": 1}, {"name": "a", "port": 1}],
            "x[1]: Invalid value: failed rule: self.port >= oldSelf.port",
            id="items-with-keys",
        ),
        pytest.param(
            {"type": "object", "additionalProperties": FINAL},
            {"a": "x"},
            {"b": "y", "a": "z"},
            'x[a]: Invalid value: "z": final',
            id="entries",
        ),
        pytest.param(
            ruled({**PORTS, "x-kubernetes-list-type": "set", "items": TEXT}, "self == oldSelf"),
            ["a", "b"],
            ["b", "a"],
            None,
            id="a-set-in-another-order",
        ),
    ],
)
def test_changed_objects(schema, old, new, cause):
    assert causes(schema, new, old) == ([cause] if cause else [])


SMALL = ruled(NUMBER, "self < 5")


@pytest.mark.parametrize(
    ("schema", "old", "new", "is_tolerated"),
    [
        pytest.param(SMALL, 7, 7, True, id="unchanged"),
        pytest.param(SMALL, 7, 8, False, id="changed"),
        pytest.param(SMALL, 7.0, 7, False, id="another-type"),
        pytest.param(
            {**PORTS, "items": ruled(PORTS["items"], "self.port < 5")},
            [{"name": "a", "port": 7}, {"name": "b", "port": 1}],
            [{"name": "b", "port": 2}, {"name": "a", "port": 7}],
            True,
            id="item-with-a-key",
        ),
        pytest.param(
            {"type": "array", "items": SMALL}, [7, 1], [7, 2], False, id="item-without-a-key"
        ),
        pytest.param(
            {"type": "array", "items": SMALL}, [7, 1], [7, 1], True, id="list-without-keys"
        ),
        pytest.param(
            ruled({"type": "object", "properties": {"a": NUMBER}}, "self.a < 5"),
            {"a": 7, "b": 1},
            {"a": 7, "b": 1},
            False,
            id="fields-without-schema-are-not-compared",
        ),
    ],
)
def test_what_an_update_leaves_as_it_was_is_tolerated(schema, old, new, is_tolerated):
    findings = check(schema, new, old)

    assert bool(findings.warnings) is is_tolerated
    assert bool(findings.causes) is not is_tolerated


def test_a_rule_that_compares_tolerates_nothing():
    findings = check(ruled(NUMBER, "self != oldSelf"), 7, 7)

    assert findings.causes
    assert not findings.warnings


def test_an_object_that_is_wrong_in_other_ways_is_not_checked():
    validator = Validator({"type": "object", "properties": {"x": SMALL}}, LATEST)
    (cause,) = validator.check_after([required("spec")], {"x": 7}, None).causes

    expected = "<nil>: Invalid value: null: some validation rules were not checked because"
    assert str(cause).startswith(expected)


def test_the_budget_ends():
    items = {"type": "array", "items": ruled(NUMBER, "self < 500", "self < 600")}
    subject = Subject("x", list(range(200)), None, Change())
    (cause,) = Validator(items, LATEST).check_value(subject, Findings(budget=100)).causes

    assert cause.message == (
        'Invalid value: "integer": validation failed due to running out of cost budget, '
        "no further validation rules will be run"
    )


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(max_size=3), st.lists))
def test_json_is_identical_to_itself_only(value):
    assert identical(value, value)
    assert not identical(value, [value])
    assert Pair(value, value, {}).is_same() or isinstance(value, dict)

"""Rules of custom resource definitions: what is refused, and what they may cost."""

import pytest

from podium.apiserver.expressions.definitions import (
    Version,
    default_causes,
    expression_causes,
    expressions_of,
    form_causes,
    nested_causes,
)
from podium.apiserver.expressions.rules import Stored
from podium.release import RELEASES, V1_36, V1_37

NUMBER = {"type": "integer"}
TEXT = {"type": "string"}
ROOT = "openAPIV3Schema"
AT = f"{ROOT}.properties[x]"
FIRST = f"{AT}.x-kubernetes-validations[0]"
ADVICE = (
    "(try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, "
    "maps, and strings are declared)"
)


def ruled(schema, *rules):
    listed = [{"rule": one} if isinstance(one, str) else one for one in rules]
    return {**schema, "x-kubernetes-validations": listed}


def version(schema, **more):
    return Version({"type": "object", "properties": {"x": schema}}, ROOT, **more)


def expressions(schema, release=V1_37, stored=Stored(), **more):  # noqa: B008  (immutable)
    found = version(schema, **more)
    return [str(cause) for cause in expression_causes(found, form_causes(found), stored, release)]


@pytest.mark.parametrize(
    ("rule", "cause"),
    [
        pytest.param(
            {"rule": " "}, f"{FIRST}.rule: Required value: rule is not specified", id="empty"
        ),
        pytest.param(
            {"rule": "true", "message": " "},
            f'{FIRST}.message: Invalid value: " ": must be non-empty if specified',
            id="empty-message",
        ),
        pytest.param(
            {"rule": "true", "message": "a\nb"},
            f'{FIRST}.message: Invalid value: "a\\nb": must not contain line breaks',
            id="message-of-two-lines",
        ),
        pytest.param(
            {"rule": "true\n&& true"},
            f"{FIRST}.message: Required value: message must be specified if rule contains line "
            "breaks",
            id="rule-of-two-lines",
        ),
        pytest.param(
            {"rule": "true", "messageExpression": " "},
            f"{FIRST}.messageExpression: Required value: messageExpression must be non-empty if "
            "specified",
            id="empty-expression-of-a-message",
        ),
        pytest.param(
            {"rule": "true", "reason": "Odd"},
            f'{FIRST}.reason: Unsupported value: "Odd": supported values: "FieldValueDuplicate", '
            '"FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"',
            id="reason",
        ),
        pytest.param(
            {"rule": "true", "fieldPath": ".a"},
            f'{FIRST}.fieldPath: Invalid value: ".a": must be a valid path',
            id="path",
        ),
        pytest.param({"rule": "true", "message": "a", "fieldPath": ""}, None, id="fine"),
    ],
)
def test_forms(rule, cause):
    found = version(ruled(NUMBER, rule))
    causes = list(form_causes(found))

    assert [str(one) for one in causes] == ([cause] if cause else [])
    if causes:  # expressions are not looked at
        assert not list(expression_causes(found, causes, Stored(), V1_37))


@pytest.mark.parametrize(
    ("schema", "cause"),
    [
        pytest.param(
            ruled(NUMBER, "self"),
            f'{FIRST}.rule: Invalid value: {{"Rule":"self","Message":"","MessageExpression":"",'
            '"Reason":null,"FieldPath":"","OptionalOldSelf":null}: '
            "cel expression must evaluate to a bool",
            id="not-a-bool",
        ),
        pytest.param(
            ruled(NUMBER, "self.a"),
            "compilation failed: ERROR: <input>:1:5: type 'int' does not support field selection",
            id="does-not-compile",
        ),
        pytest.param(
            ruled(TEXT, "self.matches('(')"),
            "compilation failed: ERROR: <input>:1:14: invalid matches argument",
            id="bad-literal",
        ),
        pytest.param(
            ruled(TEXT, "self.find('<(') == ''"),
            r'{"Rule":"self.find(\'\u003c(\') == \'\'"'.replace("\\'", "'"),
            id="shown-as-go-does",
        ),
        pytest.param(
            ruled(NUMBER, {"rule": "self > 1", "messageExpression": "self"}),
            "messageExpression must evaluate to a string",
            id="message-that-is-no-text",
        ),
        pytest.param(
            ruled(NUMBER, {"rule": "self > 1", "messageExpression": "nosuch"}),
            "messageExpression compilation failed: ERROR: <input>:1:1: undeclared reference",
            id="message-that-does-not-compile",
        ),
        pytest.param(
            ruled(NUMBER, {"rule": "self > 1", "optionalOldSelf": False}),
            f"{FIRST}.optionalOldSelf: Invalid value: false: may not be set if oldSelf is not used "
            "in rule",
            id="optional-without-old",
        ),
        pytest.param(
            {"type": "array", "maxItems": 2, "items": ruled(NUMBER, "self == oldSelf")},
            f'{AT}.items.x-kubernetes-validations[0].rule: Invalid value: "self == oldSelf": '
            f"oldSelf cannot be used on the uncorrelatable portion of the schema within {AT}",
            id="old-item-of-a-list",
        ),
        pytest.param(
            ruled({"x-kubernetes-preserve-unknown-fields": True}, "true"),
            f"{AT}.x-kubernetes-validations: Internal error: internal error: failed to construct "
            "type information for x-kubernetes-validations rules: unable to convert structural "
            "schema to CEL declarations",
            id="nothing-to-declare",
        ),
    ],
)
@pytest.mark.parametrize("release", RELEASES, ids=str)
def test_expressions(schema, cause, release):
    (found,) = expressions(schema, release)

    assert cause in found


@pytest.mark.parametrize(
    "schema",
    [
        pytest.param(ruled(NUMBER, "self > oldSelf"), id="transition"),
        pytest.param(
            ruled(NUMBER, {"rule": "oldSelf.orValue(0) < self", "optionalOldSelf": True}),
            id="optional-old",
        ),
        pytest.param({"type": "object", "additionalProperties": ruled(NUMBER, "self == oldSelf")}),
        pytest.param(
            {
                "type": "array",
                "maxItems": 3,
                "x-kubernetes-list-type": "map",
                "x-kubernetes-list-map-keys": ["n"],
                "items": ruled({"type": "object", "properties": {"n": NUMBER}}, "self == oldSelf"),
            },
            id="old-item-with-a-key",
        ),
        pytest.param(ruled({"x-kubernetes-int-or-string": True}, "self == 1"), id="either"),
    ],
)
def test_fine_expressions(schema):
    assert expressions(schema) == []


MANY = {"type": "array", "items": TEXT}
COMPARE = "self.all(x, self.all(y, x == y))"


@pytest.mark.parametrize(
    ("schema", "causes"),
    [
        pytest.param(ruled({**MANY, "maxItems": 5}, COMPARE), [], id="bounded"),
        pytest.param(
            ruled(TEXT, "self.contains(self)"),
            [f"{FIRST}.rule: Forbidden: estimated rule cost exceeds budget by factor of more than"],
            id="one-value",
        ),
        pytest.param(
            {"type": "array", "items": ruled(TEXT, "self.startsWith('ab')")}, [], id="short-prefix"
        ),
        pytest.param(
            {**MANY, "items": ruled(TEXT, "self == 'a' + self")},
            [f"{AT}.items.x-kubernetes-validations[0].rule: Forbidden: estimated rule cost"],
            id="as-many-as-fit-into-a-request",
        ),
        pytest.param(
            {**MANY, "maxItems": 30, "items": ruled(TEXT, "self == 'a' + self")},
            [f"{AT}.items.x-kubernetes-validations[0].rule: Forbidden: estimated rule cost"],
            id="a-little-too-much",
        ),
    ],
)
def test_costs(schema, causes):
    found = [one for one in expressions(schema) if "OpenAPIv3" not in one]

    assert len(found) == len(causes)
    for one, expected in zip(found, causes, strict=True):
        assert one.startswith(expected)
        assert one.endswith(ADVICE)


def test_all_rules_together_may_cost_only_so_much():
    dear = ruled({**MANY, "maxItems": 5}, *[COMPARE] * 14)
    found = expressions(dear)

    assert len(found) == 5
    contributed = "Forbidden: contributed to estimated rule cost total exceeding cost limit"
    assert all(contributed in one for one in found[:4])
    assert found[4].startswith(f"{ROOT}: Forbidden: x-kubernetes-validations estimated rule cost")
    assert expressions(dear, is_unchanged=True) == found


def test_the_cost_of_one_rule_does_not_count_again():
    schema = ruled(TEXT, "self.contains('a' + self)")

    assert [one for one in expressions(schema) if "estimated rule cost exceeds" in one]
    unchanged = expressions(schema, is_unchanged=True)
    assert not [one for one in unchanged if "estimated rule cost exceeds" in one]


@pytest.mark.parametrize("release", RELEASES, ids=str)
def test_new_expressions_are_held_to_the_previous_release(release):
    schema = ruled({**MANY, "maxItems": 3}, "self.includes('a')")
    definition = {"spec": {"versions": [{"schema": {"openAPIV3Schema": schema}}]}}
    stored = expressions_of(definition)

    assert expressions(schema, release)
    assert bool(expressions(schema, release, stored)) is (release == V1_36)


@pytest.mark.parametrize("name", ["allOf", "anyOf", "oneOf"])
def test_nested_rules_are_refused(name):
    (cause,) = nested_causes(version({**NUMBER, name: [{}, ruled({}, "self > 1")]}))

    where = f"{AT}.{name}[1].x-kubernetes-validations"
    assert str(cause) == f"{where}: Forbidden: must be empty to be structural"


@pytest.mark.parametrize(
    ("schema", "cause"),
    [
        pytest.param(
            {**ruled(NUMBER, "self > 1"), "default": 1},
            f"{AT}.default: Invalid value: 1: failed rule: self > 1",
            id="breaks-a-rule",
        ),
        pytest.param({**ruled(NUMBER, "self > 1"), "default": 2}, None, id="keeps-it"),
        pytest.param({**ruled(NUMBER, "self == oldSelf"), "default": 2}, None, id="is-its-own-old"),
        pytest.param(
            {
                "default": 1,
                **ruled(NUMBER, {"rule": "oldSelf.hasValue()", "optionalOldSelf": True}),
            },
            f"{AT}.default: Invalid value: 1: failed rule: oldSelf.hasValue()",
            id="has-no-old",
        ),
    ],
)
def test_defaults(schema, cause):
    found = [str(one) for one in default_causes(version(schema), V1_37)]

    assert found == ([cause] if cause else [])

"""Any rule in any schema, for any object: an answer, and never an exception."""

from hypothesis import event, given, settings
from hypothesis import strategies as st

from podium.apiserver.expressions.definitions import Version, default_causes, expression_causes
from podium.apiserver.expressions.objects import BUDGET, Validator
from podium.apiserver.expressions.rules import Stored
from podium.release import RELEASES

RULES = (
    "self == self",
    "self == oldSelf",
    "self != oldSelf && self == self",
    "oldSelf.hasValue()",
    "oldSelf.orValue(self) == self",
    "size(self) > 1",
    "self > 1",
    "self.all(x, x == x)",
    "self + self == self",
    "self[0] == self[1]",
    "has(self.a) && self.a == oldSelf.a",
    "self.a.b == self.b__dash__c",
    "self.namespace == self.__namespace__",
    "self.exists(k, self[k] == oldSelf[k])",
    "self.map(x, x) == oldSelf.map(x, x)",
    "self.getFullYear() > 2000",
    "dyn(self).a == dyn(self)['a']",
    "dyn(self) == 1",
    "string(self) == ''",
    "self.matches(self)",
    "nosuch",
    "",
)
NAMES = ("a", "b-c", "namespace", "0", "ü")
FORMATS = ("byte", "date", "date-time", "duration", "uuid")

rules = st.fixed_dictionaries(
    {"rule": st.sampled_from(RULES)},
    optional={
        "message": st.text(max_size=3),
        "messageExpression": st.sampled_from(
            ("'a' + string(self)", "string(oldSelf)", "self", "1")
        ),
        "fieldPath": st.sampled_from((".a", "['b-c']", ".a.namespace", "x")),
        "reason": st.sampled_from(("FieldValueForbidden", "FieldValueDuplicate")),
        "optionalOldSelf": st.booleans(),
    },
)
texts = st.sampled_from(("", "a", "2021-01-01", "2021-01-01T00:00:00Z", "1h", "YQ==", "+/+/"))
values = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.floats(allow_nan=False) | texts,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=3)
    ),
    max_leaves=8,
)


def ruled(schema):
    return st.fixed_dictionaries(
        schema,
        optional={
            "x-kubernetes-validations": st.lists(rules, max_size=3),
            "nullable": st.booleans(),
            "default": values,
        },
    )


def kind(name, **more):
    return ruled({"type": st.just(name), **more})


scalars = st.one_of(
    kind("string"),
    kind("string", format=st.sampled_from(FORMATS), maxLength=st.integers(-1, 5)),
    kind("string", enum=st.lists(texts, max_size=2)),
    kind("integer"),
    kind("number"),
    kind("boolean"),
    ruled({"x-kubernetes-int-or-string": st.just(True)}),
    ruled({"x-kubernetes-preserve-unknown-fields": st.just(True)}),
)


def larger(inner):
    properties = st.dictionaries(st.sampled_from(NAMES), inner, max_size=3)
    listed = {"items": inner, "maxItems": st.integers(0, 3)}
    keys = st.lists(st.sampled_from(NAMES), max_size=2)
    return st.one_of(
        kind("object", properties=properties, required=st.lists(st.sampled_from(NAMES))),
        kind("object", additionalProperties=inner, maxProperties=st.integers(0, 3)),
        kind("object", **{"x-kubernetes-embedded-resource": st.just(True)}),
        kind("array", **listed),
        kind("array", **listed, **{"x-kubernetes-list-type": st.just("set")}),
        kind(
            "array",
            **listed,
            **{"x-kubernetes-list-type": st.just("map"), "x-kubernetes-list-map-keys": keys},
        ),
    )


schemas = st.recursive(scalars, larger, max_leaves=6)


@settings(max_examples=300)
@given(schemas, st.sampled_from(RELEASES))
def test_no_definition_makes_the_check_fail(schema, release):
    version = Version({"type": "object", "properties": {"spec": schema}}, "schema")
    causes = [
        *expression_causes(version, (), Stored(), release),
        *default_causes(version, release),
    ]

    event(f"has causes: {bool(causes)}")
    assert all(cause.field.startswith("schema") and cause.message for cause in causes)


@settings(max_examples=300)
@given(schemas, values, values | st.none(), st.sampled_from(RELEASES))
def test_no_object_makes_the_evaluation_fail(schema, new, old, release):
    validator = Validator({"type": "object", "properties": {"spec": schema}}, release)
    before = None if old is None else {"spec": old}
    findings = validator.check({"spec": new}, before)

    event(f"has causes: {bool(findings.causes)}")
    assert 0 <= findings.budget <= BUDGET
    assert all(cause.field.startswith("spec") for cause in findings.causes)
    again = validator.check({"spec": new}, before)
    assert (again.causes, again.warnings) == (findings.causes, findings.warnings)

"""Schemas of custom resource definitions: what is refused, what is told, what is enforced."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium.apiserver.crd_rules import fits, pattern_problem
from tests.apiserver.test_custom_kinds import CRDS, FOOS, definition, foo
from tests.support.apiserver import MERGE, with_server

AT = "spec.validation.openAPIV3Schema.properties[spec].properties[x]"


def with_field(**schema):
    found = definition()
    for version in found["spec"]["versions"]:
        spec = version["schema"]["openAPIV3Schema"]["properties"]["spec"]
        spec["properties"] = {**spec["properties"], "x": schema}
    return found


@pytest.mark.parametrize(
    ("pattern", "text", "expected"),
    [
        pytest.param("^a+$", "aaa", True, id="whole"),
        pytest.param("b", "abc", True, id="anywhere"),
        pytest.param("^b", "abc", False, id="anchored"),
        pytest.param(r"\pL+", "ü", True, id="syntax-of-go"),
        pytest.param("(a+)+$", "a" * 100_000 + "!", False, id="never-ends-in-other-engines"),
        pytest.param("(.*)x(.*)y(.*)z$", "x" * 100_000, False, id="takes-long-in-other-engines"),
    ],
)
def test_fits(pattern, text, expected):
    assert fits(pattern, text) is expected


@pytest.mark.parametrize("pattern", ["(", "[", "a{1001}", "(?=a)", r"(a)\1", "\\", "*"])
def test_what_is_no_pattern(pattern):
    assert pattern_problem(pattern)


@given(st.text(max_size=20), st.text(max_size=20))
def test_any_text_is_a_pattern_or_is_not(pattern, text):
    if not pattern_problem(pattern):
        assert fits(pattern, text) in (True, False)


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        pytest.param(
            {"type": "string", "pattern": "("},
            f'{AT}.pattern: Invalid value: "(": must be a valid regular expression, but isn\'t',
            id="pattern",
        ),
        pytest.param(
            {"type": "array", "items": {"type": "string", "pattern": "["}},
            f"{AT}.items.pattern",
            id="pattern-of-items",
        ),
        pytest.param(
            {"type": "string", "anyOf": [{}, {"pattern": "["}]},
            f"{AT}.anyOf[1].pattern",
            id="pattern-of-a-choice",
        ),
        pytest.param(
            {"type": "array", "items": {"type": "string", "minLength": "x"}},
            f"{AT}.items.minLength",
            id="limit-of-the-wrong-type",
        ),
        pytest.param(
            {"type": "array", "items": {"type": "object", "required": [{}]}},
            f"{AT}.items.required",
            id="names-that-are-none",
        ),
        pytest.param(
            {"type": "array", "items": {"type": "string", "allOf": 5}},
            f"{AT}.items.allOf",
            id="parts-that-are-no-list",
        ),
        pytest.param(
            {"type": "array", "items": {"type": "string", "enum": 5}},
            f"{AT}.items.enum",
            id="choice-of-nothing",
        ),
    ],
)
@with_server
async def test_schemas_that_make_no_sense(client, schema, message):
    status, answer = await client.call("POST", CRDS, with_field(**schema))

    assert status == 422
    assert message in answer["message"]
    assert (await client.call("GET", FOOS))[0] == 404


@with_server
async def test_a_pattern_is_enforced_whatever_it_would_cost_elsewhere(client):
    await client.create(CRDS, with_field(type="string", pattern="^(a+)+$"))

    status, answer = await client.call("POST", FOOS, foo(x="a" * 50_000 + "!"))

    assert status == 422
    assert "spec.x in body should match '^(a+)+$'" in answer["message"]
    await client.create(FOOS, foo(x="a" * 50_000))


@with_server
async def test_a_version_with_a_schema_of_its_own_is_named(client):
    wrong = with_field(type="string", pattern="(")
    wrong["spec"]["versions"][0]["schema"] = definition()["spec"]["versions"][0]["schema"]

    status, answer = await client.call("POST", CRDS, wrong)

    assert status == 422
    assert "spec.versions[1].schema.openAPIV3Schema.properties[spec]" in answer["message"]


def rule(text, **more):
    return {"x-kubernetes-validations": [{"rule": text, **more}]}


@with_server
async def test_rules_are_evaluated_for_objects(client):
    await client.create(CRDS, with_field(type="integer", **rule("self > 3", message="too small")))

    status, answer = await client.call("POST", FOOS, foo(x=3))

    assert status == 422
    assert answer["message"].endswith('"f" is invalid: spec.x: Invalid value: 3: too small')
    await client.create(FOOS, foo(x=4))
    status, answer = await client.call("PATCH", f"{FOOS}/f", {"spec": {"x": 2}}, MERGE)
    assert (status, answer["reason"]) == (422, "Invalid")


@with_server
async def test_rules_that_do_not_compile_are_refused(client):
    status, answer = await client.call("POST", CRDS, with_field(type="integer", **rule("self.y")))

    assert status == 422
    (cause,) = answer["details"]["causes"]
    assert cause["field"] == f"{AT}.x-kubernetes-validations[0].rule"
    assert "type 'int' does not support field selection" in cause["message"]


@pytest.mark.parametrize(
    "rules", [5, [5], [None], [{"rule": 5}], [{"rule": "true", "message": {}}], {}]
)
@with_server
async def test_rules_that_make_no_sense(client, rules):
    schema = {"type": "integer", "x-kubernetes-validations": rules}
    nested = with_field(type="array", items={"type": "array", "items": schema})

    assert (await client.call("POST", CRDS, nested))[0] in (400, 422)


@with_server
async def test_what_a_new_rule_finds_in_an_old_object_is_a_warning(client):
    await client.create(CRDS, with_field(type="integer"))
    await client.create(FOOS, foo(x=1))
    path = f"{CRDS}/foos.example.com"
    stricter = with_field(type="integer", **rule("self > 3"))
    await client.call("PATCH", path, {"spec": stricter["spec"]}, MERGE)

    headers = {"Content-Type": MERGE}
    change = {"spec": {"colour": "blue"}}
    async with client.session.patch(f"{client.url}{FOOS}/f", json=change, headers=headers) as got:
        assert got.status == 200, await got.text()
        (warning,) = got.headers.getall("Warning")
    assert warning == '299 - "spec.x: Invalid value: 1: failed rule: self > 3"'
    assert (await client.call("PATCH", f"{FOOS}/f", {"spec": {"x": 2}}, MERGE))[0] == 422


@pytest.mark.parametrize(
    ("form", "good", "bad"),
    [
        ("date", "2024-02-29", "2023-02-29"),
        ("date-time", "2024-01-01T00:00:00Z", "2024-01-01"),
        ("duration", "3 days", "long"),
        ("byte", "YQ==", "?"),
    ],
)
@with_server
async def test_formats_that_have_a_type_in_rules_are_enforced(client, form, good, bad):
    await client.create(CRDS, with_field(type="string", format=form))
    await client.create(FOOS, foo(x=good))

    status, answer = await client.call("POST", FOOS, foo("g", x=bad))

    assert status == 422
    assert f'spec.x in body must be of type {form}: "{bad}"' in answer["message"]


@with_server
async def test_an_update_may_leave_what_breaks_a_newer_limit(client):
    await client.create(CRDS, with_field(type="string"))
    await client.create(FOOS, foo(x="long"))
    stricter = with_field(type="string", maxLength=3)
    path = f"{CRDS}/foos.example.com"
    await client.call("PATCH", path, {"spec": stricter["spec"]}, MERGE)

    status, _ = await client.call("PATCH", f"{FOOS}/f", {"spec": {"colour": "blue"}}, MERGE)
    assert status == 200
    status, answer = await client.call("PATCH", f"{FOOS}/f", {"spec": {"x": "longer"}}, MERGE)
    assert (status, answer["details"]["causes"][0]["field"]) == (422, "spec.x")

"""Schemas of custom resource definitions: what is refused, what is told, what is enforced."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium.apiserver.crd_rules import fits, pattern_problem
from tests.apiserver.test_custom_kinds import CRDS, FOOS, definition, foo
from tests.support.apiserver import MERGE, with_server

AT = "spec.versions[0].schema.openAPIV3Schema.properties[spec].properties[x]"


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
async def test_rules_that_are_not_evaluated_are_told(client):
    rules = [{"rule": "self.size > 3"}]
    told = f"{AT}.x-kubernetes-validations and 1 more: CEL rules are stored, but not evaluated"

    async def warnings(method, path, body, media="application/json"):
        headers = {"Content-Type": media}
        url = client.url + path
        async with client.session.request(method, url, json=body, headers=headers) as got:
            assert got.status < 300, await got.text()
            return got.headers.getall("Warning", [])

    ruled = with_field(type="object", **{"x-kubernetes-validations": rules})
    (warning,) = await warnings("POST", CRDS, ruled)
    assert warning.startswith(f'299 - "{told}')
    path = f"{CRDS}/foos.example.com"
    labels = {"metadata": {"labels": {"a": "b"}}}
    assert len(await warnings("PATCH", path, labels, MERGE)) == 1
    await client.call("DELETE", path)
    assert await warnings("POST", CRDS, definition()) == []

"""Texts to values: what scalars mean, where things stand, and what is refused as a whole."""

import json

import pytest

from podium.config import document


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("16", 16),
        ("0x1f", 31),
        ("010", 8),
        ("1_000", 1000),
        ("1e3", 1000.0),
        (".5", 0.5),
        ("-.inf", float("-inf")),
        ("yes", True),
        ("Off", False),
        ("~", None),
        ("", None),
        ("1:30", "1:30"),
        ("2024-01-01", "2024-01-01"),
        ('"16"', "16"),
        ("!!str 16", "16"),
        ("default-scheduler", "default-scheduler"),
        ("9" * 5000, float("inf")),
    ],
)
def test_scalars(text, value):
    found, problems = document.read(f"a: {text}")

    assert (found, problems.found) == ({"a": value}, [])
    assert type(found["a"]) is type(value)


def test_every_path_has_its_line():
    text = "a:\n- b: 1\n  c: 2\n- [x,\n   y]\n"

    _, problems = document.read(text)

    assert problems.lines == {
        "": 1,
        "a": 1,
        "a[0]": 2,
        "a[0].b": 2,
        "a[0].c": 3,
        "a[1]": 4,
        "a[1][0]": 4,
        "a[1][1]": 5,
    }


def test_a_path_that_is_not_there_has_the_line_around_it():
    _, problems = document.read("a:\n- b: 1\n")

    assert problems.line("a[0].missing.deeper[3]") == 2
    assert problems.line("elsewhere") == 1


def test_json_may_have_tabs_and_escapes():
    value = {"a": ["😀", "\\ud83d", {"b": 1.5}]}

    found, problems = document.read(json.dumps(value, indent="\t"))

    assert (found, problems.found) == (value, [])
    assert problems.line("a[2].b") == 6


def test_anchors_and_merge_keys():
    anchors = "base: &base {x: 1, y: 1}\nother: &other {y: 2, z: 2}\n"
    text = f"{anchors}c: {{<<: [*base, *other], x: 0}}\nd: *base"

    value, problems = document.read(text)

    assert problems.found == []
    assert value["c"] == {"x": 0, "y": 1, "z": 2}
    assert value["d"] == {"x": 1, "y": 1}


def test_empty_documents_around_the_one_are_ignored():
    assert document.read("---\n---\na: 1\n---\n")[0] == {"a": 1}


@pytest.mark.parametrize(
    ("text", "path", "line", "message"),
    [
        pytest.param("a:\n  b: 1\n  b: 2", "a.b", 3, 'key "b" already set in map', id="twice"),
        pytest.param('{"a": 1,\n"a": 2}', "a", 2, 'key "a" already set in map', id="json-twice"),
        pytest.param("a: 1\nb: !!python/name:os.x y", "b", 2, "YAML tag", id="python-tag"),
        pytest.param("a: !mine {b: 1}", "a", 1, 'YAML tag "!mine"', id="own-tag"),
        pytest.param("a: !!int x", "a", 1, "does not fit", id="tag-and-value-differ"),
        pytest.param("? [a]\n: b", "", 1, "a key must be a string", id="list-as-key"),
        pytest.param("<<: 5", "", 1, "merge key", id="merge-of-a-number"),
    ],
)
def test_what_is_wrong_inside(text, path, line, message):
    _, problems = document.read(text)

    (problem,) = problems.found
    assert (problem.path, problem.line) == (path, line)
    assert message in problem.message


def bomb(levels):
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, levels)]
    return "\n".join(lines)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param("a: 1\n---\nb: 2", "line 3: a second document begins", id="two-documents"),
        pytest.param("a: [", "not readable as YAML or JSON", id="syntax"),
        pytest.param("\ta: 1", "not readable as YAML or JSON", id="tab-in-yaml"),
        pytest.param("\0", "not readable as YAML or JSON", id="control-character"),
        pytest.param("a: \ud800", "not valid Unicode", id="half-a-character"),
        pytest.param("[" * 100_000, "nested too deeply: more than 64", id="deep-yaml"),
        pytest.param('{"a":' * 500 + "1" + "}" * 500, "nested too deeply", id="deep-json"),
        pytest.param("a: &a [*a]", "nested too deeply", id="alias-inside-itself"),
        pytest.param(bomb(9), "more than 100000 values", id="alias-bomb"),
        pytest.param("#" * (1 << 21), "too large: 2097152 bytes", id="too-long"),
    ],
)
def test_what_cannot_be_read_at_all(text, message):
    value, problems = document.read(text)

    assert value is None
    (problem,) = problems.found
    assert message in str(problem)

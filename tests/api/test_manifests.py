"""Files of API objects: what their scalars mean, and what is refused in one sentence."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium.api import manifests
from podium.api.manifests import load_yaml, read_text
from podium.errors import PodiumError

LAUGHS = "a: &a [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 10)}]\n"
    for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)
MERGES = "a: &a {k: v}\n" + "".join(
    f"{name}: &{name} {{<<: [{', '.join([f'*{before}'] * 10)}]}}\n"
    for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("2024-01-01", "2024-01-01", id="day"),
        pytest.param("12:30:45", "12:30:45", id="time-of-day"),
        pytest.param("22:22", "22:22", id="two-ports"),
        pytest.param("0644", 420, id="octal"),
        pytest.param("0o644", 420, id="octal-of-today"),
        pytest.param("1e3", 1000.0, id="exponent"),
        pytest.param("1_000", 1000, id="underscores"),
        pytest.param("-0x1F", -31, id="hexadecimal"),
        pytest.param("1.25.0", "1.25.0", id="version"),
        pytest.param("yes", True, id="yes"),
        pytest.param("~", None, id="nothing"),
        pytest.param("{2: a, true: b, ~: c}", {"2": "a", "true": "b", "null": "c"}, id="keys"),
        pytest.param("18446744073709551615", 2**64 - 1, id="large"),
    ],
)
def test_scalars(text, expected):
    ((value,),) = [found.values() for found in load_yaml(f"x: {text}")]

    assert value == expected
    assert type(value) is type(expected)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        pytest.param("a: [", "not readable as YAML", id="syntax"),
        pytest.param("[" * 10_000, "not readable as YAML", id="too-deep"),
        pytest.param("just text", "not an API object", id="scalar"),
        pytest.param("kind: List\nitems: [3]", "not an API object", id="item"),
        pytest.param("a: !!python/object:os.system {}", "not readable as YAML", id="unsafe-tag"),
        pytest.param(LAUGHS, "values, aliases counted", id="a-billion-laughs"),
        pytest.param(MERGES, "too large: merge keys", id="a-billion-merges"),
        pytest.param("a: &a [*a]", "nested too deeply", id="an-alias-in-itself"),
        pytest.param("a: " + "[" * 200 + "]" * 200, "nested too deeply", id="deep"),
        pytest.param("a: " + "[" * 90_000, "not readable as YAML", id="too-deep-to-parse"),
        pytest.param('{"a": ' * 90_000, "not readable as YAML", id="deep-json"),
        pytest.param("a: !!binary aGk=", "JSON has no such value", id="bytes"),
        pytest.param("a: !!set {b, c}", "JSON has no such value", id="set"),
        pytest.param("a: .nan", "JSON has no such value: nan", id="no-number"),
        pytest.param("a: 99999999999999999999", "JSON has no such value", id="too-large"),
        pytest.param(
            "a: 1\n---\nb:\n- c: 99999999999999999999\n",
            r"document 2: b\[0\]\.c: JSON has no such value: 99999999999999999999",
            id="where",
        ),
        pytest.param('{"a": 1e999}', "not readable as YAML", id="json-beyond-numbers"),
        pytest.param(f"a: {'9' * 5000}", "not readable as YAML", id="thousands-of-digits"),
        pytest.param('a: "\\ud800"', "not readable as YAML", id="half-a-character"),
        pytest.param("a: \x00", "not readable as YAML", id="control-characters"),
        pytest.param("? [a, b]\n: c", "not readable as YAML", id="a-list-as-key"),
    ],
)
def test_what_is_refused(text, reason):
    with pytest.raises(PodiumError, match=reason):
        load_yaml(text)


def test_streams_and_lists_are_read():
    text = """
metadata: {name: a, creationTimestamp: 2024-01-01T00:00:00Z}
---
---
kind: PodList
items:
- metadata: {name: b}
- metadata: {name: c}
"""
    found = load_yaml(text)

    assert [item["metadata"]["name"] for item in found] == ["a", "b", "c"]
    assert found[0]["metadata"]["creationTimestamp"] == "2024-01-01T00:00:00Z"


def test_aliases_are_copies():
    (found,) = load_yaml("a: &a {x: 1}\nb: *a\nc: {<<: *a, y: 2}")

    assert found == {"a": {"x": 1}, "b": {"x": 1}, "c": {"x": 1, "y": 2}}
    assert found["a"] is not found["b"]


@given(st.text(max_size=200))
def test_any_text_is_objects_or_one_refusal(text):
    try:
        found = load_yaml(text)
    except PodiumError:
        return
    assert all(isinstance(one, dict) for one in found)


def test_files_that_cannot_be_read(tmp_path, monkeypatch):
    def reason(path):
        with pytest.raises(PodiumError) as caught:
            read_text(path)
        return str(caught.value)

    (tmp_path / "binary").write_bytes(b"\x7fELF\xff\x00")
    (tmp_path / "large").write_bytes(b"#" * 1001)
    monkeypatch.setattr(manifests, "MAX_BYTES", 1000)

    assert reason(tmp_path / "none") == "cannot be read: No such file or directory"
    assert reason(tmp_path) == "cannot be read: Is a directory"
    assert reason(tmp_path / "binary") == "cannot be read: not UTF-8 text"
    assert reason(tmp_path / "large").startswith("cannot be read: larger than")
    assert reason(tmp_path / "nul\0") == "cannot be read: embedded null byte"


def test_a_byte_order_mark_is_no_text(tmp_path):
    (tmp_path / "a").write_bytes("kind: Pod".encode("utf-8-sig"))

    assert load_yaml(read_text(tmp_path / "a")) == [{"kind": "Pod"}]

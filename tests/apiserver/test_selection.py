"""Selectors as query parameters write them."""

import pytest

from podium.apiserver.kinds.builtin import builtin_kinds
from podium.apiserver.selection import field_text, parse_fields, parse_labels
from podium.apiserver.statuses import Refusal

PODS = builtin_kinds().resource("pods")


@pytest.mark.parametrize(
    ("text", "labels", "expected"),
    [
        pytest.param("", {}, True, id="nothing-asked"),
        pytest.param("a=b", {"a": "b"}, True, id="equals"),
        pytest.param("a==b", {"a": "c"}, False, id="double-equals"),
        pytest.param("a!=b", {}, True, id="not-equals-matches-absence"),
        pytest.param("a=", {"a": ""}, True, id="empty-value"),
        pytest.param("a in (b, c)", {"a": "c"}, True, id="in"),
        pytest.param("a notin (b)", {"a": "b"}, False, id="not-in"),
        pytest.param("a", {"a": "x"}, True, id="exists"),
        pytest.param("!a", {"a": "x"}, False, id="does-not-exist"),
        pytest.param("! a , b", {"b": ""}, True, id="spaces"),
        pytest.param("a>5", {"a": "6"}, True, id="greater"),
        pytest.param("a<5", {"a": "6"}, False, id="less"),
        pytest.param("example.com/a=b", {"example.com/a": "b"}, True, id="prefix"),
    ],
)
def test_labels(text, labels, expected):
    assert parse_labels(text).matches(labels) == expected


@pytest.mark.parametrize(
    "text",
    [
        "=",
        "a in",
        "a in (",
        "a in b",
        "a,",
        ",a",
        "a b",
        "a=b=c",
        "a=(b)",
        "!",
        "-x=1",
        "a>x",
        "a=b!",
    ],
)
def test_labels_that_cannot_be_read(text):
    with pytest.raises(Refusal) as caught:
        parse_labels(text)

    assert caught.value.code == 400


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("spec.nodeName=", [("spec.nodeName", True, "")], id="empty"),
        pytest.param(
            "status.phase!=Failed,metadata.name=a",
            [("status.phase", False, "Failed"), ("metadata.name", True, "a")],
            id="two",
        ),
    ],
)
def test_fields(text, expected):
    found = [(term.path, term.equals, term.value) for term in parse_fields(text, PODS)]

    assert found == expected


@pytest.mark.parametrize(
    ("obj", "path", "expected"),
    [
        pytest.param({}, "spec.nodeName", "", id="missing"),
        pytest.param({}, "spec.unschedulable", "false", id="missing-boolean"),
        pytest.param({"spec": {"unschedulable": True}}, "spec.unschedulable", "true", id="boolean"),
        pytest.param({"status": {"replicas": 3}}, "status.replicas", "3", id="number"),
    ],
)
def test_field_texts(obj, path, expected):
    assert field_text(obj, path) == expected

"""The field that a rule names as the place of its violation."""

import pytest

from podium.apiserver.expressions.paths import normal_path

NUMBER = {"type": "integer"}
SCHEMA = {
    "type": "object",
    "properties": {
        "a": {"type": "object", "properties": {"b": NUMBER}},
        "labels": {"type": "object", "additionalProperties": NUMBER},
        "it's": NUMBER,
        "a.b": NUMBER,
    },
}


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("", ""),
        (".a", "a"),
        (".a.b", "a.b"),
        ("['a'].b", "a.b"),
        (".labels.x", "labels[x]"),
        (".labels['x/y']", "labels[x/y]"),
        (r"['it\'s']", "it's"),
        ("['a.b']", "a.b"),
        ("a", None),
        (".", None),
        ("..a", None),
        (".nosuch", None),
        (".a.nosuch", None),
        (".a.b.c", None),
        ("['a", None),
        ("[a]", None),
        (r"['\q']", None),
        (".a]", None),
    ],
)
def test_normal_path(path, expected):
    assert normal_path(path, SCHEMA) == expected

"""The values of explanations: their JSON, its schema, and their text."""

import json
from pathlib import Path

import jsonschema
import pytest

from podium import explain
from podium.explain import Explanation, NearMiss, NodeExplanation, Shortfall, Step

SCHEMA = Path(__file__).resolve().parents[2] / "docs" / "explain-schema.json"

PENDING = Explanation(
    pod="default/web",
    state="pending",
    sentence="No node has 4 cpu free.",
    nodes=3,
    funnel=(Step("NodeResourcesFit", "InsufficientResource", "have room", 3, 0),),
    near_misses=(
        NearMiss(
            "a",
            "1 cpu too little",
            (Shortfall("InsufficientResource", "NodeResourcesFit", "Insufficient cpu", "1 cpu"),),
        ),
    ),
)
NODE = NodeExplanation(node="a", sentence="a has room.")


def test_schema_in_docs_is_up_to_date():
    """`make explain-schema` writes it anew."""
    assert json.loads(SCHEMA.read_text()) == explain.schema()


@pytest.mark.parametrize("value", [PENDING, NODE], ids=lambda value: type(value).__name__)
def test_explanations_validate(value):
    jsonschema.Draft202012Validator(explain.schema()).validate(value.to_dict())


@pytest.mark.parametrize(
    "wrong",
    [
        pytest.param({"state": "unknown"}, id="state"),
        pytest.param({"kind": "Pod"}, id="kind"),
        pytest.param({"apiVersion": "podium.dev/explain/v2"}, id="version"),
        pytest.param({"funnel": [{"plugin": "X"}]}, id="incomplete-step"),
    ],
)
def test_schema_refuses_what_is_not_an_explanation(wrong):
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft202012Validator(explain.schema()).validate(PENDING.to_dict() | wrong)


def test_lines_start_with_the_sentence():
    lines = PENDING.lines()

    assert lines[0] == PENDING.sentence
    assert "  3 -> 0 have room" in lines
    assert "  a: 1 cpu too little" in lines

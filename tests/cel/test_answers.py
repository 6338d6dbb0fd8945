"""What kube-apiserver v1.36.4 and v1.37.0-rc.1 answered to about 580 expressions.

Selectors were sent in device classes; an answer is the message, or null if it was accepted. Rules
were sent in custom resource definitions and evaluated for an object with ``n: 1``; an answer is
true, false, an error of the evaluation or a message about the rule.
"""

import gzip
import json
from dataclasses import replace
from pathlib import Path

import pytest

from podium.cel import BASE, Shape, compile_expression, compile_selector, types
from podium.errors import EvaluationError, InvalidExpression
from podium.release import RELEASES, V1_36

PACKED = Path(__file__).parents[1].joinpath("data/cel-answers.jsonl.gz").read_bytes()
ANSWERS = [json.loads(line) for line in gzip.decompress(PACKED).decode().splitlines()]
SELECTORS = [answer for answer in ANSWERS if "selector" in answer]
RULES = [answer for answer in ANSWERS if "rule" in answer]

MAX_SELECTOR_COST = 1_000_000
MAX_RULE_COST = 10_000_000
# After these syntax errors cel-go goes on and reports one more; podium stops.
STOPS_EARLIER = {"?!", "-", "in", "true /* x */", "a.?"}
# podium does as 1.37 in both releases.
SINCE_1_37 = {
    "lists.range(-1) == [1]",
    "lists.range(2000000).size() == 1",
    "dyn(1).orValue(2) == 1",
    "dyn(1).or(optional.of(1)) == optional.of(1)",
}


def answer_to_selector(text, release):
    try:
        selector = compile_selector(text, release, is_new=True)
    except InvalidExpression as error:
        return str(error)
    if selector.cost > MAX_SELECTOR_COST:
        return "Forbidden: too complex, exceeds cost limit"
    return None


@pytest.mark.parametrize("release", RELEASES, ids=str)
def test_selectors(release):
    wrong = {
        answer["selector"]: found
        for answer in SELECTORS
        if (found := answer_to_selector(answer["selector"], release)) != answer[str(release)]
    }

    assert set(wrong) == STOPS_EARLIER | ({"device{}"} if release == V1_36 else set())


@pytest.mark.parametrize("text", sorted(STOPS_EARLIER))
def test_a_syntax_error_is_reported_where_it_is(text):
    (expected,) = (answer["1.37"] for answer in SELECTORS if answer["selector"] == text)

    found = answer_to_selector(text, RELEASES[-1])
    assert found.splitlines()[0].partition("Syntax")[0] == expected.partition("Syntax")[0]


def answer_to_rule(text, release):
    environment = replace(
        BASE.with_variables({"self": types.struct("object")}),
        objects={"object": {"n": types.INT}},
        default_shape=Shape(0, fields={"n": Shape(0)}),
        has_quoted_names=release > V1_36,
    )
    try:
        compiled = compile_expression(text, environment, MAX_RULE_COST)
        if compiled.cost > MAX_RULE_COST:
            return "too expensive"
        return str(compiled.program.evaluate({"self": {"n": 1}})).lower()
    except EvaluationError as error:
        return f"error: {error}"
    except InvalidExpression as error:
        message = str(error)
        is_late = message.startswith("program instantiation failed")
        return message if is_late else f"compilation failed: {message}"


@pytest.mark.parametrize("release", RELEASES, ids=str)
def test_rules(release):
    wrong = {
        answer["rule"]: found
        for answer in RULES
        if (found := answer_to_rule(answer["rule"], release)) != answer[str(release)]
    }

    assert set(wrong) == (SINCE_1_37 if release == V1_36 else set())

"""Programs that count their cost do as those that do not, and cost no more than was estimated."""

from podium.cel.checker import check
from podium.cel.costs import estimate
from podium.cel.issues import Issues
from podium.cel.metered import build_metered
from podium.cel.parser import parse
from podium.cel.program import build
from podium.cel.values import MAX_UINT, TOO_EXPENSIVE
from podium.errors import EvaluationError, InvalidExpression
from tests.cel.test_conformance import CASES, decoded, environment_of, is_same, key

LIMIT = 1_000_000


def outcome(program, bindings):
    try:
        return program.evaluate(bindings)
    except EvaluationError as error:
        return str(error)


def programs():
    """Yield each case that compiles, with its plain and its counting program and its bindings."""
    for case in CASES:
        environment = environment_of(case)
        bindings = {name: decoded(value) for name, value in case.get("bindings", {}).items()}
        try:
            checked = check(parse(case["expr"], environment.macros), environment)
            plain = build(checked, environment)
        except (Issues, InvalidExpression):
            continue
        cost = estimate(checked, environment).high
        yield case, plain, build_metered(checked, environment, min(cost, LIMIT)), bindings, cost


def test_counting_changes_no_outcome():
    different = []
    for case, plain, counting, bindings, cost in programs():
        expected, found = outcome(plain, bindings), outcome(counting, bindings)
        if found == TOO_EXPENSIVE:
            different.append((key(case), cost))
        elif not (found == expected or is_same(found, expected)):
            different.append((key(case), expected, found))

    assert different == []


def test_most_cases_have_an_estimate():
    costs = [cost for *_, cost in programs()]

    assert sum(cost < MAX_UINT for cost in costs) > len(costs) / 2

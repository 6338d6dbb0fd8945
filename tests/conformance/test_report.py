"""What a run prints: differences, the table of what was left out, the sum."""

import json

from podium.conformance import Difference, LeftOut, Outcome, Report

PASSED = Outcome("a/one-0", "a")
FAILED = Outcome(
    "a/two-0",
    "a",
    [
        Difference("a/two-0", "n1", "filter", {"code": "Success"}, {"code": "Error"}),
        Difference("a/two-0", "", "best", ["n1"], None),
    ],
    {LeftOut("total", "X is not implemented")},
)
PARTLY = Outcome(
    "b/three-0",
    "b",
    [],
    {LeftOut("total", "X is not implemented"), LeftOut("best", "X is not implemented")},
)


def test_text():
    text = Report.of([PASSED, FAILED, PARTLY]).text()

    assert text.splitlines() == [
        'a/two-0: node n1: filter: expected {"code":"Success"}, got {"code":"Error"}',
        'a/two-0: best: expected ["n1"], got null',
        "",
        "LEFT OUT  CASES  WHY                   NOT COMPARED",
        "b         1      X is not implemented  best, total",
        "",
        "1 passed, 1 failed, 1 left out",
    ]


def test_text_of_success_is_one_line():
    assert Report.of([PASSED]).text() == "1 passed, 0 failed, 0 left out"


def test_json():
    value = json.loads(Report.of([PASSED, FAILED, PARTLY]).json())

    assert (value["passed"], value["failed"], value["left_out"]) == (1, 1, 1)
    assert value["differences"][1] == {
        "case": "a/two-0",
        "node": "",
        "field": "best",
        "expected": ["n1"],
        "got": None,
    }
    assert value["gaps"] == [
        {"family": "b", "reason": "X is not implemented", "fields": ["best", "total"], "cases": 1}
    ]


def test_success_needs_a_case_compared_in_full():
    assert Report.of([PASSED, PARTLY]).ok
    assert not Report.of([PARTLY]).ok
    assert not Report.of([PASSED, FAILED]).ok
    assert not Report.of([]).ok

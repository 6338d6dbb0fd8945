"""The public conformance cases of CEL; every case that differs is named here with its reason."""

import gzip
import json
import math
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from podium.cel import BASE, compile_expression, types, values
from podium.cel.macros import BINDINGS
from podium.errors import EvaluationError, InvalidExpression

ROOT = Path(__file__).parents[2]
PACKED = (ROOT / "tests/data/cel-spec/cases.jsonl.gz").read_bytes()
CASES = [json.loads(line) for line in gzip.decompress(PACKED).decode().splitlines()]
ENVIRONMENT = replace(BASE, macros={**BASE.macros, **BINDINGS}, is_strict=False)
LIMIT = 10_000_000

# Kubernetes does not turn these features of cel-go on, or pins an older version of a library.
KUBERNETES = {
    "string_ext/reverse": "version 3 of the strings library",
    "string_ext/format": "version 4 of the strings library",
    "optionals/optionals/map_null_entry_no_such_key": "fields of values without fields",
    "optionals/optionals/map_present_key_invalid_field": "fields of values without fields",
}
# cel-go differs from the specification, and podium follows cel-go.
CEL_GO = {
    "fields/qualified_identifier_resolution/map_key_float": "any value may be a key",
    "fields/qualified_identifier_resolution/map_value_repeat_key": "the last value of a key counts",
    "fields/qualified_identifier_resolution/map_value_repeat_key_heterogeneous": "the last value",
    "string_ext/value_errors/indexof_out_of_range": "an offset behind the end finds nothing",
    "string_ext/value_errors/lastindexof_out_of_range": "an offset behind the end finds nothing",
    "type_deductions/legacy_nullable_types/null_assignable_to_abstract_parameter_candidate": "null",
}


def key(case):
    return f"{case['file']}/{case['section']}/{case['name']}"


def is_known(case):
    name = key(case)
    return any(name == known or name.startswith(known + "/") for known in (*KUBERNETES, *CEL_GO))


def decoded(tagged):
    ((kind, value),) = tagged.items()
    match kind:
        case "uint":
            return values.UInt(value)
        case "double":
            return float(value)
        case "bytes":
            return bytes.fromhex(value)
        case "list":
            return [decoded(item) for item in value]
        case "map":
            return {values.to_key(decoded(name)): decoded(item) for name, item in value}
        case "type":
            return values.TypeValue(value)
        case "timestamp":
            return values.Timestamp(value[0] * values.NANOS + value[1])
        case "duration":
            return values.Duration(value[0] * values.NANOS + value[1])
    return value


def is_same(found, expected):
    if isinstance(expected, float) and math.isnan(expected):
        return isinstance(found, float) and math.isnan(found)
    if isinstance(expected, list):
        return len(found) == len(expected) and all(map(is_same, found, expected))
    return type(found) is type(expected) and values.equal(found, expected)


def environment_of(case):
    variables = {name: types.parse_type(text) for name, text in case.get("types", {}).items()}
    environment = replace(ENVIRONMENT, variables=variables, container=case.get("container", ""))
    return replace(environment, macros={}) if case.get("without_macros") else environment


def passes(case):
    """Whether a case has the expected outcome; an expected error may be found by the checker."""
    bindings = {name: decoded(value) for name, value in case.get("bindings", {}).items()}
    try:
        compiled = compile_expression(case["expr"], environment_of(case), LIMIT)
        if "type" in case and compiled.output != types.parse_type(case["type"]):
            return False
        if case.get("check_only"):
            return True
        found = compiled.program.evaluate(bindings)
    except (InvalidExpression, EvaluationError):
        return "error" in case
    return "error" not in case and ("value" not in case or is_same(found, decoded(case["value"])))


def is_refused(case):
    """Whether a case without type check does not get past ours, which has no such mode."""
    try:
        compile_expression(case["expr"], environment_of(case), LIMIT)
    except InvalidExpression:
        return bool(case.get("unchecked"))
    return False


@pytest.mark.parametrize("file", sorted({case["file"] for case in CASES}))
def test_file(file):
    failed = [case for case in CASES if case["file"] == file and not passes(case)]

    unexplained = [key(case) for case in failed if not is_known(case) and not is_refused(case)]
    assert unexplained == []


def test_each_known_difference_exists():
    failed = [key(case) for case in CASES if not passes(case)]

    for known in (*KUBERNETES, *CEL_GO):
        assert any(name == known or name.startswith(known + "/") for name in failed), known


def test_the_page_states_the_pass_rates():
    rows = re.findall(
        r"^\| `(\w+)` \| \d+ \| (\d+) \| (\d+) \|", (ROOT / "docs/cel.md").read_text(), re.MULTILINE
    )
    run = Counter(case["file"] for case in CASES)
    passed = Counter(case["file"] for case in CASES if passes(case))

    stated = {file: (int(cases), int(good)) for file, cases, good in rows}
    assert stated == {file: (run[file], passed[file]) for file in run}

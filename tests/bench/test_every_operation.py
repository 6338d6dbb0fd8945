"""One file with every operation, in process and over the API of an embedded server."""

import json
from pathlib import Path

import pytest

from podium.bench.load import load_file
from podium.bench.ops import OPCODES
from podium.cli import main

pytestmark = pytest.mark.slow

FILE = Path(__file__).parents[1] / "data/bench/every-operation.yaml"
WITHOUT_EFFECT = {"startCollectingProfile", "stopCollectingProfile"}


@pytest.mark.parametrize("where", [["--runs=1"], ["--embedded"]], ids=["in-process", "embedded"])
def test_it_runs(where, capsys):
    status = main(["bench", *where, str(FILE), "-o", "json", "--workload", "Everything/*"])

    out, err = capsys.readouterr()
    result = json.loads(out)
    assert (status, err) == (0, "")
    assert result["pods"] > 12
    assert result["threshold_reached"]


def test_it_has_all_operations():
    workload = load_file(FILE)[0]

    assert {op.opcode for op in workload.ops} == set(OPCODES) - WITHOUT_EFFECT

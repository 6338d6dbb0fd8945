"""One file with every operation, in process and over the API of an embedded server."""

import json
from pathlib import Path

import pytest

from podium.bench.load import load_file
from podium.bench.ops import OPCODES
from podium.cli import main

pytestmark = pytest.mark.slow

FILE = Path(__file__).parents[1] / "data/bench/every-operation.yaml"
LIVE = str(Path(__file__).parents[2] / "benchmarks/live.yaml")
GROUPS = "createPodGroups"  # on a cluster only
SMALL_GANGS = ["--workload=LiveGangs/500Nodes", "--param=gangs=2", "--param=members=3"]
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

    assert {op.opcode for op in workload.ops} == set(OPCODES) - WITHOUT_EFFECT - {GROUPS}


def test_gangs_are_placed_on_a_cluster(capsys):
    status = main(["bench", "--embedded", LIVE, "-o", "json", *SMALL_GANGS])

    out, err = capsys.readouterr()
    assert (status, err) == (0, "")
    assert json.loads(out)["pods"] == 6


def test_gangs_are_not_scheduled_one_by_one_in_process(capsys):
    status = main(["bench", "--runs=1", LIVE, *SMALL_GANGS])

    assert status == 1
    assert "pod groups need a whole scheduler" in capsys.readouterr().err

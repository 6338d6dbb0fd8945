"""The recorded decisions of kube-scheduler, replayed: podium differs in none of them."""

from pathlib import Path

import pytest

from podium.cli.conformance import builder
from podium.conformance import Report, read, replay_all
from podium.release import V1_36
from tests.support.search import is_fast

GOLDEN = Path(__file__).resolve().parents[1] / "data" / "golden"
FILES = sorted([*GOLDEN.glob("*.jsonl.gz"), *GOLDEN.glob("*.json")])

# Hints about resource claims and device classes, which podium does not read yet.
LEFT_OUT = {"queueing-hints.jsonl.gz": 83}

EVERY = 10 if is_fast() else 1  # such recording is replayed


def test_there_are_recordings():
    assert len(FILES) == 44


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name.partition(".")[0])
def test_no_difference(path):
    cases = read([path])[::EVERY]

    report = Report.of(replay_all(cases, builder(V1_36)))

    assert not report.differences, report.text()
    assert report.left_out == len(cases) - report.passed
    assert report.left_out == LEFT_OUT.get(path.name, 0) or EVERY > 1

"""The recorded decisions of kube-scheduler, replayed: podium differs in none of them."""

from pathlib import Path

import pytest

from podium.cli.conformance import builder
from podium.conformance import Report, read, replay_all
from podium.release import RELEASES, V1_36, V1_37
from tests.support.search import is_fast

GOLDEN = Path(__file__).resolve().parents[1] / "data" / "golden"

EVERY = 10 if is_fast() else 1  # such recording is replayed


def files_of(release):
    folder = GOLDEN / str(release)
    return sorted([*folder.glob("*.jsonl.gz"), *folder.glob("*.json")])


RECORDINGS = [
    pytest.param(release, path, id=f"{release}-{path.name.partition('.')[0]}")
    for release in RELEASES
    for path in files_of(release)
]


@pytest.mark.parametrize(("release", "files"), [(V1_36, 67), (V1_37, 68)], ids=str)
def test_there_are_recordings(release, files):
    assert len(files_of(release)) == files


@pytest.mark.parametrize(("release", "path"), RECORDINGS)
def test_no_difference(release, path):
    cases = read([path])[::EVERY]

    report = Report.of(replay_all(cases, builder(release)))

    assert not report.differences, report.text()
    assert (report.passed, report.left_out) == (len(cases), 0)


def test_a_release_does_not_decide_as_the_other():
    """Each recording that aims at a difference tells the releases apart."""
    families = [
        *("node-name-prefilter", "image-volumes", "resize-sums", "volume-limit-scaling"),
        *("dra-config", "dra-distinct", "dra-shares", "claim-hints"),
    ]
    for family in families:
        cases = read([GOLDEN / str(V1_37) / f"{family}.jsonl.gz"])
        assert Report.of(replay_all(cases, builder(V1_36))).failed, family

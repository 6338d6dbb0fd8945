"""The same requests to kube-apiserver and to the embedded API server: the same answers."""

import pytest

from tests.support.control_plane.comparison import compare
from tests.support.control_plane.scripts.catalogue import SCRIPTS

pytestmark = pytest.mark.cluster


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.__name__)
def test_same_answers(script, binaries, ours, theirs):
    if getattr(script, "since", binaries.release) > binaries.release:
        pytest.skip(f"served since {script.since}")

    count, found = compare(script, ours, theirs)

    assert not found, f"{len(found)} differences in {count} answers:\n" + "\n".join(found)

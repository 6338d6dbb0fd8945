"""The releases that podium can behave as, by name."""

import pytest

from podium.release import V1_36, V1_37, Release, release_named


@pytest.mark.parametrize(
    ("name", "release"), [("1.36", V1_36), ("v1.37", V1_37), (1.36, V1_36)], ids=str
)
def test_release_named(name, release):
    assert release_named(name) == release


@pytest.mark.parametrize("name", ["1.35", "1.38", "1.37.0", "", "latest", None], ids=repr)
def test_no_such_release(name):
    with pytest.raises(ValueError, match=r"podium behaves as Kubernetes 1\.36 and 1\.37, not as"):
        release_named(name)


def test_order():
    assert V1_36 < V1_37
    assert V1_37.previous == V1_36 == Release(1, 36)
    assert str(V1_37) == "1.37"

"""Two `podium scheduler` processes with different names on the embedded cluster."""

import pytest

from tests.support.control_plane import side_by_side, sides
from tests.support.control_plane.processes import podium

pytestmark = pytest.mark.slow


def test_each_binds_its_own_pods(tmp_path):
    with sides.embedded(tmp_path) as side:
        first = podium(tmp_path, side.kubeconfig)
        with first, side_by_side.second(tmp_path, side.kubeconfig):
            happened = side_by_side.play(side)

    side_by_side.check(*happened)

"""Two `podium scheduler` processes on the embedded cluster, one of which is killed."""

import pytest

from tests.support.control_plane import sides, takeover
from tests.support.control_plane.processes import LEASE_SECONDS, MOST_TAKEOVER_SECONDS

pytestmark = pytest.mark.slow


def test_the_standby_takes_over_and_no_pod_is_bound_twice_or_forgotten(tmp_path):
    with sides.embedded(tmp_path) as side:
        happened = takeover.play(side, side.kubeconfig, tmp_path)

    takeover.check(happened, LEASE_SECONDS, MOST_TAKEOVER_SECONDS)

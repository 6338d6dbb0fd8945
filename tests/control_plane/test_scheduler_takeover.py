"""Two `podium scheduler` processes on a real control plane, one of which is killed."""

import pytest

from tests.control_plane import sides, takeover
from tests.control_plane.plane import ControlPlane
from tests.control_plane.schedulers import LEASE_SECONDS, MOST_TAKEOVER_SECONDS, USER

pytestmark = pytest.mark.cluster


def test_the_standby_takes_over_and_no_pod_is_bound_twice_or_forgotten(binaries, tmp_path):
    with ControlPlane(binaries) as plane:
        happened = takeover.play(sides.real(plane), plane.kubeconfig_for(USER), tmp_path)

    takeover.check(happened, LEASE_SECONDS, MOST_TAKEOVER_SECONDS)

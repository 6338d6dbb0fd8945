"""podium beside another scheduler on a real control plane: podium again, or kube-scheduler."""

import pytest

from tests.support.control_plane import side_by_side, sides
from tests.support.control_plane.plane import ControlPlane, NoControlPlane
from tests.support.control_plane.processes import USER, kube_scheduler

pytestmark = pytest.mark.cluster


def stock(binaries, folder, kubeconfig):
    try:
        return kube_scheduler(binaries, folder, kubeconfig)
    except NoControlPlane as missing:
        pytest.skip(str(missing))


@pytest.mark.parametrize("other", ["podium", "kube-scheduler"])
def test_each_binds_its_own_pods(other, binaries, podium, tmp_path):
    with ControlPlane(binaries) as plane:
        user = plane.kubeconfig_for(USER)
        first = podium(tmp_path, user) if other == "podium" else stock(binaries, tmp_path, user)
        # kube-scheduler's rights do not reach to another lease than its own.
        with first, side_by_side.second(tmp_path, plane.admin, binaries.release):
            happened = side_by_side.play(sides.real(plane))

    side_by_side.check(*happened)

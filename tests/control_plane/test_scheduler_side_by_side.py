"""podium beside another scheduler on a real control plane: podium again, or kube-scheduler."""

import pytest

from tests.support.control_plane import manifest, shipped, side_by_side, sides
from tests.support.control_plane.plane import ControlPlane, NoControlPlane
from tests.support.control_plane.processes import USER, free_port, kube_scheduler

pytestmark = pytest.mark.cluster


def stock(binaries, folder, kubeconfig):
    try:
        return kube_scheduler(binaries, folder, kubeconfig)
    except NoControlPlane as missing:
        pytest.skip(str(missing))


@pytest.mark.parametrize("other", ["podium", "kube-scheduler"])
def test_each_binds_its_own_pods(other, binaries, podium, tmp_path):
    with ControlPlane(binaries) as plane:
        side, user = sides.real(plane), plane.kubeconfig_for(USER)
        account = shipped.install(plane, side, "kube-scheduler", side_by_side.SECOND)
        is_ours = other == "podium"
        first = podium(tmp_path, account) if is_ours else stock(binaries, tmp_path, user)
        serving = manifest.secure(account, free_port())
        with first, side_by_side.second(tmp_path, account, *serving, release=binaries.release):
            happened = side_by_side.play(side)

    side_by_side.check(*happened)

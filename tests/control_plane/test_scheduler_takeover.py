"""Two schedulers on a real control plane, the first of which is killed: podium's, or a
kube-scheduler whose lease podium inherits."""

import functools

import pytest

from tests.support.control_plane import sides, takeover
from tests.support.control_plane.plane import ControlPlane, NoControlPlane
from tests.support.control_plane.processes import (
    LEASE_SECONDS,
    MOST_TAKEOVER_SECONDS,
    USER,
    kube_scheduler,
)

pytestmark = pytest.mark.cluster


def stock(binaries):
    try:
        binaries["kube-scheduler"]
    except NoControlPlane as missing:
        pytest.skip(str(missing))
    return functools.partial(kube_scheduler, binaries)


@pytest.mark.parametrize("leader", ["podium", "kube-scheduler"])
def test_podium_takes_over_and_no_pod_is_bound_twice_or_forgotten(
    leader, binaries, podium, tmp_path
):
    start = podium if leader == "podium" else stock(binaries)
    with ControlPlane(binaries) as plane:
        user = plane.kubeconfig_for(USER)
        happened = takeover.play(sides.real(plane), user, tmp_path, start, podium)

    takeover.check(happened, LEASE_SECONDS, MOST_TAKEOVER_SECONDS)

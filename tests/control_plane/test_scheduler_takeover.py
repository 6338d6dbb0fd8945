"""Two schedulers on a real control plane, the first of which is killed: podium's, or a
kube-scheduler whose lease podium inherits."""

from collections import Counter

import pytest

from tests.control_plane.test_scheduler_devices import Devices, users, using
from tests.support.control_plane import shipped, sides, takeover
from tests.support.control_plane.plane import ControlPlane, NoControlPlane
from tests.support.control_plane.processes import (
    LEASE_SECONDS,
    MOST_TAKEOVER_SECONDS,
    USER,
    kube_scheduler,
)

pytestmark = pytest.mark.cluster


def stock(plane):
    """Start a kube-scheduler, with its own rights."""
    try:
        plane.binaries["kube-scheduler"]
    except NoControlPlane as missing:
        pytest.skip(str(missing))
    user = plane.kubeconfig_for(USER)
    return lambda folder, _: kube_scheduler(plane.binaries, folder, user)


@pytest.mark.parametrize("leader", ["podium", "kube-scheduler"])
def test_podium_takes_over_and_no_pod_is_bound_twice_or_forgotten(
    leader, binaries, podium, tmp_path
):
    with ControlPlane(binaries) as plane:
        side = sides.real(plane)
        start = podium if leader == "podium" else stock(plane)
        account = shipped.install(plane, side)
        happened = takeover.play(side, account, tmp_path, (start, podium))

    takeover.check(happened, LEASE_SECONDS, MOST_TAKEOVER_SECONDS)


class Claims(takeover.Load):
    """Each pod has a claim to one of exactly as many devices as there are pods."""

    def prepare(self, stage):
        self.devices = Devices(stage)
        self.devices.cls()
        each = takeover.PODS // len(takeover.NODES)
        for node in takeover.NODES:
            self.devices.slice(node, *(f"gpu-{number}" for number in range(each)))

    def create_pod(self, stage, name):
        self.devices.claim(name)
        stage.pod(name, **using(name))

    def check(self, stage):
        claims = stage.get(self.devices.claims)["items"]
        given = Counter(
            (result["pool"], result["device"])
            for claim in claims
            for result in claim["status"]["allocation"]["devices"]["results"]
        )
        assert len(given) == takeover.PODS, "each device is given to one claim"
        assert all(users(claim) == [claim["metadata"]["name"]] for claim in claims)
        self.devices.free_all()


@pytest.mark.parametrize("leader", ["podium", "kube-scheduler"])
def test_no_device_is_given_twice(leader, binaries, podium, tmp_path):
    with ControlPlane(binaries) as plane:
        side = sides.real(plane)
        start = podium if leader == "podium" else stock(plane)
        account = shipped.install(plane, side)
        happened = takeover.play(side, account, tmp_path, (start, podium), Claims())

    takeover.check(happened, LEASE_SECONDS, MOST_TAKEOVER_SECONDS)

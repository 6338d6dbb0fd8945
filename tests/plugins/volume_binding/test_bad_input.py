"""Broken objects and a failing API: a clear reason, nothing kept, and nobody else is disturbed."""

import asyncio

import pytest

from podium import app
from podium.api.objects import PersistentVolume
from podium.config import default
from podium.cycle.outcome import Placed
from podium.errors import ApiError
from podium.framework.binding import run_pre_bind, run_pre_flight, run_unreserve
from podium.framework.offline import OfflineClient
from podium.framework.queued_pod import QueuedPod
from podium.framework.status import Status
from podium.state.cluster import load
from podium.testing.builders import node, pod
from tests.support.storage import EBS, ZONE, claim, csi_node, storage_class, uses, volume

CONFIGURATION = default(app.in_tree())
UNREADABLE = {"key": ZONE, "operator": "Like", "values": ["z1"]}
BROKEN = {
    "node_affinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [UNREADABLE]}]}}
}
NO_DISK = {"aws_elastic_block_store": {"volumeID": "aws://z1/nothing"}}


def built(*objects, client=None):
    core = app.build(CONFIGURATION, client=client)
    fine = claim("fine", volume="ok"), volume("ok", storage_class="other")
    load(core.cluster, [node("a"), node("b"), *fine, *objects])
    return core


def attempt(core, *claims, name="web"):
    return core.cycle(QueuedPod.of(pod(name, volumes=uses(*claims)))).run()


@pytest.mark.parametrize(
    ("objects", "reason"),
    [
        pytest.param(
            [claim(storage_class="nowhere")],
            "pod has unbound immediate PersistentVolumeClaims",
            id="a-claim-of-a-missing-class",
        ),
        pytest.param(
            [claim(volume="pv"), volume(**BROKEN)],
            "2 node(s) didn't match PersistentVolume's node affinity",
            id="a-volume-with-a-broken-affinity",
        ),
        pytest.param(
            [claim(), storage_class(), volume(**BROKEN)],
            "2 node(s) didn't find available persistent volumes to bind",
            id="the-same-as-a-candidate",
        ),
        pytest.param(
            [claim(), storage_class(volume_binding_mode="")],
            'VolumeBindingMode not set for StorageClass "standard"',
            id="a-class-without-a-mode",
        ),
        pytest.param(
            [claim(selector={"matchExpressions": [{"key": "x", "operator": "?"}]}),
             storage_class(), volume()],
            'claim default/data: spec.selector: "?" is not a valid label selector operator',
            id="a-claim-with-a-broken-selector",
        ),
        pytest.param(
            [claim(volume="pv"), volume(**NO_DISK), csi_node("a", migrated=EBS)],
            "PersistentVolume pv: spec: the volume's ID or zones have no CSI form",
            id="a-volume-that-its-driver-cannot-know",
        ),
    ],
)  # fmt: skip
def test_the_pod_is_told_why_and_others_are_scheduled(objects, reason):
    core = built(*objects)
    outcome = attempt(core, "data")
    assert reason in outcome.message
    assert isinstance(attempt(core, "fine", name="other"), Placed)
    assert not len(core.cluster.assumed(PersistentVolume))
    core.cluster.check_invariants()


class Refusing(OfflineClient):
    async def bind_volume(self, volume, claim, annotations):
        raise ApiError("etcdserver: request timed out")

    async def read(self, kind, key):
        return volume(key)  # as it was: nothing was written


def test_an_api_error_in_pre_bind_releases_everything():
    core = built(claim(), storage_class(), volume(), client=Refusing())
    placed = attempt(core, "data")
    assert isinstance(placed, Placed)

    flight, parallel = run_pre_flight(placed.target)
    assert flight.ok
    status = asyncio.run(run_pre_bind(placed.target, parallel))
    text = 'running PreBind plugin "VolumeBinding": etcdserver: request timed out'
    assert status == Status.error(text).by("VolumeBinding")

    assert run_unreserve(placed.target) == []
    core.cluster.forget("uid-web")
    core.background.run()  # where the plugin finds out that nothing was written
    assert not len(core.cluster.assumed(PersistentVolume))
    assert not core.cluster.pods
    core.cluster.set_object(claim("another"))
    assert isinstance(attempt(core, "another", name="other"), Placed)

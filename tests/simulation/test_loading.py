"""What a simulation takes from a snapshot."""

import msgspec

from podium.simulation import Simulation
from podium.snapshot import KindName, Snapshot


def replica(name):
    spec = {
        "nodeName": "n",
        "containers": [{"name": "app", "resources": {"requests": {"cpu": "1"}}}],
        "tolerations": [{"key": "spot"}],
    }
    meta = {"name": name, "uid": name, "namespace": "x", "labels": {"app": "web"}}
    status = {"conditions": [{"type": "Ready", "status": "True"}]}
    return msgspec.json.encode(
        {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec, "status": status}
    )


def test_pods_share_what_they_have_in_common():
    taken = Snapshot({KindName("v1", "Pod"): (replica("one"), replica("other"))})
    pods = Simulation.from_snapshot(taken).pods

    one, other = pods["x/one"], pods["x/other"]
    assert one.spec.containers is other.spec.containers
    assert one.spec.tolerations is other.spec.tolerations
    assert one.status.conditions[0] is other.status.conditions[0]

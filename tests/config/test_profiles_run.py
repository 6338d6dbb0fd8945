"""The default profile of every version places pods: no plugin misses what others prepare."""

import pytest

from podium import app
from podium.cycle.outcome import Placed
from podium.framework.queued_pod import QueuedPod
from podium.state.cluster import load as fill
from podium.testing.builders import node, pod
from tests.support.configurations import load
from tests.support.storage import claim, uses, volume

VERSIONS = ["v1", "v1beta3", "v1beta2", "v1beta1", "v1alpha2", "v1alpha1", "Policy"]
ZONE = "topology.kubernetes.io/zone"

PODS = {
    "plain": pod("plain", cpu="1"),
    "port": pod("port", host_ports=(80,)),
    "tolerant": pod("tolerant", tolerates="spot:"),
    "selecting": pod("selecting", node_selector=f"{ZONE}=a"),
    "disk": pod("disk", volumes=uses(gcePersistentDisk={"pdName": "disk"})),
    "claim": pod("claim", volumes=uses("bound")),
    "spread": pod(
        "spread",
        labels="app=web",
        topology_spread_constraints=(
            {
                "maxSkew": 1,
                "topologyKey": ZONE,
                "whenUnsatisfiable": "DoNotSchedule",
                "labelSelector": {"matchLabels": {"app": "web"}},
            },
        ),
    ),
    "apart": pod(
        "apart",
        labels="app=web",
        affinity={
            "podAntiAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": [
                    {
                        "topologyKey": "kubernetes.io/hostname",
                        "labelSelector": {"matchLabels": {"app": "web"}},
                    }
                ]
            }
        },
    ),
}


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("name", PODS)
def test_placed(version, name):
    core = app.build(load(version))
    nodes = [node(n, labels={ZONE: n, "kubernetes.io/hostname": n}) for n in "ab"]
    placed = pod("there", labels="app=web", node="b")
    fill(core.cluster, [*nodes, placed, claim("bound", volume="pv"), volume("pv")])

    outcome = core.cycle(QueuedPod.of(PODS[name])).run()

    assert isinstance(outcome, Placed), outcome

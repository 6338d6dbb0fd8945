"""Workloads and pod groups: the same answers of kube-apiserver and the embedded API server."""

import pytest

from podium.release import V1_37
from tests.support.control_plane import sides
from tests.support.control_plane.comparison import compare
from tests.support.control_plane.plane import ControlPlane
from tests.support.control_plane.scripts import grouping

pytestmark = pytest.mark.cluster

VERSIONS = ("scheduling.k8s.io/v1beta1", "scheduling.k8s.io/v1alpha3")
ALL_GATES = (
    "GenericWorkload",
    "CompositePodGroup",
    "DRAWorkloadResourceClaims",
    "PodGroupPreemptionPolicy",
    "TopologyAwareWorkloadScheduling",
)


@pytest.mark.parametrize(
    ("gates", "scripts"),
    [
        pytest.param(("GenericWorkload",), grouping.ALL, id="usual"),
        pytest.param(ALL_GATES, grouping.GATED, id="all-gates"),
        pytest.param(("GenericWorkload", "WorkloadWithJob"), grouping.JOBS, id="jobs"),
    ],
)
def test_same_answers_with_gates(binaries, tmp_path, gates, scripts):
    if binaries.release < V1_37:
        pytest.skip("served since 1.37")
    flags = (
        f"--feature-gates={','.join(f'{gate}=true' for gate in gates)}",
        f"--runtime-config={','.join(f'{version}=true' for version in VERSIONS)}",
    )
    with ControlPlane(binaries, flags) as plane:
        theirs = sides.real(plane)
        with sides.embedded(tmp_path, release=binaries.release, features=frozenset(gates)) as ours:
            found = [line for script in scripts for line in compare(script, ours, theirs)[1]]

    assert not found, "\n".join(found)

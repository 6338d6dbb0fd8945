"""The walkthrough on a real control plane, with no more rights than its own manifests grant."""

import collections
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.control_plane import sides
from tests.support.control_plane.plane import ControlPlane, NoControlPlane
from tests.support.control_plane.processes import Program, free_port
from tests.support.control_plane.stage import Stage

pytestmark = pytest.mark.cluster

PLAY = Path(__file__).resolve().parents[2] / "examples" / "sample-plugin" / "play.py"
DEADLINE_SECONDS = 180  # longer than the script gives itself
ACCOUNT = "system:serviceaccount:kube-system:sample-scheduler"
# What schedulers of v1.16 did not know of, so that the role does not grant it.
NOT_GRANTED = (
    "namespaces",
    "csidrivers.storage.k8s.io",
    "csistoragecapacities.storage.k8s.io",
    "volumeattachments.storage.k8s.io",
    "deviceclasses.resource.k8s.io",
    "resourceclaims.resource.k8s.io",
    "resourceslices.resource.k8s.io",
)
LEFT_BEHIND = (
    "/api/v1/namespaces/kube-system/serviceaccounts/sample-scheduler",
    "/api/v1/namespaces/kube-system/configmaps/sample-scheduler",
    "/apis/rbac.authorization.k8s.io/v1/clusterroles/sample-scheduler",
    "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/sample-scheduler",
    "/apis/apps/v1/namespaces/kube-system/deployments/sample-scheduler",
    "/apis/apps/v1/namespaces/default/deployments/test-scheduler",
    "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/sample-scheduler",
)


def deployments(binaries, plane):
    """The controllers that make pods of Deployments."""
    try:
        program = binaries["kube-controller-manager"]
    except NoControlPlane as missing:
        pytest.skip(str(missing))
    arguments = [
        program,
        f"--kubeconfig={plane.admin}",
        "--controllers=deployment-controller,replicaset-controller",
        "--leader-elect=false",
        "--bind-address=127.0.0.1",
        f"--secure-port={free_port()}",
    ]
    return Program(arguments, plane.folder / "kube-controller-manager.log")


def test_the_walkthrough(binaries):
    with ControlPlane(binaries) as plane, deployments(binaries, plane):
        stage = Stage(sides.real(plane), "walkthrough")
        stage.ready_nodes("a", "b")
        script = [sys.executable, str(PLAY), f"--kubeconfig={plane.admin}"]
        done = subprocess.run(script, capture_output=True, text=True, timeout=DEADLINE_SECONDS)
        left = {path: stage.side.request("GET", path)[0] for path in LEFT_BEHIND}

    assert (done.returncode, done.stderr) == (0, ""), done.stdout + done.stderr
    assert re.search(r"^placed +default/test-\S+ on [ab], by sample-sch", done.stdout, re.MULTILINE)
    assert " evaluatedNodes=2 feasibleNodes=2" in done.stdout
    refused = [line for line in done.stdout.splitlines() if ": forbidden (" in line]
    assert all(ACCOUNT in line for line in refused)
    kinds = re.findall(r"^warning +cannot list (\S+): forbidden ", done.stdout, re.MULTILINE)
    assert collections.Counter(kinds) == dict.fromkeys(NOT_GRANTED, 1)
    assert len(refused) == len(kinds)
    assert "\nerror " not in done.stdout
    assert left == dict.fromkeys(LEFT_BEHIND, 404)

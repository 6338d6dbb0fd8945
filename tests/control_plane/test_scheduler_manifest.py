"""The example of a second scheduler: its rights are enough, and the other's pods are left alone."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.control_plane import sides
from tests.support.control_plane.plane import ControlPlane, write_kubeconfig
from tests.support.control_plane.processes import Scheduler
from tests.support.control_plane.stage import Stage

pytestmark = pytest.mark.cluster

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
ACCOUNT = "/api/v1/namespaces/kube-system/serviceaccounts/podium"


def service_account(plane, side, folder):
    """A kubeconfig with a token of the service account, as a pod has it."""
    body = json.dumps({"spec": {"expirationSeconds": 3600}}).encode()
    headers = {"Content-Type": "application/json"}
    _, answer, _ = side.request("POST", f"{ACCOUNT}/token", body, **headers)
    cluster = {"server": plane.url, "certificate-authority": str(plane.authority)}
    return write_kubeconfig(folder / "account", cluster, {"token": answer["status"]["token"]})


def second_scheduler(kubeconfig, folder, release):
    config = f"--config={EXAMPLES / 'second-scheduler-config.yaml'}"
    command = [sys.executable, "-m", "podium", "scheduler", config, f"--kubeconfig={kubeconfig}"]
    options = ["--secure-port=0", "--logging-format=text", f"--emulated-version={release}"]
    return Scheduler([*command, *options], folder / "podium.log")


def test_a_second_scheduler(binaries, tmp_path):
    with ControlPlane(binaries) as plane:
        apply = [binaries["kubectl"], f"--kubeconfig={plane.admin}", "apply", "--filename"]
        manifest = EXAMPLES / "second-scheduler.yaml"
        subprocess.run([*apply, manifest], check=True, capture_output=True)
        side = sides.real(plane)
        stage = Stage(side, "second")
        account = service_account(plane, side, tmp_path)
        with second_scheduler(account, tmp_path, binaries.release) as scheduler:
            stage.ready_nodes("a")
            stage.pod("theirs")
            stage.pod("ours", schedulerName="podium")
            note = stage.until_told("ours", "Scheduled")
        theirs = stage.outcome("theirs")
        lease = stage.get("/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/podium")

    assert note == "Successfully assigned second/ours to a"
    assert theirs["node"] is None
    assert lease["spec"]["holderIdentity"] == "", "released at the end"
    assert " INFO " in scheduler.said
    assert " WARNING " not in scheduler.said
    assert " ERROR " not in scheduler.said

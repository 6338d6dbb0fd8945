"""Coordinated leader election on a real control plane: its API server chooses the leader."""

import json
import subprocess
import sys

import pytest

from tests.support.control_plane import manifest
from tests.support.control_plane.plane import ControlPlane
from tests.support.control_plane.processes import Program, free_port

pytestmark = pytest.mark.cluster

GATE = "--feature-gates=CoordinatedLeaderElection=true"
API = "--runtime-config=coordination.k8s.io/v1beta1=true"
DURATIONS = (
    "--leader-elect-lease-duration=4s",
    "--leader-elect-renew-deadline=3s",
    "--leader-elect-retry-period=1s",
)
COMMAND = (sys.executable, "-m", "podium", "scheduler", GATE, *DURATIONS)
SCHEDULER = "system:kube-scheduler"
LOST = 1
ACQUIRED = "Successfully acquired lease"


class Leases:
    """What the control plane knows of the election."""

    def __init__(self, binaries, plane):
        self._get = [
            binaries["kubectl"],
            f"--kubeconfig={plane.admin}",
            "--namespace=kube-system",
            "get",
            "--output=json",
            "--ignore-not-found",
        ]

    def _got(self, *what):
        found = subprocess.run([*self._get, *what], check=True, capture_output=True).stdout
        return json.loads(found) if found else {}

    def leading_release(self):
        """The emulation version of the candidate that holds the lease."""
        holder = self._got("lease", "kube-scheduler").get("spec", {}).get("holderIdentity")
        candidates = self._got("leasecandidates").get("items", ())
        versions = {one["metadata"]["name"]: one["spec"] for one in candidates}
        return versions.get(holder, {}).get("emulationVersion")


def test_the_oldest_emulation_version_leads(binaries, tmp_path):
    with ControlPlane(binaries, (GATE, API)) as plane:
        leases = Leases(binaries, plane)
        # The shipped rights do not reach to candidates: nothing of deploy/ turns on the gate.
        user = plane.kubeconfig_for(SCHEDULER)

        def command():
            return [*COMMAND, *manifest.arguments(user, free_port())]

        with Program(command(), tmp_path / "new.log") as new:
            new.wait_until(lambda: leases.leading_release() == "1.37.0")
            new.wait_until(lambda: ACQUIRED in (tmp_path / "new.log").read_text())
            old_command = [*command(), "--emulated-version=1.36"]
            with Program(old_command, tmp_path / "old.log") as old:
                old.wait_until(lambda: leases.leading_release() == "1.36.0")
                old.wait_until(lambda: ACQUIRED in (tmp_path / "old.log").read_text())

                assert new.ended() == LOST

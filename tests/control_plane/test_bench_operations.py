"""Every operation of workload files on a real control plane without controllers.

Volumes and claims get their protection finalizers there, and nobody else removes them.
"""

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from podium.cli import main
from tests.support.bench_cluster import standing
from tests.support.control_plane.plane import ControlPlane
from tests.support.control_plane.sides import real

pytestmark = pytest.mark.cluster

NODE = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "cordoned-0"}}
FILE = Path(__file__).parents[1] / "data/bench/every-operation.yaml"


@pytest.fixture(scope="module")
def side(binaries):
    with ControlPlane(binaries, protects_volumes=True) as plane:
        yield real(plane)


@pytest.fixture
def arguments(binaries, side):
    release = f"--kubernetes-version={binaries.release}"
    return ["bench", "--kubeconfig", str(side.kubeconfig), release]


def test_every_operation_runs_and_leaves_nothing(side, arguments, capsys):
    before = standing(side)

    status = main([*arguments, str(FILE), "-o", "json"])

    out, err = capsys.readouterr()
    result = json.loads(out)
    assert status == 1  # two cases of the file cannot run
    assert (result["name"], result["threshold_reached"]) == ("Everything/Small", True)
    assert result["pods"] > 12
    assert [line.split(": ")[2].partition(".")[0] for line in err.splitlines()] == [
        "UnknownOperation",
        "MissingParameter",
    ]
    assert standing(side) == before


def test_a_cluster_with_nodes_of_the_same_names_is_refused(side, arguments, capsys):
    side.request("POST", "/api/v1/nodes", json.dumps(NODE))
    before = standing(side)

    status = main([*arguments, str(FILE), "--workload", "Everything/*"])

    assert status == 1
    assert "the cluster already has nodes named cordoned-0" in capsys.readouterr().err
    assert standing(side) == before
    side.request("DELETE", "/api/v1/nodes/cordoned-0")


def test_ctrl_c_in_the_middle_leaves_nothing(side, arguments):
    before = standing(side)
    command = [sys.executable, "-m", "podium", *arguments, str(FILE), "--param=duration=60s"]

    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        try:
            side.wait_for("/api/v1/pods", is_steady)
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=120)
        finally:
            process.kill()

    assert process.returncode == 130
    assert standing(side) == before


def is_steady(pod):
    return pod["metadata"]["namespace"] == "steady"

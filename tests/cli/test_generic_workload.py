"""What shows pending pods, beside a cluster with the feature gate GenericWorkload."""

import json
import time

import pytest
import yaml

from tests.support.commands import PATIENCE_SECONDS, Shell
from tests.support.dumps import manifest

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def shell(tmp_path_factory):
    made = Shell(tmp_path_factory.mktemp("workload"))
    started = made.process("up", "--detach", "--nodes", "2", "--feature-gates=GenericWorkload=true")
    assert started.returncode == 0, started.stderr
    pods = [manifest("huge", "100"), manifest("lost", schedulingGroup={"podGroupName": "nowhere"})]
    made.out("apply", "-f", "-", stdin=yaml.safe_dump_all(pods))
    yield made
    made.run("down")


def settled(shell):
    """Wait until the scheduler has tried the pod without a group."""
    end = time.monotonic() + PATIENCE_SECONDS
    while "InsufficientResource" not in (printed := shell.out("top", "-o", "json")):
        assert time.monotonic() < end, f"the scheduler has not tried the pod:\n{printed}"
    return json.loads(printed)


def test_top_shows_the_overview_and_both_pods(shell):
    """It asks for ``/dashboard/api/overview``, the pending board and the map."""
    found = settled(shell)

    assert found["overview"]["nodes"] == 2
    groups = found["pending"]["groups"]
    assert {each["code"]: each["pods"][0]["pod"] for each in groups} == {
        "InsufficientResource": "default/huge",
        "PodGroupNotFound": "default/lost",
    }


def test_explain_shows_the_queue(shell):
    settled(shell)
    told = shell.out("explain", "queue")

    assert "1 unschedulable, 0 gated, 1 without their PodGroup" in told
    assert "default/huge" in told

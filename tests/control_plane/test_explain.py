"""`podium explain` and `podium serve` on a cluster that only kube-scheduler schedules for.

They say what kube-scheduler says, through kubectl too. That nothing is written is read in the audit
log of kube-apiserver.
"""

import json
import os
import re
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from podium.clock import LoopClock
from tests.support.commands import Shell
from tests.support.control_plane.audit import audited_plane
from tests.support.control_plane.processes import USER, kube_scheduler
from tests.support.control_plane.storytelling import PODS, tell_story, until_decided, write

pytestmark = pytest.mark.cluster

READS = {"get", "list", "watch"}
_PATIENCE_SECONDS = 30


@pytest.fixture(scope="module")
def audited(binaries, tmp_path_factory):
    """A cluster on which kube-scheduler has decided about all pods."""
    with audited_plane(binaries, tmp_path_factory.mktemp("audit")) as plane:
        tell_story(plane.side)
        folder = tmp_path_factory.mktemp("kube-scheduler")
        with kube_scheduler(binaries, folder, plane.plane.kubeconfig_for(USER)):
            plane.decided = until_decided(lambda: write(plane.side, "GET", PODS)["items"])
            yield plane


@pytest.fixture(scope="module")
def shell(tmp_path_factory):
    return Shell(tmp_path_factory.mktemp("shell"))


def kubectl(binaries, kubeconfig, *words):
    """Run kubectl, which finds the plugin beside this Python."""
    return subprocess.run(
        [binaries.folder / "kubectl", *words],
        env={
            **os.environ,
            "KUBECONFIG": str(kubeconfig),
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        },
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def unplaced(audited):
    return {name: why for name, (node, why) in audited.decided.items() if not node}


def test_why_pods_are_pending(audited, binaries):
    """The reasons are kube-scheduler's own, up to what preemption adds to them."""
    kubeconfig = audited.reader("asker")
    found = {}
    for name in unplaced(audited):
        words = ("podium", "explain", "pod", name, "-n", "story", "-o", "json")
        done = kubectl(binaries, kubeconfig, *words)
        assert done.returncode == 1, done.stderr
        found[name] = json.loads(done.stdout)

    assert found
    for name, answer in found.items():
        message = answer["explanation"]["message"]
        assert message.startswith("0/6 nodes are available: ")
        assert unplaced(audited)[name].startswith(message)
        assert answer["records"] is None
        source = answer["source"]
        assert (source["kind"], source["recomputed"]) == ("cluster", True)
        assert source["missing"] == []


def test_where_pods_are(audited, shell):
    kubeconfig = str(audited.reader("placed-asker"))
    for name, (node, _) in audited.decided.items():
        if node:
            done = shell.process(
                "explain", "pod", name, "-n", "story", "--kubeconfig", kubeconfig, "--node", "a1"
            )
            assert done.stdout.startswith(f"story/{name} is on {node}: "), done
            assert "Node a1:" in done.stdout


def test_nodes_and_the_pods_that_wait(audited, binaries):
    kubeconfig = audited.reader("node-asker")
    node = kubectl(binaries, kubeconfig, "podium", "explain", "node", "a1")
    queue = kubectl(binaries, kubeconfig, "podium", "explain", "queue")

    assert node.stdout.startswith("a1 runs "), node.stderr
    assert "recomputed from the cluster at https://" in queue.stdout, queue.stderr
    for name in unplaced(audited):
        assert f"story/{name}: " in queue.stdout


def test_a_forbidden_kind_makes_the_answer_partial(audited, shell):
    kubeconfig = str(audited.reader("half-asker", without=("policy",)))
    name = next(iter(unplaced(audited)))
    done = shell.process("explain", "pod", name, "-n", "story", "--kubeconfig", kubeconfig)

    assert "partial: PodDisruptionBudget objects are missing (forbidden" in done.stdout, done.stderr
    assert done.returncode == 1


def test_nothing_may_be_read(audited, shell):
    kubeconfig = str(audited.plane.kubeconfig_for("nobody"))
    done = shell.process("explain", "pod", "x", "--kubeconfig", kubeconfig)

    assert "forbidden" in done.stderr.lower()
    assert (done.returncode, done.stdout) == (2, "")


def test_serve_follows_the_cluster(audited, shell):
    kubeconfig = str(audited.reader("server", verbs=("get", "list", "watch")))
    process = shell.start("serve", "--port", "0", "--kubeconfig", kubeconfig)
    try:
        url = re.search(r"http://\S+:\d+", process.stdout.readline())[0]
        token = Path(re.search(r"in (\S+),", process.stdout.readline())[1]).read_text().strip()
        before = ask(url, token, "/v1/cluster")
        assert before["source"]["name"].startswith("https://")
        nodes = before["nodes"]
        write(audited.side, "POST", "/api/v1/nodes", {"metadata": {"name": "late"}})
        end = LoopClock().now() + _PATIENCE_SECONDS
        while ask(url, token, "/v1/cluster")["nodes"] == nodes and LoopClock().now() < end:
            pass
        assert ask(url, token, "/v1/nodes/late")["node"] == "late"
    finally:
        process.terminate()
        _, errors = process.communicate(timeout=30)
    assert process.returncode == 0, errors


def ask(url, token, path):
    request = urllib.request.Request(url + path, headers={"Authorization": f"Bearer {token}"})
    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request) as answer:
        return json.loads(answer.read())


def test_nothing_was_written(audited):
    """Read last: everything above has asked by then."""
    for user in ("asker", "placed-asker", "node-asker", "half-asker", "server"):
        requests = audited.requests(user)
        assert requests, user
        assert {each["verb"] for each in requests} <= READS, user

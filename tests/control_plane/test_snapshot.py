"""A round trip: a real cluster, its snapshot, and an embedded cluster in the same state.

kube-scheduler decides on the real one and podium on the other: verdicts and scores are the same.
What the user of the snapshot has asked for is read in the audit log of kube-apiserver.
"""

import http.client
import json
import re
from urllib.parse import urlsplit

import pytest

from podium import snapshot
from podium.cli import state_file
from tests.support.commands import Shell
from tests.support.control_plane.audit import audited_plane
from tests.support.control_plane.processes import USER, kube_scheduler
from tests.support.control_plane.storytelling import PODS, tell_story, until_decided, write
from tests.support.snapshot_story import STORY, objects_of

pytestmark = pytest.mark.cluster

READS = {"get", "list"}
_SCORED = re.compile(
    r'"Plugin scored node for pod" pod="story/(\S+)" plugin="(\w+)" node="(\S+)" score=(\d+)'
)


@pytest.fixture(scope="module")
def audited(binaries, tmp_path_factory):
    with audited_plane(binaries, tmp_path_factory.mktemp("audit")) as plane:
        tell_story(plane.side)
        yield plane


@pytest.fixture(scope="module")
def saved(audited, tmp_path_factory):
    """The file of a snapshot that a user with the right to read has taken."""
    folder = tmp_path_factory.mktemp("saved")
    file = folder / "cluster.podium"
    done = Shell(folder).process(
        "snapshot", "save", "-o", str(file), "--kubeconfig", str(audited.reader("snapshotter"))
    )
    assert done.returncode == 0, done.stderr
    return file


@pytest.fixture(scope="module")
def decided(audited, saved, binaries, tmp_path_factory):
    """What kube-scheduler decides on the real cluster, after the snapshot, with its scores."""
    folder = tmp_path_factory.mktemp("kube-scheduler")
    kubeconfig = audited.plane.kubeconfig_for(USER)
    with kube_scheduler(binaries, folder, kubeconfig, "-v=10") as scheduler:
        outcomes = until_decided(lambda: write(audited.side, "GET", PODS)["items"])
    scores = {}
    for pod, plugin, node, score in _SCORED.findall(scheduler.said):
        scores.setdefault(pod, {}).setdefault(node, {})[plugin] = int(score)
    return outcomes, scores


@pytest.fixture(scope="module")
def restored(saved, tmp_path_factory):
    """An embedded cluster in the state of the snapshot; its scheduler decides about it."""
    shell = Shell(tmp_path_factory.mktemp("restored"))
    done = shell.process("up", "--detach", "--freeze", "--from", str(saved))
    assert done.returncode == 0, done.stderr
    yield shell
    shell.process("down")


def listed(shell, namespace="story"):
    answer = shell.process("get", "pods", "-n", namespace, "-o", "json").stdout
    return json.loads(answer)["items"]


def scores_of(shell, pod, nodes):
    """What podium's scheduler has recorded about its decision, by node and plugin, with weights."""
    running = state_file.find_running(shell.state)
    at = urlsplit(running.scheduler)
    found = {}
    for node in nodes:
        connection = http.client.HTTPConnection(at.hostname, at.port)
        connection.request("GET", f"/debug/podium/pods/story/{pod}?node={node}")
        answer = json.loads(connection.getresponse().read())
        connection.close()
        on_node = answer["attempts"][-1].get("onNode") or {}
        if score := on_node.get("score"):
            found[node] = {
                each["plugin"]: each["normalized"] * each["weight"] for each in score["scores"]
            }
    return found


def test_the_snapshot_has_everything(saved):
    taken = snapshot.load(saved)

    assert taken.missing == ()
    assert taken.resource_version
    kept = {
        (name.kind, each["metadata"]["name"])
        for name in taken.objects
        for each in taken.dicts(name.kind)
    }
    assert {(obj["kind"], obj["metadata"]["name"]) for obj in objects_of(STORY)} <= kept


def test_nothing_was_written(saved, audited):
    requests = audited.requests("snapshotter")
    assert len(requests) > 20
    assert {each["verb"] for each in requests} == READS
    assert not [
        each for each in requests if (each.get("objectRef") or {}).get("resource") == "secrets"
    ]


def test_verdicts_are_the_same(decided, restored):
    outcomes, _ = decided
    assert until_decided(lambda: listed(restored)) == outcomes


def test_scores_are_the_same(decided, restored):
    outcomes, scores = decided
    until_decided(lambda: listed(restored))
    several = {pod for pod, found in scores.items() if len(found) > 1}
    assert len(several) >= 5  # with one feasible node nothing is scored
    for pod in several:
        ours = scores_of(restored, pod, scores[pod])
        assert ours == scores[pod], pod
    assert {outcomes[pod][0] for pod in several} - {""}


def test_uids_and_owners_are_kept(saved, restored):
    before = {
        each["metadata"]["uid"]: each["metadata"] for each in snapshot.load(saved).dicts("Pod")
    }
    after = {each["metadata"]["uid"]: each["metadata"] for each in listed(restored)}
    assert before.keys() == after.keys()
    for uid, meta in before.items():
        assert after[uid].get("ownerReferences") == meta.get("ownerReferences")
        assert after[uid]["creationTimestamp"] == meta["creationTimestamp"]


def test_a_user_who_may_not_read_services(audited, tmp_path):
    kubeconfig = audited.user_without("no-services", "services")
    file = tmp_path / "partial.podium"
    done = Shell(tmp_path).process(
        "snapshot", "save", "-o", str(file), "--kubeconfig", str(kubeconfig)
    )
    assert done.returncode == 1
    taken = snapshot.load(file)
    (missing,) = [each for each in taken.missing if each.kind == "Service"]
    assert 'cannot list resource "services"' in missing.reason
    assert missing.consequence == "default spreading may differ"

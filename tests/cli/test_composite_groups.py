"""A tree of groups on the embedded cluster, as users create it."""

import json
import time

import pytest
import yaml

from tests.support.commands import PATIENCE_SECONDS, Shell
from tests.support.dumps import manifest

pytestmark = pytest.mark.slow

GATES = "GenericWorkload=true,TopologyAwareWorkloadScheduling=true,CompositePodGroup=true"
REF = {"workloadName": "job", "templateName": "job"}


@pytest.fixture(scope="module")
def shell(tmp_path_factory):
    made = Shell(tmp_path_factory.mktemp("composite"))
    started = made.process("up", "--detach", "--nodes", "2", f"--feature-gates={GATES}")
    assert started.returncode == 0, started.stderr
    yield made
    made.run("down")


def of(name, parent="job"):
    spec = {"parentCompositePodGroupName": parent, "workloadRef": REF}
    spec["schedulingPolicy"] = {"gang": {"minCount": 1}}
    meta = {"name": name}
    version = "scheduling.k8s.io/v1beta1"
    return {"apiVersion": version, "kind": "PodGroup", "metadata": meta, "spec": spec}


def member(name, group):
    return manifest(name, "1", schedulingGroup={"podGroupName": group})


def apply(shell, *objects):
    shell.out("apply", "-f", "-", stdin=yaml.safe_dump_all(objects))


def until(shell, is_so, *command):
    end = time.monotonic() + PATIENCE_SECONDS
    while not is_so(printed := shell.out(*command)):
        assert time.monotonic() < end, printed
    return printed


def test_a_tree_waits_for_all_its_groups_and_is_placed_together(shell):
    root = {
        "apiVersion": "scheduling.k8s.io/v1alpha3",
        "kind": "CompositePodGroup",
        "metadata": {"name": "job"},
        "spec": {"workloadRef": REF, "schedulingPolicy": {"gang": {"minGroupCount": 2}}},
    }
    apply(shell, root, of("workers"), of("servers"), member("w1", "workers"))

    queue = until(shell, lambda text: "default/w1" in text, "explain", "queue")
    assert "default/workers" in queue
    table = shell.out("get", "podgroups")
    assert "workers" in table
    assert "job" in shell.out("get", "compositepodgroups")

    apply(shell, member("s1", "servers"))
    ask = ("get", "pods", "-o", "json")
    found = until(shell, lambda text: text.count('"nodeName"') == 2, *ask)
    assert len(json.loads(found)["items"]) == 2
    until(shell, lambda text: text.count("Scheduled") == 2, "get", "podgroups")

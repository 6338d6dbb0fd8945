"""Several clusters at once, and nodes made from several templates."""

import json
import re
import urllib.request

import pytest
import yaml

from podium.cli import state_file
from tests.support.commands import Shell

pytestmark = pytest.mark.slow

GPU = "{apiVersion: v1, kind: Node, metadata: {name: gpu, labels: {gpu: a100}}}"
TIMED = r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d podium: "


@pytest.fixture
def shell(tmp_path):
    made = Shell(tmp_path)
    yield made
    for name in ("podium", "another"):
        made.run("down", "--name", name)


@pytest.mark.slow
def test_two_clusters(shell, tmp_path):
    """One with podium's own name and one with another: each has its context and state."""
    (tmp_path / "gpu.yaml").write_text(GPU)
    first = shell.process("up", "--detach", "--no-scheduler", "--nodes", "0")
    second = shell.process(
        *("up", "--detach", "--name", "another", "--nodes", "2"),
        *("--node-template", f"{tmp_path / 'gpu.yaml'}=3"),
    )
    assert (first.returncode, second.returncode) == (0, 0), second.stderr

    header, *rows = shell.table("get", "clusters")
    assert header == ["NAME", "NODES", "SERVER", "METRICS", "CONTEXT"]
    other, usual = rows
    assert usual[:2] + usual[3:] == ["podium", "0", "<none>", "podium"]
    assert other[:2] + other[4:] == ["another", "5", "podium-another"]
    assert f"source: recomputed from the cluster at {usual[2]}" in shell.out("explain", "queue")
    contexts = yaml.safe_load(shell.kubeconfig.read_text())["contexts"]
    assert [one["name"] for one in contexts] == ["podium", "podium-another"]

    nodes = shell.out("get", "nodes", "-o", "name", "--context", "podium-another").split()
    assert nodes == [f"node/{name}" for name in ("gpu-0", "gpu-1", "gpu-2", "node-0", "node-1")]
    assert shell.out("get", "nodes", "-o", "name") == ""

    metrics = re.search(r"^metrics: (.+)$", second.stdout, re.MULTILINE)[1]
    assert metrics == other[3]
    with urllib.request.urlopen(metrics, timeout=60) as answer:
        assert b"scheduler_pending_pods" in answer.read()
    assert "To stop it: podium down --name another" in second.stdout
    log = shell.state.with_name("cluster-another.json.log").read_text()
    assert re.fullmatch(TIMED + r"the cluster at \S+ is ready, with 5 nodes\n", log)

    again = shell.run("up", "--detach", "--name", "another")
    assert again.returncode == 1
    assert "stop it with: podium down --name another, or start another with --name" in again.stderr

    assert shell.out("down", "--name", "another").endswith("has ended\n")
    assert shell.out("get", "clusters", "-o", "name") == "podium\n"
    told = shell.out("down", "--name", "another")
    assert told == 'podium: no cluster "another" is running; there are: podium\n'
    contexts = yaml.safe_load(shell.kubeconfig.read_text())["contexts"]
    assert [one["name"] for one in contexts] == ["podium"]


def test_clusters_of_none(shell):
    done = shell.run("get", "clusters")

    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr == "No clusters found; start one with: podium up --detach\n"
    assert shell.out("get", "clusters", "-o", "json") == "[]\n"


@pytest.fixture
def running(shell, monkeypatch):
    """A cluster that seems to run: its state file is held."""
    for name, value in shell.env.items():
        monkeypatch.setenv(name, value)
    with state_file.StateFile(state_file.default_path("a")) as file:
        file.write(state_file.RunningCluster(1, "http://127.0.0.1:1", "c", 3, "http://m", "a"))
        yield


@pytest.mark.usefixtures("running")
@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["clusters", "b"], 'no cluster "b" is running; there are: a'),
        (["clusters", "--watch"], "clusters cannot be watched"),
    ],
    ids=" ".join,
)
def test_bad_requests_for_clusters(shell, words, told):
    done = shell.run("get", *words)

    assert (done.returncode, done.stdout) == (1, "")
    assert told in done.stderr


@pytest.mark.usefixtures("running")
def test_clusters_in_other_forms(shell):
    (found,) = json.loads(shell.out("get", "cluster", "a", "-o", "json"))
    assert (found["name"], found["pid"], found["nodes"]) == ("a", 1, 3)
    assert "key" not in found  # it makes links to the dashboard
    header, row = shell.table("get", "clusters", "-o", "wide")
    assert dict(zip(header, row, strict=True))["KUBECONFIG"] == "c"


@pytest.mark.parametrize("name", ["", "A", "-a", "a-", "a.b", "a/b", "a" * 41])
@pytest.mark.parametrize("command", [("up",), ("down",), ("demo",), ("plugin", "stats")], ids=str)
def test_a_name_that_cannot_be(shell, command, name):
    done = shell.run(*command, f"--name={name}")

    assert done.returncode == 2
    assert "must be up to 40 lower case letters, digits and hyphens" in done.stderr


@pytest.mark.parametrize(
    ("templates", "told"),
    [
        (["a.yaml", "b.yaml"], "give each a count, as in --node-template FILE=COUNT"),
        (["a.yaml=x"], "must be a number from 0 to 60000, not 'x'"),
        (["=3"], "must be FILE or FILE=COUNT, not '=3'"),
        (["a.yaml=1", "b.yaml=2"], "2 groups of nodes would have names like gpu-0; give each"),
        (["a.yaml=60000", "c.yaml=1"], "60001 nodes are too many; at most 60000"),
        (["nowhere=3"], "nowhere: cannot be read"),
    ],
    ids=lambda each: " ".join(each) if isinstance(each, list) else "",
)
def test_templates_that_cannot_be_used(shell, tmp_path, monkeypatch, templates, told):
    monkeypatch.chdir(tmp_path)
    for name, text in {"a": GPU, "b": GPU, "c": GPU.replace("name: gpu", "name: c")}.items():
        (tmp_path / f"{name}.yaml").write_text(text)

    done = shell.run("up", *(f"--node-template={each}" for each in templates))

    assert done.returncode == 2
    assert told in done.stderr
    assert not shell.state.exists()

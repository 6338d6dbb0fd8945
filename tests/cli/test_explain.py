"""`podium explain` about snapshots and dumps, and what it refuses."""

import json
import os
from pathlib import Path

import pytest
import yaml

from podium.cli import main
from tests.support import dumps
from tests.support.commands import Shell


@pytest.fixture(scope="module")
def shell(tmp_path_factory):
    made = Shell(tmp_path_factory.mktemp("explain"))
    made.dump = str(dumps.written(made.kubeconfig.with_name("dump.json")))
    return made


def explain(shell, *words, stdin=""):
    return shell.run("explain", *words, "--from", shell.dump, stdin=stdin)


def test_a_pending_pod(shell):
    done = explain(shell, "pod", "huge")

    lines = done.stdout.splitlines()
    assert lines[0].startswith("default/huge fits on none of 3 nodes")
    assert "What would help:" in lines
    assert f"source: recomputed from {shell.dump}" in lines
    assert any(line.startswith("partial: ") for line in lines)
    assert done.returncode == 1
    assert "\x1b" not in done.stdout


def test_why_not_on_a_node(shell):
    done = explain(shell, "pod", "huge", "--node", "one", "--node", "two")

    assert "Node one:" in done.stdout
    assert "Node two:" in done.stdout


def test_a_placed_pod(shell):
    done = explain(shell, "pod", "default/web-1")

    assert done.stdout.startswith("default/web-1 is on one: ")
    assert done.returncode == 0


def test_a_pod_from_a_file(shell, tmp_path):
    path = tmp_path / "pod.yaml"
    path.write_text(yaml.safe_dump(dumps.manifest("new", "2")))
    by_name = explain(shell, "pod", "-f", str(path), "-n", "team")
    by_stdin = explain(shell, "pod", "-f", "-", stdin=path.read_text())

    assert by_name.stdout.startswith("team/new would be placed on ")
    assert by_stdin.stdout.startswith("default/new would be placed on ")
    assert by_name.returncode == 0


def test_a_dump_from_a_pipe(shell):
    reader, writer = os.pipe()
    with open(writer, "wb") as file:
        file.write(Path(shell.dump).read_bytes())  # less than a pipe holds
    done = shell.run("explain", "pod", "huge", "--from", f"/dev/fd/{reader}")
    os.close(reader)

    assert done.stdout.startswith("default/huge fits on none of 3 nodes")


def test_a_node(shell):
    assert explain(shell, "node", "two").stdout.startswith("two runs 1 pod")


def test_the_pods_that_wait(shell):
    lines = explain(shell, "queue").stdout.splitlines()

    assert lines[0] == "2 pods have no node."
    assert any("default/gated" in line and "gated by example.com/wait" in line for line in lines)
    assert "and 1 more" in explain(shell, "queue", "--limit", "1").stdout


@pytest.mark.parametrize("subject", [("pod", "huge"), ("node", "one"), ("queue",)])
def test_the_same_as_json_and_yaml(shell, subject):
    as_json = json.loads(explain(shell, *subject, "-o", "json").stdout)
    as_yaml = yaml.safe_load(explain(shell, *subject, "-o", "yaml").stdout)

    assert as_json == as_yaml
    source = as_json["source"]
    assert (source["kind"], source["name"], source["recomputed"]) == ("snapshot", shell.dump, True)
    assert source["missing"]


@pytest.mark.parametrize(
    ("words", "error"),
    [
        pytest.param(("pod", "hug"), 'no pod default/hug; did you mean "huge"?', id="mistyped-pod"),
        pytest.param(("pod", "huge", "-n", "prod"), 'did you mean "default/huge"?', id="namespace"),
        pytest.param(
            ("pod", "huge", "--node", "thre"), 'did you mean "three"?', id="why-not-where"
        ),
        pytest.param(("node", "thre"), 'no node thre; did you mean "three"?', id="mistyped-node"),
        pytest.param(("pod",), "name one pod, or give its manifest with -f", id="no-pod"),
        pytest.param(("pod", "huge", "-f", "x.yaml"), "name one pod", id="pod-and-file"),
        pytest.param(("pod", "-f", "nope.yaml"), "nope.yaml: ", id="no-such-file"),
        pytest.param(("pod", "huge", "--attempt", "1"), "leave it out beside --from", id="attempt"),
        pytest.param(("pod", "huge", "--attempt", "0"), "must be a number from 1", id="attempt-0"),
        pytest.param(("pod", "huge", "--server", "http://x"), "names a cluster", id="server"),
        pytest.param(("pod", "huge", "--context", "x"), "names a cluster", id="context"),
        pytest.param(("pods", "huge"), 'unknown command "pods"; did you mean "pod"?', id="subject"),
        pytest.param(("pod", "huge", "--config", "nope.yaml"), "nope.yaml", id="configuration"),
        pytest.param(("pod", "huge", "--plugin", "nope.py"), "nope.py", id="plugin"),
    ],
)
def test_bad_input(shell, words, error):
    done = explain(shell, *words)

    assert error in done.stderr
    assert (done.returncode, done.stdout) == (2, "")


def test_a_file_with_something_else(shell):
    done = explain(shell, "pod", "-f", "-", stdin=json.dumps(dumps.node("n")))

    assert done.stderr == "podium: standard input: must hold one Pod, not Node\n"


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b'{"kind": "List", "items": [', id="cut-short"),
        pytest.param(b"", id="empty"),
        pytest.param(b"\x1f\x8b\x08\x00", id="cut-short-archive"),
    ],
)
def test_snapshots_that_cannot_be_read(shell, tmp_path, content):
    path = tmp_path / "cluster.podium"
    path.write_bytes(content)
    done = shell.run("explain", "pod", "web", "--from", str(path))

    assert done.returncode == 2
    assert str(path) in done.stderr


def test_a_plugin_that_raises(shell, tmp_path):
    path = tmp_path / "broken.py"
    path.write_text(
        "from podium import framework as fwk\n"
        "class Broken(fwk.FilterPlugin):\n"
        "    name = 'Broken'\n"
        "    def filter(self, state, pod, node):\n"
        "        raise RuntimeError('out of order')\n"
    )
    small = json.dumps(dumps.manifest("small"))
    done = explain(shell, "pod", "-f", "-", "--plugin", str(path), stdin=small)

    assert "out of order" in done.stdout
    assert "Broken" in done.stdout
    assert done.returncode == 1


def test_a_scheduler_that_does_not_answer(shell):
    done = shell.run("explain", "queue", "--server", "http://127.0.0.1:9")

    assert "no podium scheduler answers at http://127.0.0.1:9: Connection refused" in done.stderr
    assert done.returncode == 2


def test_no_cluster_at_all(shell):
    done = shell.run("explain", "pod", "web", "--kubeconfig", "/nope")

    assert "/nope" in done.stderr
    assert done.returncode == 2


def test_as_a_plugin_of_kubectl(capsys):
    with pytest.raises(SystemExit):
        main(["explain", "pod", "--help"], program="kubectl podium")

    assert capsys.readouterr().out.startswith("usage: kubectl podium explain pod")


def test_a_pod_without_a_time_in_the_queue(tmp_path):
    made = dumps.pod("new")
    del made["metadata"]["creationTimestamp"]
    dump = dumps.written(tmp_path / "dump.json", dumps.node("one", "0"), made)
    done = Shell(tmp_path).run("explain", "queue", "--from", str(dump))

    assert "default/new: since a time that is not known: not tried yet" in done.stdout


@pytest.mark.parametrize("words", [("pod", ""), ("node", ""), ("pod", "huge", "--node", " ")])
def test_names_that_are_empty(shell, words):
    done = explain(shell, *words)

    assert done.returncode == 2
    assert "must not be empty" in done.stderr


def test_a_manifest_of_a_pod_that_exists(shell):
    done = explain(shell, "pod", "-f", "-", stdin=yaml.safe_dump(dumps.pod("web-2", "1", "two")))

    assert done.stdout.startswith("default/web-2-new-1 would be placed on ")


def test_an_object_that_cannot_be_read_is_reported_with_its_file(shell, tmp_path):
    path = dumps.written(tmp_path / "bad.json", dumps.node("one", cpu="four"), dumps.pod("web"))
    done = shell.run("explain", "pod", "web", "--from", str(path))

    assert done.stderr.startswith(f"podium: {path}: Node one has 2 problems\n")
    assert "status.allocatable[cpu]: 'four'" in done.stderr
    assert done.returncode == 2


@pytest.mark.parametrize("words", [("explain", "pod", "x"), ("snapshot", "save", "-o", "none")])
def test_without_any_cluster_it_says_how_to_start_one(tmp_path, words):
    done = Shell(tmp_path).run(*words)

    assert done.stderr.endswith("; start a cluster with: podium up --detach\n")
    assert done.returncode == 2

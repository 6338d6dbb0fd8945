"""``podium snapshot``: save and show, on an embedded cluster and with files."""

import json

import pytest
import yaml

from podium import snapshot
from tests.support.commands import Shell

NODE = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "worker"}}


@pytest.fixture
def shell(tmp_path):
    return Shell(tmp_path)


@pytest.fixture
def dump(tmp_path):
    file = tmp_path / "dump.json"
    file.write_text(json.dumps(NODE))
    return file


@pytest.mark.slow
def test_saves_and_shows_a_cluster(shell, tmp_path):
    file = tmp_path / "cluster.podium"
    shell.process("up", "--detach", "--nodes=2")
    try:
        saved = shell.process("snapshot", "save", "-o", str(file), "--context", "podium")
    finally:
        shell.process("down")

    assert saved.returncode == 0
    assert f"saved {file}: " in saved.stdout
    assert "among them 2 nodes and 0 pods" in saved.stdout
    shown = shell.run("snapshot", "show", str(file))
    assert "Kubernetes v1.37" in shown.stdout
    assert "2 ready" in shown.stdout


@pytest.mark.slow
def test_a_cluster_goes_on_after_it_was_stopped(shell, tmp_path):
    file, config = tmp_path / "cluster.podium", tmp_path / "scheduler.yaml"
    config.write_text(
        "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
        "profiles: [{schedulerName: mine}]\n"
    )
    manifest = tmp_path / "pods.yaml"
    manifest.write_text(yaml.safe_dump_all([pod("placed"), pod("too-big", cpu="99")]))
    shell.process("up", "--detach", "--nodes=2", "--kubernetes-version=1.36", f"--config={config}")
    shell.process("apply", "-f", str(manifest))
    before = settled(shell)
    saved = shell.process("down", "--save", str(file))
    assert saved.returncode == 0, saved.stderr

    started = shell.process("up", "--detach", "--from", str(file))
    try:
        assert started.returncode == 0, started.stderr
        assert settled(shell) == before
        assert "v1.36" in shell.process("get", "nodes").stdout
    finally:
        shell.process("down")


def pod(name, cpu="1"):
    spec = {
        "schedulerName": "mine",
        "containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": cpu}}}],
    }
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": spec}


def settled(shell):
    """Wait until both pods were tried; return their uids, nodes and reasons."""
    for _ in range(100):
        pods = json.loads(shell.process("get", "pods", "-o", "json").stdout)["items"]
        found = {
            each["metadata"]["uid"]: (each["spec"].get("nodeName"), reason_of(each))
            for each in pods
        }
        if all(node or reason for node, reason in found.values()):
            return found
    raise AssertionError(pods)


def reason_of(pod):
    conditions = pod["status"].get("conditions") or []
    return next(
        (each["message"] for each in conditions if each.get("reason") == "Unschedulable"), ""
    )


@pytest.mark.parametrize(
    ("args", "message"),
    [
        pytest.param(["--from", "{file}", "--nodes=3"], "--nodes is for a new cluster", id="nodes"),
        pytest.param(["--freeze"], "give one with --from", id="freeze-alone"),
        pytest.param(["--from", "{file}x"], "cannot be read: No such file", id="no-file"),
        pytest.param(["--from", "{pods}"], "it has no nodes, so no pod", id="without-nodes"),
    ],
)
def test_up_from_bad_input(shell, dump, tmp_path, args, message):
    pods = tmp_path / "pods.yaml"
    pods.write_text(yaml.safe_dump(pod("p")))
    done = shell.run("up", *(each.format(file=dump, pods=pods) for each in args))
    assert done.returncode == 2
    assert message in done.stderr
    assert not shell.kubeconfig.exists()


def test_nothing_to_save(shell, tmp_path):
    done = shell.run("down", "--save", str(tmp_path / "x"))
    assert done.returncode == 1
    assert "nothing to save: no cluster is running" in done.stderr


def test_saves_a_dump(shell, dump, tmp_path):
    file = tmp_path / "cluster.podium"
    done = shell.run("snapshot", "save", "-o", str(file), "--from", str(dump))
    assert done.returncode == 1  # it is partial
    assert "partial: Service objects are missing (not in the file)" in done.stderr
    assert list(snapshot.load(file).dicts()) == [NODE]


def test_takes_a_configuration(shell, dump, tmp_path):
    config, file = tmp_path / "scheduler.yaml", tmp_path / "cluster.podium"
    config.write_text(
        "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration"
    )
    shell.run("snapshot", "save", "-o", str(file), "--from", str(dump), "--config", str(config))
    assert snapshot.load(file).configuration == {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
    }


def test_anonymizes(shell, dump, tmp_path):
    file = tmp_path / "cluster.podium"
    shell.run("snapshot", "save", "-o", str(file), "--from", str(dump), "--anonymize")
    (node,) = snapshot.load(file).dicts("Node")
    assert node["metadata"]["name"] == "n0"
    assert "an anonymized snapshot" in shell.run("snapshot", "show", str(file)).stdout
    refused = shell.run("up", "--from", str(file))
    assert refused.returncode == 2
    assert "add --freeze" in refused.stderr


def test_shows_json(shell, dump):
    done = shell.run("snapshot", "show", str(dump), "-o", "json")
    shown = json.loads(done.stdout)
    assert shown["objects"] == {"Node": 1}
    assert ["Service", "not in the file", "default spreading may differ"] in shown["missing"]


@pytest.mark.parametrize(
    ("args", "message"),
    [
        pytest.param(["show", "{tmp}/none"], "none: cannot be read: No such file", id="no-file"),
        pytest.param(["show", "{tmp}"], "a directory without files", id="empty-directory"),
        pytest.param(["show", __file__], "not a snapshot", id="not-a-snapshot"),
        pytest.param(
            ["save", "-o", "{tmp}/x", "--kubeconfig", "{tmp}/none"],
            "there is no such file; give the path of a kubeconfig",
            id="no-kubeconfig",
        ),
        pytest.param(
            ["save", "-o", "{tmp}/x", "--from", "{tmp}/none"], "No such file", id="no-dump"
        ),
        pytest.param(
            ["save", "-o", "{tmp}/x", "--from", "{tmp}/y", "--config", "/dev/null"],
            "must hold one KubeSchedulerConfiguration",
            id="not-a-configuration",
        ),
        pytest.param(
            ["save", "-o", "{tmp}/x", "--from", "{tmp}/y", "--context", "prod"],
            "--from reads a file: leave out --kubeconfig and --context",
            id="two-sources",
        ),
        pytest.param(["save"], "required: -o/--output", id="no-output"),
        pytest.param(["sawe"], 'unknown command "sawe"; did you mean "save"?', id="typo"),
    ],
)
def test_bad_input(shell, tmp_path, args, message):
    folder = tmp_path / "empty"
    folder.mkdir()
    done = shell.run("snapshot", *(each.format(tmp=folder) for each in args))
    assert done.returncode == 2
    assert message in done.stderr
    assert not list(folder.iterdir())


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("save", "-o", ""), "-o/--output: must not be empty"),
        (("save", "-o", "/dev/null"), "/dev/null: cannot be written: not a regular file"),
        (("save", "-o", "."), ".: cannot be written: not a regular file"),
        (("save", "-o", "x" * 256), "cannot be written: File name too long"),
        (("show", ""), "FILE: must not be empty"),
        (("show", "/dev/zero"), "/dev/zero: cannot be read: not a file or a pipe"),
        (("show", "x" * 256), "cannot be read: File name too long"),
    ],
)
def test_files_that_cannot_be_used(shell, dump, words, told):
    source = ("--from", str(dump)) if words[0] == "save" else ()
    done = shell.run("snapshot", *words, *source)
    assert (done.returncode, done.stdout) == (2, "")
    assert told in done.stderr


def test_a_dump_is_not_called_a_snapshot(shell, dump, tmp_path):
    assert f"{dump}: a dump of Kubernetes objects; without" in shell.out(
        "snapshot", "show", str(dump)
    )
    file = tmp_path / "cluster.podium"
    shell.run("snapshot", "save", "--from", str(dump), "-o", str(file))
    assert f"{file}: a snapshot of {dump}; without" in shell.out("snapshot", "show", str(file))


EVIL = "\x1b]0;title\x07\x9b31m"


def test_what_a_terminal_would_obey_is_shown_as_signs(shell, tmp_path):
    file = tmp_path / "evil.json"
    lost = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": EVIL, "namespace": "d"}}
    lost["spec"] = {"nodeName": "gone"}
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [NODE, lost]}))
    shown = shell.out("snapshot", "show", str(file))
    assert "d/␛]0;title\ufffd31m" in shown

    file.write_text(json.dumps({**NODE, "kind": EVIL}))
    told = shell.run("snapshot", "show", str(file)).stderr
    assert "only ␛]0;title␇\ufffd31m" in told
    assert not {"\x1b", "\x07", "\x9b"} & set(shown + told)

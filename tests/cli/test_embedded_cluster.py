"""The commands around an embedded cluster, each run as a user runs it."""

import asyncio
import fcntl
import json
import os
import signal
import urllib.request
from itertools import takewhile

import pytest
import yaml

from podium import config
from podium.apiserver.embedded_cluster import ClusterOptions
from podium.app.embedded import Schedule
from podium.cli import next_steps
from podium.cli.state_file import StateFile
from podium.cli.up import ClusterFiles, serve
from podium.live.scheduler import Scheduler
from tests.support.commands import Shell

pytestmark = pytest.mark.slow

WEB = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {app: web}}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: c, image: "app:1"}]}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
data: {a: "1"}
"""


@pytest.fixture(scope="module")
def shell(tmp_path_factory):
    """A cluster that the tests of this module share."""
    made = Shell(tmp_path_factory.mktemp("up"))
    config = {"contexts": [{"name": "prod", "context": {}}], "current-context": "prod"}
    made.kubeconfig.write_text(yaml.safe_dump(config))
    told = made.process("up", "--detach", "--port", "0", "--nodes", "2", "--no-scheduler")
    assert told.returncode == 0, told.stderr
    made.told = told.stdout
    yield made
    made.run("down")


def test_up_says_what_to_type_next(shell):
    state = json.loads(shell.state.read_text())

    assert f"podium is up: 2 nodes, {state['url']}" in shell.told
    assert "kubectl --context podium get nodes" in shell.told
    assert "podium down" in shell.told
    assert "\x1b" not in shell.told


@pytest.mark.parametrize(
    ("found", "typed", "expected"),
    [
        pytest.param("/bin/podium", "/bin/podium", "podium", id="found-by-name"),
        pytest.param(None, ".venv/bin/podium", ".venv/bin/podium", id="not-activated"),
        pytest.param(None, "my tools/podium", "'my tools/podium'", id="for-a-shell"),
        pytest.param(None, "podium/__main__.py", "podium", id="as-a-module"),
    ],
)
def test_the_command_is_named_so_that_a_shell_finds_it(monkeypatch, found, typed, expected):
    monkeypatch.setattr("shutil.which", {"podium": found}.get)
    monkeypatch.setattr("sys.argv", [typed, "up"])

    assert next_steps.program() == expected


def test_up_leaves_other_contexts_alone(shell):
    config = yaml.safe_load(shell.kubeconfig.read_text())

    assert config["current-context"] == "prod"
    assert [one["name"] for one in config["contexts"]] == ["prod", "podium"]


@pytest.mark.parametrize("command", [("up", "--detach"), ("up",), ("demo",)], ids=" ".join)
def test_a_second_cluster_is_refused(shell, command):
    done = shell.run(*command)

    assert done.returncode == 1
    assert "a cluster is running already" in done.stderr
    assert "podium down" in done.stderr


def test_get_prints_kubectls_columns(shell):
    header, *rows = shell.table("get", "nodes")

    assert header == ["NAME", "STATUS", "ROLES", "AGE", "VERSION"]
    assert [row[:2] for row in rows] == [["node-0", "Ready"], ["node-1", "Ready"]]


def test_apply_get_delete(shell, tmp_path):
    file = tmp_path / "web.yaml"
    file.write_text(WEB)

    assert shell.out("apply", "-f", str(file)).splitlines() == [
        "deployment.apps/web created",
        "configmap/settings created",
    ]
    again = WEB.replace('a: "1"', 'a: "2"')
    assert shell.out("apply", "-f", "-", stdin=again).splitlines() == [
        "deployment.apps/web unchanged",
        "configmap/settings configured",
    ]
    assert len(shell.out("get", "pods", "-l", "app=web", "-o", "name").split()) == 2
    settings = json.loads(shell.out("get", "cm/settings", "-o", "json"))
    assert settings["data"] == {"a": "2"}
    listed = yaml.safe_load(shell.out("get", "deploy", "-o", "yaml"))
    assert [one["metadata"]["name"] for one in listed["items"]] == ["web"]
    assert shell.out("delete", "-f", str(file)).splitlines() == [
        'deployment.apps "web" deleted',
        'configmap "settings" deleted',
    ]
    assert shell.out("get", "pods") == ""


def test_several_kinds_and_namespaces(shell):
    out = shell.out("get", "all,ns", "-A")

    assert "service/kubernetes" in out
    assert out.splitlines()[0].split()[0] == "NAMESPACE"


def test_delete_by_label_and_by_slash(shell):
    for name in ("a", "b", "c"):
        one = {"apiVersion": "v1", "kind": "ConfigMap"}
        one["metadata"] = {"name": name, "labels": {"x": "1" if name != "c" else "2"}}
        shell.out("apply", "-f", "-", stdin=yaml.safe_dump(one))

    selected = shell.out("delete", "cm", "-l", "x=1").splitlines()
    assert selected == ['configmap "a" deleted', 'configmap "b" deleted']
    assert shell.out("delete", "cm/c") == 'configmap "c" deleted\n'
    assert shell.run("delete", "cm/c", "--ignore-not-found").returncode == 0


def config_map(name, value):
    kind = {"apiVersion": "v1", "kind": "ConfigMap"}
    meta = {"name": name, "labels": {"watched": "yes"}}
    return yaml.safe_dump({**kind, "metadata": meta, "data": {"a": value}})


@pytest.mark.parametrize(
    ("output", "first", "second"),
    [
        pytest.param([], "one    1 ", "second-one   1 ", id="table"),
        pytest.param(["-o", "name"], "configmap/one", "configmap/second-one", id="names"),
    ],
)
def test_watch_prints_objects_and_then_each_change(shell, output, first, second):
    shell.out("apply", "-f", "-", stdin=config_map("one", "1"))
    process = shell.start("get", "cm", "-l", "watched=yes", "--watch", *output)
    try:
        if not output:
            assert process.line().split() == ["NAME", "DATA", "AGE"]
        assert process.line().startswith(first)
        shell.out("apply", "-f", "-", stdin=config_map("second-one", "1"))
        assert process.line().startswith(second)
        shell.out("apply", "-f", "-", stdin=config_map("one", "2"))
        assert process.line().startswith(first)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    finally:
        process.end()
        shell.out("delete", "cm", "-l", "watched=yes")

    assert (process.returncode, out, err) == (130, "", "")


def test_watch_of_one_object_ends_with_the_cluster(tmp_path):
    shell = Shell(tmp_path)
    shell.process("up", "--detach", "--nodes", "2", "--no-scheduler")
    labelled = "{apiVersion: v1, kind: Node, metadata: {name: node-1, labels: {a: b}}}"
    process = shell.start("get", "node", "node-1", "-w", "-o", "json")
    try:
        assert read_object(process.stdout)["metadata"]["name"] == "node-1"
        shell.out("apply", "-f", "-", stdin=labelled)
        assert read_object(process.stdout)["metadata"]["labels"]["a"] == "b"
        shell.out("down")
        err = process.stderr.read()
    finally:
        process.end()

    assert err.startswith("podium: http://127.0.0.1:")
    assert err.endswith(" has ended the watch\n")


def read_object(stream):
    """The next one of several JSON objects, each printed with indentation."""
    return json.loads("".join(takewhile(lambda line: line != "}\n", stream)) + "}")


@pytest.mark.parametrize(
    ("environment", "is_coloured"),
    [
        pytest.param({}, False, id="a-pipe"),
        pytest.param({"FORCE_COLOR": "1"}, True, id="forced"),
        pytest.param({"FORCE_COLOR": "1", "NO_COLOR": "1"}, False, id="never"),
    ],
)
def test_colours(shell, monkeypatch, environment, is_coloured):
    for name in ("FORCE_COLOR", "NO_COLOR", "TTY_COMPATIBLE"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)

    assert ("\x1b[32mReady" in shell.out("get", "nodes")) == is_coloured


@pytest.mark.parametrize(
    ("args", "stdin", "told"),
    [
        pytest.param(["get", "podz"], "", 'no kind "podz"; did you mean', id="unknown-kind"),
        pytest.param(["get", "pod", "nobody"], "", 'pods "nobody" not found', id="not-found"),
        pytest.param(["get", "pods", "-l", "a=("], "", "unable to parse", id="bad-selector"),
        pytest.param(["get", "pods", "--context", "x"], "", 'no context "x"', id="no-context"),
        pytest.param(["apply", "-f", "nowhere"], "", "nowhere: cannot be read", id="no-file"),
        pytest.param(["apply", "-f", "-"], "{", "standard input: not readable", id="bad-yaml"),
        pytest.param(
            ["apply", "-f", "-"], "kind: Pod", "object 1 has no apiVersion", id="no-version"
        ),
        pytest.param(
            ["apply", "-f", "-"],
            "{apiVersion: v1, kind: Pot, metadata: {name: a}}",
            'no kind "Pot"',
            id="no-such-kind",
        ),
        pytest.param(
            ["apply", "-f", "-"],
            "{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {}}",
            "spec.containers: Required value (in standard input)",
            id="refused",
        ),
        pytest.param(["delete", "pods"], "", "give names", id="delete-what"),
        pytest.param(["get", "all", "-w"], "", "--watch needs one kind", id="watch-all"),
        pytest.param(["get", "po", "a", "b", "-w"], "", "at most one name", id="watch-two"),
        pytest.param(["get", "po", "a", "-w"], "", 'pods "a" not found', id="watch-nothing"),
    ],
)
def test_what_is_wrong_is_told(shell, args, stdin, told):
    done = shell.run(*args, stdin=stdin)

    assert done.returncode == 1
    assert done.stdout == ""
    assert told in done.stderr
    assert "Traceback" not in done.stderr


def test_foreground_until_interrupted(tmp_path):
    shell = Shell(tmp_path)
    process = shell.start("up", "--nodes", "1")
    try:
        assert process.line().startswith("podium is up: 1 node, ")
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=30)
    finally:
        process.end()

    assert process.returncode == 0
    assert err == ""
    assert not shell.state.exists()
    assert yaml.safe_load(shell.kubeconfig.read_text())["contexts"] == []


def bound_pods(url, count):
    """The nodes of the first pods that are seen with one."""
    nodes = {}
    with urllib.request.urlopen(f"{url}/api/v1/pods?watch=true", timeout=60) as events:
        while len(nodes) < count:
            pod = json.loads(events.readline())["object"]
            if node := pod["spec"].get("nodeName"):
                nodes[pod["metadata"]["name"]] = node
    return set(nodes.values())


CHOOSY = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: choosy
  pluginConfig:
  - name: NodeAffinity
    args:
      addedAffinity:
        requiredDuringSchedulingIgnoredDuringExecution:
          nodeSelectorTerms:
          - matchFields: [{key: metadata.name, operator: In, values: [node-1]}]
"""


@pytest.mark.parametrize("is_choosy", [False, True], ids=["default", "configured"])
def test_pods_are_scheduled(tmp_path, is_choosy):
    shell = Shell(tmp_path)
    (tmp_path / "scheduler.yaml").write_text(CHOOSY)
    web = WEB.replace("spec: {containers", "spec: {schedulerName: choosy, containers")
    config = ["--config", str(tmp_path / "scheduler.yaml")] if is_choosy else []
    shell.process("up", "--detach", "--nodes", "2", *config)
    try:
        shell.out("apply", "-f", "-", stdin=web if is_choosy else WEB)
        nodes = bound_pods(json.loads(shell.state.read_text())["url"], 2)
    finally:
        shell.run("down")

    assert nodes == ({"node-1"} if is_choosy else {"node-0", "node-1"})


def test_a_detached_cluster_of_an_older_release(tmp_path):
    shell = Shell(tmp_path)
    shell.process("up", "--detach", "--nodes", "1", "--kubernetes-version", "1.36")
    try:
        shown = shell.out("get", "nodes")
    finally:
        shell.run("down")

    assert "v1.36.0" in shown


def test_a_wrong_configuration_starts_nothing(tmp_path):
    shell = Shell(tmp_path)
    (tmp_path / "scheduler.yaml").write_text(CHOOSY + "parallelism: 0\n")

    done = shell.run("up", "--config", str(tmp_path / "scheduler.yaml"))

    assert done.returncode == 2
    assert "parallelism" in done.stderr
    assert not shell.state.exists()


def test_down_ends_it_and_cleans_up(tmp_path):
    shell = Shell(tmp_path)
    shell.process("up", "--detach", "--nodes", "0")
    url = json.loads(shell.state.read_text())["url"]

    assert shell.out("down") == f"podium: the cluster at {url} has ended\n"
    assert shell.out("down") == "podium: no cluster is running\n"
    done = shell.run("get", "nodes")
    assert done.returncode == 1
    assert "podium up" in done.stderr


def test_down_after_a_crash(tmp_path):
    shell = Shell(tmp_path)
    shell.process("up", "--detach", "--nodes", "0")
    with shell.state.open() as held:
        os.kill(json.loads(held.read())["pid"], signal.SIGKILL)
        fcntl.flock(held, fcntl.LOCK_SH)  # free once the process is gone

    done = shell.run("get", "nodes")
    assert "does not answer" in done.stderr

    assert shell.out("down") == "podium: no cluster is running\n"
    assert yaml.safe_load(shell.kubeconfig.read_text())["contexts"] == []


@pytest.mark.parametrize(
    ("args", "told"),
    [
        pytest.param(["--nodes", "many"], "must be a number from 0", id="nodes"),
        pytest.param(["--port", "99999"], "must be a number from 0 to 65535", id="port"),
        pytest.param(["--speed", "0"], "must be above 0", id="speed"),
        pytest.param(["--node-template", "nowhere"], "nowhere: cannot be read", id="template"),
    ],
)
@pytest.mark.parametrize("detach", [[], ["--detach"]], ids=["foreground", "detached"])
def test_bad_arguments_start_nothing(tmp_path, args, told, detach):
    shell = Shell(tmp_path)

    done = shell.run("up", *args, *detach)

    assert done.returncode == 2
    assert told in done.stderr
    assert not shell.state.exists()


def test_a_port_in_use_is_told_also_when_detached(shell, tmp_path):
    port = json.loads(shell.state.read_text())["url"].rpartition(":")[2]

    done = Shell(tmp_path).process("up", "--detach", "--port", port)

    assert done.returncode == 2
    assert f"port {port} cannot be used: Address already in use; choose another" in done.stderr


@pytest.mark.parametrize("command", ["up", "down", "apply", "get", "delete"])
def test_help_has_examples(shell, command):
    assert "example" in shell.out(command, "--help")


def test_a_cluster_whose_scheduling_loop_fails_ends(tmp_path, monkeypatch, capsys):
    async def fails(self):
        raise ZeroDivisionError("oops")

    monkeypatch.setattr(Scheduler, "run", fails)
    with StateFile(tmp_path / "state") as file:
        files = ClusterFiles("dies", tmp_path / "kubeconfig", file, None)
        options = ClusterOptions(nodes=1, port=0)
        code = asyncio.run(asyncio.wait_for(serve(options, Schedule(config.default), files), 30))

    assert code == 1
    assert "scheduling has stopped: ZeroDivisionError('oops')" in capsys.readouterr().err

"""examples/sample-plugin: a project of its own, played on the embedded cluster as it stands."""

import asyncio
import importlib
import importlib.util
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

from podium import cli, config
from podium.apiserver.embedded_cluster import ClusterOptions, EmbeddedCluster
from podium.app import plugin_loading
from podium.client.endpoint import Endpoint
from podium.framework.points import Point
from podium.legacy import VERSIONS

PROJECT = Path(__file__).resolve().parent.parent / "examples" / "sample-plugin"
PAGE = (PROJECT.parents[1] / "docs" / "walkthrough.md").read_text()
DEADLINE_SECONDS = 180  # longer than the script gives itself


def module(name):
    spec = importlib.util.spec_from_file_location(name, PROJECT / f"{name}.py")
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


@pytest.fixture(scope="module")
def play():
    return module("play")


@pytest.fixture(scope="module")
def sample():
    return module("sample_plugin").Sample


@pytest.fixture(scope="module")
def manifests():
    objects = [
        obj
        for path in sorted((PROJECT / "manifests").iterdir())
        for obj in yaml.safe_load_all(path.read_text())
    ]
    return {(obj["kind"], obj["metadata"]["name"]): obj for obj in objects}


# --- the play ------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_walkthrough():
    script = [sys.executable, str(PROJECT / "play.py")]
    done = subprocess.run(script, capture_output=True, text=True, timeout=DEADLINE_SECONDS)
    told = done.stdout

    assert (done.returncode, done.stderr) == (0, ""), done.stdout + done.stderr
    assert "sample plugin favorite_color=teal favorite_number=42 thanks_to=everybody" in told
    assert "Listing and watching kind=pods\n" in told
    assert "Successfully acquired lease lock=kube-system/sample-scheduler\n" in told
    (placed,) = re.findall(r"^placed +(\S+) on (\S+), by sample-scheduler$", told, re.MULTILINE)
    pod, node = placed
    assert f"Attempting to schedule pod pod={pod}" in told
    assert told.count(f"prefilter pod pod={pod}\n") == 1
    filtered = re.findall(rf"info +filter pod pod={pod} node=(\S+)\n", told)
    assert sorted(filtered) == ["node-0", "node-1", "node-2"]
    assert told.count(f"prebind pod pod={pod} node={node}\n") == 1
    bound = f"Successfully bound pod to node pod={pod} node={node}"
    assert f"{bound} evaluatedNodes=3 feasibleNodes=3" in told
    shown = PAGE.partition("The log of `--v=3`")[2].split("```")[1].strip()
    story = [as_told(line) for line in told.splitlines()]
    places = [story.index(as_told(line)) for line in shown.splitlines()]
    assert places == sorted(places), "the page tells it in another order"


def test_a_cluster_without_tokens_is_told_with_what_to_do(play):
    async def scenario():
        async with EmbeddedCluster(ClusterOptions(nodes=0)) as cluster:
            with pytest.raises(play.Failed) as failed:
                await play.play(Endpoint(cluster.url, "a test"))
            lock = ("kube-system", "sample-scheduler")
            assert cluster.api.store.find("serviceaccounts", lock) is None
        return str(failed.value)

    told = asyncio.run(scenario())
    assert told.startswith("no token for the scheduler's service account: ")
    assert "issues no service account tokens\nWhat to do: " in told
    assert "leave\nout --kubeconfig" in told


def as_told(line):
    """A line without its level, and without what differs from play to play."""
    line = re.sub(r"^\w+ {2,}", "", line)
    line = re.sub(r"(pod=default/test-scheduler)-\S+", r"\1", line)
    if not line.startswith("filter pod"):  # these come in order, the choice is any
        line = re.sub(r"node=node-\d", "node=N", line)
    line = re.sub(r"podUID=\S+", "podUID=U", line)
    return re.sub(r"seconds=\S+", "seconds=S", line)


def test_the_command_of_the_page_writes_the_configuration_as_v1(monkeypatch, tmp_path, capsys):
    (command,) = re.findall(r"^\$ podium (config convert .+)$", PAGE, re.MULTILINE)
    (shown,) = re.findall(r"^```yaml\n(.+?)^```", PAGE, re.MULTILINE | re.DOTALL)
    (tmp_path / "sample_plugin.py").write_text((PROJECT / "sample_plugin.py").read_text())
    (tmp_path / "scheduler-config.yaml").write_text(shown)
    monkeypatch.chdir(tmp_path)

    assert cli.main(command.split()) == 0
    written = yaml.safe_load(capsys.readouterr().out)
    assert written["apiVersion"] == "kubescheduler.config.k8s.io/v1"
    assert written["profiles"][0]["schedulerName"] == "sample-scheduler"


def lines(*messages, pod="default/web"):
    """A log; from the attempt on, its lines are about a pod."""
    return [{"msg": message, **({"pod": pod} if "pod" in message else {})} for message in messages]


def test_a_story_that_is_told(play):
    assert play.untold(lines("Starting", *play.STORY), "default/web") is None


def test_a_step_that_is_missing(play):
    for step in play.STORY:
        rest = [each for each in play.STORY if each != step]
        assert play.untold(lines(*rest), "default/web") == step


def test_steps_that_are_told_the_other_way_round(play):
    *before, prebind, bound = play.STORY

    assert play.untold(lines(*before, bound, prebind), "default/web") == bound


def test_a_story_about_another_pod(play):
    told = lines(*play.STORY, pod="default/other")

    assert play.untold(told, "default/web") == "Attempting to schedule pod"


class Answers:
    """An API server that has the pod there, placed by them."""

    def __init__(self, node, who):
        self.node = node
        self.who = who

    async def node_of(self, pod):
        return self.node

    async def scheduled_by(self, pod):
        return self.who


@pytest.mark.parametrize(
    ("node", "who", "why"),
    [
        pytest.param("b", "sample-scheduler", "has default/web on b, the log on a", id="elsewhere"),
        pytest.param("a", "default-scheduler", "placed by default-scheduler", id="by-another"),
    ],
)
def test_a_pod_that_was_placed_otherwise(play, node, who, why):
    told = lines(*play.STORY)
    told[-1]["node"] = "a"

    with pytest.raises(play.Failed, match=why):
        asyncio.run(play.judge(told, Answers(node, who)))


def test_a_scheduler_that_ends_early(play):
    async def log():
        yield {"msg": "Starting", "level": "info"}

    with pytest.raises(play.Failed, match="ended before it had placed the pod"):
        asyncio.run(play.follow(log(), Answers("", "")))


# --- the project ---------------------------------------------------------------------------------


def test_the_console_script_is_there(monkeypatch):
    monkeypatch.syspath_prepend(str(PROJECT))
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text())
    (script,) = project["project"]["scripts"].items()
    name, target = script
    path, _, function = target.partition(":")

    assert name == "sample-scheduler"
    assert callable(getattr(importlib.import_module(path), function))
    assert project["tool"]["setuptools"]["py-modules"] == [path]
    sys.modules.pop(path)


def test_the_configuration_comes_to_this(sample, manifests, tmp_path):
    data = manifests["ConfigMap", "sample-scheduler"]["data"]
    path = tmp_path / "scheduler-config.yaml"
    path.write_text(data[path.name])
    registry = plugin_loading.registry(plugins=[sample])
    read = config.load_file(path, registry, versions=VERSIONS)
    (profile,) = read.profiles

    assert profile.scheduler_name == "sample-scheduler"
    assert {point for point, names in profile.plugins.items() if "Sample" in names} == {
        Point.PRE_FILTER,
        Point.FILTER,
        Point.PRE_BIND,
    }
    assert profile.args["Sample"] == sample.Args(
        favorite_color="teal",
        favorite_number=42,
        thanks_to="everybody who wrote a tutorial",
    )
    lock = read.leader_election
    assert (lock.resource_namespace, lock.resource_name) == ("kube-system", "sample-scheduler")


def test_the_deployment_runs_the_script_with_that_configuration(manifests):
    pod = manifests["Deployment", "sample-scheduler"]["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    (mount,) = container["volumeMounts"]
    (volume,) = pod["volumes"]
    (file,) = manifests["ConfigMap", volume["configMap"]["name"]]["data"]

    assert pod["priorityClassName"] == "system-cluster-critical"
    assert ("ServiceAccount", pod["serviceAccountName"]) in manifests
    assert mount["name"] == volume["name"]
    assert container["command"] == ["sample-scheduler"]
    assert container["args"] == [f"--config={mount['mountPath']}/{file}", "--v=3"]


def test_the_test_pod_asks_for_that_scheduler(manifests):
    pod = manifests["Deployment", "test-scheduler"]["spec"]["template"]["spec"]

    assert pod["schedulerName"] == "sample-scheduler"


def test_the_page_shows_that_configuration(manifests):
    (shown,) = re.findall(r"^```yaml\n(.+?)^```", PAGE, re.MULTILINE | re.DOTALL)
    (text,) = manifests["ConfigMap", "sample-scheduler"]["data"].values()

    assert yaml.safe_load(shown) == yaml.safe_load(text)


def test_the_page_names_every_file():
    files = [path for path in PROJECT.rglob("*") if path.suffix in (".py", ".toml", ".yaml")]

    assert set(re.findall(r"\(\.\./examples/sample-plugin/([^)]+)\)", PAGE)) == {
        path.relative_to(PROJECT).as_posix() for path in files
    }

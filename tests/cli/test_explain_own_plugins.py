"""`podium explain` beside a scheduler with plugins that the command does not load."""

import json

import pytest
import yaml

from podium.clock import LoopClock
from tests.support import dumps
from tests.support.commands import Shell

pytestmark = pytest.mark.slow

_PATIENCE_SECONDS = 30
PLUGIN = """
import podium


@podium.filter
def no_spot(pod, node):
    if "critical" in pod.labels:
        return "node(s) may go away at any time"


@podium.filter
def boom(pod, node):
    if "boom" in pod.labels:
        raise ValueError("no such sensor")
"""


def labelled(name, label):
    made = dumps.manifest(name)
    made["metadata"]["labels"] = {label: "yes"}
    return made


@pytest.fixture(scope="module")
def shell(tmp_path_factory):
    home = tmp_path_factory.mktemp("own")
    made, plugin = Shell(home), home / "careful.py"
    plugin.write_text(PLUGIN)
    done = made.process("up", "--detach", "--nodes", "1", "--plugin", str(plugin))
    assert done.returncode == 0, done.stderr
    pods = labelled("critical", "critical"), labelled("broken", "boom")
    made.out("apply", "-f", "-", stdin=yaml.safe_dump_all(pods))
    end = LoopClock().now() + _PATIENCE_SECONDS
    while LoopClock().now() < end and not all(
        json.loads(made.run("explain", "pod", each, "-o", "json").stdout)["records"]["attempts"]
        for each in ("critical", "broken")
    ):
        pass
    yield made
    made.run("down")


def test_a_pod_that_such_a_plugin_rejects(shell):
    done = shell.run("explain", "pod", "critical")

    assert done.stdout.startswith("default/critical is pending: no_spot rejected it (0/1 nodes ")
    assert "cannot be worked out here without no_spot" in done.stdout
    assert done.returncode == 1


def test_a_pod_with_which_such_a_plugin_fails(shell):
    done = shell.run("explain", "pod", "broken")

    assert done.stdout.startswith("default/broken is pending, because its last attempt failed: ")
    assert "no such sensor" in done.stdout.splitlines()[0]
    assert done.returncode == 1


def test_a_node_that_would_take_them(shell):
    text = shell.out("explain", "node", "node-0")

    assert "the scheduler's plugin no_spot rejects 1 of the pods that would fit" in text

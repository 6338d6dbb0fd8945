"""A file of plugins is saved while pods are scheduled: what becomes of pods and the old code."""

import asyncio
import os
from pathlib import Path

import pytest

from podium import config
from podium.app.embedded import Schedule, reporter
from podium.app.file_watching import POLL_SECONDS, FileWatch
from podium.app.plugin_reloading import files_of
from podium.errors import PluginError
from podium.framework.points import Point
from podium.testing import SimulatedCluster
from tests.support.scenarios import node, pod, reasons

pytestmark = pytest.mark.slow

FILE = "rack.py"
SCORE = """
import podium

@podium.score(weight=1000)
def favourite(node):
    return 100 * (node.name == {!r})
"""
FILTER = """
import podium

@podium.filter
def choosy(node):
    return {!r}
"""
GATE = """
import podium

@podium.pre_enqueue
def gate(pod):
    return {!r}
"""
STORY = """
from podium import framework as fwk

class Story(fwk.PermitPlugin, fwk.PreBindPlugin):
    name = "Story"

    def permit(self, state, pod, node_name):
        return fwk.wait(60)

    async def pre_bind(self, state, pod, node_name):
        with open("story", "a") as file:
            file.write("{0} binds " + pod.name + "\\n")

    def close(self):
        with open("story", "a") as file:
            file.write("{0} closed\\n")
"""
RAISES = "    def __init__(self, args, handle): 1 / 0\n"
LISTING = """
from podium import framework as fwk

class Listing(fwk.ScorePlugin):
    name = "Listing"
    weight = 1000

    def __init__(self, args, handle):
        self.favourites = handle.lister("favourites.v1.example.com")

    def score(self, state, pod, node):
        return 100 if self.favourites.get("default/" + node.name) else 0
"""
CRD = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "favourites.example.com"},
    "spec": {
        "group": "example.com",
        "scope": "Namespaced",
        "names": {"plural": "favourites", "singular": "favourite", "kind": "Favourite"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "schema": {"openAPIV3Schema": {"type": "object"}},
            }
        ],
    },
}


def save(text):
    """Write the file as an editor does: a new one in the place of the old."""
    Path("new.py").write_text(text)
    os.replace("new.py", FILE)


def play(scene, text, configure=config.default):
    """Run ``scene(cluster)``; the cluster's ``said`` is what a person would be told."""
    save(text)
    schedule = Schedule(configure, [FILE], is_watching=True)

    async def run():
        async with SimulatedCluster(*schedule.load()) as cluster:
            cluster.said = []
            exchange = cluster.scheduler.exchange
            watch = FileWatch(
                [Path(FILE)],
                lambda: exchange(*schedule.load()),
                reporter(cluster.said.append),
            )
            cluster.scheduler.watches.spawn("watch", watch.run(cluster.clock))
            await cluster.settle()
            await scene(cluster)

    asyncio.run(run())


async def saved(cluster, text):
    save(text)
    await cluster.wait(3 * POLL_SECONDS)


LOADED = ["loaded rack.py again"]


@pytest.fixture(autouse=True)
def _in_a_directory_of_its_own(write):
    """Files are written there."""


def test_the_next_pod_is_placed_by_the_new_code():
    async def scene(cluster):
        await cluster.create(node("a"), node("b"), pod("first"))
        await cluster.settle()
        await saved(cluster, SCORE.format("b"))
        await cluster.create(pod("second"))
        await cluster.settle()

        assert (cluster.node_of("first"), cluster.node_of("second")) == ("a", "b")
        assert cluster.said == LOADED

    play(scene, SCORE.format("a"))


def test_a_file_that_is_not_saved_is_not_loaded():
    async def scene(cluster):
        await cluster.wait(10 * POLL_SECONDS)
        assert cluster.said == []

    play(scene, SCORE.format("a"))


def test_pods_that_the_old_code_rejected_are_tried_again():
    async def scene(cluster):
        await cluster.create(node(), pod("web"))
        await cluster.settle()
        assert "1 not today" in cluster.why_pending("web")

        await saved(cluster, FILTER.format(True))
        await cluster.wait(2)  # its backoff
        assert cluster.node_of("web") == "n1"

    play(scene, FILTER.format("not today"))


def test_pods_that_the_old_code_gated_are_asked_about_again():
    async def scene(cluster):
        await cluster.create(node(), pod("web"))
        await cluster.settle()
        assert cluster.scheduler.scheduler.queue.queue_of("default/web") == "gated"

        await saved(cluster, GATE.format(True))
        await cluster.wait(2)
        assert cluster.node_of("web") == "n1"

        await saved(cluster, GATE.format("never"))
        await cluster.create(pod("other"))
        await cluster.settle()
        assert cluster.scheduler.scheduler.queue.queue_of("default/other") == "gated"

    play(scene, GATE.format("not yet"))


def test_pods_in_flight_finish_under_the_old_code_which_is_closed_then():
    async def scene(cluster):
        await cluster.create(node(), pod("web"))
        await cluster.settle()
        await saved(cluster, STORY.format("new"))
        assert not Path("story").exists()

        await cluster.create(pod("other"))
        await cluster.settle()
        for waiting in list(cluster.scheduler.scheduler.services.waiting_pods):
            waiting.allow("Story")
        await cluster.settle()
        story = Path("story").read_text().splitlines()
        assert sorted(story) == ["new binds other", "old binds web", "old closed"]
        assert story.index("old binds web") < story.index("old closed")
        assert cluster.node_of("web") == cluster.node_of("other") == "n1"

    play(scene, STORY.format("old"))
    assert Path("story").read_text().splitlines()[-1] == "new closed"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("def f(:", "--plugin rack.py: line 1: invalid syntax"),
        (
            "import podium\n@podium.score(name='NodeName')\ndef f():\n    return 1\n",
            "rack.py, function f: a plugin named NodeName already exists",
        ),
        (
            STORY.format("x").replace("    def permit", f"{RAISES}    def permit"),
            'initializing plugin "Story": division by zero',
        ),
    ],
    ids=["does-not-load", "taken-name", "does-not-start"],
)  # fmt: skip
def test_a_file_that_cannot_be_used_leaves_the_old_code_running(text, why):
    async def scene(cluster):
        await cluster.create(node("a"), node("b"))
        await saved(cluster, text)
        (said,) = cluster.said
        assert said.startswith(why)
        assert said.endswith("\nThe old code goes on.")
        await cluster.create(pod("web"))
        await cluster.settle()
        assert cluster.node_of("web") == "b"

        await saved(cluster, SCORE.format("a"))
        await cluster.create(pod("other"))
        await cluster.settle()
        assert cluster.node_of("other") == "a"

    play(scene, SCORE.format("b"))


BROKEN = """
from podium import framework as fwk

class Broken(fwk.{0}Plugin, fwk.EnqueueExtensions):
    name = "Broken"

    def {1}(self, state, pod, node_name):
        return None

    def events_to_register(self):
        return {2}

    def close(self):
        print("Broken is closed")
"""


@pytest.mark.parametrize(
    ("events", "why"),
    [
        ('[fwk.on("Node", "explode")]', "of plugin Broken failed: no action 'explode' on Node"),
        ("None", "of plugin Broken failed: 'NoneType' object is not iterable"),
        ("[7]", "of plugin Broken failed: expected a Registration, got 7"),
        (
            '[fwk.on("a..b", "add")]',
            '"a..b" is not the name of a kind; write it as foos.v1.example.com',
        ),
    ],
    ids=["unknown-action", "nothing", "no-registration", "no-kind"],
)
@pytest.mark.parametrize("point", [("Permit", "permit"), ("PostBind", "post_bind")])
def test_events_that_the_new_code_fails_to_name_leave_the_old_code_running(
    events, why, point, capsys
):
    async def scene(cluster):
        await cluster.create(node("a"), node("b"))
        await saved(cluster, BROKEN.format(*point, events))
        (said,) = cluster.said
        assert why in said
        assert capsys.readouterr().out == "Broken is closed\n"

        await cluster.create(pod("web"))
        await cluster.settle()
        assert cluster.node_of("web") == "b"

    play(scene, SCORE.format("b"))


def test_plugins_that_did_not_change_stay_the_same_objects():
    async def scene(cluster):
        def at(point):
            profile = cluster.scheduler.profiles["default-scheduler"]
            return {plugin.name: plugin for plugin in profile.plugins[point]}

        before = at(Point.SCORE)
        await saved(cluster, SCORE.format("b"))
        after = at(Point.SCORE)
        assert before.keys() == after.keys()
        assert {name for name in after if after[name] is not before[name]} == {"favourite"}

    play(scene, SCORE.format("a"))


def test_a_plugin_may_come_and_go():
    async def scene(cluster):
        await cluster.create(node(), pod("web"))
        await cluster.settle()
        assert reasons(cluster)[0][0] == "FailedScheduling"
        await saved(cluster, SCORE.format("a"))
        await cluster.wait(2)
        assert cluster.node_of("web") == "n1"

    play(scene, FILTER.format(False))


def test_what_the_new_code_looks_up_is_watched_from_then_on():
    favourite = {"apiVersion": "example.com/v1", "kind": "Favourite", "metadata": {"name": "b"}}

    async def scene(cluster):
        await cluster.create(CRD)
        await cluster.settle()
        await cluster.create(node("a"), node("b"), favourite)
        await saved(cluster, LISTING)
        await cluster.create(pod("web"))
        await cluster.settle()
        assert cluster.node_of("web") == "b"

        await cluster.delete("favourites.example.com", "b")
        await cluster.create({**favourite, "metadata": {"name": "a"}})
        await cluster.settle()
        await cluster.create(pod("other"))
        await cluster.settle()
        assert cluster.node_of("other") == "a"

    play(scene, SCORE.format("a"))


def test_other_profiles_need_another_start():
    names = iter(["one", "two"])

    def configure(registry):
        value = {
            "apiVersion": "kubescheduler.config.k8s.io/v1",
            "kind": "KubeSchedulerConfiguration",
        }
        return config.from_value({**value, "profiles": [{"schedulerName": next(names)}]}, registry)

    async def scene(cluster):
        await saved(cluster, SCORE.format("b"))
        assert cluster.said[0].startswith("the names of the profiles have changed")

    play(scene, SCORE.format("a"), configure)


@pytest.mark.parametrize(
    ("sources", "expected"),
    [
        ([], "there is no --plugin: give a path such as ./my.py"),
        (["a.py", "b.c"], "--plugin b.c names a module: give a path such as ./my.py"),
    ],
)  # fmt: skip
def test_only_files_are_watched(sources, expected):
    with pytest.raises(PluginError) as refused:
        files_of(sources)

    assert str(refused.value) == f"--watch watches files, but {expected}"

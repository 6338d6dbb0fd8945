"""Which configuration an answer is worked out with, and what is said about it."""

import json
from argparse import Namespace
from dataclasses import replace

import pytest

from podium import snapshot
from podium.cli.explain_sources import Target
from podium.errors import ConfigError
from podium.live.answer_values import RunningConfiguration
from podium.snapshot import KindName, Snapshot
from podium.snapshot.model import ASSUMED, FOUND
from tests.support import dumps

HEAD = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}


class FakeScheduler:
    """A running scheduler with this configuration."""

    address = "http://127.0.0.1:10251"

    def __init__(self, *plugins, extenders=()):
        enabled = [{"name": name} for name in plugins]
        profile = {
            "schedulerName": "default-scheduler",
            "plugins": {"filter": {"enabled": enabled}},
        }
        self.content, self.extenders = {**HEAD, "profiles": [profile]}, extenders

    def configuration(self):
        return RunningConfiguration(content=self.content, extenders=self.extenders)


def target(client=None, config=None, path=None):
    args = Namespace(plugin=[], config=config, snapshot=path)
    return Target(args, client=client)


@pytest.fixture
def taken():
    note = f"{ASSUMED}: kube-system has none; give another with --config"
    nodes = (json.dumps(dumps.node("one")).encode(),)
    return Snapshot({KindName("v1", "Node"): nodes}, source="https://c", notes=(note, "another"))


def test_without_a_scheduler_the_default_is_assumed(taken):
    asked = target()
    simulation = asked.simulate(taken)

    assert simulation.notes == taken.notes
    assert asked.source(simulation.taken).notes == taken.notes


def test_the_configuration_of_the_scheduler_is_not_called_assumed(taken):
    asked = target(FakeScheduler(extenders=("http://e",)))
    simulation = asked.simulate(taken)

    assert simulation.notes == ("another",)
    assert asked.source(simulation.taken, uses_records=False).notes == (
        "the profiles are those of the scheduler at http://127.0.0.1:10251",
        "extenders are not asked: http://e",
        "another",
    )
    assert asked.source(simulation.taken).notes == ("extenders are not asked: http://e",)


def test_plugins_that_are_not_here_are_named_whole(taken):
    asked = target(FakeScheduler(*(f"Plugin{number}{'x' * 60}" for number in range(5))))
    simulation = asked.simulate(taken)

    _, note = asked.all_notes
    assert note.startswith("plugins of the scheduler that are not loaded here take no part: Plug")
    assert f"Plugin2{'x' * 60}" in note
    assert f"Plugin3{'x' * 60}" not in note
    assert note.endswith(" and 2 more; give their files with --plugin")
    assert asked.source(simulation.taken).notes == (note,)


def test_the_other_plugins_of_the_scheduler_are_used(taken):
    scheduler = FakeScheduler("Own", "NodeName")
    scheduler.content["profiles"][0] |= {
        "plugins": {
            "filter": {
                "enabled": [{"name": "Own"}, {"name": "NodeName"}],
                "disabled": [{"name": "*"}],
            },
        },
        "pluginConfig": [{"name": "Own", "args": {"limit": 3}}],
    }
    simulation = target(scheduler).simulate(taken)

    (profile,) = simulation.core.profiles.values()
    assert [each.name for each in profile.filters] == ["NodeName"]


def test_a_configuration_that_cannot_be_used_here(taken):
    scheduler = FakeScheduler()
    scheduler.content["profiles"][0]["pluginConfig"] = [
        {"name": "NodeResourcesFit", "args": {f"wrong{number}": 1}} for number in range(5)
    ]
    asked = target(scheduler)
    simulation = asked.simulate(taken)

    (note,) = asked.all_notes
    assert note.startswith(
        "the default configuration is assumed, because that of the scheduler cannot be used here ("
    )
    assert note.endswith("): give its plugins with --plugin")
    assert "\n" not in note
    assert asked.source(simulation.taken, uses_records=False).notes == (note, "another")


def test_a_configuration_in_a_file_that_cannot_be_used_here(taken, tmp_path):
    profile = {"plugins": {"filter": {"enabled": [{"name": "Own"}]}}}
    found = f"{FOUND} ConfigMap kube-system/x"
    path = tmp_path / "cluster.podium"
    snapshot.write(
        replace(taken, configuration={**HEAD, "profiles": [profile]}, notes=(found, "another")),
        path,
    )
    asked = target(path=path)
    simulation = asked.simulate(asked.to_simulate())

    fallback, *others = asked.source(simulation.taken).notes
    assert fallback.startswith(
        "the default configuration is assumed, because that of the scheduler"
    )
    assert others == ["another"]
    assert simulation.fork().taken == simulation.taken


def test_a_file_that_is_given_must_be_right(taken, tmp_path):
    path = tmp_path / "config.yaml"
    path.write_text("kind: Nope")

    with pytest.raises(ConfigError):
        target(config=path).simulate(taken)


def test_a_file_that_is_given_is_what_is_used(taken, tmp_path):
    path = tmp_path / "config.yaml"
    path.write_text("apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration")
    asked = target(FakeScheduler(), config=path)

    assert asked.simulate(taken).notes == ("another",)
    assert asked.all_notes == ()

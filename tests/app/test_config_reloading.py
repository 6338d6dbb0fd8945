"""A configuration file that changes while a scheduler runs with it."""

import asyncio
import os
from argparse import Namespace
from dataclasses import replace

import pytest

from podium import app
from podium.app.config_reloading import (
    ConfigFile,
    ConfigReloading,
    Loaded,
    require_file,
    unchangeable,
    with_fixed,
)
from podium.app.file_watching import POLL_SECONDS, FileWatch
from podium.cli import scheduler_configuration
from podium.cli.arguments.scheduler_flags import Given
from podium.config.feature_gates import NO_CHOICE
from podium.config.model import Configuration, LeaderElection
from podium.errors import ConfigError
from podium.metrics import Metrics
from podium.testing.cluster import SimulatedCluster
from tests.support.scenarios import node, pod

HEAD = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
"""
WITHOUT_FIT = """\
profiles:
- plugins:
    multiPoint:
      disabled:
      - name: NodeResourcesFit
"""
RESULTS = ("success", "failure", "restart_needed")


class Reloaded(SimulatedCluster):
    """A cluster whose scheduler watches ``path``; ``notes`` are the events about that."""

    def __init__(self, path):
        self.registry = app.in_tree()
        self.path = path
        loaded = self._read()
        super().__init__(loaded.configuration, self.registry)
        self.file = ConfigFile(path, loaded, self._read)
        self.notes, self.metrics = [], Metrics()

    def _read(self):
        given = Given(Namespace(config=str(self.path)))
        found = scheduler_configuration.configure(given, self.registry, NO_CHOICE)
        show = lambda used: found._replace(configuration=used).shown()  # noqa: E731
        return Loaded(found.configuration, self.registry, found.digest, show)

    async def __aenter__(self):
        await super().__aenter__()
        exchange = self.scheduler.exchange
        self.reloading = ConfigReloading(self.file, exchange, self.metrics, self.notes.append)
        watch = FileWatch([self.path], self.reloading.reload, self.reloading.report)
        self.scheduler.watches.spawn("watch", watch.run(self.clock))
        await self.settle()
        return self

    async def save(self, text):
        new = self.path.with_name("new")
        new.write_text(HEAD + text)
        os.replace(new, self.path)
        await self.wait(3 * POLL_SECONDS)

    def results(self):
        counted = self.metrics.config_reloads.series()
        return tuple(counted[result,] for result in RESULTS)


def play(scene, path, text=""):
    path.write_text(HEAD + text)

    async def run():
        async with Reloaded(path) as cluster:
            await scene(cluster)

    asyncio.run(run())


@pytest.fixture
def path(tmp_path):
    return tmp_path / "scheduler.yaml"


def test_a_saved_file_decides_about_the_next_pods(path):
    async def scene(cluster):
        await cluster.create(node("small", cpu="1"), pod("big", cpu="2"))
        await cluster.settle()
        assert "1 Insufficient cpu" in cluster.why_pending("big")

        await cluster.save(WITHOUT_FIT)
        await cluster.wait(2)  # its backoff
        assert cluster.node_of("big") == "small"
        assert cluster.results() == (1, 0, 0)
        assert [note.reason for note in cluster.notes] == ["ConfigReloaded"]

    play(scene, path)


def test_configz_names_the_file_in_use_and_its_hash(path):
    async def scene(cluster):
        before = cluster.reloading.configz
        await cluster.save("podMaxBackoffSeconds: 77")
        after = cluster.reloading.configz

        assert before["componentconfig"]["podMaxBackoffSeconds"] == 10
        assert after["componentconfig"]["podMaxBackoffSeconds"] == 77
        assert before["file"]["path"] == after["file"]["path"] == str(path)
        assert before["file"]["hash"] != after["file"]["hash"]

    play(scene, path)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        pytest.param("parallelism: 0", "parallelism", id="invalid"),
        pytest.param("profile: []", "profile", id="unknown-field"),
        pytest.param("profiles: [", "not readable as YAML", id="half-written"),
        pytest.param("profiles: [{schedulerName: other}]", "restart the scheduler", id="profiles"),
    ],
)
def test_a_file_that_cannot_be_used_changes_nothing(path, text, problem):
    async def scene(cluster):
        before = cluster.reloading.configz
        await cluster.save(text)
        await cluster.create(node("n1"), pod("web"))
        await cluster.wait(2)

        assert cluster.node_of("web") == "n1"
        assert cluster.reloading.configz == before
        assert cluster.results() == (0, 1, 0)
        [note] = cluster.notes
        assert (note.type, note.reason) == ("Warning", "ConfigReloadFailed")
        assert problem in note.note
        assert "stays in use" in note.note

    play(scene, path)


def _remove(path):
    path.unlink()


def _become_a_directory(path):
    path.unlink()
    path.mkdir()


def _become_binary(path):
    path.write_bytes(b"\xff\xfe\x00")


def _become_empty(path):
    path.write_text("")


def _become_huge(path):
    path.write_text("#" * (2 << 20))


@pytest.mark.parametrize(
    "change", [_remove, _become_a_directory, _become_binary, _become_empty, _become_huge]
)
def test_a_file_that_is_gone_or_not_a_configuration_changes_nothing(path, change):
    async def scene(cluster):
        before = cluster.reloading.configz
        change(path)
        await cluster.wait(20)
        assert (cluster.reloading.configz, cluster.results()) == (before, (0, 1, 0))

        if path.is_dir():
            path.rmdir()
        await cluster.save("podMaxBackoffSeconds: 77")
        assert cluster.results() == (1, 1, 0)

    play(scene, path)


def test_a_mistake_that_is_undone_is_reported_as_such(path):
    async def scene(cluster):
        await cluster.save("parallelism: 0")
        await cluster.save("")
        assert cluster.results() == (1, 1, 0)
        assert cluster.notes[-1].reason == "ConfigReloaded"

    play(scene, path)


def test_what_needs_a_restart_is_named_and_the_rest_is_used(path):
    async def scene(cluster):
        text = "podMaxBackoffSeconds: 77\nleaderElection: {leaseDuration: 30s, leaderElect: true}\n"
        await cluster.save(text + "clientConnection: {qps: 7}\nparallelism: 3")

        shown = cluster.reloading.configz["componentconfig"]
        assert (shown["podMaxBackoffSeconds"], shown["parallelism"]) == (77, 16)
        assert shown["leaderElection"]["leaseDuration"] == "15s"
        [note] = cluster.notes
        names = "leaderElection.leaseDuration, clientConnection.qps, parallelism"
        assert note.note.endswith(f"used only after a restart: {names}")
        assert cluster.results() == (0, 0, 1)

    play(scene, path)


def test_fields_that_cannot_change_keep_their_values():
    used = Configuration(())
    read = replace(
        used, leader_election=LeaderElection(lease_duration=30), pod_max_backoff_seconds=9
    )

    assert unchangeable(used, read) == ["leaderElection.leaseDuration"]
    assert with_fixed(used, read) == replace(used, pod_max_backoff_seconds=9)


def test_a_pipe_is_not_read(tmp_path):
    os.mkfifo(tmp_path / "pipe")

    with pytest.raises(ConfigError, match="not a regular file"):
        require_file(tmp_path / "pipe")

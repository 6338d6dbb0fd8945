"""Programs of one's own: ``podium.Scheduler`` and ``podium.main`` with plugins of the program."""

import asyncio

import pytest

import podium
from podium import framework as fwk
from podium.apiserver.bootstrap import new_api
from podium.apiserver.server import EmbeddedServer
from podium.client.endpoint import Endpoint
from podium.client.http import Connection, Options
from podium.clock import FakeClock, give_way
from podium.errors import ConfigError, PluginError
from podium.framework.points import Point
from podium.testing import SimulatedCluster
from tests.support.scenarios import node, pod


@podium.score(weight=1000)
def last(node):
    return 100 if node.name == "z" else 0


class Licensed(fwk.Extender):
    """Knows one node."""

    name = "Licensed"
    is_filter = True

    async def filter(self, subject, nodes):
        return fwk.Filtered([name for name in nodes.names if name == "m"])


async def scheduled(cluster, make):
    """Where a scheduler of this program puts a pod; the cluster's own looks at other pods."""
    endpoint = Endpoint(cluster._server.url, "test")
    connection = Connection(endpoint, cluster.clock, Options(qps=-1), cluster._observe)
    await cluster.create(node("a"), node("m"), node("z"), pod("web", scheduler="mine"))
    async with connection:
        entering = asyncio.ensure_future(make(connection).__aenter__())
        await cluster.settle()
        scheduler = await entering
        await cluster.settle()
        leaving = asyncio.ensure_future(scheduler.__aexit__(None, None, None))
        while not leaving.done():
            await give_way()
            cluster.clock.advance(0.1)
        await leaving
    return cluster.node_of("web")


def play(make):
    async def run():
        async with SimulatedCluster() as cluster:
            return await scheduled(cluster, make)

    return asyncio.run(run())


MINE = [{"schedulerName": "mine"}]


def test_a_plugin_of_the_program_places_pods():
    assert play(lambda client: podium.Scheduler(client, profiles=MINE, plugins=[last])) == "z"


def test_an_extender_of_the_program_has_its_say():
    found = play(lambda client: podium.Scheduler(client, profiles=MINE, extenders=[Licensed()]))

    assert found == "m"


def test_profiles_are_shown_when_they_are_built():
    built = []
    play(
        lambda client: podium.Scheduler(
            client, profiles=MINE, plugins=[last], on_profile=built.append
        )
    )

    (profile,) = built
    assert profile.name == "mine"
    assert profile.plugins[Point.SCORE][-1].name == "last"


def test_options_become_a_configuration():
    made = podium.Scheduler(
        "http://127.0.0.1:1",
        extenders=[{"urlPrefix": "http://127.0.0.1:2", "filterVerb": "f", "weight": 1}],
        percentage_of_nodes_to_score=7,
        pod_initial_backoff_seconds=3,
        pod_max_backoff_seconds=30,
        parallelism=5,
    ).configuration

    assert made.profiles[0].scheduler_name == "default-scheduler"
    assert [extender.filter_verb for extender in made.extenders] == ["f"]
    assert (made.percentage_of_nodes_to_score, made.parallelism) == (7, 5)
    assert (made.pod_initial_backoff_seconds, made.pod_max_backoff_seconds) == (3, 30)


def test_what_is_wrong_is_told_at_once():
    with pytest.raises(ConfigError, match=r"^podium\.Scheduler has 1 problem\n  parallelism"):
        podium.Scheduler("http://127.0.0.1:1", parallelism=-1)
    with pytest.raises(PluginError, match="3 is not a plugin"):
        podium.Scheduler("http://127.0.0.1:1", plugins=[3])


def test_an_address_will_do():
    async def run():
        server = EmbeddedServer(new_api(FakeClock()))
        async with server, podium.Scheduler(server.url) as scheduler:
            assert scheduler.configuration.profiles

    asyncio.run(run())


CONFIG = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- plugins: {filter: {enabled: [{name: last}]}}
"""


def test_main_is_the_command_with_plugins_of_the_program(tmp_path, capsys):
    (tmp_path / "config.yaml").write_text(CONFIG)
    argv = ["--config", str(tmp_path / "config.yaml"), "--master", "http://127.0.0.1:1"]

    assert podium.main(plugins=[last], argv=argv) != 0
    assert (
        'plugin "last" does not extend FilterPlugin plugin; it extends score'
        in capsys.readouterr().err
    )
    assert podium.main(argv=argv) != 0
    assert 'FilterPlugin "last" does not exist' in capsys.readouterr().err


def test_main_tells_what_is_wrong_with_a_plugin(capsys):
    assert podium.main(plugins=[3], argv=["--master", "http://127.0.0.1:1"]) == 2
    assert "3 is not a plugin" in capsys.readouterr().err


def test_only_public_names_are_there():
    assert {name for name in podium.__all__ if callable(getattr(podium, name))} == set(
        podium.__all__
    )
    with pytest.raises(AttributeError, match="module 'podium' has no attribute 'nothing'"):
        podium.nothing  # noqa: B018

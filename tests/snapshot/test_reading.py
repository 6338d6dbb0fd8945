"""A snapshot of a running cluster: everything at one version, and nothing but reads."""

import json

import pytest

from podium.client.http import Connection, Options, Request
from podium.errors import Forbidden, PodiumError, ReadOnly, Unreachable
from podium.snapshot import read_cluster
from podium.snapshot.reading import PAGE
from tests.support.client import node, pod, with_world
from tests.support.faulty_proxy import answering, hanging_up, saying

READS_ONLY = Options(qps=-1, reads_only=True)


def kinds_of(snapshot):
    return {name.kind: len(found) for name, found in snapshot.objects.items()}


def names_of(snapshot, kind):
    return [each["metadata"]["name"] for each in snapshot.dicts(kind)]


@with_world
async def test_all_kinds_at_one_version(world):
    world.create("nodes", **node("a"))
    secret = [{"name": "PASSWORD", "value": "secret"}]
    world.create("pods", **pod("web", containers=[{"name": "c", "image": "i", "env": secret}]))
    meta = {"name": "s", "namespace": "default"}
    world.create("services", metadata=meta, spec={"ports": [{"port": 80}]})
    version = world.api.store.version

    taken = await read_cluster(world.connection)

    assert names_of(taken, "Node") == ["a"]
    assert names_of(taken, "Pod") == ["web"]
    assert names_of(taken, "Service") == ["kubernetes", "s"]
    assert taken.resource_version == str(version)
    assert taken.source == world.proxy.url
    assert (str(taken.release), taken.missing) == ("1.37", ())
    assert all("secret" not in raw.decode() for raw in taken.of_kind("Pod"))
    assert {request.method for request in world.proxy.requests} == {"GET"}


@with_world
async def test_objects_say_their_kind(world):
    taken = await read_cluster(world.connection)
    assert all(
        (each["apiVersion"], each["kind"]) == ("v1", "Namespace")
        for each in taken.dicts("Namespace")
    )


@with_world
async def test_pages_and_progress(world):
    for number in range(2 * PAGE + 1):
        world.api.store.create("namespaces", {"metadata": {"name": f"n{number:04}"}})
    seen = []

    taken = await read_cluster(world.connection, lambda *news: seen.append(news))

    total = 2 * PAGE + 5  # a new cluster has four
    steps = [PAGE, 2 * PAGE, total]
    assert [news for news in seen if news[0] == "namespaces"] == [
        ("namespaces", done, total) for done in steps
    ]
    assert len(set(names_of(taken, "Namespace"))) == total


@with_world
async def test_changes_while_it_is_read_do_not_get_in(world):
    """Pods are read first; whatever happens then is too new for the other kinds."""

    def change(kind, done, total):
        if kind == "pods":
            world.create("nodes", **node("late"))

    taken = await read_cluster(world.connection, change)

    assert kinds_of(taken).get("Node") is None
    assert taken.resource_version


@with_world
async def test_a_version_that_the_server_has_forgotten(world):
    world.create("nodes", **node("a"))
    world.proxy.instead("/api/v1/nodes?", answering(410, "too old resource version"))

    def change(kind, done, total):
        if kind == "pods":
            world.create("nodes", **node("late"))

    taken = await read_cluster(world.connection, change)

    assert names_of(taken, "Node") == ["a", "late"]
    assert taken.resource_version == ""
    assert any("some are newer" in note for note in taken.notes)


@pytest.mark.parametrize(
    ("path", "kind", "consequence"),
    [
        ("/api/v1/services?", "Service", "default spreading may differ"),
        ("/api/v1/pods?", "Pod", "all room on nodes seems to be free"),
        ("/apis/apps/v1/deployments?", "Deployment", "some owners of pods are unknown"),
    ],
)
@with_world
async def test_forbidden_kinds(world, path, kind, consequence):
    world.create("nodes", **node("a"))
    world.proxy.instead(path, answering(403, f'user "u" cannot list {kind}'))

    taken = await read_cluster(world.connection)

    (missing,) = taken.missing
    assert missing.kind == kind
    assert missing.reason == f'forbidden: user "u" cannot list {kind}'
    assert consequence in missing.consequence
    assert names_of(taken, "Node") == ["a"]
    assert taken.is_partial


@with_world
async def test_nothing_may_be_read(world):
    world.proxy.instead("limit=", *(answering(403, "no rights") for _ in range(40)))
    with pytest.raises(PodiumError, match="no kind may be read: forbidden: no rights"):
        await read_cluster(world.connection)


@with_world
async def test_discovery_is_forbidden(world):
    world.proxy.instead("/apis", answering(403, "no rights"))
    with pytest.raises(Forbidden, match="no rights"):
        await read_cluster(world.connection)


@with_world
async def test_a_server_that_hangs_up_again_and_again(world):
    world.proxy.instead("/api/v1/nodes?", *(hanging_up for _ in range(10)))
    task = world.start(read_cluster(world.connection))
    await world.in_time(task.done)
    world.tasks.clear()
    assert isinstance(task.exception(), Unreachable)


@with_world
async def test_not_an_api_server(world):
    world.proxy.instead("/version", saying("<html>"))
    with pytest.raises(PodiumError, match="not the answer of a Kubernetes API server"):
        await read_cluster(world.connection)


CONFIGURATION = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
parallelism: 7
"""


def config_map(name, **data):
    return {"metadata": {"name": name, "namespace": "kube-system"}, "data": data}


@with_world
async def test_the_configuration_in_kube_system(world):
    world.create("configmaps", **config_map("scheduler", config=CONFIGURATION))
    world.create(
        "configmaps", **config_map("other", password="secret", broken=f"{{{CONFIGURATION}")
    )

    taken = await read_cluster(world.connection)

    assert taken.configuration["parallelism"] == 7
    assert "the scheduler's configuration is that of kube-system/scheduler/config" in taken.notes
    assert "secret" not in json.dumps([taken.configuration, taken.notes])


@with_world
async def test_several_configurations(world):
    for name in ("one", "two"):
        world.create("configmaps", **config_map(name, config=CONFIGURATION))

    taken = await read_cluster(world.connection)

    assert taken.configuration is None
    assert "kube-system has several, one/config, two/config; choose" in taken.notes[0]


@with_world
async def test_a_forbidden_configuration_is_noted(world):
    world.proxy.instead("/configmaps", answering(403, "no rights"))
    taken = await read_cluster(world.connection)
    assert "cannot be read: no rights" in taken.notes[0]
    assert not taken.is_partial


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
@with_world
async def test_a_connection_that_only_reads(world, method):
    endpoint = world.connection.endpoint
    write = Request(method, "/api/v1/nodes", b"{}")
    async with Connection(endpoint, world.clock, READS_ONLY) as connection:
        for each in (connection, connection.for_notes()):
            with pytest.raises(ReadOnly, match=f"{method} /api/v1/nodes: this connection only"):
                await each.send(write)
            with pytest.raises(ReadOnly):
                await each.send_together([Request("GET", "/version"), write])
    assert not world.proxy.requests

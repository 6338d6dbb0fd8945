"""The plugins in examples/plugins, loaded as ``--plugin`` does, do what their first lines say."""

import asyncio
from datetime import UTC, datetime
from pathlib import Path

import pytest

from podium import config
from podium import framework as fwk
from podium.app import plugin_loading
from podium.client.reflector import LASTING_SECONDS
from podium.testing import SimulatedCluster, builders
from podium.testing.handle import FakeHandle
from tests.support.scenarios import node, pod, reasons

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "plugins"
FILES = sorted(EXAMPLES.glob("*.py"))
MOST_LINES = 60  # what can be read in a minute


def load(name):
    (kind,) = plugin_loading.load(str(EXAMPLES / f"{name}.py"))
    return kind


def play(scene, name, *, start=None, **args):
    """Run ``scene(cluster)`` with an example beside the default plugins, from this time on."""
    registry = plugin_loading.registry([str(EXAMPLES / f"{name}.py")])
    kind = load(name)
    value = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [{"pluginConfig": [{"name": kind.name, "args": args}]}],
    }

    async def run():
        made = SimulatedCluster(config.from_value(value, registry), registry)
        if start is not None:
            made.clock.advance(start.timestamp() - made.clock.now())
        async with made as cluster:
            await scene(cluster)

    asyncio.run(run())


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_an_example_is_short(file):
    lines = file.read_text().splitlines()

    assert len(lines) <= MOST_LINES
    assert lines[0].startswith('"""')


# --- GPU packing ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wanted", "taken", "there", "expected"),
    [
        pytest.param(2, 4, 8, 75, id="percent"),
        pytest.param(1, 0, 0, 0, id="no-gpu-there"),
        pytest.param(0, 4, 8, 0, id="no-wish-on-a-gpu-node"),
        pytest.param(0, 0, 0, 100, id="no-wish-elsewhere"),
        pytest.param(8, 4, 8, 100, id="never-over"),
    ],
)
def test_packed(wanted, taken, there, expected):
    kind = load("gpu_packing")
    gpu = "nvidia.com/gpu"
    handle = FakeHandle(
        builders.node("a", allocatable={gpu: there}),
        *([builders.pod("old", node="a", requests={gpu: taken})] if taken else []),
    )
    subject = builders.pod(requests={gpu: wanted} if wanted else {})

    score = kind(kind.Args(), handle).score(fwk.CycleState(), subject, handle.rows.at(0))

    assert score == expected


def test_gpus_are_packed():
    async def scene(cluster):
        gpus = {"nvidia.com/gpu": "4"}
        await cluster.create(node("plain"), node("one", **gpus), node("two", **gpus))
        for number in range(4):
            await cluster.create(pod(f"web-{number}"))
            wish = {"limits": {"nvidia.com/gpu": "1"}}
            train = pod(f"train-{number}")
            train["spec"]["containers"][0]["resources"] = wish
            await cluster.create(train)
            await cluster.settle()
        trained = {cluster.node_of(f"train-{number}") for number in range(4)}
        served = {cluster.node_of(f"web-{number}") for number in range(4)}
        assert len(trained) == 1
        assert trained <= {"one", "two"}
        assert served == {"plain"}

    play(scene, "gpu_packing")


# --- office hours --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("when", "expected"),
    [
        pytest.param(datetime(2024, 5, 6, 9, tzinfo=UTC), True, id="monday-morning"),
        pytest.param(datetime(2024, 5, 6, 16, 59, tzinfo=UTC), True, id="monday-before-closing"),
        pytest.param(datetime(2024, 5, 6, 17, tzinfo=UTC), False, id="monday-evening"),
        pytest.param(datetime(2024, 5, 5, 12, tzinfo=UTC), False, id="sunday"),
    ],
)
def test_is_open(when, expected):
    kind = load("office_hours")
    handle = FakeHandle(builders.node("desk", labels="example.com/desk=yes"), builders.node("rack"))
    handle.clock.advance(when.timestamp() - handle.clock.now())
    plugin = kind(kind.Args(), handle)
    answers = [plugin.filter(fwk.CycleState(), builders.pod(), each) for each in handle.rows]

    assert [answer is None for answer in answers] == [not expected, True]


def test_pods_get_a_desk_when_the_office_closes():
    async def scene(cluster):
        await cluster.create(node("desk", {"example.com/desk": "yes"}), pod("web"))
        await cluster.settle()
        assert "1 node(s) in use during office hours" in cluster.why_pending("web")
        await cluster.wait(9)
        assert cluster.node_of("web") is None
        await cluster.wait(2)
        assert cluster.node_of("web") == "desk"

    play(scene, "office_hours", start=datetime(2024, 5, 6, 16, 59, 50, tzinfo=UTC))


# --- start together ------------------------------------------------------------------------------

LABELS = {"example.com/group": "job", "example.com/group-size": "2"}


def test_a_group_starts_together():
    async def scene(cluster):
        await cluster.create(node(), pod("one", LABELS), pod("alone"))
        await cluster.settle()
        assert (cluster.node_of("one"), cluster.node_of("alone")) == (None, "n1")
        await cluster.create(pod("two", LABELS))
        await cluster.settle()
        assert (cluster.node_of("one"), cluster.node_of("two")) == ("n1", "n1")

    play(scene, "start_together")


def test_a_group_gives_up_together():
    async def scene(cluster):
        labels = {**LABELS, "example.com/group-size": "3"}
        await cluster.create(node(), pod("one", labels))
        await cluster.wait(6)
        await cluster.create(pod("two", labels))
        await cluster.wait(5)
        assert "timeout after waiting 10s" in cluster.why_pending("one")
        assert "group job cannot start" in cluster.why_pending("two")

    play(scene, "start_together", patience=10)


# --- licences ------------------------------------------------------------------------------------


def test_licences():
    licensed = {"example.com/licensed": "yes"}

    def licence(cluster, name):
        conditions = cluster.get("pods", name)["status"]["conditions"]
        return next(one["reason"] for one in conditions if one["type"] == "example.com/Licensed")

    async def scene(cluster):
        await cluster.create(node(), pod("free"))
        for name in ("one", "two", "three"):
            await cluster.create(pod(name, licensed))
            await cluster.settle()
        assert [licence(cluster, name) for name in ("one", "two")] == ["alpha", "beta"]
        assert cluster.why_pending("three") == (
            "0/1 nodes are available: 1 all licences are in use."
        )
        events = [(one["reason"], one["message"]) for one in cluster.events_of("one")]
        assert ("Licensed", "runs with licence alpha") in events
        assert cluster.node_of("free") == "n1"
        assert [reason for reason, _ in reasons(cluster, "free")] == ["Scheduled"]

        await cluster.delete("pods", "one", grace_seconds=0)
        await cluster.wait(3)
        assert licence(cluster, "three") == "alpha"

    play(scene, "licences")


# --- the roomiest --------------------------------------------------------------------------------


def test_both_forms_of_the_roomiest_agree():
    kind = load("roomiest")
    handle = FakeHandle(
        builders.node("empty"), builders.node("half"), builders.node("none", memory=None),
        builders.node("over", memory="1Gi"),
        builders.pod("a", node="half", memory="8Gi"), builders.pod("b", node="over", memory="2Gi"),
    )  # fmt: skip
    plugin = kind(kind.Args(), handle)
    state, subject, nodes = fwk.CycleState(), builders.pod(), handle.rows

    assert plugin.score_all(state, subject, nodes).tolist() == [100, 50, 0, 0]
    assert [plugin.score(state, subject, each) for each in nodes] == [100, 50, 0, 0]


# --- the cheapest --------------------------------------------------------------------------------

CRD = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "prices.example.com"},
    "spec": {
        "group": "example.com",
        "scope": "Cluster",
        "names": {"plural": "prices", "singular": "price", "kind": "Price"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "schema": {
                    "openAPIV3Schema": {
                        "type": "object",
                        "properties": {"hourly": {"type": "integer"}},
                    }
                },
            }
        ],
    },
}


def price(name, hourly):
    meta = {"name": name}
    return {"apiVersion": "example.com/v1", "kind": "Price", "metadata": meta, "hourly": hourly}


def test_the_cheapest_node_follows_the_prices():
    label = "node.kubernetes.io/instance-type"

    async def scene(cluster):
        await cluster.create(CRD)
        await cluster.wait(2 * LASTING_SECONDS)  # the longest until a new kind is found
        await cluster.create(
            node("small", {label: "s"}), node("large", {label: "l"}), price("s", 90), price("l", 96)
        )
        await cluster.settle()
        await cluster.create(pod("first"))
        await cluster.settle()

        await cluster.update("prices.example.com", "s", lambda each: each.update(hourly=500))
        await cluster.settle()
        await cluster.create(pod("second"))
        await cluster.settle()
        assert (cluster.node_of("first"), cluster.node_of("second")) == ("small", "large")

    play(scene, "cheapest")

"""`podium demo`: what it shows, and that its story really happens."""

import asyncio
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from podium.cli import demo, demo_workloads, terminal
from podium.cli.dashboard_client import DashboardClient
from podium.cli.demo_show import HeatMap, Stage, tile
from podium.cli.demo_story import Story, chosen
from podium.cli.state_file import RunningCluster
from podium.dashboard.node_map import CORDONED
from podium.errors import PodiumError
from podium.explain import Change, Fix
from tests.support.dashboard import KEY, dashboard
from tests.support.looks import look, node_map

ON_NODES = (Change("patch", "Node", "n", "uncordon it"),)
ON_POD = (Change("patch", "Pod", "ns/p", "tolerate it"),)


# --- what it shows -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("share", "flags", "expected"),
    [
        pytest.param(0, 0, "·", id="empty"),
        pytest.param(0, CORDONED, "–", id="cordoned"),
        pytest.param(1, 0, "▁", id="hardly-anything"),
        pytest.param(500, 0, "▅", id="half"),
        pytest.param(500, CORDONED, "▅", id="cordoned-with-pods"),
        pytest.param(1000, 0, "█", id="full"),
        pytest.param(9999, 0, "█", id="overcommitted"),
    ],
)
def test_a_tile_is_as_high_as_the_node_is_full(share, flags, expected):
    assert str(tile(share, flags)) == expected


def drawn(shown, width=80):
    return [str(line).rstrip() for line in shown.lines(width)]


def test_a_node_that_is_gone_keeps_its_place():
    shown = HeatMap()
    shown.look(node_map(a=(500, 0), b=(1000, 0), c=(0, 0)))
    assert drawn(shown) == ["zone-a  ▅▅ ██ ·"]

    shown.look(node_map(a=(500, 0), c=(100, 0)))
    assert drawn(shown) == ["zone-a  ▅▅ ×  ▁▁"]


@given(st.integers(10, 120), st.integers(0, 60))
def test_all_nodes_are_shown_within_the_width(width, count):
    shown = HeatMap()
    shown.look(node_map(**{f"n{number}": (1000, 0) for number in range(count)}))

    lines = drawn(shown, width)

    assert all(len(line) <= width for line in lines)
    assert sum(len(line[8:].split()) for line in lines) == count


def told(is_terminal, width=60):
    out = io.StringIO()
    console = Console(
        file=out, width=width, height=24, force_terminal=is_terminal, soft_wrap=True,
        theme=terminal.Theme(terminal._STYLES), color_system=None,
    )  # fmt: skip
    with Stage(console) as stage:
        stage.begin("Why?")
        stage.look(look().overview, node_map(a=(500, 0)))
        stage.end("it is cordoned, and that is a long story that goes on and on")
        stage.begin("What would help?")
        stage.end_with_choice(["one", "two"], "two")
    return out.getvalue()


def test_in_a_pipe_each_result_is_a_line():
    assert told(is_terminal=False).splitlines() == [
        "Why?                it is cordoned, and that is a long story that goes on and on",
        "What would help?      one",
        "                    → two",
    ]


def test_a_terminal_keeps_the_whole_story_below_the_map():
    last = told(is_terminal=True).rpartition("\x1b[2K")[2].splitlines()

    assert last[0].rstrip() == "zone-a  ▅▅"
    assert [line.rstrip() for line in last[-4:]] == [
        "✓ Why?                it is cordoned, and that is a long",
        "                      story that goes on and on",
        "✓ What would help?      one",
        "                      → two",
    ]


def test_the_legend_fits_into_the_smallest_usual_terminal():
    shown = told(is_terminal=True, width=80)

    assert "  × gone" in shown
    assert "…" not in shown.replace("Why? …", "").replace("help? …", "")


@pytest.mark.parametrize(
    ("running", "file", "expected"),
    [
        pytest.param(
            RunningCluster(1, "u", "/k", name="podium"),
            None,
            ("top", "explain pod db-0 --kubeconfig /k --context podium", "dashboard --open"),
            id="own-kubeconfig",
        ),
        pytest.param(
            RunningCluster(1, "u", "/k", name="test"),
            "/a b",
            (
                "top --name test --state-file '/a b'",
                "explain pod db-0 --kubeconfig /k --context podium-test",
                "dashboard --open --name test --state-file '/a b'",
            ),
            id="named",
        ),
    ],
)
def test_commands_to_try_name_the_cluster(running, file, expected):
    assert demo.next_commands(running, file) == expected


# --- which fix -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fixes", "expected"),
    [
        pytest.param([Fix("a", "a", "n", ON_POD), Fix("b", "b", "n", ON_NODES)], "b", id="not-pod"),
        pytest.param(
            [Fix("a", "a", "n", ON_NODES, victims=("x/y",)), Fix("b", "b", "n", ON_NODES)],
            "b",
            id="no-victims",
        ),
        pytest.param(
            [Fix("a", "a", "n", ON_NODES + ON_POD), Fix("b", "b", "n", ON_NODES)], "b", id="both"
        ),
        pytest.param([Fix("a", "a", "n", ON_NODES), Fix("b", "b", "n", ON_NODES)], "a", id="first"),
    ],
)
def test_the_first_fix_of_nodes_alone_is_chosen(fixes, expected):
    assert chosen(fixes).text == expected


def test_without_such_a_fix_it_says_which_there_are():
    with pytest.raises(PodiumError, match="tolerate something"):
        chosen([Fix("a", "tolerate something", "n", ON_POD)])


# --- the story, through the API ------------------------------------------------------------------


class Objects:
    """Reads the cluster as any client does."""

    def __init__(self, shown):
        self._shown = shown

    async def list(self, path):
        url = f"{self._shown.cluster.url}/api/v1/{path}"
        async with self._shown.session.get(url, headers={"Authorization": ""}) as answer:
            return (await answer.json())["items"]

    async def nodes(self):
        return {each["metadata"]["name"]: each for each in await self.list("nodes")}

    async def places(self):
        """The node of every pod by its name, "" without one."""
        pods = await self.list("namespaces/default/pods")
        return {each["metadata"]["name"]: each["spec"].get("nodeName", "") for each in pods}


def zone(node):
    return node["metadata"]["labels"]["topology.kubernetes.io/zone"]


@pytest.mark.slow
def test_the_story_really_happens():
    asyncio.run(the_story_really_happens())


async def the_story_really_happens():
    options = demo_workloads.options()
    async with dashboard(0, more_nodes=options.more_nodes) as shown:
        api, client = Objects(shown), DashboardClient(shown.address, KEY)
        stage = Stage(Console(file=io.StringIO()))
        story = Story(shown.cluster, client, stage, is_slow=False)

        await story.fill()
        before, nodes = await api.places(), await api.nodes()
        assert len(before) == demo_workloads.PODS
        assert len(nodes) == demo_workloads.NODES
        assert all(before.values())

        failing = await story.zone_of(demo_workloads.DATABASE)
        assert zone(nodes[before["db-0"]]) == failing[0]
        lost = story.fail(failing)
        assert lost == sum(zone(nodes[node]) == failing[0] for node in before.values()) > 100
        assert not set(await api.nodes()) & set(failing[1])

        waiting = await story.move(lost)
        after, left = await api.places(), await api.nodes()
        assert {zone(node) for node in left.values()} == {zone(n) for n in nodes.values()} - {
            failing[0]
        }
        assert waiting == ["default/db-0"]
        assert [name for name, node in after.items() if not node] == ["db-0"]
        assert {node for node in after.values() if node} <= set(left)
        assert len(after.keys() - before.keys()) == lost - len(
            {"db-0", "search-0"} & gone(before, left)
        )

        explanation = await asyncio.to_thread(client.explain_pod, "default/db-0")
        fix = chosen(explanation.explanation.fixes)
        (change,) = fix.changes
        assert left[change.name]["spec"].get("unschedulable") is True
        await story.help("default/db-0")
        assert (await api.places())["db-0"] == fix.node
        assert "unschedulable" not in (await api.nodes())[change.name]["spec"]


def gone(places, left):
    """The pods whose node is no longer there."""
    return {name for name, node in places.items() if node not in left}

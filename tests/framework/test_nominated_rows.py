"""Nominated pods by row stay right while nominations, nodes and resources come and go."""

from hypothesis import given
from hypothesis import strategies as st

from podium import framework as fwk
from podium.framework.nominator import Nominator
from podium.state.cluster import ClusterState
from podium.testing.builders import node, pod
from tests.support.search import examples

NODES = "abc"
GPU = "example.com/gpu"

nominations = st.tuples(
    st.just("nominate"),
    st.sampled_from("uvwxyz"),
    st.sampled_from([*NODES, "gone", ""]),
    st.integers(-1, 2),  # the priority
    st.sampled_from([{}, {"cpu": "2", GPU: 1}, {"example.com/late": 3}, {"pods": 2}]),
)
steps = st.lists(
    nominations
    | st.tuples(st.just("remove"), st.sampled_from("uvwxyz"))
    | st.tuples(st.just("join"), st.sampled_from(NODES))
    | st.tuples(st.just("leave"), st.sampled_from(NODES))
    | st.tuples(st.just("ask"), st.sampled_from("uvwxyz"), st.integers(-2, 3)),
    max_size=40,
)


class World:
    """A cluster with nominations, and the plainest form of the same: a list."""

    def __init__(self):
        self.cluster = ClusterState()
        self.nominator = Nominator()
        self.entries = []  # (pod, node) in the order of nomination

    def nominate(self, name, where, priority, requests):
        info = fwk.PodInfo(pod(name, priority=priority, requests=requests))
        self.nominator.add(info, fwk.Nominate(where))
        self.entries = [entry for entry in self.entries if entry[0].uid != info.uid]
        if where:
            self.entries.append((info, where))

    def remove(self, name):
        self.nominator.remove(f"uid-{name}")
        self.entries = [entry for entry in self.entries if entry[0].pod.name != name]

    def join(self, name):
        self.cluster.set_node(node(name))

    def leave(self, name):
        if self.cluster.node(name) is not None:
            self.cluster.remove_node(name)

    def ask(self, name, priority):
        asking = pod(name, priority=priority)
        table = self.cluster.table
        found = self.nominator.ahead_of(asking, table)
        expected = [
            (info, table.live_row(where))
            for info, where in self.entries
            if table.live_row(where) is not None
            and info.priority >= priority
            and info.uid != asking.uid
        ]
        expected.sort(key=lambda entry: entry[1])
        if not expected:
            assert found is None
            return
        check(found, expected, table)


def check(found, expected, table):
    rows = table.live_rows()
    crowded = sorted({row for _, row in expected})
    assert found.rows.tolist() == crowded
    assert rows[found.are_on(rows)].tolist() == crowded
    infos, pod_rows = found.on(rows)
    assert [*zip(infos, pod_rows.tolist(), strict=True)] == expected
    requested = found.requested(rows)
    for name, index in table.resources.index.items():
        for position, row in enumerate(rows.tolist()):
            there = [info for info, where in expected if where == row]
            total = sum(info.requests.get(name, 0) + (name == "pods") for info in there)
            assert requested[index, position] == total, (name, row)


@examples(300)
@given(history=steps)
def test_rows_agree_with_a_list_of_nominations(history):
    world = World()
    for name in NODES[:2]:
        world.join(name)
    for what, *arguments in [*history, ("ask", "u", 0), ("ask", "new", -2)]:
        getattr(world, what)(*arguments)


def test_a_pod_that_requests_pods_is_not_in_its_own_way():
    world = World()
    world.join("a")
    world.nominate("greedy", "a", 5, {"pods": 2})
    world.ask("greedy", 5)


def test_a_nomination_outlives_its_node():
    world = World()
    world.join("a")
    world.nominate("x", "a", 5, {"cpu": "1"})
    world.ask("me", 0)
    world.leave("a")
    world.ask("me", 0)
    world.join("b")  # may get the row that was a's
    world.join("a")
    world.ask("me", 0)

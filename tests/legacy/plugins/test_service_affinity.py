import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium import framework as fwk
from podium.api.objects import ObjectMeta, Service
from podium.api.workloads import ServiceSpec
from podium.legacy.plugins.service_affinity import REJECTED, ServiceAffinity
from podium.testing.builders import node, pod
from podium.testing.handle import FakeHandle
from tests.support.clusters import replicas

WEB = pod(labels="app=web")


def service(name="svc", namespace="default", **selector):
    meta = ObjectMeta(name=name, namespace=namespace)
    return Service(metadata=meta, spec=ServiceSpec(selector=selector))


class Situation:
    """A cluster, and a plugin whose pods agree in these labels."""

    def __init__(self, *objects, agree=("rack",)):
        self.handle = FakeHandle(*objects)
        self.cluster = self.handle.state
        self.plugin = ServiceAffinity(ServiceAffinity.Args(affinity_labels=agree), self.handle)
        self.handle.use(self.plugin)
        self.state = fwk.CycleState()

    def pre_filter(self, subject):
        return self.plugin.pre_filter(self.state, subject, self.handle.rows)

    def feasible(self, subject, nodes=None):
        """The nodes that both forms accept."""
        nodes = nodes or self.handle.rows
        together = list(self.plugin.filter_all(self.state, subject, nodes))
        assert together == [self.plugin.filter(self.state, subject, each) for each in nodes]
        return [each.name for each, status in zip(nodes, together, strict=True) if status.ok]


def feasible(subject, *objects, agree=("rack",)):
    situation = Situation(*objects, agree=agree)
    situation.pre_filter(subject)
    return situation.feasible(subject)


RACKS = (node("a", labels="rack=1"), node("b", labels="rack=2"), node("c"))
PEER = pod("peer", node="b", labels="app=web")


@pytest.mark.parametrize(
    ("subject", "others", "expected"),
    [
        pytest.param(WEB, [PEER, service(app="web")], ["b"], id="stays-with-its-peer"),
        pytest.param(WEB, [service(app="web")], ["a", "b", "c"], id="first-of-its-service"),
        pytest.param(WEB, [PEER], ["a", "b", "c"], id="no-service"),
        pytest.param(
            pod(labels="app=web", node_selector="rack=1"),
            [PEER, service(app="web")],
            ["a"],
            id="the-node-selector-decides",
        ),
        pytest.param(
            pod(node_selector="rack=2 disk=ssd"), [], ["b"], id="other-selectors-do-not-matter"
        ),
        pytest.param(
            pod(labels="app=web pod=1"), [PEER, service(app="web")], ["a", "b", "c"], id="no-peer"
        ),
        pytest.param(
            WEB,
            [pod("peer", node="b", labels="app=web", namespace="other"), service(app="web")],
            ["a", "b", "c"],
            id="other-namespace",
        ),
        pytest.param(
            WEB,
            [pod("peer", node="c", labels="app=web more=1"), service(app="web")],
            ["a", "b", "c"],
            id="a-node-without-the-label-asks-for-nothing",
        ),
        pytest.param(
            pod(),
            [pod("peer", node="a", labels="x=y"), service(name="all")],
            ["a"],
            id="without-labels-all-pods-are-peers",
        ),
        pytest.param(
            WEB,
            [
                pod("p", node="b", labels="app=web", deletion_timestamp="2026-01-01T00:00:00Z"),
                service(app="web"),
            ],
            ["b"],
            id="terminating-peers-count",
        ),
        pytest.param(
            WEB,
            [pod("ghost", node="gone", labels="app=web"), service(app="web")],
            ["a", "b", "c"],
            id="peers-without-a-node-do-not",
        ),
    ],
)
def test_filter(subject, others, expected):
    assert feasible(subject, *RACKS, *others) == expected


def test_the_first_node_with_a_peer_decides():
    later = pod("later", node="a", labels="app=web")

    assert feasible(WEB, *RACKS, PEER, later, service(app="web")) == ["a"]


def test_each_label_is_looked_up_on_its_own():
    nodes = [
        node("a", labels="rack=1 row=x"),
        node("b", labels="rack=1 row=y"),
        node("c", labels="rack=2 row=y"),
    ]
    others = [pod("peer", node="c", labels="app=web"), service(app="web")]
    subject = pod(labels="app=web", node_selector="rack=1")

    assert feasible(subject, *nodes, *others, agree=("rack", "row")) == ["b"]


def test_without_affinity_labels_it_stays_out():
    assert Situation(*RACKS, agree=()).pre_filter(WEB).is_skip


def test_rejection_may_be_helped_by_preemption_and_says_why():
    assert REJECTED.code is fwk.Code.UNSCHEDULABLE
    assert REJECTED.message == "node(s) didn't match service affinity"


class World(Situation):
    """A dry run over some rows of a cluster."""

    def __init__(self, *objects):
        super().__init__(*objects)
        self.pre_filter(WEB)
        self.state = self.state.clone()
        rows = self.handle.rows.index
        self.nodes = fwk.Rows(self.cluster, rows, self.cluster.overlay(rows))

    def change(self, how, info, name):
        row = np.array([self.cluster.node(name).row])
        others = fwk.PodsOnRows(self.nodes, [info], row)
        getattr(self.plugin, f"{how}_pods")(self.state, WEB, others)

    def without(self, name):
        info = next(i for i in self.cluster.pods.values() if i.pod.name == name)
        self.change("remove", info, info.pod.node_name)
        return self

    def plus(self, other, name):
        self.change("add", fwk.PodInfo(other), name)
        return self

    @property
    def outcome(self):
        return self.feasible(WEB, self.nodes)


def test_a_world_without_the_deciding_peer_goes_by_the_next():
    peers = [pod("first", node="a", labels="app=web"), PEER]
    world = World(*RACKS, *peers, service(app="web"))
    assert world.outcome == ["a"]

    # In the world of a, where its peer is gone, b decides; in all other worlds it is still there.
    assert world.without("first").outcome == []
    assert world.without("peer").outcome == []


def test_a_world_without_any_peer_is_open():
    assert World(*RACKS, PEER, service(app="web")).outcome == ["b"]
    world = World(node("a"), node("b", labels="rack=2"), PEER, service(app="web"))
    assert world.without("peer").outcome == ["b"]


def test_one_of_two_peers_is_enough():
    peers = [pod("p1", node="a", labels="app=web"), pod("p2", node="a", labels="app=web"), PEER]
    world = World(*RACKS, *peers, service(app="web"))

    assert world.without("p1").outcome == ["a"]
    assert world.without("p2").outcome == []


def test_a_peer_that_comes_back_comes_last():
    peers = [pod("first", node="a", labels="app=web"), PEER]
    world = World(*RACKS, *peers, service(app="web"))
    world.without("first").plus(peers[0], "a")
    assert world.outcome == []

    alone = World(*RACKS, peers[0], service(app="web"))
    alone.without("first").plus(peers[0], "a")
    assert alone.outcome == ["a"]


def test_pods_that_are_no_peers_change_nothing():
    world = World(*RACKS, PEER, pod("db", node="b", labels="app=db"), service(app="web"))
    world.without("db").plus(pod("x", labels="app=db"), "a")

    assert world.outcome == ["b"]


def test_a_clone_keeps_to_itself():
    world = World(*RACKS, PEER, service(app="web"))
    before = world.state
    world.state = before.clone()
    world.without("peer")
    world.state = before

    assert world.outcome == ["b"]


def scores(subject, prefer, *objects):
    """Normalized scores by node."""
    handle = FakeHandle(*objects)
    args = ServiceAffinity.Args(anti_affinity_labels_preference=prefer)
    plugin, state = ServiceAffinity(args, handle), fwk.CycleState()
    raw = plugin.score_all(state, subject, handle.rows)
    assert raw.tolist() == [plugin.score(state, subject, each) for each in handle.rows]
    return plugin.normalize_score(state, subject, raw, handle.rows).tolist()


def test_pods_of_the_service_are_spread_over_the_values_of_a_label():
    nodes = (*RACKS, node("d", labels="rack=1"))

    # Of four pods, three run in rack 1 and one without a rack.
    found = scores(WEB, ("rack",), *nodes, *replicas(a=1, d=2, c=1), service(app="web"))
    assert found == [25, 100, 0, 25]


def test_labels_share_the_score():
    nodes = [node("a", labels="rack=1 row=x"), node("b", labels="rack=2 row=x"), node("c")]

    assert scores(WEB, ("rack", "row"), *nodes, *replicas(a=1), service(app="web")) == [0, 50, 0]


@pytest.mark.parametrize(
    "others",
    [
        pytest.param([], id="no-service"),
        pytest.param([service()], id="service-that-selects-everything"),
        pytest.param([service(name="a"), service(name="b", app="web")], id="the-first-by-name"),
    ],
)
def test_without_a_service_every_value_is_as_good(others):
    assert scores(WEB, ("rack",), *RACKS, *replicas(a=2), *others) == [100, 100, 0]


def test_terminating_pods_do_not_count():
    gone = pod("p", node="a", labels="app=web", deletion_timestamp="2026-01-01T00:00:00Z")

    found = scores(WEB, ("rack",), *RACKS, gone, *replicas(b=1), service(app="web"))
    assert found == [100, 0, 0]


def test_without_preferences_every_node_gets_0():
    assert scores(WEB, (), *RACKS, *replicas(a=1), service(app="web")) == [0, 0, 0]


def model(counts, racks, rows):
    """The scores from their definition, in plain Python."""
    found = [0.0] * len(counts)
    total = sum(counts)
    for values in (racks, rows):
        for place, value in enumerate(values):
            if value is None:
                continue
            score = 100.0
            if total:
                here = sum(n for n, other in zip(counts, values, strict=True) if other == value)
                score = 100.0 * (float(total - here) / float(total))
            found[place] += score / 2.0
    return [int(score) for score in found]


VALUES = st.sampled_from((None, "", "1", "2"))


@given(st.lists(st.tuples(st.integers(0, 3), VALUES, VALUES), min_size=1, max_size=6))
def test_scores_equal_their_definition(cluster):
    nodes = [
        node(f"n{at}", labels={k: v for k, v in (("rack", rack), ("row", row)) if v is not None})
        for at, (_, rack, row) in enumerate(cluster)
    ]
    placed = replicas(**{f"n{number}": each[0] for number, each in enumerate(cluster)})

    found = scores(WEB, ("rack", "row"), *nodes, *placed, service(app="web"))
    assert found == model(*zip(*cluster, strict=True))

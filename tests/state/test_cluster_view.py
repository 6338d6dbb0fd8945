"""What plugins may read of the cluster: nothing can be written through it, nothing outlives it."""

import numpy as np
import pytest

from podium import framework as fwk
from podium.api.objects import Namespace, ObjectMeta, PersistentVolume
from podium.errors import StaleView, UndeclaredKind
from podium.state.cluster import ClusterState
from podium.testing.builders import node, pod

ZONE = "zone"


@pytest.fixture
def state():
    state = ClusterState()
    for name, zone in (("a", "east"), ("b", "east"), ("c", "west"), ("d", "")):
        state.set_node(node(name, labels=f"{ZONE}={zone}" if zone else ""))
    for number, on in enumerate("aabcd"):
        state.add_pod(pod(f"p{number}", node=on, labels=f"app={'web' if number % 2 else 'db'}"))
    return state


@pytest.fixture
def nodes(state):
    return state.view.nodes()


WEB = fwk.pods_matching("app=web")


@pytest.mark.parametrize(
    "read",
    [
        lambda nodes: nodes.labels[ZONE].numbers,
        lambda nodes: nodes.allocatable("cpu"),
        lambda nodes: nodes.requested("cpu"),
        lambda nodes: nodes.unschedulable,
        lambda nodes: nodes.count_pods(WEB),
        lambda nodes: nodes.index,
        lambda nodes: nodes.taints.index,
        lambda nodes: nodes.cluster.pod_counts(WEB),
        lambda nodes: nodes.cluster.counts_below(5),
        lambda nodes: nodes.cluster.label_column(ZONE).numbers,
        lambda nodes: nodes.cluster.label_column(ZONE).places(4),
        lambda nodes: nodes.cluster.storage.limits("ebs"),
        lambda nodes: nodes.cluster.storage.attached.counts("ebs"),
    ],
)
def test_arrays_are_read_only(nodes, read):
    with pytest.raises(ValueError, match="read-only"):
        read(nodes)[0] = 1


@pytest.mark.parametrize(
    "read",
    [
        lambda nodes: nodes.free("cpu"),
        lambda nodes: nodes.domain_counts(ZONE, WEB),
        lambda nodes: nodes.cluster.domain_counts(WEB, ZONE),
    ],
)
def test_copies_may_be_written(nodes, read):
    before = read(nodes).tolist()

    read(nodes)[:] = -1

    assert read(nodes).tolist() == before


def test_nothing_writes_to_the_cluster(state):
    writers = {"set_node", "remove_node", "add_pod", "update_pod", "remove_pod", "assume", "forget",
               "set_object", "remove_object", "table", "groups", "journal"}  # fmt: skip

    assert not writers & set(dir(state.view))
    with pytest.raises(TypeError):
        state.view.pods["uid-p0"] = None
    assert not hasattr(state.view.objects(Namespace), "set")


class TestAccessors:
    def test_labels(self, nodes):
        zones = nodes.labels[ZONE]
        assert (zones == "east").tolist() == [True, True, False, False]
        assert (zones != "east").tolist() == [False, False, True, True]
        assert (zones == "north").tolist() == [False] * 4
        assert zones.isin({"west", "north"}).tolist() == [False, False, True, False]
        assert zones.present.tolist() == [True, True, True, False]
        assert zones.tolist() == ["east", "east", "west", None]
        assert zones.map(lambda zone: zone or "none").to_array(str).tolist() == [
            "east", "east", "west", "none",
        ]  # fmt: skip

    def test_pods_by_selector(self, nodes):
        assert nodes.count_pods("app=web").tolist() == [1, 0, 1, 0]
        assert nodes.count_pods("app in (web, db)").tolist() == [2, 1, 1, 1]
        assert nodes.count_pods("app=web", namespace="other").tolist() == [0, 0, 0, 0]
        assert [one.count_pods("app!=web") for one in nodes] == [1, 1, 0, 1]
        assert {info.key for info in nodes.cluster.matching_pods(WEB)} == {
            "default/p1", "default/p3",
        }  # fmt: skip

    def test_pods_by_domain(self, nodes):
        assert nodes.domain_counts(ZONE, "app=web").tolist() == [1, 1, 1, 0]
        assert nodes.domain_counts(ZONE, "").tolist() == [3, 3, 1, 0]
        assert nodes.at(1).alone().domain_counts(ZONE, "").tolist() == [3]

    def test_a_selector_that_cannot_be_read(self, nodes):
        with pytest.raises(ValueError, match="unable to parse requirement"):
            nodes.count_pods("app in web")
        with pytest.raises(TypeError, match="leave out namespace"):
            nodes.count_pods(WEB, namespace="other")

    def test_of_the_whole_cluster(self, state):
        view = state.view
        assert (view.size, view.node_count, view.names) == (4, 4, ["a", "b", "c", "d"])
        assert view.node("c").name == "c"
        assert view.node("nowhere") is None
        assert [info.key for info in view.pods_on(view.row_of("b"))] == ["default/p2"]
        assert view.are_nodes(np.array([0, 3])).tolist() == [True, True]


class TestStale:
    @pytest.mark.parametrize(
        "use",
        [
            lambda nodes: nodes.free("cpu"),
            lambda nodes: nodes.names,
            lambda nodes: nodes.labels[ZONE],
            lambda nodes: nodes.count_pods(WEB),
            lambda nodes: next(iter(nodes)).name,
            lambda nodes: nodes.cluster,
            lambda nodes: nodes.taints,
        ],
    )
    def test_a_view_of_an_earlier_cycle(self, state, nodes, use):
        use(nodes)

        state.begin_cycle()

        with pytest.raises(
            StaleView, match=r"keep what you need of them .+ or ask handle\.cluster"
        ):
            use(nodes)

    @pytest.mark.parametrize(
        "use", [lambda one: one.node, lambda one: one.pods, lambda one: one.free("cpu")]
    )
    def test_a_node_of_an_earlier_cycle(self, state, nodes, use):
        kept = nodes.at(0)
        state.begin_cycle()

        with pytest.raises(StaleView):
            use(kept)

    def test_the_cluster_itself_stays(self, state):
        view = state.view.for_plugin("P")
        state.begin_cycle()

        assert len(view.nodes()) == 4
        assert view.node("a").free("cpu") == 4000


def test_kinds_that_are_not_declared(state):
    state.set_object(Namespace(metadata=ObjectMeta(name="default", labels={"team": "blue"})))
    view = state.view.for_plugin("P")
    view.declare({"Namespace"})

    assert view.namespace_labels("default") == {"team": "blue"}
    assert [each.name for each in view.objects(Namespace)] == ["default"]
    with pytest.raises(UndeclaredKind, match="plugin P reads PersistentVolume objects"):
        view.objects(PersistentVolume)
    with pytest.raises(UndeclaredKind):
        _ = view.volumes

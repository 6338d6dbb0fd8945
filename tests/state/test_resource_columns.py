import pytest

from podium import framework as fwk
from podium.state.cluster import ClusterState, load
from podium.testing.builders import node, pod

GPU = "example.com/gpu"
MI = 2**20


def cluster(*objects):
    state = ClusterState()
    load(state, objects)
    return state


def test_amounts_in_the_schedulers_units():
    state = cluster(
        node("a", cpu="4", memory="1Gi", pods=10, allocatable={"ephemeral-storage": "1k"}),
        pod("x", node="a", cpu="1500m", memory="100Mi"),
        pod("y", node="a", cpu="1u"),
    )
    nodes = state.rows()

    assert nodes.allocatable("cpu").tolist() == [4000]
    assert nodes.requested("cpu").tolist() == [1501]  # a millionth counts as a thousandth
    assert nodes.free("cpu").tolist() == [2499]
    assert nodes.free("memory").tolist() == [924 * MI]
    assert nodes.free("pods").tolist() == [8]
    assert nodes.allocatable("ephemeral-storage").tolist() == [1000]


def test_scores_count_defaults_for_what_is_not_asked():
    state = cluster(node("a"), pod("x", node="a", cpu="1"), pod("y", node="a", memory="0"))

    assert state.rows().non_zero_requested("cpu").tolist() == [1100]
    assert state.rows().non_zero_requested("memory").tolist() == [200 * MI]


def test_other_resources_appear_when_first_requested():
    state = cluster(node("a", allocatable={GPU: 4}), node("b"), node("c", allocatable={GPU: 2}))
    assert GPU not in state.table.resources.index
    assert state.node("a").allocatable(GPU) == 4  # read from the object meanwhile
    assert state.node("a").requested(GPU) == 0

    state.add_pod(pod("x", node="c", requests={GPU: 1}))

    assert GPU in state.table.resources.index
    assert state.rows().allocatable(GPU).tolist() == [4, 0, 2]
    assert state.rows().free(GPU).tolist() == [4, 0, 1]
    state.check_invariants()


def test_a_rule_may_be_the_first_to_ask():
    state = cluster(node("a", allocatable={GPU: 4}))

    assert state.rows().free(GPU).tolist() == [4]
    assert state.rows().free("example.com/never").tolist() == [0]


def test_new_columns_have_the_nodes_that_came_later_too():
    state = cluster(node("a"), pod("x", node="a", requests={GPU: 1}))
    state.set_node(node("b", allocatable={GPU: 3}))
    state.set_node(node("a", allocatable={GPU: 5}))

    assert state.rows().free(GPU).tolist() == [4, 3]


def test_names_that_are_no_resources_are_not_counted():
    state = cluster(node("a", allocatable={"storage": 5}), pod("x", node="a", requests={"gpu": 1}))

    assert set(state.table.resources.index) == {"cpu", "memory", "ephemeral-storage", "pods"}
    assert state.node("a").allocatable("storage") == 0


def test_one_node_reads_like_all_nodes():
    state = cluster(
        node("a", allocatable={GPU: 4}), pod("x", node="a", cpu="1", requests={GPU: 1}), node("b")
    )
    nodes = state.rows()
    for resource in ("cpu", "memory", "pods", GPU, "example.com/never"):
        for read in ("allocatable", "requested", "free"):
            one_by_one = [getattr(found, read)(resource) for found in nodes]
            assert one_by_one == getattr(nodes, read)(resource).tolist(), (read, resource)
    for resource in ("cpu", "memory"):
        one_by_one = [found.non_zero_requested(resource) for found in nodes]
        assert one_by_one == nodes.non_zero_requested(resource).tolist()


def below(state, priority):
    sums = state.table.resources.requested_below(priority)
    cpu = state.table.resources.index["cpu"]
    return [int(sums[cpu, row]) for row in state.table.live_rows()]


def test_requests_below_a_priority():
    state = cluster(
        node("a"), node("b"),
        pod("low", node="a", cpu="1", priority=1), pod("high", node="a", cpu="2", priority=9),
        pod("none", node="b", cpu="100m"),
    )  # fmt: skip

    assert below(state, 9) == [1000, 100]
    assert below(state, 10) == [3000, 100]
    assert below(state, 0) == [0, 0]


def test_requests_below_a_priority_follow_the_pods():
    state = cluster(node("a"), node("b"), pod("x", node="a", cpu="1", priority=1))
    assert below(state, 5) == [1000, 0]

    state.add_pod(pod("y", node="b", cpu="2", requests={GPU: 1}, priority=4))
    state.add_pod(pod("z", node="b", cpu="2", priority=5))
    assert below(state, 5) == [1000, 2000]
    for number in range(100):
        state.set_node(node(f"n{number}"))
    state.remove_pod(pod("x"))
    assert below(state, 5)[:2] == [0, 2000]

    for priority in range(20):  # more than are kept
        below(state, priority)
    assert below(state, 5)[:2] == [0, 2000]


@pytest.mark.parametrize("amount", ["8Ei", "9223372036854775807", "1e30"])
def test_absurd_requests_are_taken_back_exactly(amount):
    """Sums beyond 64 bits wrap around, as in Go; what counts is that leaving undoes coming."""
    state = cluster(node("a", memory=amount))
    names = ["x", "y", "z"]
    for name in names:
        state.add_pod(pod(name, node="a", memory=amount, cpu=amount))
        below(state, 5)
        state.check_invariants()
    for name in names:
        state.remove_pod(pod(name))
        state.check_invariants()

    assert state.rows().requested("memory").tolist() == [0]
    assert state.rows().requested("cpu").tolist() == [0]
    assert below(state, 5) == [0]


@pytest.mark.parametrize("guests", [1, 2, 3])
@pytest.mark.parametrize("amount", ["8Ei", "5Ei"])
def test_absurd_requests_in_a_dry_run(guests, amount):
    state = cluster(node("a", memory="8Ei"), pod("x", node="a", memory=amount))
    nodes = state.rows()
    overlay = state.overlay(nodes.index)
    for number in range(guests):
        overlay.add([fwk.PodInfo(pod(f"y{number}", memory=amount))], nodes.index)
    world = fwk.Rows(state, nodes.index, overlay)

    for read in ("requested", "free"):
        one_by_one = [getattr(found, read)("memory") for found in world]
        assert one_by_one == getattr(world, read)("memory").tolist()


@pytest.mark.parametrize("memory", ["1Gi", "70Ti"], ids=["exact", "too-large-for-floats"])
@pytest.mark.parametrize("count", [20, 200], ids=["row-by-row", "all-at-once"])
def test_floats_of_few_and_of_many_changed_rows(count, memory):
    nodes = [node(f"n{number}", cpu=str(number), memory=memory) for number in range(count)]
    pods = [pod(f"p{number}", node=f"n{number}", cpu="100m") for number in range(0, count, 3)]
    state = cluster(*nodes, *pods)

    floats = state.table.resources.floats()

    assert (floats is None) == (memory == "70Ti")
    state.table.resources.check_floats()
    if floats is not None:
        assert floats.allocatable[0, :count].tolist() == [1000.0 * n for n in range(count)]
        assert floats.requested[0, :4].tolist() == [100, 0, 0, 100]

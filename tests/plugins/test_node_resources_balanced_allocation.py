import math

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium import framework as fwk
from podium.framework.resource_scoring import ResourceSpec
from podium.plugins.node_resources_balanced_allocation import NodeResourcesBalancedAllocation
from podium.plugins.node_resources_balanced_allocation.balance import balance
from podium.state.cluster import ClusterState
from podium.testing.builders import node, pod
from podium.testing.handle import FakeHandle

Args = NodeResourcesBalancedAllocation.Args


def plugin(*names):
    specs = tuple(ResourceSpec(name=name) for name in names)
    return NodeResourcesBalancedAllocation(Args(resources=specs) if specs else Args(), FakeHandle())


def scores(subject, nodes, *names):
    """What both forms say, after PreScore; ``None`` when it skips."""
    balanced, state = plugin(*names), fwk.CycleState()
    status = balanced.pre_score(state, subject, nodes)
    if status is not None:
        assert status.is_skip
        return None
    together = balanced.score_all(state, subject, nodes).tolist()
    assert together == [balanced.score(state, subject, each) for each in nodes]
    return together


@pytest.mark.parametrize(
    ("asks", "has", "expected"),
    [
        pytest.param(
            {"cpu": "450m", "memory": "1Gi"}, {"cpu": 10, "memory": "10Gi"}, 73, id="a-bit-apart"
        ),
        pytest.param({"cpu": 84}, {"cpu": 100, "memory": "100Gi"}, 54, id="cpu-alone"),
        pytest.param({"cpu": 1, "memory": "1Gi"}, {"cpu": 4, "memory": "4Gi"}, 75, id="even"),
        pytest.param({"cpu": 1}, {"cpu": 4, "memory": None}, 75, id="one-resource-is-balanced"),
        pytest.param({"cpu": 1}, {"cpu": None, "memory": None}, 75, id="no-resource"),
        pytest.param(
            {"cpu": 9, "memory": "9Gi"}, {"cpu": 1, "memory": "2Gi"}, 75, id="full-is-full"
        ),
    ],
)
def test_score_on_an_empty_node(asks, has, expected):
    assert scores(pod(**asks), fwk.Rows.of(node(**has))) == [expected]


def test_a_pod_that_evens_a_node_out_scores_above_75():
    nodes = fwk.Rows.of(
        node("cpu-used", cpu=10, memory="10Gi"),
        node("memory-used", cpu=10, memory="10Gi"),
        pods=[pod("p", node="cpu-used", cpu=8), pod("q", node="memory-used", memory="8Gi")],
    )

    # Apart by 0.8, then by 0.4 and by 1 (capped): 60 becomes 80, or 50.
    assert scores(pod(memory="4Gi"), nodes) == [85, 70]


def test_fractions_are_floats_and_truncated():
    assert balance([0.53, 0.35]) == 90  # and not 91


@pytest.mark.parametrize(
    ("subject", "names"),
    [
        pytest.param(pod(), (), id="best-effort"),
        pytest.param(pod(cpu=0, memory="0"), (), id="nothing-of-it"),
        pytest.param(pod(requests={"example.com/gpu": 1}), (), id="only-what-is-not-listed"),
        pytest.param(pod(cpu=1), ("memory",), id="not-the-one-that-is-listed"),
    ],
)
def test_pre_score_skips(subject, names):
    nodes = fwk.Rows.of(node())

    assert scores(subject, nodes, *names) is None
    assert plugin(*names).score(fwk.CycleState(), subject, nodes.at(0)) == 0
    assert plugin(*names).score_all(fwk.CycleState(), subject, nodes).tolist() == [0]


def test_requests_of_the_pod_itself_and_overhead_count():
    nodes = fwk.Rows.of(node(cpu=10, memory="10Gi"))
    level = {"requests": {"cpu": "400m", "memory": "1Gi"}}
    subject = pod(resources=level, overhead={"cpu": "50m"})

    assert scores(subject, nodes) == [73]


def test_what_the_status_says_the_pod_holds_counts():
    holds = {"name": "main", "resources": {"requests": {"cpu": "1500m", "memory": "1Gi"}}}
    subject = pod(status={"container_statuses": [holds]})

    assert scores(subject, fwk.Rows.of(node(cpu=2, memory="4Gi"))) == [62]
    with pytest.raises(fwk.NotSignable):
        plugin().sign(subject)


def test_without_pre_score_it_works_it_out():
    nodes = fwk.Rows.of(node(cpu=10, memory="10Gi"))
    subject = pod(cpu="450m", memory="1Gi")

    assert plugin().score(fwk.CycleState(), subject, nodes.at(0)) == 73


def test_a_resource_that_no_pod_asked_for_before():
    nodes = fwk.Rows.of(node(cpu=10, allocatable={"example.com/gpu": 2}))
    subject = pod(cpu=1, requests={"example.com/gpu": 1})

    assert scores(subject, nodes, "cpu", "example.com/gpu") == [65]


def test_an_extended_resource_counts_only_if_asked_for():
    holder = pod("holder", node="node", requests={"example.com/gpu": 2})
    nodes = fwk.Rows.of(node(allocatable={"example.com/gpu": 2}), pods=[holder])

    assert scores(pod(cpu=1), nodes, "cpu", "example.com/gpu") == [75]


def model(asks, used, has):
    """The score from its definition, in plain Python."""

    def even(values):
        parts = [min(v / c, 1.0) for v, c in zip(values, has, strict=True) if c]
        spread = 0.0
        if len(parts) == 2:
            spread = abs((parts[0] - parts[1]) / 2)
        elif len(parts) > 2:
            mean = 0.0
            for part in parts:
                mean += part
            mean /= len(parts)
            squares = 0.0
            for part in parts:
                squares += (part - mean) * (part - mean)
            spread = math.sqrt(squares / len(parts))
        return int((1 - spread) * 100)

    taken = [u + a for u, a in zip(used, asks, strict=True)]
    return 50 + (50 + even(taken) - even(used)) // 2


NAMES = ("cpu", "memory", "ephemeral-storage", "example.com/gpu")
AMOUNTS = st.tuples(*[st.integers(0, 12)] * 4)


@given(
    asks=AMOUNTS.filter(any),
    cluster=st.lists(st.tuples(AMOUNTS, AMOUNTS), min_size=1, max_size=4),
    size=st.integers(1, 4),
)
def test_score_equals_its_definition(asks, cluster, size):
    names = NAMES[:size]
    nodes = [
        node(f"n{number}", cpu=None, memory=None, allocatable=dict(zip(NAMES, has, strict=True)))
        for number, (_, has) in enumerate(cluster)
    ]
    placed = [
        pod(f"p{number}", node=f"n{number}", requests=dict(zip(NAMES, used, strict=True)))
        for number, (used, _) in enumerate(cluster)
    ]
    subject = pod(requests=dict(zip(NAMES, asks, strict=True)))
    if not any(asks[:size]):
        expected = None
    else:
        # An extended resource that the pod does not ask for plays no part.
        counted = [place for place in range(size) if place < 3 or asks[place]]
        expected = [
            model(*([row[place] for place in counted] for row in (asks, used, has)))
            for used, has in cluster
        ]

    assert scores(subject, fwk.Rows.of(*nodes, pods=placed), *names) == expected


def test_defaults():
    names = [
        spec.name
        for spec in NodeResourcesBalancedAllocation(Args(resources=()), FakeHandle()).resources
    ]

    assert names == [spec.name for spec in Args().resources] == ["cpu", "memory"]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        pytest.param([{"name": "cpu"}, {"name": "memory", "weight": 0}], [], id="weight-0-is-1"),
        pytest.param(
            [{"name": "cpu", "weight": 2}],
            [("resources[0].weight", "Invalid value: 2: must be 1")],
            id="weight",
        ),
        pytest.param(
            [{"name": "cpu"}, {"name": "memory"}, {"name": "cpu", "weight": -1}],
            [
                ("resources[2].name", 'Duplicate value: "cpu"'),
                ("resources[2].weight", "Invalid value: -1: must be 1"),
            ],
            id="twice",
        ),
    ],
)
def test_args(given, expected):
    problems = msgspec.convert({"resources": given}, Args).validate()

    assert [(problem.path, problem.message) for problem in problems] == expected


def test_equal_requests_are_equal_pods():
    balanced = plugin()

    assert balanced.sign(pod("a", cpu=1, labels="app=a")) == balanced.sign(pod("b", cpu=1))
    assert balanced.sign(pod("a", cpu=1)) != balanced.sign(pod("a", cpu=2))


CHANGES = st.lists(
    st.tuples(st.sampled_from(["come", "go", "resize", "remove"]), st.integers(0, 3)),
    max_size=40,
)


@given(CHANGES, st.booleans())
def test_what_is_kept_of_nodes_follows_their_changes(changes, ask_in_between):
    cluster = ClusterState()
    for number in range(4):
        cluster.set_node(node(f"n{number}", cpu=10, memory="10Gi"))
    balanced, subject = plugin(), pod("subject", cpu=2, memory="1Gi")
    placed = []

    def both_forms_agree():
        nodes, state = cluster.rows(), fwk.CycleState()
        balanced.pre_score(state, subject, nodes)
        together = balanced.score_all(state, subject, nodes).tolist()
        assert together == [balanced.score(state, subject, each) for each in nodes]

    both_forms_agree()
    for step, (change, number) in enumerate(changes):
        name = f"n{number}"
        if change == "come":
            placed.append(pod(f"p{step}", node=name, cpu=1 + step % 3, memory="1Gi"))
            cluster.add_pod(placed[-1])
        elif change == "go" and placed:
            cluster.remove_pod(placed.pop(number % len(placed)))
        elif change == "resize":
            cluster.set_node(node(name, cpu=step + 1, memory="10Gi"))
        elif change == "remove" and cluster.node(name):
            cluster.remove_node(name)
        if ask_in_between:
            both_forms_agree()
    both_forms_agree()

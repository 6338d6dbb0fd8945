import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium import framework as fwk
from podium.errors import StateNotFound
from podium.plugins.node_resources_fit import NodeResourcesFit
from podium.state.pod_info import PodInfo
from podium.testing.builders import node, pod
from podium.testing.handle import FakeHandle
from tests.support.search import examples

GPU, NIC, HUGE = "example.com/gpu", "example.com/nic", "hugepages-2Mi"
IMPLICIT = "deviceclass.resource.kubernetes.io/gpu"


def plugin(**args):
    return NodeResourcesFit(NodeResourcesFit.Args(**args), FakeHandle())


def judged(subject, nodes, fit=None):
    """The statuses of both forms, which must agree."""
    fit, state = fit or plugin(), fwk.CycleState()
    assert fit.pre_filter(state, subject, nodes) is None
    verdicts = list(fit.filter_all(state, subject, nodes))
    assert verdicts == [fit.filter(state, subject, each) for each in nodes]
    return verdicts


@pytest.mark.parametrize(
    ("requests", "expected"),
    [
        pytest.param({}, [], id="nothing-requested"),
        pytest.param({"cpu": "1", "memory": "1Gi"}, [], id="fits-exactly"),
        pytest.param({"cpu": "1001m"}, ["Insufficient cpu"], id="cpu"),
        pytest.param({"memory": "1025Mi"}, ["Insufficient memory"], id="memory"),
        pytest.param(
            {"ephemeral-storage": "2Gi"}, ["Insufficient ephemeral-storage"], id="storage"
        ),
        pytest.param({GPU: 2}, [f"Insufficient {GPU}"], id="extended"),
        pytest.param({HUGE: "4Mi"}, [f"Insufficient {HUGE}"], id="huge-pages"),
        pytest.param({IMPLICIT: 1}, [f"Insufficient {IMPLICIT}"], id="no-such-device-class"),
        pytest.param({"example": 1, "storage": "1Ti"}, [], id="names-nobody-counts"),
        pytest.param({NIC: 0, "cpu": "0"}, [], id="zero-always-fits"),
        pytest.param(
            {NIC: 1, GPU: 2, "ephemeral-storage": "2Gi", "memory": "2Gi", "cpu": "2"},
            [
                "Insufficient cpu",
                "Insufficient memory",
                "Insufficient ephemeral-storage",
                f"Insufficient {GPU}",
                f"Insufficient {NIC}",
            ],
            id="all-reasons-in-order",
        ),
    ],
)
def test_filter(requests, expected):
    room = {"ephemeral-storage": "2Gi", GPU: 2, NIC: 1, HUGE: "6Mi", IMPLICIT: 1}
    taken = {"ephemeral-storage": "1Gi", GPU: 1, NIC: 1, HUGE: "4Mi", IMPLICIT: 1}
    nodes = fwk.Rows.of(
        node("a", cpu="2", memory="2Gi", allocatable=room),
        pods=[pod("other", node="a", cpu="1", memory="1Gi", requests=taken)],
    )

    (status,) = judged(pod(requests=requests), nodes)

    assert list(status.reasons) == expected
    assert status.code is (fwk.Code.UNSCHEDULABLE if expected else fwk.Code.SUCCESS)


@pytest.mark.parametrize(
    ("offered", "taken", "requests", "final"),
    [
        pytest.param("2", "1", {"cpu": "2"}, False, id="would-fit-when-empty"),
        pytest.param("2", "1", {"cpu": "2001m"}, True, id="never-fits"),
        pytest.param("2", "2", {"cpu": "1", GPU: 1}, True, id="one-that-never-fits-is-enough"),
        pytest.param("2", "3", {"cpu": "0", GPU: 0}, None, id="zero-fits-the-overcommitted"),
    ],
)
def test_eviction_is_no_help_when_the_node_is_too_small(offered, taken, requests, final):
    nodes = fwk.Rows.of(node("a", cpu=offered), pods=[pod("other", node="a", cpu=taken)])

    (status,) = judged(pod(requests=requests), nodes)

    codes = {
        None: fwk.Code.SUCCESS,
        False: fwk.Code.UNSCHEDULABLE,
        True: fwk.Code.UNSCHEDULABLE_AND_UNRESOLVABLE,
    }
    assert status.code is codes[final]


@pytest.mark.parametrize(
    ("pods", "expected"),
    [
        pytest.param(2, fwk.SUCCESS, id="room-for-one-more"),
        pytest.param(1, fwk.Status.unschedulable("Too many pods"), id="full"),
        pytest.param(None, fwk.Status.unschedulable("Too many pods"), id="no-pods-allowed"),
    ],
)
def test_number_of_pods(pods, expected):
    nodes = fwk.Rows.of(node("a", pods=pods), pods=[pod("other", node="a")])

    assert judged(pod(), nodes) == [expected]


def test_too_many_pods_comes_first():
    nodes = fwk.Rows.of(node("a", cpu="1", pods=0))

    (status,) = judged(pod(cpu="2"), nodes)

    assert status == fwk.Status.unresolvable("Too many pods", "Insufficient cpu")


@pytest.mark.parametrize(
    ("args", "requests", "expected"),
    [
        pytest.param({"ignored_resources": (GPU,)}, {GPU: 1}, [], id="by-name"),
        pytest.param({"ignored_resource_groups": ("example.com",)}, {GPU: 1}, [], id="by-group"),
        pytest.param(
            {"ignored_resources": (NIC,)}, {GPU: 1}, [f"Insufficient {GPU}"], id="another"
        ),
        pytest.param(
            {"ignored_resources": ("cpu", HUGE, IMPLICIT)},
            {"cpu": "5", HUGE: "2Mi", IMPLICIT: 1},
            ["Insufficient cpu", f"Insufficient {IMPLICIT}", f"Insufficient {HUGE}"],
            id="extended-ones-only",
        ),
    ],
)
def test_ignored_resources(args, requests, expected):
    (status,) = judged(pod(requests=requests), fwk.Rows.of(node()), plugin(**args))

    assert list(status.reasons) == expected


@pytest.mark.parametrize(
    ("fields", "cpu"),
    [
        pytest.param({"cpu": "1", "overhead": {"cpu": "500m"}}, 1500, id="overhead"),
        pytest.param({"resources": {"requests": {"cpu": "3"}}, "cpu": "1"}, 3000, id="pod-level"),
        pytest.param(
            {
                "cpu": "1",
                "status": {
                    "container_statuses": [{"name": "main", "resources": {"requests": {"cpu": 9}}}]
                },
            },
            1000,
            id="its-status-does-not-count",
        ),
    ],
)
def test_what_the_pod_requests(fields, cpu):
    subject = pod(**fields)
    nodes = fwk.Rows.of(node("enough", cpu=f"{cpu}m"), node("less", cpu=f"{cpu - 1}m"))

    assert [status.ok for status in judged(subject, nodes)] == [True, False]


def test_filter_needs_pre_filter():
    nodes = fwk.Rows.of(node())

    with pytest.raises(StateNotFound):
        plugin().filter(fwk.CycleState(), pod(), nodes.at(0))
    with pytest.raises(StateNotFound):
        plugin().filter_all(fwk.CycleState(), pod(), nodes)


def test_dry_run_may_be_the_first_to_name_a_resource():
    handle = FakeHandle(node("a", allocatable={GPU: 2}), node("b"))
    overlay = handle.state.overlay(handle.rows.index)
    world = fwk.Rows(handle.state, handle.rows.index, overlay)
    subject = pod(requests={GPU: 1})

    assert [status.ok for status in judged(subject, world)] == [True, False]
    overlay.add([PodInfo(pod("other", requests={GPU: 2}))], np.array([0]))
    assert [status.ok for status in judged(subject, world)] == [False, False]


AMOUNTS = st.fixed_dictionaries(
    {},
    optional={
        "cpu": st.integers(0, 3),
        "memory": st.integers(0, 3),
        "ephemeral-storage": st.integers(0, 2),
        GPU: st.integers(0, 2),
        NIC: st.integers(0, 1),
    },
)
PLACED = st.lists(st.tuples(st.integers(0, 3), AMOUNTS), max_size=6)


@st.composite
def clusters(draw):
    """Four nodes, pods on them, and which of the pods a dry run moves to another node."""
    nodes = [
        node(f"n{i}", cpu=None, memory=None, pods=draw(st.integers(0, 4)), allocatable=amounts)
        for i, amounts in enumerate(draw(st.lists(AMOUNTS, min_size=4, max_size=4)))
    ]
    pods = [
        pod(f"p{i}", node=f"n{row}", requests=amounts)
        for i, (row, amounts) in enumerate(draw(PLACED))
    ]
    moves = {each.name: draw(st.sampled_from([None, *range(4)])) for each in pods}
    return nodes, pods, moves


@examples(60)
@given(cluster=clusters(), requests=AMOUNTS)
def test_a_dry_run_judges_as_the_cluster_would_be(cluster, requests):
    nodes, pods, moves = cluster
    live = FakeHandle(*nodes, *pods)
    overlay = live.state.overlay(live.rows.index)
    for info in list(live.state.pods.values()):
        row = moves[info.pod.name]
        if row is not None:
            overlay.remove([info], np.array([info.row]))
            overlay.add([PodInfo(info.pod)], np.array([row]))
    moved = [
        each
        if moves[each.name] is None
        else pod(
            each.name,
            node=f"n{moves[each.name]}",
            requests=each.spec.containers[0].resources.requests,
        )
        for each in pods
    ]
    subject = pod("subject", requests=requests)

    world = fwk.Rows(live.state, live.rows.index, overlay)

    assert judged(subject, world) == judged(subject, FakeHandle(*nodes, *moved).rows)
    assert judged(subject, live.rows) == judged(subject, FakeHandle(*nodes, *pods).rows)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        pytest.param({"cpu": "1"}, {"cpu": "1", "labels": "app=x"}, True, id="written-alike"),
        pytest.param({"cpu": "1"}, {"cpu": "2"}, False, id="other-request"),
        pytest.param({"cpu": "0"}, {}, False, id="zero-and-nothing-score-differently"),
        pytest.param(
            {"cpu": "1"}, {"resources": {"requests": {"cpu": "1"}}}, False, id="pod-level-scores"
        ),
    ],
)
def test_signature(one, other, same):
    fit = plugin()

    assert (fit.sign(pod(**one)) == fit.sign(pod(**other))) is same
    assert (hash(fit.sign(pod(**one))) == hash(fit.sign(pod(**other)))) is same


def test_reads_the_resources_of_each_node():
    assert plugin().depends_on(pod()) == fwk.Dependencies(node=fwk.Aspect.RESOURCES)

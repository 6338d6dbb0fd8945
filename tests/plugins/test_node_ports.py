import numpy as np
import pytest

from podium import framework as fwk
from podium.errors import StateNotFound
from podium.plugins.node_ports import REJECTED, NodePorts, pod_freed_a_port
from podium.state.cluster import ClusterState, load
from podium.testing.builders import node, pod

PLUGIN = NodePorts(fwk.NoArgs(), None)


def using(*texts, name="pod", **rest):
    """A pod with host ports, as ``using("80", "127.0.0.1:53/UDP")``."""
    return pod(name, containers=[{"name": "main", "ports": [*map(port, texts)]}], **rest)


def port(text):
    where, _, protocol = text.partition("/")
    address, _, number = where.rpartition(":")
    return {"containerPort": 1, "hostPort": int(number), "hostIP": address, "protocol": protocol}


def verdicts(subject, nodes):
    state = fwk.CycleState()
    assert PLUGIN.pre_filter(state, subject, nodes) is None
    found = list(PLUGIN.filter_all(state, subject, nodes))
    assert found == [PLUGIN.filter(state, subject, each) for each in nodes]
    return found


@pytest.mark.parametrize(
    ("wanted", "used", "is_taken"),
    [
        pytest.param("80", "", False, id="nothing-used"),
        pytest.param("80", "80", True, id="same-port"),
        pytest.param("80", "81", False, id="other-port"),
        pytest.param("80/TCP", "80", True, id="no-protocol-is-tcp"),
        pytest.param("80", "80/UDP", False, id="other-protocol"),
        pytest.param("0.0.0.0:80", "80", True, id="no-address-is-any"),
        pytest.param("127.0.0.1:80", "127.0.0.1:80", True, id="same-address"),
        pytest.param("127.0.0.1:80", "10.0.0.1:80", False, id="other-address"),
        pytest.param("127.0.0.1:80", "80", True, id="used-on-any-address"),
        pytest.param("80", "127.0.0.1:80", True, id="wanted-on-any-address"),
        pytest.param(":::80", "127.0.0.1:80", False, id="no-wildcard-for-ipv6"),
        pytest.param("80 443", "443", True, id="one-of-two"),
        pytest.param("80 443", "81 8443", False, id="neither"),
        pytest.param("80 80", "", False, id="twice-in-one-pod"),
    ],
)
def test_filter(wanted, used, is_taken):
    nodes = fwk.Rows.of(
        node("a"), node("b"), pods=[using(*used.split(), name="there", node="a")] if used else []
    )

    found = verdicts(using(*wanted.split()), nodes)

    assert found == [REJECTED if is_taken else fwk.SUCCESS, fwk.SUCCESS]


def test_rejection_may_be_helped_by_preemption():
    text = "node(s) didn't have free ports for the requested pod ports"
    assert fwk.Status.unschedulable(text) == REJECTED


@pytest.mark.parametrize(
    ("spec", "skips"),
    [
        pytest.param({}, True, id="no-ports"),
        pytest.param({"containers": [{"ports": [{"containerPort": 80}]}]}, True, id="no-host-port"),
        pytest.param({"init_containers": [{"ports": [port("80")]}]}, True, id="init-container"),
        pytest.param(
            {"init_containers": [{"restartPolicy": "Always", "ports": [port("80")]}]},
            False,
            id="sidecar",
        ),
        pytest.param({"containers": [{"ports": [port("80")]}]}, False, id="container"),
    ],
)
def test_pods_without_host_ports_are_skipped(spec, skips):
    answer = PLUGIN.pre_filter(fwk.CycleState(), pod(**spec), fwk.Rows.of(node()))

    assert (answer == fwk.skip()) is skips


def test_filter_needs_pre_filter():
    nodes = fwk.Rows.of(node())

    with pytest.raises(StateNotFound):
        PLUGIN.filter(fwk.CycleState(), using("80"), nodes.at(0))
    with pytest.raises(StateNotFound):
        PLUGIN.filter_all(fwk.CycleState(), using("80"), nodes)


def test_many_users_of_many_ports():
    cluster = ClusterState()
    names = [f"n{number}" for number in range(150)]
    placed = [
        using("80", f"10.0.0.1:{1000 + place}", name=f"p{place}", node=name)
        for place, name in enumerate(names[:100])
    ]
    load(cluster, [*map(node, names), *placed])

    assert verdicts(using("127.0.0.1:80"), cluster.rows()).count(REJECTED) == 100
    assert verdicts(using("1007"), cluster.rows()).index(REJECTED) == 7
    assert verdicts(using("81"), cluster.rows()).count(REJECTED) == 0


def test_each_world_of_a_dry_run_has_its_own_ports():
    cluster = ClusterState()
    holder = using("80", name="there", node="a")
    load(cluster, [node("a"), node("b"), node("c"), holder])
    overlay = cluster.overlay(cluster.table.live_rows())
    overlay.remove([cluster.pods[holder.uid]], np.array([0]))
    overlay.add([fwk.PodInfo(using("80", name="nominated"))], np.array([1]))

    found = verdicts(using("80"), fwk.Rows(cluster, overlay.rows, overlay))

    assert found == [fwk.SUCCESS, REJECTED, fwk.SUCCESS]


def test_signature_is_the_set_of_ports():
    assert PLUGIN.sign(using("80", "443")) == PLUGIN.sign(using("443", "80", "80", labels="a=b"))
    assert PLUGIN.sign(using("80")) != PLUGIN.sign(using("80/UDP"))
    assert PLUGIN.depends_on(using("80")) == fwk.Dependencies(node=fwk.Aspect.PORTS)
    assert PLUGIN.depends_on(pod()) == fwk.Dependencies()


@pytest.mark.parametrize(
    ("gone", "expected"),
    [
        pytest.param(using("80", name="gone", node="a"), True, id="held-the-port"),
        pytest.param(using("127.0.0.1:80", name="gone", node="a"), True, id="on-one-address"),
        pytest.param(using("81", name="gone", node="a"), False, id="held-another"),
        pytest.param(pod("gone", node="a"), False, id="held-none"),
        pytest.param(using("80", name="gone"), False, id="was-nowhere"),
        pytest.param(
            using("80", name="gone", status={"nominated_node_name": "a"}), True, id="was-nominated"
        ),
    ],
)
def test_hint(gone, expected):
    assert pod_freed_a_port(using("80"), gone, None) is expected


def test_registered_events():
    on_pod, on_node = PLUGIN.events_to_register()

    assert on_pod == fwk.on("AssignedPod", "delete", hint=pod_freed_a_port)
    assert on_node == fwk.on("Node", "add")

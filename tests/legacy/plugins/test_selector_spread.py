import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium import framework as fwk
from podium.api.objects import ObjectMeta, Service
from podium.api.workloads import ServiceSpec
from podium.legacy.plugins.selector_spread import SelectorSpread
from podium.testing.builders import node, pod
from podium.testing.handle import FakeHandle
from tests.support.clusters import replicas

ZONE = "topology.kubernetes.io/zone"


def service(namespace="default", **selector):
    meta = ObjectMeta(name="svc", namespace=namespace)
    return Service(metadata=meta, spec=ServiceSpec(selector=selector))


def scores(subject, *objects):
    """Normalized scores by node; ``None`` when PreScore skips."""
    handle = FakeHandle(*objects)
    plugin, state = SelectorSpread(fwk.NoArgs(), handle), fwk.CycleState()
    status = plugin.pre_score(state, subject, handle.rows)
    if status is not None and status.is_skip:
        return None
    raw = plugin.score_all(state, subject, handle.rows)
    assert raw.tolist() == [plugin.score(state, subject, each) for each in handle.rows]
    return plugin.normalize_score(state, subject, raw, handle.rows).tolist()


WEB = pod(labels="app=web")


def test_fewer_pods_of_the_service_are_better():
    nodes = [node("a"), node("b"), node("c")]

    assert scores(WEB, service(app="web"), *nodes, *replicas(a=4, b=1)) == [0, 75, 100]


def test_zones_count_twice_as_much():
    nodes = [node(name, labels={ZONE: zone}) for name, zone in (("a", "x"), ("b", "x"), ("c", "y"))]

    # By nodes 0, 100 and 50; by zones 0, 0 and 50.
    assert scores(WEB, service(app="web"), *nodes, *replicas(a=2, c=1)) == [0, 33, 50]


def test_a_node_without_a_zone_goes_by_itself():
    nodes = [node("a", labels={ZONE: "x"}), node("b"), node("c")]

    assert scores(WEB, service(app="web"), *nodes, *replicas(a=2, b=1)) == [0, 50, 100]


@pytest.mark.parametrize(
    "others",
    [
        pytest.param([], id="no-workload"),
        pytest.param([service(app="db")], id="other-service"),
        pytest.param([service("other", app="web")], id="service-of-another-namespace"),
        pytest.param([service()], id="service-that-selects-everything"),
    ],
)
def test_without_a_workload_all_nodes_are_equal(others):
    nodes = [node("a"), node("b")]

    assert scores(WEB, *others, *nodes, *replicas(a=2)) == [100, 100]


def test_which_pods_count():
    gone = "2026-01-01T00:00:00Z"
    others = [
        pod("p1", node="a", labels="app=web", deletion_timestamp=gone),
        pod("p2", node="a", labels="app=web", namespace="other"),
        pod("p3", node="a", labels="app=db"),
        pod("p4", node="b", labels="app=web"),
    ]

    assert scores(WEB, service(app="web"), node("a"), node("b"), *others) == [100, 0]


def test_pods_with_constraints_of_their_own_are_left_alone():
    spread = {"maxSkew": 1, "topologyKey": ZONE, "whenUnsatisfiable": "ScheduleAnyway"}
    subject = pod(labels="app=web", topology_spread_constraints=[spread])

    assert scores(subject, service(app="web"), node("a"), *replicas(a=2)) is None


def test_signature():
    plugin = SelectorSpread(fwk.NoArgs(), FakeHandle(service(app="web")))
    replica = pod("r", labels="app=web pod=r")

    assert plugin.sign(WEB) == plugin.sign(replica)
    assert plugin.sign(WEB) != plugin.sign(pod(labels="app=db"))
    assert plugin.sign(WEB) != plugin.sign(pod(labels="app=web", namespace="other"))


def model(counts, zones):
    """The scores from their definition, in plain Python."""
    by_zone = {}
    for count, zone in zip(counts, zones, strict=True):
        if zone:
            by_zone[zone] = by_zone.get(zone, 0) + count
    most, most_in_zone = max(counts), max(by_zone.values(), default=0)
    found = []
    for count, zone in zip(counts, zones, strict=True):
        score = 100.0
        if most:
            score = 100.0 * (float(most - count) / float(most))
        if zone:
            inside = 100.0
            if most_in_zone:
                inside = 100.0 * (float(most_in_zone - by_zone[zone]) / float(most_in_zone))
            score = score * (1.0 - 2 / 3) + (2 / 3) * inside
        found.append(int(score))
    return found


@given(st.lists(st.tuples(st.integers(0, 5), st.sampled_from(("", "x", "y"))), min_size=1))
def test_scores_equal_their_definition(cluster):
    counts, zones = zip(*cluster, strict=True)
    nodes = [
        node(f"n{number}", labels={ZONE: zone} if zone else {}) for number, zone in enumerate(zones)
    ]
    placed = replicas(**{f"n{number}": count for number, count in enumerate(counts)})

    assert scores(WEB, service(app="web"), *nodes, *placed) == model(counts, zones)
